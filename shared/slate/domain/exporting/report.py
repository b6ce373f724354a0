"""Lines of an export as a page that a person reads: one HTML file, without a script, that loads nothing.

Every text is escaped, wherever it stands; no text of an export becomes an attribute, an address or a style. The page
forbids itself all else by its Content-Security-Policy, so that an opened file stays as harmless as a printed one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

from pydantic import JsonValue

from slate.domain.exporting.records import ENDING, OPENING, Provenance, Record
from slate.domain.instants import format_instant

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
SHOWN_CHARACTERS: Final = 20_000
"""Of one text; the whole of it stands in the line."""


class _Kind(NamedTuple):
    """How lines of a kind are shown: under which heading, and which field is the thing itself."""

    heading: str
    says: str
    names: str = ""
    """The fields that stand before it."""


_ABOUT: Final[Mapping[str, _Kind]] = {
    "fact": _Kind("Facts", "statement", "state category"),
    "earlier_fact": _Kind("What facts said before they were edited", "statement", "category"),
    "quarantined": _Kind("Held back: not taken for true", "statement", "state"),
    "consents": _Kind("Consent", ""),
    "notice": _Kind("Notices", "text"),
    "forgetting": _Kind("The forgetting log", "reason", "rule"),
    "queries": _Kind("What was asked about the person lately", ""),
    "episode": _Kind("Episodes: what was done", "task"),
    "context": _Kind("Contexts: what agents were given", "", "agent"),
    "extraction": _Kind("Extractions: what was learned, and from what", "", "state"),
    "material": _Kind("Conversations that are still to be learned from", ""),
    "api_key": _Kind("Keys that are bound to the person", "key_id", "agent"),
}
_SESSION: Final[Mapping[str, _Kind]] = {
    "session": _Kind("The session", ""),
    "system": _Kind("System message", "system"),
    "pinned": _Kind("Pinned", ""),
    "summary": _Kind("Summary", ""),
    "segment": _Kind("Summaries of its segments", ""),
    "turn": _Kind("What was said", "content", "role"),
    "value": _Kind("Values", "key"),
    "earlier_value": _Kind("Earlier values", "key"),
}
_GRAPH: Final[Mapping[str, _Kind]] = {
    "graph": _Kind("The goal", "goal", "state"),
    "task": _Kind("Tasks", "title", "state"),
    "value": _SESSION["value"],
    "earlier_value": _SESSION["earlier_value"],
}
_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --dim: #777; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin-bottom: .3rem; }
article { border-left: 3px solid var(--line); margin: .8rem 0; padding: .1rem 0 .1rem .9rem; }
article > p { margin: .2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
small, dt { color: var(--dim); } dl { margin: .2rem 0 .2rem .5rem; }
dd { margin-left: 1.2rem; overflow-wrap: anywhere; }
dt { float: left; clear: left; margin-right: .5rem; } dd dl { clear: left; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
@media print { details { display: block; } body { font-size: 11pt; margin: 0; } article { break-inside: avoid; } }
"""


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def report(records: Iterable[Record], *, part: str = "", shown: int = SHOWN_CHARACTERS) -> str:
    """These lines as one page; ``part`` says which of several it is, ``shown`` how much of a text it has."""
    return _Writer(shown).page(list(records), part)


