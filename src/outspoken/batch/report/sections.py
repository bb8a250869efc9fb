"""The sections of the page: what of the counts is shown, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from outspoken.results.replies import STATUSES

from .buckets import Key, TimeBuckets
from .charts import DAMAGED, columns, share_bar
from .examples import Edit, Example
from .markup import Child, Html, code, element, preformatted, table
from .source import Source
from .tally import CallExample, QuarantineExample, Tally

#: So many kinds, formats, tools and problems are shown.
_KINDS, _FORMATS, _TOOLS, _PROBLEMS, _MATRIX = 60, 120, 60, 100, 12
_PLAIN = "plain text"
_DAMAGED = ", ".join(DAMAGED)


def percent(count: int, whole: int) -> str:
    """A share as text: with so many digits that it is neither 0 nor 100 % if it is not."""
    share = count / whole if whole else 0.0
    if 0 < share < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 < share < 1 else f"{share:.1%}"


def _number(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what if count == 1 else f'{what}s'}"


def _facts(name: Child, count: int, what: str, whole: int) -> list[Html]:
    """What a summary begins with: a name, how many things there are, and their share."""
    return [
        element("span", name, class_="name"),
        element("span", _number(count, what), class_="count"),
        element("span", percent(count, whole), class_="share"),
    ]


def section(id: str, title: str, *children: Child) -> Html:
    """A section with its heading."""
    return element("section", element("h2", title, id=id), *children, aria_labelledby=id)


def quiet(*children: Child) -> Html:
    """A remark."""
    return element("p", *children, class_="quiet")


def _left_out(shown: int, whole: int, what: str) -> Html | None:
    return quiet(f"{whole - shown:,} more {what} are not shown.") if whole > shown else None


def tiles(tally: Tally) -> Html:
    """The totals."""
    rows, bad = tally.rows, sum(tally.quarantine.values())
    found = [("rows read", f"{rows:,}", "", "")]
    found += [(s, percent(tally.of_status(s), rows), f"{tally.of_status(s):,}", s) for s in STATUSES]
    found.append(("in quarantine", f"{bad:,}", percent(bad, rows + bad), "quarantine" if bad else ""))
    calls, wrong = sum(tally.calls.values()), sum(tally.bad_calls.values())
    found.append(("calls", f"{calls:,}", f"{wrong:,} with invalid arguments", ""))
    made = [
        element("div", element("dt", name), element("dd", element("b", value), element("span", more)), class_=class_)
        for name, value, more, class_ in found
    ]
    return element("dl", made, class_="tiles")


def legend() -> Html:
    """What the colours of bars mean."""
    return element("ul", [element("li", element("i", class_=one), one) for one in DAMAGED], class_="legend")


def over_buckets(tally: Tally) -> Html:
    """The statuses by file or over time."""
    buckets, counts = tally.buckets, tally.bucket_statuses
    labels = buckets.labels(counts)
    shown = {key: element("span", label, class_="when" if _is_time(tally) else None) for key, label in labels.items()}
    rows, scale = _status_rows([(shown[key], {s: counts[key, s] for s in STATUSES}) for key in labels])
    note: list[Child] = []
    if isinstance(buckets, TimeBuckets):
        note = ["By the column ", code(buckets.column), f"; each row is {buckets.period}, in UTC. "]
    title = f"Damage {buckets.title}"
    return section(
        "when",
        title,
        quiet(note, f"A full bar is {scale:.3g} % of the rows."),
        table(title, ("from" if _is_time(tally) else "file", "rows", "not ok", _DAMAGED), rows, (1, 2)),
        _matrix(tally, shown),
    )


def _is_time(tally: Tally) -> bool:
    return isinstance(tally.buckets, TimeBuckets)


def _status_rows(found: list[tuple[Child, dict[str, int]]]) -> tuple[list[list[Child]], float]:
    """The rows of a table of statuses, and what a full bar is in per cent."""
    shares = [1 - own["ok"] / (sum(own.values()) or 1) for _, own in found]
    scale = max([*shares, 0.0001])
    made: list[list[Child]] = []
    for label, own in found:
        whole = sum(own.values())
        bar = element("span", share_bar(own, scale), _words(own), class_="shares")
        made.append([label, whole, percent(whole - own["ok"], whole), bar])
    return made, scale * 100


def _words(own: dict[str, int]) -> Html:
    """The counts of a bar in words."""
    return element("small", ", ".join([f"{own[status]:,} {status}" for status in DAMAGED if own[status]]) or "none")


def _matrix(tally: Tally, labels: dict[Key, Html]) -> Html | None:
    """The kinds of damage by file or over time, as numbers."""
    kinds = [kind for kind, _ in _ordered(tally.kinds)[:_MATRIX]]
    if not kinds:
        return None
    cells: list[list[Child]] = [
        [label, *[tally.bucket_kinds[key, kind] for kind in kinds]] for key, label in labels.items()
    ]
    whole = table("Kinds of damage as numbers", ["", *kinds], cells, range(1, len(kinds) + 1))
    return element("details", element("summary", "The kinds of damage as numbers"), whole)


def by_format(source: Source, tally: Tally) -> Html:
    """The statuses by format, and the most frequent damage of each."""
    names = Counter({name: 0 for name, _ in tally.statuses})
    for (name, _), count in tally.statuses.items():
        names[name] += count
    shown = _ordered(names)[:_FORMATS]
    found: list[tuple[Child, dict[str, int]]] = [
        (code(name) if name else _PLAIN, {s: tally.statuses[name, s] for s in STATUSES}) for name, _ in shown
    ]
    rows, scale = _status_rows(found)
    for row, (name, _) in zip(rows, shown, strict=True):
        own = Counter({kind: count for (one, kind), count in tally.format_kinds.items() if one == name})
        most = _ordered(own)[:3]
        kinds = [element("li", code(kind), " ", count) for kind, count in most]
        row += [
            element("ul", kinds, class_="plain") if kinds else "",
            [element("code", place, class_="when") for place in tally.formats.of(name)],
        ]
    heads = ("format", "rows", "not ok", _DAMAGED, "most frequent damage", "a row of it")
    return section(
        "formats",
        "Formats",
        quiet(_choice(source, len(names)), f" A full bar is {scale:.3g} % of the rows."),
        table("Formats", heads, rows, (1, 2)),
        _left_out(len(shown), len(names), "formats"),
    )


def _choice(source: Source, count: int) -> list[Child]:
    """How the formats were chosen."""
    options = source.options
    given, column = options["format"], options["format_column"]
    if given in (None, "auto") and (options["provider"] or options["messages_column"]) and given is None:
        own: list[Child] = ["No format was given: content beside the provider's fields is plain text."]
        own = own if options["provider"] else ["The formats were found by ", code("auto"), "."]
    elif given in (None, "auto"):
        own = [f"{count:,} formats were found by " if count != 1 else "The format was found by ", code("auto"), "."]
    else:
        own = ["The format ", code(given), " was asked for."]
    return ["The column ", code(column), " names the format of each row. Where it is null: ", *own] if column else own


def kinds_of_damage(tally: Tally) -> Html:
    """The kinds of diagnostics, each with where they are and examples."""
    found = _ordered(tally.kinds)
    labels = tally.buckets.labels(tally.bucket_statuses)
    whole = Counter[Key]()
    for (key, _), count in tally.bucket_statuses.items():
        whole[key] += count
    made: list[Html] = []
    for kind, count in found[:_KINDS]:
        shares = [tally.bucket_kinds[key, kind] / max(1, whole[key]) for key in labels]
        words = [f"{label}: {share:.2%}" for label, share in zip(labels.values(), shares, strict=True)]
        severity = max(("error", "warning", "note"), key=lambda one, kind=kind: tally.severities[kind, one])
        facts = [
            *_facts([code(kind), " ", _tag(severity)], count, "row", tally.rows),
            columns(shares, words, f"`{kind}` {tally.buckets.title}: at most {max(shares, default=0):.2%} of the rows"),
        ]
        examples = [_example(one) for one in tally.examples.of(kind)]
        more = quiet(f"{_number(tally.diagnostics[kind], 'diagnostic')} in {_number(count, 'row')}; examples:")
        made.append(_details(facts, more, examples))
    empty = quiet("No row has a diagnostic.") if not made else None
    note = quiet(f"Diagnostics by code. Columns: the share of the rows {tally.buckets.title}.") if made else None
    return section("damage", "Kinds of damage", note, empty, made, _left_out(len(made), len(found), "kinds"))


def repairs(tally: Tally) -> Html | None:
    """The kinds of repairs."""
    found = _ordered(tally.repairs)
    if not found:
        return None
    rows: list[list[Child]] = []
    for (level, kind), count in found[:_KINDS]:
        examples = [_edit(edit, place) for place, edit in tally.edits.of((level, kind))[:2]]
        rows.append([code(kind), level, count, tally.repaired_rows[level, kind], examples])
    heads = ("repair", "level", "repairs", "rows", "examples: before, and as it was read")
    whole = table("Repairs", heads, rows, (2, 3))
    return section("repairs", "Repairs", whole, _left_out(len(rows), len(found), "kinds"))


def _edit(edit: Edit, place: str | None = None) -> Html:
    before = element("del", edit.before) if edit.before else element("span", "nothing", class_="quiet")
    after = element("ins", edit.after) if edit.after else element("span", "nothing", class_="quiet")
    where = element("small", place or edit.place)
    return element("div", before, " → ", after, " ", where, class_="edit")


def calls(source: Source, tally: Tally) -> Html | None:
    """The tools that are called, and their invalid arguments."""
    if not tally.calls and not tally.problems:
        return None
    tools = [name for name, _ in _ordered(tally.bad_calls)]
    tools += [name for name, _ in _ordered(tally.calls) if name not in tally.bad_calls]
    rows: list[list[Child]] = [
        [_tool(name), tally.calls[name], tally.bad_calls[name], percent(tally.bad_calls[name], tally.calls[name])]
        for name in tools[:_TOOLS]
    ]
    problems = _ordered(tally.problems)
    made: list[Html] = []
    for key, count in problems[:_PROBLEMS]:
        name, argument, kind = key
        examples = tally.bad_arguments.of(key)
        detail = next((one.detail for one in examples if one.detail), "")
        facts = [
            *_facts([_tool(name), [" · ", code(argument)] if argument else None], count, "call", tally.calls[name]),
            element("span", kind, f": {detail}" if detail else "", class_="what"),
        ]
        made.append(_details(facts, [_call(one) for one in examples]))
    invalid: Child = element("h3", "Invalid arguments") if made else quiet("No call has invalid arguments.")
    return section(
        "calls",
        "Tools",
        quiet(_checked(source)),
        table("Tools", ("tool", "calls", "invalid", "share"), rows, (1, 2, 3)),
        _left_out(len(rows), len(tools), "tools"),
        invalid,
        made,
        _left_out(len(made), len(problems), "invalid arguments"),
    )


def _checked(source: Source) -> str:
    if source.options["tools_column"]:
        return "Each row has tools of its own; invalid arguments are those that the parser reported."
    if source.options["tools"]:
        return "The arguments of complete calls are compared with the schemas of the tools: names, types, values."
    return "The batch was read without tools, so arguments are not compared with schemas; see `--tools`."


def _tool(name: str) -> Child:
    return code(name if len(name) <= 80 else f"{name[:80]}...") if name else "no name"


def _call(example: CallExample) -> Html:
    text = example.arguments or "the call is not complete"
    return element("div", element("small", example.place), preformatted(text, class_="wrap"), class_="example")


def quarantine(source: Source, tally: Tally) -> Html | None:
    """The rows in quarantine by reason."""
    if not tally.quarantine:
        return None
    made: list[Html] = []
    for kind, count in _ordered(tally.quarantine)[:_KINDS]:
        facts = _facts(code(kind), count, "row", tally.rows + sum(tally.quarantine.values()))
        made.append(_details(facts, [_bad_row(one) for one in tally.quarantined.of(kind)]))
    note = quiet("Rows that could not be read, with what they are, in ", code(f"{source.folder}/quarantine"), ".")
    return section("quarantine", "Quarantine", note, made)


def _bad_row(example: QuarantineExample) -> Html:
    raw = preformatted(example.raw or "(empty)", class_="wrap")
    kind = quiet("in base 64, as it is no UTF-8:") if example.is_base64 else None
    return element("div", _place(example.place, example.id), element("p", example.message), kind, raw, class_="example")


def worst(tally: Tally, count: int) -> Html | None:
    """The rows with the worst damage, each of another kind."""
    found = tally.worst.first(count)
    if not found:
        return None
    made = [_details([_summary(one)], _example(one, whole=True), open_=n == 0) for n, one in enumerate(found)]
    note = quiet("The worst row of each combination of damage: by status, then by errors, then by all that was found.")
    return section("worst", "Worst responses", note, made)


def _summary(example: Example) -> list[Html]:
    codes = dict.fromkeys([frame.code for frame in example.frames])
    return [
        element("span", code(example.place), " ", _tag(example.status), class_="name"),
        element("span", ", ".join(codes), class_="what"),
    ]


def _tag(word: str) -> Html:
    """A status or a severity."""
    return element("span", word, class_=f"tag {word}")


def _example(example: Example, *, whole: bool = False) -> Html:
    """A row with its diagnostics as they are drawn."""
    frames = example.frames if whole else example.frames[:1]
    facts: list[Child] = [_place(example.place, example.id)] if not whole or example.id else []
    if not whole:
        facts.append(_tag(example.status))
    facts += [
        code(example.format) if example.format else element("small", _PLAIN),
        element("small", _number(example.chars, "character")),
    ]
    more = len(example.frames) - len(frames) + example.more_frames
    children: list[Child] = [
        element("p", [[one, " "] for one in facts]),
        [preformatted(one.text, class_=one.severity) for one in frames],
        quiet(_number(more, "more diagnostic")) if more else None,
    ]
    if whole:
        children += _whole(example)
    return element("div", children, class_="example")


def _whole(example: Example) -> list[Child]:
    """The repairs of a row, and what was read of it."""
    edits = [element("li", code(one.code), f" ({one.level}) ", _edit(one)) for one in example.edits]
    more = f"{example.more_edits:,} more" if example.more_edits else None
    found = [
        element("li", kind, [" ", code(name)] if name else None, " ", _tag(s)) for kind, name, s in example.segments
    ]
    rest = f"{example.more_segments:,} more" if example.more_segments else None
    return [
        [element("h4", "Repairs"), element("ul", edits, element("li", more) if more else None)] if edits else None,
        element("h4", "Read as"),
        element("ol", found, element("li", rest) if rest else None, class_="segments") if found else quiet("nothing"),
    ]


def _place(place: str, id: str | None) -> list[Child]:
    return [
        code(place),
        [element("small", " id "), code(id if len(id) <= 80 else f"{id[:80]}...")] if id is not None else None,
    ]


def _details(facts: Iterable[Child], *children: Child, open_: bool = False) -> Html:
    made = element("details", element("summary", facts), *children, class_="row")
    return Html(made.replace("<details", "<details open", 1)) if open_ else made


def _ordered(counts: Counter[Key]) -> list[tuple[Key, int]]:
    """Kinds by their counts, the most frequent first, and by name."""
    return sorted([one for one in counts.items() if one[1]], key=lambda one: (-one[1], one[0]))
