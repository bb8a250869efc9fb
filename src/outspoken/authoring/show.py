"""Show how a response is read: tokens, tree, segments, and where the grammar rejects it: `outspoken grammar show`.

A response is a file, `-`, or a case of the corpus: `ok/one_call`, `<format>-ok-one_call`.
"""

from __future__ import annotations

from pathlib import Path

from outspoken.authoring.shared.checkout import KINDS, Case, Checkout, load
from outspoken.grammar import registry
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text, read_tools
from outspoken.terminal.outputs import print_json, print_lines, print_written, write_file
from outspoken.viewer.lines import full_view
from outspoken.viewer.page import MOST, page, view_data
from outspoken.viewer.view import show

#: The slider of a page has at most so many places.
_PLACES = 20_000


def show_response(
    checkout: Checkout,
    name: str,
    response: str,
    *,
    stream: int | None = None,
    trace: bool = False,
    html: str | None = None,
    tools: str | None = None,
    prefix: str | None = None,
    as_json: bool = False,
    color: str = "auto",
) -> int:
    """Show a response, or write a page of it; `name` is a format, an alias of one or `auto`.

    Returns 1 if the stream gives another reply than the whole text. Raises UsageError, and what `viewer.show` raises.
    """
    with checkout.in_use():
        name = name if name == "auto" else registry.resolve(name)
        case = _case(response, name, checkout)
        text, options = (case.text, case.options) if case else (read_text(response), {})
        given_tools = read_tools(tools) if tools else options.get("tools")
        if html and len(text) > MOST:
            raise UsageError(f"the response has {len(text):,} characters; a page shows at most {MOST:,}")
        view = show(
            text,
            str(case or ("standard input" if response == "-" else response)),
            name,
            tools=given_tools,
            prefix=options.get("prefix", "") if prefix is None else prefix,
            size=stream or (max(1, -(-len(text) // _PLACES)) if html else 0),
        )
        if html:
            write_file(html, page(view))
            print_written(html, as_json=as_json)
        elif as_json:
            print_json({**view_data(view), "reply": view.reply}, line=True)
        else:
            print_lines(full_view(view, stream=stream is not None, trace=trace), color)
    return int(bool(view.difference))


def _case(file: str, name: str, checkout: Checkout) -> Case | None:
    """The case of the corpus that FILE names, by its path or its short name; None for another file."""
    path = Path(file)
    if file == "-" or path.exists():
        corpus, path = checkout.corpus.resolve(), path.resolve()
        is_case = path.is_relative_to(corpus) and path.suffix == ".txt" and len(path.relative_to(corpus).parts) == 3
        return _loaded(path, checkout) if is_case else None
    format_, kind, rest = name, *file.partition("/")[::2]
    if kind not in KINDS:
        format_, kind, rest = (*file.split("-", 2), "", "")[:3]
    elif format_ == "auto":
        raise UsageError(f"`{file}` is a case of which format? Write `<format>-{kind}-{rest}`")
    path = checkout.corpus / format_ / kind / f"{rest.removesuffix('.txt')}.txt"
    if kind in KINDS and path.is_file():
        return _loaded(path, checkout)
    folder = checkout.corpus / (format_ if checkout.is_project else name)
    where = checkout.shown(folder if folder.is_dir() or not checkout.is_project else checkout.corpus)
    raise UsageError(f"there is no file `{file}`, and no case of the corpus of that name (the cases lie in {where})")


def _loaded(path: Path, checkout: Checkout) -> Case:
    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the case {checkout.shown(path)}: {error}") from error
