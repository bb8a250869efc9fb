"""Runs LiteLLM's real proxy with a configuration that names the hooks, and prints what its clients get, as JSON.

The arguments are the URL of the server behind the proxy, and an empty folder. The proxy keeps a lot in modules, so this
has a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.integrations.model_texts import TOOLS

_HOOKS = """\
from outspoken.integrations.litellm import OutspokenHooks

hooks = OutspokenHooks({"tides": "qwen3_coder"})
"""

_CONFIGURATION = """\
model_list:
  - model_name: qwen3-coder
    litellm_params: {{model: openai/m, api_base: "{url}", api_key: none}}
  - model_name: tides
    litellm_params: {{model: openai/m, api_base: "{url}", api_key: none}}
  - model_name: provided
    litellm_params: {{model: outspoken/openai/m, api_base: "{url}", api_key: none}}
  - model_name: other
    litellm_params: {{model: openai/m, api_base: "{url}", api_key: none}}
litellm_settings:
  custom_provider_map:
    - {{provider: outspoken, custom_handler: outspoken.integrations.litellm.qwen3_coder}}
  callbacks: [tides.hooks, outspoken.integrations.litellm.hooks]
"""


def main(url: str, folder: Path) -> None:
    """Ask all models, whole and streamed."""
    (folder / "tides.py").write_text(_HOOKS, "utf-8")
    path = folder / "config.yaml"
    path.write_text(_CONFIGURATION.format(url=url), "utf-8")
    from litellm.proxy.proxy_server import app, initialize  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    from starlette.testclient import TestClient

    asyncio.run(initialize(config=str(path)))  # pyright: ignore[reportUnknownArgumentType]
    client: Any = TestClient(app)  # pyright: ignore[reportUnknownArgumentType]
    found: dict[str, Any] = {}
    for model in ("qwen3-coder", "tides", "provided", "other"):
        request = {"model": model, "messages": [{"role": "user", "content": "When?"}], "tools": TOOLS}
        found[model] = client.post("/v1/chat/completions", json=request).json()
        lines = client.post("/v1/chat/completions", json={**request, "stream": True}).text.splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
        found[f"{model} streamed"] = [json.loads(line) for line in data]
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
