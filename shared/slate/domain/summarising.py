"""A digest of turns by rules alone: deterministic, without a model, in the user's own words.

It fills the fields it knows by name (``intent, entities, confirmed, outstanding, decisions, sentiment``) as far as the
tenant's schema has them; a field it does not know stays away, or empty where the schema requires it. What it says it
quotes, so that it makes nothing up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue

from slate.domain.segments import confirms, proposes
from slate.domain.sessions import Speaker, Turn
from slate.domain.summary_schema import Schema, mistakes
from slate.domain.surviving import Kind, checked, figures
from slate.domain.words import sentences

RULES: Final = "rules-1"
"""Names this digester, and its version, on what it makes."""
MAX_LISTED: Final = 8
MAX_QUOTE: Final = 240

_WANTS: Final = re.compile(
    r"\?\s*$|\b(i (want|need|would like|'d like|am looking|'m looking)|can you|could you|please|let'?s|let us|"
    r"help me|how (do|can|to)|tell me|show me|ich (will|brauche|möchte|suche)|können sie|kannst du|"
    r"bitte|wir (wollen|brauchen))\b",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"\b(i am|i'm|i have|i've|i like|i liked|i prefer|i love|i hate|i live|i work|i use|my |we are|we're|we have|"
    r"we use|our |it is|it's|the \w+ (is|are|was|must)|ich bin|ich habe|ich mag|mein|wir sind|wir haben|unser|我|我们)",
    re.IGNORECASE,
)
_DECIDES: Final = re.compile(
    r"\b(let'?s go with|we('ll| will) (go with|use|take)|i('ll| will) (take|go with|use)|decided|we agreed|"
    r"agreed (on|to)|final(ly|ised|ized)?|chosen|choose|settled on|approved|wir nehmen|entschieden|"
    r"beschlossen|einigen)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(still (need|have to|waiting|open)|waiting (for|on)|to ?do|later|not yet|pending|get back to|"
    r"need to (check|ask)|remind me|noch (offen|nicht)|später|ausstehend)\b",
    re.IGNORECASE,
)
_GLAD: Final = re.compile(
    r"\b(thanks?|great|perfect|love|excellent|awesome|happy|good|wonderful|danke|super|toll|prima|谢谢)\b",
    re.IGNORECASE,
)
_SORRY: Final = re.compile(
    r"\b(angry|annoy\w+|bad|terrible|awful|disappoint\w+|frustrat\w+|wrong|broken|complain\w*|unhappy|useless|hate|worst|"
    r"schlecht|ärger\w*|enttäuscht|kaputt|falsch)\b",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(r"\b(?=[A-Za-z-]*\d)[A-Za-z]+-?\d[\w-]*\b|\b[\w.+-]+@[\w-]+\.[\w.]+\b|#\d+\b")
_NAME: Final = re.compile(r"(?<=[a-zäöüß,] )(?!I\b|I')[A-ZÄÖÜ][\w'-]+(?: [A-ZÄÖÜ][\w'-]+)*")


def digest(turns: Sequence[Turn], schema: Schema) -> dict[str, JsonValue]:
    """The fields of a digest of these turns, as the schema wants them."""
    known = _properties(schema)
    made: dict[str, JsonValue] = {}
    for name, inner in known.items():
        value = _FIELDS[name](turns) if name in _FIELDS else None
        if value is not None and not mistakes(inner, value):
            made[name] = value
    required = schema.get("required")
    missing = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    return {**{each: _empty(known.get(each, {})) for each in missing}, **made}


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _empty(schema: Mapping[str, Any]) -> JsonValue:
    options = schema.get("enum")
    if isinstance(options, list):
        return "neutral" if "neutral" in options else cast("JsonValue", options[0])
    empties: dict[str, JsonValue] = {"array": [], "object": {}, "number": 0, "integer": 0, "boolean": False}
    return empties.get(str(schema.get("type")), "")


def _said(turns: Sequence[Turn], *roles: Speaker) -> list[str]:
    return [sentence for turn in turns if turn.role in roles for sentence in sentences(turn.content)]


def _intent(turns: Sequence[Turn]) -> JsonValue:
    said = _said(turns, Speaker.USER)
    wanted = [sentence for sentence in said if _WANTS.search(sentence)]
    return _quote((wanted or said or [""])[0])


def _entities(turns: Sequence[Turn]) -> JsonValue:
    found: dict[str, dict[str, None]] = {}
    for sentence in _said(turns, Speaker.USER, Speaker.ASSISTANT):
        for kind, name in ((Kind.AMOUNT, "amounts"), (Kind.DATE, "dates")):
            found.setdefault(name, {}).update(dict.fromkeys(figures(sentence, kind)))
        found.setdefault("ids", {}).update(dict.fromkeys(_IDENTIFIER.findall(sentence)))
    for sentence in _said(turns, Speaker.USER):
        found.setdefault("names", {}).update(dict.fromkeys(_NAME.findall(sentence)))
    other = {word for name in ("dates", "ids") for each in found.get(name, ()) for word in each.split()}
    found["names"] = {name: None for name in found.get("names", ()) if name not in other}
    return {name: [*list(values)[:MAX_LISTED]] for name, values in found.items() if values}


def _confirmed(turns: Sequence[Turn]) -> JsonValue:
    said = _said(turns, Speaker.USER)
    stated = [s for s in said if (_STATES.search(s) or checked(s)) and not (_WANTS.search(s) or _DECIDES.search(s))]
    # What says most of what may not be lost first; in the order in which it was said.
    most = sorted(stated, key=lambda sentence: -len(checked(sentence)))[:MAX_LISTED]
    return _listed([sentence for sentence in stated if sentence in most])


def _outstanding(turns: Sequence[Turn]) -> JsonValue:
    answered = max((turn.seq for turn in turns if turn.role is Speaker.ASSISTANT), default=0)
    asked = [s for turn in turns if turn.seq > answered for s in sentences(turn.content) if s.endswith(("?", "\uff1f"))]
    last = next((turn for turn in reversed(turns) if turn.role in (Speaker.USER, Speaker.ASSISTANT)), None)
    if last is not None and last.role is Speaker.ASSISTANT:
        asked += [s for s in sentences(last.content) if s.endswith(("?", "\uff1f"))]
    return _listed([*(s for s in _said(turns, Speaker.USER) if _OPEN.search(s)), *asked])


def _decisions(turns: Sequence[Turn]) -> JsonValue:
    found = [(turn.seq, s) for turn in turns if turn.role is Speaker.USER for s in sentences(turn.content)]
    decided = [(seq, s) for seq, s in found if _DECIDES.search(s) and not s.endswith("?")]
    proposal: str | None = None
    for turn in turns:
        if turn.role is Speaker.ASSISTANT and not turn.tool_calls:
            proposal = next((s for s in sentences(turn.content) if proposes(s)), None)
        elif turn.role is Speaker.USER:
            if proposal is not None and confirms(turn.content):
                decided.append((turn.seq, f"{_quote(proposal)} {_quote(turn.content)}"))
            proposal = None
    return _listed([sentence for _, sentence in sorted(decided)])


def _sentiment(turns: Sequence[Turn]) -> JsonValue:
    said = _said(turns, Speaker.USER)
    balance = sum(len(_GLAD.findall(s)) - len(_SORRY.findall(s)) for s in said)
    return "positive" if balance > 0 else "negative" if balance < 0 else "neutral"


_FIELDS: Final[Mapping[str, Callable[[Sequence[Turn]], JsonValue]]] = {
    "intent": _intent,
    "entities": _entities,
    "confirmed": _confirmed,
    "outstanding": _outstanding,
    "decisions": _decisions,
    "sentiment": _sentiment,
}


def _listed(said: Sequence[str]) -> JsonValue:
    return [*[_quote(sentence) for sentence in dict.fromkeys(said)][:MAX_LISTED]]


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_QUOTE else flat[: MAX_QUOTE - 1].rstrip() + "\u2026"
