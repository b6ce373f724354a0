"""Writes the reply from findings, in the customer's language, and reviews it against what it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from facts import all_facts, say_amount, say_date, strings_in
from reading import NO_ORDER, Reading, Ticket

_AMOUNTS: Final = frozenset({"amount", "total", "charged"})
_DATES: Final = frozenset({"first", "second", "promised", "shipped", "delivered", "until", "on"})
LETTERS: Final[Mapping[str, Mapping[str, str]]] = json.loads(
    Path(__file__).with_name("letters.json").read_text(encoding="utf-8")
)
"""A code of a finding, a language, and how that is put."""


def write(ticket: Ticket, reading: Reading, findings: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The reply, and what it amounts to; spam is closed without one."""
    if reading.spam:
        return {"outcome": "closed_as_spam", "language": reading.language, "subject": "", "text": ""}
    said = [_say(finding, reading.language) for finding in findings]
    body = list(dict.fromkeys(said)) or [_say({"code": "ask_details"}, reading.language)]
    greeting = {"code": "greeting", "name": reading.name} if reading.name else {"code": "greeting_nobody"}
    mood = {"angry": "sorry", "friendly": "glad"}.get(reading.mood)
    parts = [
        _say(greeting, reading.language),
        *([_say({"code": mood}, reading.language)] if mood else []),
        *body,
        _say({"code": "closing"}, reading.language),
    ]
    return {
        "outcome": "answered" if findings else "asked_for_details",
        "language": reading.language,
        "subject": _say({"code": "subject", "ticket": ticket.ticket_id}, reading.language),
        "text": "\n\n".join(parts),
    }


def review(
    reply: Mapping[str, Any], reading: Reading, grounds: Iterable[Mapping[str, Any]], as_of: date
) -> dict[str, Any]:
    """Whether a reply may go: every fact in it stands in the grounds, and every order asked about is spoken of."""
    known = all_facts("\n".join(text for ground in grounds for text in strings_in(ground)), as_of)
    stated = all_facts(str(reply["text"]), as_of)
    unsupported = sorted(stated - known)
    asked = [] if reading.spam else [order for order in reading.concerns if order != NO_ORDER]
    unanswered = [order for order in asked if order not in stated]
    return {
        "approved": not unsupported and not unanswered,
        "facts_checked": len(stated),
        "unsupported": unsupported,
        "unanswered": unanswered,
    }


def _say(finding: Mapping[str, str], language: str) -> str:
    facts = {name: _in_words(name, fact, language) for name, fact in finding.items()}
    return LETTERS[finding["code"]][language].format_map(facts)


def _in_words(name: str, fact: str, language: str) -> str:
    if name in _AMOUNTS:
        return say_amount(fact, language)
    return say_date(fact, language) if name in _DATES else fact
