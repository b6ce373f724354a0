"""Who the person is and where: names, dates, origin, languages, home, timezone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from slate.domain.extracting.drafts import Draft, Rule, capitalised, listed, named, phrase, rule, sentence, withdrawn
from slate.domain.facts.model import Category

ID: Final = Category.IDENTITY
VOLATILE: Final = Category.VOLATILE

LANGUAGES: Final = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|danish|swedish|norwegian|"
    r"finnish|icelandic|polish|czech|slovak|"
    r"hungarian|romanian|bulgarian|greek|turkish|russian|ukrainian|serbian|croatian|slovenian|"
    r"albanian|estonian|latvian|"
    r"lithuanian|arabic|hebrew|persian|farsi|urdu|hindi|bengali|punjabi|tamil|telugu|marathi|"
    r"gujarati|thai|vietnamese|"
    r"indonesian|malay|tagalog|filipino|chinese|mandarin|cantonese|japanese|korean|swahili|"
    r"amharic|yoruba|zulu|afrikaans|"
    r"catalan|basque|galician|welsh|irish|gaelic|latin|esperanto|american english|british english)"
)
_NOT_A_NAME: Final = re.compile(
    r"^(?:a|an|the|not|back|later|when|if|at|on|in|maybe|crazy|old|tomorrow|tonight|today|"
    r"soon|please|now|sure|here|trying|"
    r"going|looking|having|getting|working|using|interested|happy|sorry|glad|so|very|just|my|"
    r"your|whatever|anything)\b",
    re.IGNORECASE,
)
_ZONE: Final = (
    r"(?:[A-Z][a-z]+/[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?|(?:UTC|"
    r"GMT)(?:\s?[+\u2212-]\s?\d{1,2}(?::?\d{2})?)?|CES?T|E[SD]T|P[SD]T|C[SD]T|"
    r"M[SD]T|BST|IST|JST|A[EW]?[SD]T|EET|EEST|WES?T|MSK|SGT|HKT|(?:pacific|eastern|central|"
    r"mountain|atlantic|central european|"
    r"eastern european|western european|greenwich mean|british summer|indian? standard|japan standard|singapore|"
    r"berlin|london|new york|tokyo|paris|sydney|australian eastern)(?: standard| daylight| summer)?)"
)
_NOWHERE: Final = re.compile(
    r"^(?:a|an|my|this|that|fear|hope|peace|harmony|sin|denial|constant|their|his|her|our|"
    r"here|there|house|flat|apartment|town|"
    r"two|same|different|another|love|luxury|poverty|area|city|dorm|van|general|case|trouble|"
    r"touch|progress|on|off|out|over|up|"
    r"forward|ahead|away|back|closer|around|from|to|next|it|production|staging|prod)\b",
    re.IGNORECASE,
)
_NEW_TOWN: Final = re.compile(
    r"new (?:york|delhi|orleans|jersey|mexico|hampshire|zealand|haven|brunswick|england|caledonia|"
    r"guinea|plymouth|westminster|"
    r"south wales|bedford|rochelle|taipei|britain|braunfels|albany|castle|ross)\b",
    re.IGNORECASE,
)


def place(match: re.Match[str], text: str | None = None) -> str:
    """A place: one name, with its region after a comma."""
    before, comma, after = (match["x"] if text is None else text).partition(",")
    here = named(match, re.sub(r"\s+(?:for|to|at|from|into|until|till|through|since|during)\s.*$", "", before), 5)
    if not here or _NOWHERE.match(here) or (_new(here, match.string) and not _NEW_TOWN.match(here)):
        return ""
    region = phrase(after, 3) if comma else ""
    return f"{here}, {region}" if region[:1].isupper() and not re.match(r"I\b", region) else here


def _new(here: str, clause: str) -> bool:
    """Whether "new" is a word of its own there, and not the first of a name."""
    return re.match(r"new\b", here, re.IGNORECASE) is not None and re.search(r"New [A-Z]", clause) is None


def _name(match: re.Match[str]) -> Iterator[Draft]:
    name = named(match, re.sub(r"\s+and\s.*$", "", match["x"]))
    if name and not _NOT_A_NAME.match(name) and re.fullmatch(r"[^\W\d_][\w .'\u2019-]*", name):
        yield Draft(f"Name is {name}", ID, "name", name, 7)


def _nickname(match: re.Match[str]) -> Iterator[Draft]:
    name = named(match, words=3)
    if name and not _NOT_A_NAME.match(name):
        yield Draft(f"Prefers to be called {name}", ID, "nickname", name, 7)


def _home(match: re.Match[str]) -> Iterator[Draft]:
    if here := place(match):
        yield Draft(f"Lives in {here}", VOLATILE, "city", here, 6)


def _left(match: re.Match[str]) -> Iterator[Draft]:
    if here := place(match):
        yield withdrawn("city", here, f"No longer lives in {here}")


def _left_it(match: re.Match[str]) -> Iterator[Draft]:
    """A town or an employer: only what is known there is taken back."""
    if what := place(match):
        yield withdrawn("city", what, f"No longer lives in {what}")
        yield withdrawn("employer", what, f"No longer works at {what}")


def _address(match: re.Match[str]) -> Iterator[Draft]:
    if where := phrase(match["x"], 14, comma=True):
        yield Draft(f"Address is {where}", VOLATILE, "address", where, 6)


def _reach(match: re.Match[str]) -> Iterator[Draft]:
    what = "email" if "mail" in match["what"].lower() else "phone"
    yield Draft(sentence(f"{what} is {match['x'].strip()}"), ID, what, match["x"].strip(), 6, topics=("contact",))


def _born(match: re.Match[str]) -> Iterator[Draft]:
    said = match["x"]
    if re.search(r"\d", said):
        if day := phrase(
            re.sub(r"\s+in (?=[A-Z][a-z]+$)(?!Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec).*$", "", said),
            5,
            comma=True,
        ):
            yield Draft(f"Was born on {day}" if " " in day else f"Was born in {day}", ID, "birthday", day, 6)
    elif (match["prep"] or "").lower() == "in" and (where := place(match)):
        yield Draft(f"Was born in {where}", ID, "birthplace", where, 5)


def _birthday(match: re.Match[str]) -> Iterator[Draft]:
    day = re.sub(r"^on (?:the )?", "", phrase(f"x {match['x']}", 7, comma=True)[2:])
    if re.search(r"\d", day):
        yield Draft(f"Birthday is {day}", ID, "birthday", day, 6)


def _origin(match: re.Match[str]) -> Iterator[Draft]:
    if where := place(match):
        yield Draft(f"Is from {where}", ID, "origin", where)


def _speaks(match: re.Match[str]) -> Iterator[Draft]:
    for each in listed(match["x"], 4):
        if found := re.match(
            rf"(?:(?:fluent|some|a little|a bit of|basic|good|native|conversational) )?({LANGUAGES})\b",
            each,
            re.IGNORECASE,
        ):
            language = capitalised(found[1].lower())
            yield Draft(f"Speaks {language}", ID, "language", language)


def _native(match: re.Match[str]) -> Iterator[Draft]:
    language = capitalised(match["x"].lower())
    yield Draft(f"Native language is {language}", ID, "native_language", language, 6)


def _speaks_no_more(match: re.Match[str]) -> Iterator[Draft]:
    language = capitalised(match["x"].lower())
    yield withdrawn("language", language, f"Does not speak {language}")


def _zone(match: re.Match[str]) -> Iterator[Draft]:
    zone = " ".join(match["x"].split())
    zone = zone.upper() if len(zone) <= 4 else capitalised(zone) if zone.islower() else zone  # noqa: PLR2004  # CEST
    yield Draft(f"Time zone is {zone}", ID, "timezone", zone, 6)


def _pronouns(match: re.Match[str]) -> Iterator[Draft]:
    yield Draft(f"Pronouns are {match['x'].lower()}", ID, "pronouns", match["x"].lower(), 7)


def _age(match: re.Match[str]) -> Iterator[Draft]:
    yield Draft(f"Is {match['x']} years old", VOLATILE, "age", match["x"])


def _study(match: re.Match[str]) -> Iterator[Draft]:
    if what := phrase(re.sub(r"\s+at\s.*$", "", match["x"]), 4):
        yield Draft(f"Studies {what}", VOLATILE, "field_of_study", what)


def _number(match: re.Match[str]) -> Iterator[Draft]:
    what = f"{match['what']} number".lower()
    yield Draft(sentence(f"{what} is {match['x']}"), ID, what.replace(" ", "_"), match["x"], 6)


RULES: Final[tuple[Rule, ...]] = (
    rule(
        "name",
        _name,
        r"(?:my (?:full |first |real )?name(?:'s| is)|(?:I'm|I am) (?:called|named)|the name's)(?: now)?\s+"
        r"(?P<x>.+)$",
    ),
    rule(
        "nickname",
        _nickname,
        r"(?:please |just |you can |everyone |people |friends )*(?:call me|I go by|"
        r"I prefer to be called|I'd like to be called)\s+(?P<x>.+)$",
    ),
    rule(
        "city.left",
        _left,
        r"(?:I don't live in|I no longer live in|I used to live in|I moved (?:away|out) (?:from|"
        r"of)|I'm no longer (?:living|based) in|I'm not (?:living |based )?in)\s+(?P<x>.+)$",
    ),
    rule("left", _left_it, r"(?:I|I've) left\s+(?P<x>.+)$"),
    rule(
        "city.moved",
        _home,
        r"(?:I|I've|we|we've) (?:just )?(?:moved|relocated)(?:\s+(?:over |"
        r"away )?from [\w., '-]+?)?\s+(?:back |over |out |down |up )?to\s+(?P<x>.+)$",
    ),
    rule(
        "city",
        _home,
        r"(?:I|we) (?:live|reside) in\s+(?P<x>.+)$",
        r"(?:I|we)(?:'ve| have) (?:been living|lived) in\s+(?P<x>.+)$",
    ),
    rule(
        "city.based",
        _home,
        r"(?:I'm|we're) (?:based|living|residing|located|settled)(?: out of| in| near)\s+"
        r"(?P<x>.+)$",
    ),
    rule(
        "city.home",
        _home,
        r"my (?:home|hometown now|place|city|home city|new home|current city)(?: is|'s)(?: in)?\s+"
        r"(?P<x>[A-Z].+)$",
    ),
    rule(
        "address",
        _address,
        r"my (?:new |home |current |shipping |postal |delivery )*address(?: is|'s)(?: now)?\s+"
        r"(?P<x>\d.+|[A-Z].+)$",
        r"I live at\s+(?P<x>\d+\w? .+|[A-Z][\w. ]+ \d+\w?(?:,.*)?)$",
    ),
    rule(
        "email",
        _reach,
        r"my (?:new |work |private |personal )?(?P<what>e-?mail)(?: address)?(?: is|'s)(?: now)?\s+"
        r"(?P<x>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)",
        r"my (?:new |work |private |mobile |cell )?(?P<what>phone)(?: number)?(?: is|"
        r"'s)(?: now)?\s+(?P<x>\+?\d[\d ()/-]{5,20})",
    ),
    rule("born", _born, r"I was born(?: (?P<prep>in|on))?\s+(?P<x>.+)$"),
    rule("birthday", _birthday, r"my (?:birthday|date of birth|birth date)(?: is|'s)\s+(?P<x>.+)$"),
    rule("origin", _origin, r"(?:I'm|I come) (?:originally )?from\s+(?P<x>.+)$"),
    rule("native", _native, rf"(?:my (?:native|first) language|my mother tongue)(?: is|'s)\s+(?P<x>{LANGUAGES})\b"),
    rule("speaks.no", _speaks_no_more, rf"I (?:don't|can't|no longer) speak\s+(?:any )?(?P<x>{LANGUAGES})\b"),
    rule("speaks", _speaks, r"(?:I (?:can )?(?:speak|understand)|I'm fluent in|I'm a native speaker of)\s+(?P<x>.+)$"),
    rule(
        "timezone",
        _zone,
        rf"(?:my (?:local )?time ?zone(?:'s| is)(?: now)?|(?:I'm|we're|I work|I live) (?:in|"
        rf"on) (?:the )?(?=.*\b(?:time|zone|UTC|GMT|"
        rf"[A-Z]{{2,4}}T)\b))\s*(?P<x>{_ZONE})(?:\s*(?:time ?zone|time))?\b",
    ),
    rule(
        "pronouns",
        _pronouns,
        r"(?:my pronouns are|I use|I go by)\s+(?P<x>(?:he|she|they|ze|xe)/(?:him|her|them|they|"
        r"hir|xem|she|he)(?:/\w+)?)",
    ),
    rule("age", _age, r"I'm\s+(?P<x>[1-9]\d)\s+years? old"),
    rule(
        "studies",
        _study,
        r"I'm (?:a student of|studying|majoring in)\s+(?P<x>.+)$",
        r"I (?:study|major in)\s+(?P<x>.+)$",
    ),
    rule(
        "number",
        _number,
        r"my (?:last |latest )?(?P<what>(?:last |latest )?(?:order|customer|account|membership|"
        r"loyalty|frequent flyer|ticket|case|booking|reservation|employee))(?: number| id|"
        r" no\.?)(?: is|'s|:)\s*(?P<x>[A-Za-z]{0,6}[#-]?\d[\w-]{1,30})",
    ),
)
