"""Time in words: whether a query asks when, whether a text says when, and which day or month a query names."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

DAY_MS: Final = 86_400_000
_MONTHS: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905  # reads as words
)
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
_ASKS_WHEN: Final = re.compile(
    r"^\W*(?:when|how long|(?:(?:on|in) )?(?:what|which) (?:date|day|month|year|time)|wann|seit wann)\b",
    re.IGNORECASE,
)
_SAYS_WHEN: Final = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|since|few|this (?:morning|week|weekend|month|year|"
    rf"spring|summer|autumn|fall|winter)|days?|weeks?|weekend|months?|years?|{'|'.join(_MONTHS)}|"
    rf"{_DAYS.replace(' ', '|')}|(?:19|20)\d\d|\d+(?:st|nd|rd|th)|gestern|heute|morgen|vor)\b|"
    r"\u6628\u5929|\u4eca\u5929|\u660e\u5929",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_NAMED: Final = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{'|'.join(_MONTHS)})\b"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MID_MONTH: Final = 15
_NEAR_DAY: Final = 7.0
_NEAR_MONTH: Final = 15.0


class Named(NamedTuple):
    """A day, or a month, that a query names; of any year where it names none."""

    year: int | None
    month: int
    day: int | None

    def closeness(self, at: int) -> float:
        """1 within it, less and less the further away an instant lies."""
        moment = datetime.fromtimestamp(at / 1000, UTC)
        years = [self.year] if self.year is not None else [moment.year - 1, moment.year, moment.year + 1]
        days = min(abs((self._middle(year) - moment).total_seconds()) for year in years) / 86_400
        if self.day is not None:
            return math.exp(-max(days - 0.5, 0.0) / _NEAR_DAY)
        return math.exp(-max(days - _MID_MONTH, 0.0) / _NEAR_MONTH)

    def _middle(self, year: int) -> datetime:
        day = min(self.day or _MID_MONTH, 28 if self.month == 2 else 30)  # noqa: PLR2004  # February
        return datetime(year, self.month, day, 12, tzinfo=UTC)


def asks_when(query: str) -> bool:
    """Whether it asks for a time."""
    return _ASKS_WHEN.search(query) is not None


def says_when(text: str) -> bool:
    """Whether it has an expression of time."""
    return _SAYS_WHEN.search(text) is not None


def named_in(query: str) -> Named | None:
    """The first date that a query names. A bare "may" is a verb unless it is written as a month."""
    if (iso := _ISO.search(query)) is not None and 1 <= int(iso[2]) <= 12:  # noqa: PLR2004  # months
        day = int(iso[3]) if iso[3] and 1 <= int(iso[3]) <= 31 else None  # noqa: PLR2004  # days
        return Named(int(iso[1]), int(iso[2]), day) if int(iso[1]) > 1 else None
    for match in _NAMED.finditer(query):
        number = match["before"] or match["after"]
        if match["month"] == "may" and not (number or match["year"]):
            continue
        day = int(number) if number and 1 <= int(number) <= 31 else None  # noqa: PLR2004  # days
        year = int(match["year"]) if match["year"] else None
        return Named(year, _MONTHS.index(match["month"].lower()) + 1, day)
    return None
