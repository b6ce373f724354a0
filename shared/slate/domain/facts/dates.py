"""When what is said begins and ends: dates as people say them, resolved against the instant at which they were said.

A bare month or weekday is the next one (or the one that runs); days are UTC. The end is the last millisecond of the
last day named, so that "in July" ends on 31 July.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

_MONTHS: Final = (
    ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"),
    ("jul", "july"), ("aug", "august"), ("sep", "sept", "september"), ("oct", "october"), ("nov", "november"),
    ("dec", "december"),
)  # fmt: skip
_MONTH_OF: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "ten": 10,
    "twelve": 12,
}
_SEASONS: Final = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}

_M: Final = "(?:" + "|".join(sorted((f"{n}\\.?" for n in _MONTH_OF), key=len, reverse=True)) + ")"
_N: Final = "(?:" + "|".join(_NUMBERS) + r"|\d{1,3})"
_D: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_Y: Final = r"(?:,? ?(?P<year>\d{4}))?"

_FORMS: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in {
        "iso": r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b",
        "day_month": rf"\b(?P<day>{_D})(?: of)? (?P<month>{_M})\b{_Y}",
        "month_day": rf"\b(?P<month>{_M}) (?:the )?(?P<day>{_D})\b(?!:){_Y}",
        "month": (
            rf"\b(?:in|during|until|till|through|by|for|of|next|this|end of|all of|before|since|from|to|mid|late|early)"
            rf"[ -](?:the )?(?P<month>{_M})\b(?! \d{{1,2}}\b){_Y}"
        ),
        "year_only": r"\b(?:in|until|till|through|during|by) (?P<year>(?:19|20)\d{2})\b",
        "relative": (
            rf"\b(?:in|within|for(?: the next)?|over the next|the next) (?P<count>{_N}|a few|a couple of) "
            r"(?P<unit>day|week|fortnight|month|year)s?\b"
        ),
        "next": (
            r"\b(?P<which>next|this|coming|the coming|rest of (?:the|this)|end of (?:the|this|next)) "
            r"(?P<unit>week(?:end)?|month|year|quarter)\b"
        ),
        "season": (
            r"\b(?P<which>in|this|next|over the|during the|in the|until) "
            r"(?P<season>spring|summer|autumn|fall|winter)\b"
        ),
        "weekday": (
            r"\b(?:(?P<which>next|this|on|until|till|by|before|from|through|coming) )"
            r"(?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day\b"
        ),
        "word": (r"\b(?P<word>day after tomorrow|tomorrow|tonight|today|christmas|new year'?s?(?: eve)?|easter)\b"),
    }.items()
)
_RANGE: Final = re.compile(
    rf"\b(?:from )?(?P<from>{_D})\s?(?:-|\u2013|to|until|till)\s?(?P<day>{_D})(?: of)? (?P<month>{_M})\b{_Y}"
    rf"|\b(?P<month2>{_M}) (?P<from2>{_D})\s?(?:-|\u2013|to|until)\s?(?P<day2>{_D})\b(?:,? (?P<year2>\d{{4}}))?"
)


class Span(NamedTuple):
    """From when to when; the end is the last millisecond. ``text`` is how it was said."""

    start: int
    end: int
    text: str


def span(text: str, at: int) -> Span | None:
    """The last end of all that a text says of time; nothing where it says nothing that can be resolved."""
    said = " ".join(text.casefold().split())
    now = datetime.fromtimestamp(at / 1000, UTC)
    found: list[Span] = []
    for match in _RANGE.finditer(said):
        _keep(found, _ranged(match, now), match.group())
    rest = _RANGE.sub(" ", said)
    for name, pattern in _FORMS:
        for match in pattern.finditer(rest):
            _keep(found, _resolved(name, match, now), match.group())
        rest = pattern.sub(" ", rest)
    if not found:
        return None
    last = max(found, key=lambda each: each.end)
    return Span(min(each.start for each in found), last.end, last.text)


def _keep(found: list[Span], days: tuple[datetime, datetime] | None, text: str) -> None:
    if days is not None:
        start, last = days
        end = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
        found.append(Span(_ms(start), _ms(end) - 1, text))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _month(name: str) -> int:
    return _MONTH_OF[name.rstrip(".")]


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _dated(now: datetime, year: str | None, month: int, day: int) -> datetime | None:
    """A day; without a year the next one."""
    if year is not None:
        return _day(int(year), month, day)
    this = _day(now.year, month, day)
    return this if this is not None and this.date() >= now.date() else _day(now.year + 1, month, day)


def _month_span(year: int, month: int, months: int = 1) -> tuple[datetime, datetime]:
    start = datetime(year, month, 1, tzinfo=UTC)
    after = month - 1 + months
    return start, datetime(year + after // 12, after % 12 + 1, 1, tzinfo=UTC) - timedelta(days=1)


def _ranged(match: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    got = match.groupdict()
    month = got["month"] or got["month2"]
    day, first = got["day"] or got["day2"], got["from"] or got["from2"]
    last = _dated(now, got["year"] or got["year2"], _month(str(month)), _number(str(day)))
    start = None if last is None else _day(last.year, last.month, _number(str(first)))
    return None if last is None or start is None or start > last else (start, last)


def _resolved(name: str, match: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    got = match.groupdict()
    if name in ("iso", "day_month", "month_day"):
        month = int(got["month"]) if name == "iso" else _month(got["month"])
        day = _dated(now, got["year"], month, _number(got["day"]))
        return None if day is None else (day, day)
    if name == "month":
        month = _month(got["month"])
        year = int(got["year"]) if got["year"] else now.year + (month < now.month)
        return _month_span(year, month)
    if name == "year_only":
        return _month_span(int(got["year"]), 1, 12)
    if name == "relative":
        return _relative(got["count"], got["unit"], now)
    if name == "season":
        return _season(got["season"], now)
    if name == "weekday":
        return _weekday(got["which"], got["weekday"] + "day", now)
    return _next(got["which"], got["unit"], now) if name == "next" else _word(got["word"], now)


def _relative(count: str, unit: str, now: datetime) -> tuple[datetime, datetime]:
    number = {"a few": 3, "a couple of": 2}.get(count) or _NUMBERS.get(count) or int(count)
    days = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}[unit] * number
    return now, now + timedelta(days=days)


def _season(season: str, now: datetime) -> tuple[datetime, datetime]:
    first, last = _SEASONS[season]
    wraps = first > last
    year = now.year + (now.month > last and not wraps)
    start, end = _month_span(year, first, 3)
    return (_month_span(year - 1, first, 3)) if wraps and now.month <= last else (start, end)


def _weekday(which: str, weekday: str, now: datetime) -> tuple[datetime, datetime]:
    ahead = (_DAYS.index(weekday) - now.weekday()) % 7
    if which == "next" and ahead == 0:
        ahead = 7
    day = now + timedelta(days=ahead)
    return day, day


def _next(which: str, unit: str, now: datetime) -> tuple[datetime, datetime]:
    later = which.startswith(("next", "end of next"))
    if unit.startswith("week"):
        sunday = now + timedelta(days=6 - now.weekday() + 7 * later)
        return sunday - timedelta(days=1 if unit == "weekend" else 6), sunday
    if unit == "quarter":
        quarter = (now.month - 1) // 3 + later
        return _month_span(now.year + quarter // 4, quarter % 4 * 3 + 1, 3)
    if unit == "year":
        return _month_span(now.year + later, 1, 12)
    month = now.month - 1 + later
    return _month_span(now.year + month // 12, month % 12 + 1)


def _word(word: str, now: datetime) -> tuple[datetime, datetime] | None:
    if word.startswith(("christmas", "new", "easter")):
        last = (12, 26) if word == "christmas" else (1, 1) if word.startswith("new") else (4, 30)
        day = _dated(now, None, *last)
    else:
        day = now + timedelta(days={"tomorrow": 1, "day after tomorrow": 2}.get(word, 0))
    return None if day is None else (day, day)


_PLAN: Final = re.compile(
    r"\b(?:going|headed|heading|travell?ing|flying|driving|visiting|moving|relocating|staying|away|abroad|attending|off|"
    r"on (?:vacation|holiday|leave|parental leave|a trip)|out of (?:the )?office|planning|plans?|ha(?:s|ve) to|must|"
    r"needs? to|due|starts?|starting|will|has a|temporar\w*|until|till|through)\b"
)
_PAST: Final = re.compile(
    r"\b(?:was|were|went|moved|visited|lived|worked|since|born|graduated|last|ago)\b", re.IGNORECASE
)


def plan_end(statement: str, at: int) -> int | None:
    """When a plan or a passing state that names its time is over; nothing where it is neither."""
    text = statement.casefold()
    if not _PLAN.search(text) or _PAST.search(text):
        return None
    said = span(statement, at)
    return None if said is None else said.end
