"""Digests as text, within their budgets, and merged: the newest wins, and what may not be lost stays.

A merged digest is made of the segments' digests and of nothing else, so that it can be made again at any time. Once it
outgrows its budget the oldest segments become a line each, then a line together; their digests stay retrievable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue

from slate.domain.sessions import DIGESTED_FROM, Folded, Merged, Segment, Speaker, Summary, Turn
from slate.domain.surviving import gathered, missing, weight
from slate.domain.tokens import Count
from slate.domain.words import folded

LEAST_FIELDS_SHARE: Final = 4
"""A quarter of a digest's budget is its fields', however much is kept word for word."""
KEPT_SHARE: Final = 3
"""What is kept word for word may take so many times the budget of a digest."""
LINES_SHARE: Final = 4
"""The lines of folded segments take at most a quarter of the merged digest's budget."""
LINE_CHARS: Final = 120
_SETTLED_BY: Final = ("confirmed", "decisions")
_OPEN: Final = "outstanding"


# ---- one segment


def quotable(turns: Sequence[Turn]) -> list[Turn]:
    """The turns that a digest quotes: not tools' output, which is kept by its mark, and not what matters too little."""
    return [t for t in turns if t.importance >= DIGESTED_FROM and t.role in (Speaker.USER, Speaker.ASSISTANT)]


def left_out(turns: Sequence[Turn]) -> tuple[int, ...]:
    """The turns of too little importance for a digest."""
    return tuple(turn.seq for turn in turns if turn.importance < DIGESTED_FROM)


