"""Runs LiteLLM's real proxy with the configuration of the guide, and prints what its clients get, as JSON.

The arguments are the URL of the server behind the proxy, and an empty folder. The proxy keeps a lot in modules, so this
has a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

from tests.integrations.model_texts import TOOLS, blocks, configuration

#: The tools as the three APIs take them.
_FUNCTIONS = [tool["function"] for tool in TOOLS]
_RESPONSES = [{"type": "function", **function} for function in _FUNCTIONS]
_MESSAGES = [{"name": f["name"], "input_schema": f["parameters"]} for f in _FUNCTIONS]
_ASKED = [{"role": "user", "content": "When?"}]
#: The keys of the guide: one of many requests a minute, and one of two.
KEY, LIMITED = "sk-ann", "sk-ben"
#: The requests of each API, by its path.
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": _ASKED, "tools": TOOLS, "reasoning_effort": "low"},
    "/v1/responses": {"input": "When?", "tools": _RESPONSES},
    "/v1/messages": {"messages": _ASKED, "tools": _MESSAGES, "max_tokens": 99},
}


def main(url: str, folder: Path) -> None:
    """Ask in all APIs, whole and streamed."""
    os.environ |= {"LITELLM_MASTER_KEY": f"sk-{secrets.token_hex(32)}", "OTEL_EXPORTER": "console"}
    os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "100"
    path = folder / "config.yaml"
    path.write_text(configuration("litellm", url), "utf-8")
    (folder / "gateway_keys.py").write_text(blocks("litellm", "python")[1], "utf-8")
    import litellm  # pyright: ignore[reportMissingImports]
    from litellm.integrations.custom_logger import CustomLogger  # pyright: ignore
    from litellm.proxy import proxy_server  # pyright: ignore
    from starlette.testclient import TestClient

    asyncio.run(proxy_server.initialize(config=str(path)))  # pyright: ignore
    logged: list[Any] = []

    class Log(CustomLogger):  # pyright: ignore
        async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
            logged.append([kwargs["model"], kwargs.get("response_cost")])

    litellm.callbacks.append(Log())  # pyright: ignore
    client: Any = TestClient(proxy_server.app, headers={"Authorization": f"Bearer {KEY}"})  # pyright: ignore
    answers: dict[str, Any] = {}
    with client:
        for kind in ("", " refused", " repaired"):
            for api, request in REQUESTS.items():
                answers[f"{api}{kind}"] = client.post(api, json={"model": "qwen3-coder", **request}).json()
                streamed = client.post(api, json={"model": "qwen3-coder", **request, "stream": True}).text.splitlines()
                data = [line.removeprefix("data: ") for line in streamed if line.startswith("data: {")]
                answers[f"{api}{kind} streamed"] = [json.loads(line) for line in data]
        asyncio.run(asyncio.sleep(1))
        priced = [*logged]
        models: Any = proxy_server.llm_router.model_list  # pyright: ignore
        models[0]["litellm_params"]["api_base"] = "http://127.0.0.1:9"  # nobody listens
        asked: dict[str, Any] = {"model": "qwen3-coder", "messages": _ASKED}
        held = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
        statuses = [
            client.post("/v1/chat/completions", json=asked, headers={"Authorization": f"Bearer {key}"}).status_code
            for key in (LIMITED, LIMITED, LIMITED, "sk-mosses")
        ]
        metrics = client.get("/metrics").text
        asyncio.run(asyncio.sleep(1))
    gateway = {"fallback": held, "statuses": statuses, "metrics": metrics}
    print("\n" + json.dumps({"answers": answers, "logged": priced, "gateway": gateway}), flush=True)
    os._exit(0)  # spans that are left would follow the last line


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
