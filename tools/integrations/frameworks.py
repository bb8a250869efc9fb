"""The frameworks that are tested, their versions, and the environments that have them. Imports nothing but Python's."""

from __future__ import annotations

from typing import NamedTuple


class TestedFramework(NamedTuple):
    """A framework with tests of its name, `tests/integrations/test_NAME.py`, and an integration of its name, if any.

    `group` is the environment that its tests run in. They are collected wherever the `module` can be found.
    """

    group: str
    module: str


class Group(NamedTuple):
    """An environment: pinned `requirements`, and those of which pip installs only the package itself (`bare`).

    `variables` are set when the tests run, and `ignored` are warnings that are no errors, as Python's `-W` names them.
    """

    requirements: tuple[str, ...]
    bare: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()


#: Frameworks in the order of the README of the integrations.
FRAMEWORKS: dict[str, TestedFramework] = {
    "pydantic_ai": TestedFramework("agents", "pydantic_ai"),
    "langchain": TestedFramework("agents", "langchain_core"),
    "openai_agents": TestedFramework("agents", "agents"),
    "llama_index": TestedFramework("frameworks", "llama_index"),
    "smolagents": TestedFramework("frameworks", "smolagents"),
    "haystack": TestedFramework("frameworks", "haystack"),
    "dspy": TestedFramework("frameworks", "dspy"),
    "litellm": TestedFramework("frameworks", "litellm"),
    "vllm": TestedFramework("servers", "vllm"),
    "sglang": TestedFramework("servers", "sglang"),
    "transformers": TestedFramework("servers", "transformers"),
    "clusters": TestedFramework("clusters", "ray"),
    "templates": TestedFramework("templates", "trl"),
}

GROUPS: dict[str, Group] = {
    "agents": Group(("pydantic-ai-slim==2.68.0", "langchain-core==1.7.2", "langchain==1.4.7", "openai-agents==0.24.0")),
    # dspy needs litellm, and litellm openai 2. LiteLLM reads a list of prices from the network when it is imported, and
    # leaves clients and event loops to the garbage collector; llama-index-core uses what pydantic deprecates.
    "frameworks": Group(
        (
            *("llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1", "smolagents==1.26.0"),
            *("haystack-ai==3.4.0", "dspy==3.4.1", "litellm[proxy]==1.106.2"),
            *("prometheus_client==0.26.0", "opentelemetry-sdk==1.45.2"),
        ),
        variables=(
            *(("LITELLM_LOCAL_MODEL_COST_MAP", "True"), ("HAYSTACK_TELEMETRY_ENABLED", "False")),
            ("DSPY_CACHEDIR", ".venv-integrations/frameworks/dspy-cache"),
        ),
        ignored=(
            *("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
            "ignore:unclosed:ResourceWarning",
        ),
    ),
    # The servers need torch and a GPU; their parsers do not. These are the modules that the parsers import.
    "servers": Group(
        (
            *("transformers==5.20.2", "openai==3.54.0", "fastapi==0.136.3", "numpy==2.4.6", "apache-tvm-ffi==0.1.11"),
            *("aiohttp==3.14.5", "blake3==1.0.11", "cachetools==8.0.1", "cbor2==6.3.0", "cloudpickle==3.1.2"),
            *("einops==0.8.2", "ijson==3.6.0", "jinja2==3.1.6", "jsonschema==4.26.0", "pycountry==26.2.16"),
            *("msgspec==0.22.0", "orjson==3.13.0", "partial-json-parser==0.2.1.1.post7", "prometheus_client==0.26.0"),
            *("protobuf==7.36.2", "psutil==7.2.2", "py-cpuinfo==9.0.0", "pybase64==1.5.1", "requests==2.34.2"),
            *("pydantic-extra-types==2.11.1", "tiktoken==0.14.0", "pillow==13.0.0"),
            *("python-json-logger==4.2.0", "pyzmq==27.3.0", "sentencepiece==0.2.3", "uvloop==0.23.0"),
        ),
        bare=("vllm==0.33.0", "sglang==0.5.23", "xgrammar==0.2.8", "oss-harmony==0.0.11", "mistral_common==1.13.1"),
        variables=(("VLLM_LOGGING_LEVEL", "ERROR"), ("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1"), ("HF_HUB_OFFLINE", "1")),
    ),
    # Ray and Spark, which call `outspoken.batch` and leave files open. Spark needs Java, and pandas 2 for `mapInArrow`.
    "clusters": Group(
        ("ray[data]==2.60.0", "pyspark==4.3.0", "pyarrow==26.0.1", "pandas==2.3.3"), ignored=("default",)
    ),
    # Packages that ship chat templates. Nothing of them runs.
    "templates": Group(
        ("jinja2==3.1.6",), bare=("trl==1.16.0", "axolotl==0.19.0", "gpustack==2.3.0", "unsloth==2026.10.9")
    ),
    # Other projects that read JSON, for `tools.compare`.
    "peers": Group(
        (
            *("json-repair[schema]==0.64.6", "baml-py==0.226.3", "instructor==1.17.0", "pyyaml==6.0.4"),
            *("langchain-core==1.8.3", "pydantic-ai-slim==2.68.0", "railroad-diagrams==3.0.1"),
        )
    ),
}

#: Installed in every environment, to run the tests.
TEST_REQUIREMENTS = ("pytest>=9,<10", "pytest-timeout>=2.3,<3")