class _Writer:
    """Puts a page together; every text goes through ``text``."""

    def __init__(self, shown: int) -> None:
        self._shown = shown

    def page(self, kept: Sequence[Record], part: str) -> str:
        subject = next((str(each.data.get("subject")) for each in kept if each.kind == OPENING), "")
        title = self.text(f"What is kept about {subject}" if subject else "What is kept, continued")
        body = [f"<h1>{title}</h1>", *self._head(kept, part)]
        body += [self._section("h2", _ABOUT[kind], some) for kind, some in _by_kind(kept, _ABOUT)]
        body += self._owned(kept, "Session", _SESSION, lambda each: each.provenance.session)
        body += self._owned(kept, "Graph", _GRAPH, lambda each: each.provenance.graph)
        for each in kept:
            if each.kind == ENDING:
                body.append(f"<h2>What no line has, and why</h2>{self.value(each.data.get('left_out'))}")
        return _PAGE.format(policy=escape(POLICY), title=title, style=_STYLE, body="\n".join(body))

    def _head(self, kept: Sequence[Record], part: str) -> list[str]:
        """What this is, when it was made, and how much of each kind it has."""
        said = [f"As of {each.data.get('as_of')}, export {each.id}." for each in kept if each.kind == OPENING]
        lines = [f"<p>{self.text(' '.join([*said, part]))}</p>"] if said or part else []
        counted = [self.value(each.data.get("lines")) for each in kept if each.kind == ENDING]
        return [*lines, *(f"<h2>How much of it there is</h2>{each}" for each in counted)]

    def _owned(
        self,
        kept: Iterable[Record],
        name: str,
        kinds: Mapping[str, _Kind],
        owner_of: Callable[[Record], str | None],
    ) -> list[str]:
        """What belongs to each session, or each graph, under a heading of its own."""
        by_owner: defaultdict[str, list[Record]] = defaultdict(list)
        for each in kept:
            owner = owner_of(each)
            if owner is not None and each.kind in kinds:
                by_owner[owner].append(each)
        written: list[str] = []
        for owner, some in by_owner.items():
            written.append(f"<h2>{self.text(f'{name} {owner}')}</h2>")
            written += [self._section("h3", kinds[kind], of) for kind, of in _by_kind(some, kinds)]
        return written

    def _section(self, level: str, kind: _Kind, some: Iterable[Record]) -> str:
        return "\n".join([f"<{level}>{kind.heading}</{level}>", *(self._article(each, kind) for each in some)])

    def _article(self, record: Record, kind: _Kind) -> str:
        named = kind.names.split()
        above = " · ".join(str(record.data[name]) for name in named if record.data.get(name))
        says = str(record.data.get(kind.says) or "") if kind.says else ""
        rest = self.value({name: each for name, each in record.data.items() if name not in (*named, kind.says)})
        if says and rest:
            rest = f"<details><summary><small>all of it</small></summary>{rest}</details>"
        head = f"<small>{self.text(above)}</small>" if above else ""
        told = f"<p>{self.text(says)}</p>" if says else ""
        return f"<article>{head}{told}{rest}<small>{self.text(origin(record.provenance))}</small></article>"

    def value(self, value: JsonValue) -> str:
        """A value of any shape; what is empty is not shown."""
        if isinstance(value, dict):
            rows = [(name.replace("_", " "), self.value(each)) for name, each in value.items()]
            listed = "".join(f"<dt>{self.text(name)}</dt><dd>{each}</dd>" for name, each in rows if each)
            return f"<dl>{listed}</dl>" if listed else ""
        if isinstance(value, list):
            listed = "".join(f"<li>{each}</li>" for each in map(self.value, value) if each)
            return f"<ul>{listed}</ul>" if listed else ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "" if value is None or value == "" else self.text(str(value))

    def text(self, text: str) -> str:
        """A text, escaped; of a long one the beginning."""
        left_out = len(text) - self._shown
        if left_out > 0:
            text = f"{text[: self._shown]} [... {left_out:,} characters more in the NDJSON]"
        return escape(text)


def _by_kind(kept: Iterable[Record], kinds: Mapping[str, _Kind]) -> list[tuple[str, list[Record]]]:
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for each in kept:
        found[each.kind].append(each)
    return [(kind, found[kind]) for kind in kinds if found[kind]]


def origin(made: Provenance) -> str:
    """Where something comes from, in words."""
    parts = [f"kept in {made.store}"]
    parts += [] if made.at is None else [f"written {format_instant(made.at)}"]
    parts += [f"by {made.agent}"] if made.agent else []
    if made.session:
        parts.append(f"from session {made.session}" + ("" if made.seq is None else f", turn {made.seq}"))
    parts += [f"of graph {made.graph}"] if made.graph else []
    parts += [f"out of {made.source}"] if made.source else []
    parts += [f"made by {made.rule}"] if made.rule else []
    return "; ".join(parts)
