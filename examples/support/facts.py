"""Facts in a text: order numbers, amounts, dates, invoices, parcels; a fact has one form, whatever the language.

``orders("Bestellung Nr. 48225")`` is ``["SO-48225"]``; ``amounts("1.299,00 €")`` is ``["1299.00 EUR"]``;
``dates("2. März")`` is ``["2026-03-02"]`` in that year. ``say_amount`` and ``say_date`` write them in a customer's
language, and what they write is read back as the same fact: the review of a reply rests on that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero",
            "february feb februar février fevrier febrero",
            "march mar märz maerz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août aout agosto",
            "september sept sep septembre septiembre",
            "october oct oktober octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember décembre decembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
MONTH: Final = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + ")"

_ORDER = re.compile(
    r"\b(?:SO|ORD)[-\s#]?(\d{4,8})\b"
    r"|\b(?:orders?|purchase|bestellung|auftrag|commande|pedido)\b"
    r"(?:\s*(?:id|no\.?|nr\.?|n[°º.]|number|nummer|numéro|número))?\s*[:#]?\s*(\d{4,8})\b(?![-/.]\d)"
    r"|(?<!\w)#(\d{4,8})\b",
    re.IGNORECASE,
)
_NUMBER = r"\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3})+(?:[.,]\d{2})?(?!\d)|\d+(?:[.,]\d{1,2})?(?!\d)"
_GAP = "[ \u00a0\u202f]?"
_CURRENCY = r"€|EUR\b|euros?\b|US\$|\$|USD\b|dollars?\b|£|GBP\b|pounds?\b"
_AMOUNT = re.compile(
    rf"(?P<before>{_CURRENCY}){_GAP}(?P<n1>{_NUMBER})|(?<![\d.,])(?P<n2>{_NUMBER}){_GAP}(?P<after>{_CURRENCY})",
    re.IGNORECASE,
)
_CODES = {"€": "EUR", "e": "EUR", "$": "USD", "u": "USD", "d": "USD", "£": "GBP", "g": "GBP", "p": "GBP"}
_DATE = re.compile(
    r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
    r"|(?<![\d.,])(?P<d1>\d{1,2})\.(?P<m1>\d{1,2})\.(?P<y1>\d{4})?(?!\d)"
    r"|(?<![\d/])(?P<d2>\d{1,2})/(?P<m2>\d{1,2})/(?P<y2>\d{4})(?!\d)"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+|d')?(?P<m3>{MONTH})\b(?:,?\s+(?:de\s+)?(?P<y3>\d{{4}})\b)?"
    rf"|\b(?P<m4>{MONTH})\.?\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<y4>\d{{4}})\b)?",
    re.IGNORECASE,
)
_INVOICE = re.compile(r"\bINV-\d{4}-\d+\b")
_PARCEL = re.compile(r"\b(?=[0-9A-Z]{10,22}\b)(?=(?:[A-Z]*\d){8})[0-9A-Z]+\b")
_AHEAD = timedelta(days=60)


def orders(text: str) -> list[str]:
    """Order numbers, each once, in the order of their mention; a postal code or a bare number is none."""
    return _unique(f"SO-{next(filter(None, match.groups()))}" for match in _ORDER.finditer(text))


def amounts(text: str) -> list[str]:
    """Amounts that name their currency, as ``89.90 EUR``."""
    return _unique(_amount(match) for match in _AMOUNT.finditer(text))


def dates(text: str, as_of: date) -> list[str]:
    """Dates, as ``2026-03-02``; without a year, the one that is at most 60 days ahead of ``as_of``.

    ``03/04/2026`` is the 3rd of April, unless that is no date.
    """
    return _unique(day.isoformat() for match in _DATE.finditer(text) if (day := _date(match, as_of)) is not None)


def all_facts(text: str, as_of: date) -> set[str]:
    """Every fact that can be right or wrong."""
    return {
        *orders(text),
        *amounts(text),
        *dates(text, as_of),
        *_INVOICE.findall(text),
        *_PARCEL.findall(text),
    }


def say_amount(amount: str, language: str) -> str:
    """An amount as a reader of the language expects it: ``1,299.00 USD``, ``1.299,00 EUR``, ``1 299,00 EUR``."""
    number, currency = amount.split()
    english = f"{Decimal(number):,.2f}"
    group = {"de": ".", "es": ".", "fr": "\u00a0"}.get(language)
    if group is not None:
        whole, cents = english.split(".")
        return f"{whole.replace(',', group)},{cents} {currency}"
    return f"{english} {currency}"


def say_date(day: str, language: str) -> str:
    """A date as a reader of the language expects it: ``2 March 2026``, ``02.03.2026``, ``02/03/2026``."""
    moment = date.fromisoformat(day)
    write: Callable[[date], str] = {
        "de": lambda d: f"{d:%d.%m.}{d.year:04d}",
        "fr": lambda d: f"{d:%d/%m/}{d.year:04d}",
        "es": lambda d: f"{d:%d/%m/}{d.year:04d}",
    }.get(language, lambda d: f"{d.day} {_ENGLISH[d.month - 1]} {d.year:04d}")
    return write(moment)


_ENGLISH: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _amount(match: re.Match[str]) -> str:
    number = match["n1"] or match["n2"]
    currency = (match["before"] or match["after"]).lower().removeprefix("us") or "$"
    digits = re.sub(r"[^\d.,]", "", number)
    whole, cents = digits, "00"
    if found := re.fullmatch(r"(.+)[.,](\d{1,2})", digits):
        whole, cents = found[1], found[2].ljust(2, "0")
    return f"{int(re.sub('[.,]', '', whole))}.{cents} {_CODES[currency[0]]}"


def _date(match: re.Match[str], as_of: date) -> date | None:
    if match["iso"]:
        return _day(*(int(part) for part in match["iso"].split("-")))
    for n in "1234":
        if match[f"d{n}"]:
            break
    day, month, year = match[f"d{n}"], match[f"m{n}"], match[f"y{n}"]
    number = int(month) if month.isdecimal() else _MONTHS[month.lower()]
    if year:
        return _day(int(year), number, int(day)) or _day(int(year), int(day), number)
    this = _day(as_of.year, number, int(day))
    return this if this is None or this <= as_of + _AHEAD else _day(as_of.year - 1, number, int(day))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _unique(found: Iterable[str]) -> list[str]:
    seen: dict[str, None] = dict.fromkeys(found)
    return list(seen)


def strings_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings_in(part)
