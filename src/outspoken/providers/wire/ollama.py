"""Ollama's own `/api/chat` and `/api/generate`: one JSON object, or one a line.

Source: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.usage import UsageKeys

from .reader import ApiReader, arguments_text, list_of

#: the names of token counts
_USAGE = UsageKeys(("prompt_eval_count",), ("eval_count",))


class OllamaReader(ApiReader):
    """Reads responses, which are also the chunks of a stream. A call arrives whole."""

    joins_content = True

    def read(self, body: JsonObject) -> None:
        """Read a response, a chunk, or an error."""
        to = self._assembler
        message = body.object("message") if isinstance(body.value.get("message"), dict) else None
        if message is None and not body.has("response", "done"):
            self._fail(body, "message", "an object")
            return
        to.started(None, body.string("model"))
        source = message or body
        to.add("reasoning", source.string("thinking"))
        to.add("text", body.string("response") if message is None else message.string("content"))
        for call in source.objects("tool_calls"):
            function = call.required_object("function")
            self._add_whole_call(call.string("id"), function.string("name"), arguments_text(function, "arguments"))
        for image in list_of(source.get("images")):
            to.payload("image", image, aside=True)
        if body.get("prompt_eval_count", "eval_count") is not None:
            counts = {key: value for key, value in body.value.items() if key.endswith(("_count", "_duration"))}
            self._report_usage(JsonObject(counts), _USAGE)
        if body.get("done"):
            to.finished(body.string("done_reason") or "stop")