def compose(
    turns: Sequence[Turn], segment: Segment, drafted: dict[str, JsonValue], *, made_by: str, budget: int, count: Count
) -> Summary:
    """A segment's digest: the fields as drafted, cut to the budget, and word for word what they would lose.

    What may not be lost goes before the budget, up to ``KEPT_SHARE`` times of it; what not even that holds is the
    least grave, and stays retrievable with its turn.
    """
    source = [turn.content for turn in quotable(turns)]
    room, fields, kept = budget, drafted, tuple[str, ...]()
    for _ in range(3):
        fields = _cut(drafted, room, count)
        kept = _bounded(gathered(missing("\n".join(field_lines(fields)), source)), budget * KEPT_SHARE, count)
        left = max(budget - count("\n".join(kept)), budget // LEAST_FIELDS_SHARE)
        if left >= room:
            break
        room = left
    summary = Summary(
        segment=segment.number,
        first_seq=segment.first_seq,
        last_seq=segment.last_seq,
        fields=fields,
        kept=kept,
        left_out=left_out(turns),
        tokens=0,
        made_by=made_by,
    )
    return summary.model_copy(update={"tokens": count("\n".join(lines_of(summary)))})


def field_lines(fields: dict[str, JsonValue]) -> list[str]:
    """Fields as lines, a line for each thing said; what is empty is left out."""
    return [line for name, value in fields.items() for line in _lines(name, value)]


def lines_of(summary: Summary) -> list[str]:
    """A digest as lines."""
    return [*field_lines(summary.fields), *summary.kept]


def _lines(name: str, value: JsonValue) -> list[str]:
    if value in ("", None, [], {}):
        return []
    if isinstance(value, list):
        return [f"{name}: {_flat(each)}" for each in value if each not in ("", None, [], {})]
    if isinstance(value, dict):
        return [f"{name}: " + "; ".join(f"{key}: {_flat(each)}" for key, each in value.items())]
    return [f"{name}: {_flat(value)}"]


def _flat(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_flat(each)}" for key, each in value.items())
    return " ".join(str(value).split())


def _cut(fields: dict[str, JsonValue], budget: int, count: Count) -> dict[str, JsonValue]:
    """Fields within a budget: lists lose their last entries, the longest list first; then texts their ends."""
    cut: dict[str, JsonValue] = dict(fields)
    while count("\n".join(field_lines(cut))) > budget:
        sizes = {name: len(v) for name, v in cut.items() if isinstance(v, (list, dict)) and v}
        if sizes:
            name = max(sizes, key=lambda each: sizes[each])
            value = cut[name]
            cut[name] = value[:-1] if isinstance(value, list) else _without_last(value)
            continue
        texts = {name: len(v) for name, v in cut.items() if isinstance(v, str) and len(v) > LINE_CHARS}
        if not texts:
            break
        name = max(texts, key=lambda each: texts[each])
        cut[name] = str(cut[name])[: LINE_CHARS - 1] + "\u2026"
    return cut


def _without_last(value: JsonValue) -> JsonValue:
    return dict(list(value.items())[:-1]) if isinstance(value, dict) else value


def _bounded(sentences: Sequence[str], budget: int, count: Count) -> tuple[str, ...]:
    """As many as fit, the gravest first; in the order in which they were said."""
    chosen: set[str] = set()
    left = budget
    for sentence in sorted(sentences, key=weight):
        cost = count(sentence)
        if cost <= left:
            chosen.add(sentence)
            left -= cost
    return tuple(sentence for sentence in sentences if sentence in chosen)


# ---- all segments


def merged_lines(merged: Merged) -> list[str]:
    """A merged digest as lines: folded segments first, as they are the oldest."""
    return [*(each.line for each in merged.folded), *field_lines(merged.fields), *merged.kept]


def listed(segments: Sequence[Segment], merged: Merged) -> list[Summary]:
    """The digests there are, each with its segment's edition, and whether the merged digest shows it as a line."""
    last_folded = max((line.segment for line in merged.folded), default=0)
    return [
        segment.summary.model_copy(update={"folded": segment.number <= last_folded, "version": segment.edition})
        for segment in segments
        if segment.summary is not None
    ]


def merge(summaries: Sequence[Summary], *, budget: int, count: Count) -> Merged:
    """All digests as one: of the newest that there are, oldest first; what was before them is named by a line.

    The newest segment is never folded. ``last_seq`` and ``version`` are the caller's to set.
    """
    first = _first_whole(summaries, budget)
    while True:
        made = _joined(summaries[:first], summaries[first:], budget, count)
        if made.tokens <= budget or first >= len(summaries) - 1:
            return made
        first += 1


def _first_whole(summaries: Sequence[Summary], budget: int) -> int:
    """Where to begin trying: digests of twice the budget together will not fit, however much they have in common."""
    tokens = 0
    for place in reversed(range(len(summaries))):
        tokens += summaries[place].tokens
        if tokens > 2 * budget:
            return min(place + 1, len(summaries) - 1)
    return 0


def _joined(old: Sequence[Summary], whole: Sequence[Summary], budget: int, count: Count) -> Merged:
    fields: dict[str, JsonValue] = {}
    for summary in whole:
        fields = _with(fields, summary)
    kept = list(dict.fromkeys(sentence for summary in whole for sentence in summary.kept))
    # What the newest pushed out may hold a number that stands nowhere else.
    text = "\n".join([*field_lines(fields), *kept])
    kept += missing(
        text, [saying for summary in whole for each in summary.fields.values() for saying in _sayings(each)]
    )
    merged = Merged(
        fields=fields,
        kept=tuple(kept),
        folded=_lines_for(old, whole[0] if whole else None, budget // LINES_SHARE, count),
        segments=tuple(summary.segment for summary in (*old, *whole)),
    )
    return merged.model_copy(update={"tokens": count("\n".join(merged_lines(merged)))})


def _with(fields: dict[str, JsonValue], summary: Summary) -> dict[str, JsonValue]:
    """A newer digest's fields over older ones: texts and members replaced, lists joined, what is settled not open."""
    made = {name: _newest(fields.get(name), value) for name, value in summary.fields.items()}
    joined = {**fields, **made}
    settled = {_same(each) for name in _SETTLED_BY for each in _list(summary.fields.get(name))}
    now_open = {_same(each) for each in _list(summary.fields.get(_OPEN))}
    if isinstance(open_ones := joined.get(_OPEN), list):
        joined[_OPEN] = [each for each in open_ones if _same(each) in now_open or _same(each) not in settled]
    return joined


def _newest(old: JsonValue, new: JsonValue) -> JsonValue:
    if isinstance(old, list) and isinstance(new, list):
        known = {_same(each) for each in new}
        return [*(each for each in old if _same(each) not in known), *new]
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{name: _newest(old.get(name), value) for name, value in new.items()}}
    return old if new in ("", None, [], {}) else new


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _same(value: JsonValue) -> str:
    return folded(_flat(value)).strip(" .!?")


def _sayings(value: JsonValue) -> Iterable[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            # A figure by itself says nothing: it goes with the name of what it is.
            yield from _sayings(each) if isinstance(each, (dict, list)) else (f"{name}: {_flat(each)}",)
    elif isinstance(value, list):
        for each in value:
            yield from _sayings(each)
    elif value not in ("", None):
        yield _flat(value)


def _lines_for(old: Sequence[Summary], first_whole: Summary | None, budget: int, count: Count) -> tuple[Folded, ...]:
    """A line for each folded segment, the newest first to get one; those without together."""
    lines: list[Folded] = []
    left = budget
    for summary in reversed(old):
        line = _line(summary)
        left -= count(line)
        if left < 0:
            break
        lines.append(Folded(segment=summary.segment, line=line))
    shown = [*old[len(old) - len(lines) :], *([first_whole] if first_whole else [])]
    before = shown[0] if shown else None
    if before is not None and before.segment > 1:
        last = before.segment - 1
        together = (
            f"segments 1 to {last} (turns 1 to {before.first_seq - 1}): no longer shown here; each has its summary"
        )
        lines.append(Folded(segment=last, line=together))
    return tuple(reversed(lines))


def _line(summary: Summary) -> str:
    said = field_lines(summary.fields) or list(summary.kept) or ["nothing to report"]
    intent = summary.fields.get("intent")
    about = " ".join((intent if isinstance(intent, str) and intent else said[0]).split())
    short = about if len(about) <= LINE_CHARS else about[: LINE_CHARS - 1] + "\u2026"
    return f"segment {summary.segment} (turns {summary.first_seq} to {summary.last_seq}): {short}"
