"""The tables of the comparisons, as documents show them."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import geometric_mean, median
from typing import Any

from .json_texts import GROUPS


def percent(count: int, of: int) -> str:
    """A share; only all of them are 100, and only none 0."""
    share = round(100 * count / of) if of else 0
    return f"{min(max(share, 1 if count else 0), 99 if count < of else 100)} %"


def documents(records: Mapping[str, Any]) -> str:
    """What readers make of JSON documents: by group of texts, and the time of one."""
    record = records["documents"]
    values, peers = record.values, record.peers
    sizes, microseconds = values["texts"], values["microseconds"]
    heads = [f"{group}, {sizes[group]} texts" for group in GROUPS]
    lines = [
        f"| read as meant / wrong and silent | {' | '.join(heads)} | sound, µs | damaged, µs |",
        f"|---|{'---|' * len(heads)}---|---|",
    ]
    for name, groups in values["groups"].items():
        base = name.partition(",")[0]
        shown = f"{base} {peers[base]}{name[len(base) :]}" if base in peers else name
        cells = [_cell(groups[group], sizes[group]) for group in GROUPS]
        spent = [f"{microseconds[of][name]:,.0f}" for of in ("sound", "damaged")]
        lines.append(f"| {shown} | {' | '.join([*cells, *spent])} |")
    return "\n".join(lines)


def _cell(found: dict[str, int], of: int) -> str:
    return f"{percent(found.get('meant', 0), of)} / {percent(found.get('wrong', 0), of)}"


def speed(records: Mapping[str, Any]) -> str:
    """The time of a response with the servers' parsers and with ours: the median of the formats, and the ratios."""
    record = records["speed"]
    lines = [
        "| | formats | theirs, µs | ours in the server, µs | ours alone, µs | theirs / ours in the server "
        "| theirs / ours alone | theirs is faster |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for server, formats in record.values.items():
        for way in ("whole", "streamed"):
            times = [of[way] for of in formats.values() if way in of]
            if not times:
                continue
            medians = [f"{median(sorted(time[i] for time in times)):,.0f}" for i in range(3)]
            ratios = [spread([time[0] / time[i] for time in times]) for i in (1, 2)]
            faster = [sum(time[0] < time[i] for time in times) for i in (1, 2)]
            title = f"{server} {record.peers[server]}, {way}"
            lines.append(f"| {title} | {len(times)} | {' | '.join([*medians, *ratios])} | {faster[0]}, {faster[1]} |")
    return "\n".join(lines)


def spread(ratios: list[float]) -> str:
    """The geometric mean of ratios, and the least and the greatest one."""
    return f"{geometric_mean(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


#: The kinds of texts that are read with response templates.
TEMPLATE_KINDS = {"render": "sound", "damaged": "one wrong character in the markup", "cut": "cut inside the calls"}


def templates(records: Mapping[str, Any]) -> str:
    """What response templates make of tool calls, and the time of a response."""
    record = records["templates"]
    sizes, times = record.values["texts"], record.values["microseconds"]
    heads = [f"{title}, {sizes[kind]} texts" for kind, title in TEMPLATE_KINDS.items()]
    lines = [
        f"| read as meant / wrong and silent | {' | '.join(heads)} | whole, µs | streamed, µs |",
        f"|---|{'---|' * len(heads)}---|---|",
    ]
    for name, ways in record.values["readers"].items():
        shown = f"{name} {record.peers[name]}" if name in record.peers else name
        cells = [_cell(ways["whole"].get(kind, {}), sizes[kind]) for kind in TEMPLATE_KINDS]
        spent = [f"{geometric_mean(times[name][way]):,.0f}" for way in ("whole", "streamed")]
        lines.append(f"| {shown} | {' | '.join([*cells, *spent])} |")
    if names := record.values["not_loaded"]:
        told = ", ".join([f"`{name}`" for name in names])
        lines += ["", f"`load_format` cannot express the templates of {told}, which transformers takes."]
    return "\n".join(lines)


# --- The short table


def comparison(records: Mapping[str, Any]) -> str:
    """All others beside ours: what becomes of damaged and cut texts, the time of one, and where they are better."""
    rows = [*_server_rows(records), _template_row(records), *_document_rows(records)]
    return "\n".join(
        [
            "| theirs / ours | damaged: read as meant | damaged: wrong in silence | cut: wrong in silence "
            "| µs, whole | µs, streamed | where theirs is better |",
            "|---|---|---|---|---|---|---|",
            *[f"| {' | '.join(row)} |" for row in rows],
            "",
            f"Measured {_when(records)} by `python -m tools.figures --all`. *In silence*: another value or a missing "
            "call, and nothing that says so. Times are for sound responses, and for damaged documents of JSON. "
            "[What was read and how it is counted](tools/README.md#comparison-with-others).",
        ]
    )


def _when(records: Mapping[str, Any]) -> str:
    """The date and the machine of the figures of the short table, which may be several."""
    used = [records[name] for name in ("servers", "speed", "templates", "documents")]
    dates, machines = (sorted({getattr(record, name) for record in used}) for name in ("date", "machine"))
    between = dates[0] if len(dates) == 1 else f"between {dates[0]} and {dates[-1]}"
    return f"{'on ' * (len(dates) == 1)}{between} with {' and '.join(machines)}"


def _pair(theirs: float, ours: float, of: int) -> str:
    return f"{percent(int(theirs), of)} / {percent(int(ours), of)}"


def _server_rows(records: Mapping[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for server, found in records["servers"].values.items():
        damaged, cut = found["damaged"], found["cut"]
        times = records["speed"].values[server]
        medians = {way: [median([of[way][i] for of in times.values() if way in of]) for i in range(3)] for way in WAYS}
        slower = [f"{way} {t:,.0f} / {o:,.0f} µs" for way, (t, o, _) in medians.items() if t < o]
        inside = f"faster than our plug-in in the server ({', '.join(slower)}); " if slower else ""
        streams = [of["streamed"] for of in times.values() if "streamed" in of]
        if count := sum(time[0] < time[2] for time in streams):
            inside += f"streams faster in {count} of {len(streams)} formats; "
        rows.append(
            [
                f"{server} {records['servers'].peers[server]}, {found['formats']} formats",
                _pair(damaged["theirs"], damaged["ours"], damaged["texts"]),
                _pair(_silent(damaged["their_others"]), _silent(damaged["our_others"]), damaged["texts"]),
                _pair(_silent(cut["their_others"]), _silent(cut["our_others"]), cut["texts"]),
                *[f"{medians[way][0]:,.0f} / {medians[way][2]:,.0f}" for way in WAYS],
                f"{inside}{BETTER[server]}",
            ]
        )
    return rows


def _silent(others: Mapping[str, int]) -> int:
    return others.get("wrong", 0) + others.get("lost", 0)


def _template_row(records: Mapping[str, Any]) -> list[str]:
    record = records["templates"]
    name, sizes, times = "transformers", record.values["texts"], record.values["microseconds"]
    theirs, ours = (record.values["readers"][of]["whole"] for of in (name, "Outspoken"))
    return [
        f"{name} {record.peers[name]}, {len(record.formats)} response templates",
        *[
            _pair(theirs[kind].get(what, 0), ours[kind].get(what, 0), sizes[kind])
            for kind, what in (("damaged", "meant"), ("damaged", "wrong"), ("cut", "wrong"))
        ],
        *[f"{median(times[name][way]):,.0f} / {median(times['Outspoken'][way]):,.0f}" for way in WAYS],
        BETTER[name],
    ]


def _document_rows(records: Mapping[str, Any]) -> list[list[str]]:
    record = records["documents"]
    groups, sizes, times = record.values["groups"], record.values["texts"], record.values["microseconds"]
    of = sum(sizes[group] for group in DAMAGED)

    def all_of(name: str, what: str) -> int:
        return sum(groups[name][group].get(what, 0) for group in DAMAGED)

    return [
        [
            f"{name} {record.peers[name]}, JSON",
            *[_pair(all_of(name, what), all_of("Outspoken", what), of) for what in ("meant", "wrong")],
            _pair(groups[name]["cut"].get("wrong", 0), groups["Outspoken"]["cut"].get("wrong", 0), sizes["cut"]),
            f"{times['damaged'][name]:,.0f} / {times['damaged']['Outspoken']:,.0f}",
            "–",
            BETTER[name].format(
                sound=f"{times['sound'][name]:,.0f} / {times['sound']['Outspoken']:,.0f} µs",
                types=_pair(
                    groups[name]["types"].get("meant", 0), groups["Outspoken"]["types"].get("meant", 0), sizes["types"]
                ),
            ),
        ]
        for name in record.peers
    ]


WAYS = ("whole", "streamed")
#: The groups of documents that are damaged.
DAMAGED = ("records", "structure", "strings")
#: What speaks for the others. What is measured stands in braces.
BETTER = {
    "vLLM": "needs no plug-in; its parsers get token ids, which tell a marker from text that looks like one",
    "SGLang": "needs no plug-in",
    "transformers": "streams faster; the template comes with the checkpoint",
    "json-repair": "sound JSON ({sound}); with a schema it converts types",
    "BAML": "converts values to the schema's types and words ({types}); writes prompts and clients",
    "Instructor": "refuses what it cannot validate, and asks the model again; converts types ({types})",
}
