"""The frameworks that are tested, their versions, and the environments that have them. Imports nothing but Python's."""

from __future__ import annotations

from typing import NamedTuple


class TestedFramework(NamedTuple):
    """A framework with tests of its name, `tests/integrations/test_NAME.py`, and an integration of its name, if any.

    `groups` are the environments that its tests run in. They are collected wherever one of the `modules` can be found.
    Both are words of a text.
    """

    groups: str
    modules: str


class Group(NamedTuple):
    """An environment: the packages that it needs, and those of which pip installs only the package itself (`bare`).

    Their versions are in `pins/NAME.txt`. `variables` are set when the tests run. `ignored` are warnings that are no
    errors, as Python's `-W` names them.
    """

    requirements: str
    bare: str = ""
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
    # Whatever client there is in front of our proxy and of LiteLLM's, which the tests start in `frameworks`.
    "clients": TestedFramework("agents frameworks", "pydantic_ai litellm"),
    "vllm": TestedFramework("servers", "vllm"),
    "sglang": TestedFramework("servers", "sglang"),
    "transformers": TestedFramework("servers", "transformers"),
    "clusters": TestedFramework("clusters", "ray"),
    "templates": TestedFramework("templates", "trl"),
}

GROUPS: dict[str, Group] = {
    "agents": Group("pydantic-ai-slim langchain-core langchain langchain-openai openai-agents anthropic"),
    # dspy needs litellm, and litellm openai 2. LiteLLM reads a list of prices from the network when it is imported, and
    # leaves clients and event loops to the garbage collector; llama-index-core uses what pydantic deprecates.
    "frameworks": Group(
        "llama-index-core llama-index-llms-openai-like smolagents haystack-ai dspy litellm[proxy] prometheus_client "
        "opentelemetry-sdk anthropic instructor canitoolcall>=0.1.1,<0.2",
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
        "transformers openai fastapi numpy apache-tvm-ffi aiohttp blake3 cachetools cbor2 cloudpickle einops ijson "
        "jinja2 jsonschema pycountry msgspec orjson partial-json-parser prometheus_client protobuf psutil py-cpuinfo "
        "pybase64 requests pydantic-extra-types tiktoken pillow python-json-logger pyzmq sentencepiece uvloop",
        bare="vllm sglang xgrammar oss-harmony mistral_common",
        variables=(("VLLM_LOGGING_LEVEL", "ERROR"), ("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1"), ("HF_HUB_OFFLINE", "1")),
    ),
    # Ray and Spark, which call `outspoken.batch` and leave files open. Spark needs Java, and pandas 2 for `mapInArrow`.
    "clusters": Group("ray[data] pyspark pyarrow pandas<3", ignored=("default",)),
    # Packages that ship chat templates. Nothing of them runs.
    "templates": Group("jinja2", bare="trl axolotl gpustack unsloth"),
    # Other projects that read JSON, for `tools.compare`.
    "peers": Group("json-repair[schema] baml-py instructor langchain-core pydantic-ai-slim"),
}

#: Installed in every environment, to run the tests.
TEST_REQUIREMENTS = ("pytest>=9,<10", "pytest-timeout>=2.3,<3")
