"""The frameworks that are tested, their versions, and the environments that have them. Imports nothing but Python's."""

from __future__ import annotations

from typing import NamedTuple


class TestedFramework(NamedTuple):
    """A framework with an integration of its name: `outspoken.integrations.NAME`, `tests/integrations/test_NAME.py`.

    `group` is the environment that its tests run in. They are collected wherever the `module` can be found.
    """

    group: str
    module: str


class Group(NamedTuple):
    """An environment: pinned `requirements`, and those of which pip installs only the package itself (`bare`).

    `variables` are set when the tests run.
    """

    requirements: tuple[str, ...]
    bare: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


#: Frameworks in the order of the README of the integrations.
FRAMEWORKS: dict[str, TestedFramework] = {
    "pydantic_ai": TestedFramework("agents", "pydantic_ai"),
    "langchain": TestedFramework("agents", "langchain_core"),
    "openai_agents": TestedFramework("agents", "agents"),
    "litellm": TestedFramework("litellm", "litellm"),
}

GROUPS: dict[str, Group] = {
    "agents": Group(("pydantic-ai-slim==2.68.0", "langchain-core==1.7.2", "openai-agents==0.24.0")),
    # litellm needs openai 2, openai-agents 3. It reads a list of prices from the network when it is imported.
    "litellm": Group(("litellm==1.106.2",), variables=(("LITELLM_LOCAL_MODEL_COST_MAP", "True"),)),
}

#: Installed in every environment, to run the tests.
TEST_REQUIREMENTS = ("pytest>=9,<10", "pytest-timeout>=2.3,<3")
