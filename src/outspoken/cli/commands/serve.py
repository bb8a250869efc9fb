"""`outspoken serve`: a proxy in front of a server that returns raw text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import click
from cloup import option_group

from outspoken.cli.options import command, format_option, option, unescaped
from outspoken.providers.wire.parts import STREAM_CALLS
from outspoken.serving.settings import UPSTREAMS, ServerSettings
from outspoken.terminal.inputs import listen

_FORMAT = "the format of the models' output: a name or alias, or auto; by default, that of the model of a request"
_MODELS = "the format of models by a pattern of their names, with * for anything; may be repeated"
_SENT = "how calls of streams are sent: complete, or in pieces to clients that wait for the end"
_CONSTRAINED = f"constrain requests with tools, for an upstream of this kind: {', '.join(UPSTREAMS)}"
#: The limits of the proxy, by the names of its settings.
_LIMITS = {
    "connect_timeout": "seconds to connect to the upstream",
    "read_timeout": "seconds between two pieces of a response",
    "total_timeout": "seconds for a whole response",
    "max_body": "bytes of a request",
    "max_chars": "characters of a response",
    "max_concurrent": "requests that are served at once",
}


def _limit(name: str, words: str) -> Callable[[Any], Any]:
    """Declare the option of a limit; the settings refuse what is too small."""
    default = cast("float", getattr(ServerSettings, name))
    return option(f"--{name.replace('_', '-')} N", words, type(default), default=default, shown=f"{default:.15g}")


def _pair(value: str) -> tuple[str, str]:
    """A pattern of models and the format of these. Raises BadParameter for other words."""
    pattern, _, format = value.partition("=")
    if not pattern.strip() or not format.strip():
        raise click.BadParameter(f"`{value}` is not written as MODEL=FORMAT, such as 'qwen3*=qwen3_coder'")
    return pattern.strip(), format.strip()


@command(
    "serve",
    "Run a proxy that reads calls and reasoning from the raw text of a server.",
    ("outspoken serve --upstream http://localhost:8000", "in front of vLLM, on port 8080"),
    ("outspoken serve --upstream http://localhost:8000 --model 'acme*=hermes'", "which has models of an unknown name"),
    ("outspoken serve --upstream http://localhost:8000 -f hermes --constrain vllm", "and constrain its calls"),
)
@option_group(
    "Server",
    option("-u --upstream URL", "the server's base URL, as clients take it", required=True),
    option("--host NAME", "the address to listen on", default="127.0.0.1"),
    option("--port N", "the port to listen on", click.IntRange(0, 65535), default=8080),
    option("--log-requests/--no-log-requests", "write a line for each request to standard error", default=True),
)
@option_group(
    "Reading",
    format_option(_FORMAT, default=None),
    option("--model MODEL=FORMAT", _MODELS, _pair, into="models", multiple=True),
    option("-p --prefix TEXT", "what the prompts of the models end with, if not what is usual", unescaped),
    option("--render-history", "send earlier calls, reasoning and results as text in the format"),
)
@option_group(
    "Responses",
    option("--reasoning-field NAME", "the field for reasoning", default="reasoning_content"),
    option("--action-tool NAME", "export GUI actions as calls of a tool of this name"),
    option("--stream-calls KIND", _SENT, STREAM_CALLS, default="complete"),
    option("--show-invalid/--hide-invalid", "keep the text of invalid calls in the content", default=True),
    option("--ask-again N", "ask the model again so often if a call cannot be read", click.IntRange(0), default=0),
    option("--constrain KIND", _CONSTRAINED, UPSTREAMS),
    option("--constrain-strict", "reject a request that cannot be constrained, or not in everything"),
)
@option_group("Limits", *[_limit(name, words) for name, words in _LIMITS.items()])
def run(host: str, port: int, models: tuple[tuple[str, str], ...], **settings: Any) -> int:
    """Serve until the process is asked to stop."""
    from outspoken.serving.run import run as serve

    checked = ServerSettings(models=dict(models), **settings)
    listen(host, port).close()
    serve(checked, host, port)
    return 0
