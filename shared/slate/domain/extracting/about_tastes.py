"""What the person prefers: units, languages and style of answers, channels, things liked and disliked, favourites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from slate.domain.extracting.about_self import LANGUAGES
from slate.domain.extracting.drafts import Draft, Rule, capitalised, listed, phrase, rule, sentence
from slate.domain.facts.model import Category

PREFERENCE: Final = Category.PREFERENCE

_LIKE: Final = (
    r"(?:prefer|like|want|need|use|would prefer|'d prefer|would like|'d like|am used to|"
    r"'m used to|'d rather have|'d rather get)"
)
_ASK: Final = (
    r"(?:(?:please )?(?:always |only )?(?:use|give me|show(?: me)?|write|stick to|convert to|"
    r"answer in|work in|report in|express|display)(?: (?:everything|distances|temperatures|"
    r"measurements|results|numbers|all values|weights|values|times|dates))*(?: in)?)"
)
_METRIC: Final = (
    r"(?:metric(?: units| system| measurements)?|kilomet(?:er|re)s|kilograms?|kilos|km|kg|"
    r"cent?imet(?:er|re)s|SI units)"
)
_IMPERIAL: Final = (
    r"(?:imperial(?: units| system| measurements)?|miles|pounds|feet(?: and inches)?|inches|US customary(?: units)?)"
)
_STYLES: Final = (
    ("answer_length", "short", r"(?:short|brief|concise|terse|succinct|one-line|crisp|to[- ]the[- ]point)"),
    ("answer_length", "long", r"(?:long|detailed|thorough|in-depth|comprehensive|verbose|elaborate)"),
    ("answer_format", "bullet points", r"(?:bullet(?:ed)?(?: points?| lists?)?|bullets)"),
    ("answer_format", "plain text", r"(?:plain text|no markdown|without markdown)"),
    ("answer_format", "tables", r"(?:tables|tabular)"),
    ("answer_format", "step by step", r"(?:step[- ]by[- ]step|numbered steps)"),
    ("tone", "formal", r"(?:formal|professional|polite)"),
    ("tone", "informal", r"(?:informal|casual|friendly|relaxed|chatty)"),
    ("tone", "direct", r"(?:direct|blunt|straightforward|no-nonsense)"),
    ("tone", "simple", r"(?:simple|plain|non-technical|jargon-free)"),
    ("tone", "technical", r"(?:technical)"),
)
_ANSWERS: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|summaries|messages|emails|writing|"
    r"style|tone|language|english|instructions)"
)
_CHANNELS: Final = (
    r"(?:e-?mails?|slack|phone(?: calls?)?|calls?|sms|texts?(?: messages?)?|whatsapp|teams|"
    r"zoom|telegram|signal|post|letters?|chat|video calls?|in person)"
)
_NO_LIKE: Final = re.compile(
    r"^(?:it|that|this|these|those|you|your|how|what|when|where|why|the|to (?:see|know|hear|"
    r"have|get|be|ask|thank|say|order|book|buy|return|"
    r"cancel|change|add|speak|talk|make|discuss|report|request|start|learn more)|them|him|her|"
    r"his|their|its|one|some|any|both|all|everything|"
    r"nothing|a|an|if|my|so far|more|where|being|having|when|most of)\b",
    re.IGNORECASE,
)
_NO_THING: Final = re.compile(
    r"\b(?:is|are|was|were|it|its|they|them|him|her|he|she|you|your|i|me|my|our|us|we|that|this|these|those|itself|especially|"
    r"particularly|including|even|such|being|not|be|get|got|gets|go|having|more|than|too|much|when|what|how|some|seeing|"
    r"watching|truly|really|everywhere|also|just|today|yesterday|tonight)\b",
    re.IGNORECASE,
)
_DRINKS: Final = frozenset({"tea", "coffee", "water", "wine", "beer", "juice", "espresso", "matcha", "cocoa", "decaf"})
_SMALL_HEADS: Final = frozenset(
    {"one", "ones", "thing", "things", "stuff", "way", "time", "kind", "sort", "lot", "bit"}
)


def _units(system: str) -> Draft:
    return Draft(f"Prefers {system} units", PREFERENCE, "units", system, 6)


def _metric(match: re.Match[str]) -> Iterator[Draft]:
    del match
    yield _units("metric")


def _imperial(match: re.Match[str]) -> Iterator[Draft]:
    del match
    yield _units("imperial")


def _degrees(match: re.Match[str]) -> Iterator[Draft]:
    scale = "Fahrenheit" if match["x"].lower().startswith("f") else "Celsius"
    yield Draft(f"Prefers temperatures in {scale}", PREFERENCE, "temperature_unit", scale)


def _clock(match: re.Match[str]) -> Iterator[Draft]:
    hours = match["x"]
    yield Draft(f"Prefers a {hours}-hour clock", PREFERENCE, "time_format", f"{hours}-hour")


def _date_format(match: re.Match[str]) -> Iterator[Draft]:
    form = match["x"].upper() if match["x"][0] in "dmyDMY" else match["x"]
    yield Draft(f"Prefers dates as {form}", PREFERENCE, "date_format", form)


def _currency(match: re.Match[str]) -> Iterator[Draft]:
    money = match["x"]
    money = money.upper() if len(money) == 3 else money.lower()  # noqa: PLR2004  # a code of ISO 4217
    yield Draft(f"Prefers prices in {money}", PREFERENCE, "currency", money)


def _answer_language(match: re.Match[str]) -> Iterator[Draft]:
    language = capitalised(match["x"].lower())
    yield Draft(f"Prefers answers in {language}", PREFERENCE, "response_language", language, 7)


def _style(match: re.Match[str]) -> Iterator[Draft]:
    for attribute, value, words in _STYLES:
        if re.search(rf"(?:^|\b(?:and|but|,) ?|\b){words}\b", match["x"], re.IGNORECASE):
            yield Draft(f"Prefers {_as_style(attribute, value)}", PREFERENCE, attribute, value, 6)


def _as_style(attribute: str, value: str) -> str:
    if attribute == "answer_format":
        return (
            f"answers as {value}"
            if value not in ("step by step", "plain text")
            else f"answers in {value}".replace("in step", "step")
        )
    return f"{value} answers" if attribute == "answer_length" else f"a {value} tone"


def _emojis(match: re.Match[str]) -> Iterator[Draft]:
    no = match["no"]
    yield Draft("Wants no emojis" if no else "Likes emojis in answers", PREFERENCE, "emojis", "no" if no else "yes", 6)


def _channel(match: re.Match[str]) -> Iterator[Draft]:
    way = match["x"].lower().removesuffix("s").replace("e-mail", "email")
    way = {"call": "phone", "phone call": "phone", "text message": "text"}.get(way, way)
    named = {"slack": "Slack", "whatsapp": "WhatsApp", "team": "Teams", "zoom": "Zoom", "sms": "SMS"}.get(way, way)
    yield Draft(f"Prefers to be contacted by {named}", PREFERENCE, "channel", named, 6)


def _prefers(match: re.Match[str]) -> Iterator[Draft]:
    parts = re.split(r"\s+(?:over|to|rather than|instead of|more than|than)\s+", match["x"], maxsplit=1)
    liked = phrase(parts[0], 6)
    if not liked or _NO_LIKE.match(liked) or re.match(r"(?:not|never|that|if|when)\b", liked):
        return
    other = (
        phrase(parts[1], 5)
        if len(parts) > 1 and not re.match(r"(?:be|go|have|use|get|do|see|work|eat|sit|stay)\b", parts[1])
        else ""
    )
    if other:
        pair = "|".join(sorted((liked.lower(), other.lower())))
        yield Draft(f"Prefers {liked} over {other}", PREFERENCE, f"preference:{pair}", liked.lower(), 6)
        return
    whole = phrase(match["x"], 8)
    yield Draft(f"Prefers {whole}", PREFERENCE, _slot_of(whole), whole.lower() if _slot_of(whole) else None, 6)


def _slot_of(liked: str) -> str | None:
    """Two things of one kind cannot both be preferred: aisle seats and window seats."""
    words = re.sub(r"\s+(?:on|in|for|with|when|at|of|by|from)\s.*$", "", liked.lower()).split()
    head = words[-1].removesuffix("s") if words else ""
    if len(words) == 1 and words[0] in _DRINKS:
        return "preferred drink"
    if (
        len(words) in (2, 3)
        and head.isalpha()
        and head not in _SMALL_HEADS
        and words[0] not in ("to", "not", "no", "going", "working")
    ):
        return f"preferred {head}"
    return None


def _would_rather(match: re.Match[str]) -> Iterator[Draft]:
    liked = phrase(match["x"], 6)
    if liked and not _NO_LIKE.match(liked) and not re.match(r"(?:not|be|just|see|hear|wait|do that|do it)\b", liked):
        yield Draft(f"Would rather {liked} than {phrase(match['y'], 6)}", PREFERENCE)


def _likes(match: re.Match[str]) -> Iterator[Draft]:
    yield from _taste(match["x"], "Loves" if match["verb"].lower() in ("love", "adore") else "Likes", "likes")


def _dislikes(match: re.Match[str]) -> Iterator[Draft]:
    yield from _taste(match["x"], "Dislikes", "dislikes")


def _taste(text: str, verb: str, value: str) -> Iterator[Draft]:
    for what in _tasted(text):
        bare = re.sub(r"^(?:to|eating|drinking) ", "", what.lower())
        yield Draft(f"{verb} {what}", PREFERENCE, f"taste:{bare}", value)


def _tasted(text: str) -> list[str]:
    """What is liked: the first thing, and those listed with it where each is as plain as that."""
    first = re.split(r",|\s+(?:and|or)\s+", text, maxsplit=1)[0]
    if not _is_thing(first := phrase(first, 4)):
        return []
    rest = [] if re.search(r"\s(?:about|of|for|with|from|in|to|on|at)\s", first) else listed(text, 3)[1:]
    return [first, *rest] if all(_is_thing(each) for each in rest) else [first]


def _is_thing(text: str) -> bool:
    return len(text) > 1 and not (_NO_LIKE.match(text) or _NO_THING.search(text))


def _favourite(match: re.Match[str]) -> Iterator[Draft]:
    kind, what = phrase(match["kind"], 3), phrase(match["x"], 6)
    if kind and what:
        how = "Preferred" if match["how"].lower() == "preferred" else "Favourite"
        yield Draft(f"{how} {kind} is {what}", PREFERENCE, f"{how} {kind}".lower(), what, 5)


def _size(match: re.Match[str]) -> Iterator[Draft]:
    kind, size = match["kind"].lower(), match["x"].upper()
    yield Draft(f"{kind.capitalize()} size is {size}", PREFERENCE, f"{kind} size", size)


def _pays(match: re.Match[str]) -> Iterator[Draft]:
    if way := phrase(match["x"], 4):
        yield Draft(sentence(f"pays by {way}"), PREFERENCE, "payment_method", way.lower(), topics=("billing",))


_DURABLE: Final = (
    r"(?:(?:please )?(?:always |in general,? |generally )?(?:keep|make|give me|write|use|be|"
    r"answer|reply|respond|explain things|explain|format|send)(?: me| with| in| as| things)*)"
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "units.metric",
        _metric,
        rf"(?:I|we) {_LIKE}\s+(?:the )?{_METRIC}\b",
        rf"{_ASK}\s+(?:the )?{_METRIC}\b",
        r"I(?:'m| am) (?:a )?metric\b",
        r"my (?:preferred )?units? (?:is|are) metric",
    ),
    rule(
        "units.imperial",
        _imperial,
        rf"(?:I|we) {_LIKE}\s+(?:the )?{_IMPERIAL}\b",
        rf"{_ASK}\s+(?:the )?{_IMPERIAL}\b",
        r"my (?:preferred )?units? (?:is|are) imperial",
    ),
    rule(
        "units.degrees",
        _degrees,
        rf"(?:(?:I|we) {_LIKE}|{_ASK})\s+(?:temperatures? in |degrees )?(?P<x>celsius|fahrenheit|"
        rf"centigrade)\b",
    ),
    rule("units.clock", _clock, rf"(?:(?:I|we) {_LIKE}|{_ASK})\s+(?:the |a |times in )?(?P<x>24|12)[- ]?h(?:our)?s?\b"),
    rule(
        "units.date",
        _date_format,
        rf"(?:(?:I|we) {_LIKE}|{_ASK})\s+(?:dates? (?:as|in|formatted as) |the )?(?P<x>(?:DD|MM|"
        rf"YYYY)[/.-](?:DD|MM)[/.-](?:DD|YYYY)|ISO 8601)\b",
    ),
    rule(
        "units.currency",
        _currency,
        r"(?:(?:I|we) (?:prefer|want|pay in|need|'d like)|(?:please )?(?:always )?(?:use|"
        r"quote(?: me)?|show|give me))\s+(?:prices? in |amounts? in |everything in )?(?P<x>EUR|"
        r"USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|INR|euros|dollars|pounds|francs|yen)\b",
    ),
    rule(
        "answers.language",
        _answer_language,
        rf"(?:please )?(?:always |only )?(?:answer|reply|respond|write|speak|talk|communicate|"
        rf"write back)(?: to)?(?: me)?(?: only)? in\s+(?P<x>{LANGUAGES})\b",
        rf"I(?:'d)? (?:prefer|like|want|would prefer|would like)\s+(?:(?:to (?:communicate|talk|"
        rf"speak|write|chat|read)|answers|replies|responses|everything|messages|emails|"
        rf"you to (?:answer|reply|write|speak)(?: to me)?) in )?(?P<x>{LANGUAGES})(?: answers|"
        rf" please)?\W*$",
        rf"my preferred language(?: is|'s)\s+(?P<x>{LANGUAGES})\b",
        rf"let's (?:speak|talk|switch to|continue in|write in)\s+(?P<x>{LANGUAGES})\b",
    ),
    rule(
        "style.emojis",
        _emojis,
        r"(?:please )?(?:(?P<no>don't|never|no|avoid|stop|without|skip)(?: ever)?(?: use| using|"
        r" send| sending)?|use|I (?:like|love)|I (?:don't|hate|can't)(?P<nope>)(?: like| stand|"
        r" want)?)\s+(?:any )?emojis?\b",
    ),
    rule(
        "style",
        _style,
        rf"I(?:'d)? (?:prefer|like|want|love|would prefer|would like)\s+(?:your |my |all |"
        rf"the )?(?P<x>[\w ,-]+?)\s+{_ANSWERS}\b",
        rf"I(?:'d)? (?:prefer|like|want|love)\s+(?:your |my |all )?{_ANSWERS}\s+(?:to be|that are|"
        rf"in|as|with)?\s*(?P<x>[\w ,-]+)$",
        rf"{_DURABLE}\s+(?:your |my |all |the )*(?:{_ANSWERS}\s+)(?:to be |as |"
        rf"in )?(?P<x>[\w ,-]+)\W*$",
        rf"{_DURABLE}\s+(?P<x>[\w ,-]+?)\s+{_ANSWERS}\b",
        r"(?:please )?always (?:be|use|answer (?:in|with)|reply (?:in|with)|respond (?:in|"
        r"with))\s+(?P<x>[\w ,-]+)$",
    ),
    rule(
        "channel",
        _channel,
        rf"I(?:'d)? (?:prefer|would prefer|like|'d rather)(?: to be (?:contacted|reached|"
        rf"notified)(?: by| via| on| over| through)?| (?:contact|communication|updates|"
        rf"notifications) (?:by|via|on|over|through))?\s+(?P<x>{_CHANNELS})\s*(?:over|to|"
        rf"rather than|instead of|for (?:contact|updates|communication|notifications))\b",
        rf"I(?:'d)? (?:prefer|like|want)(?: to be) (?:contacted|reached|notified|updated) (?:by|"
        rf"via|on|over|through)\s+(?P<x>{_CHANNELS})",
        rf"(?:please )?(?:always |only )?(?:contact|reach|notify|update|message) me (?:by|via|on|"
        rf"over|through)\s+(?P<x>{_CHANNELS})",
        rf"the best way to (?:reach|contact) me is (?:by |via |on |over |"
        rf"through )?(?P<x>{_CHANNELS})",
        r"I prefer\s+(?P<x>e-?mail|slack|sms|whatsapp|phone calls|texts)$",
    ),
    rule(
        "favourite",
        _favourite,
        r"my (?:all-time |absolute )?(?P<how>favou?rite|preferred)\s+(?P<kind>[\w -]{2,30}?)(?: is|'s|"
        r" are)(?: now)?\s+(?P<x>.+)$",
    ),
    rule(
        "size",
        _size,
        r"my (?P<kind>shoe|shirt|dress|ring|trouser|pants|hat|glove|jacket|t-shirt) size(?: is|"
        r"'s)(?: now)?\s+(?P<x>[\w.]{1,6})\b",
        r"I (?:wear|take|need) (?:a )?(?P<kind>shoe|shirt|dress|ring|trouser|pants|hat|glove|"
        r"jacket|t-shirt)s? size\s+(?P<x>[\w.]{1,6})\b",
    ),
    rule(
        "pays",
        _pays,
        r"I (?:(?:usually |always |prefer to )*pay (?:by|with|via|using)|prefer paying (?:by|"
        r"with))\s+(?P<x>.+)$",
    ),
    rule("rather", _would_rather, r"I(?:'d| would) rather\s+(?P<x>.+?)\s+than\s+(?P<y>.+)$"),
    rule("prefers", _prefers, r"I(?:'d| would)?(?: much)? prefer\s+(?P<x>.+)$", r"my preference is\s+(?P<x>.+)$"),
    rule(
        "dislikes",
        _dislikes,
        r"I (?:hate|dislike|can't stand|detest|loathe|don't like|don't enjoy|don't love|"
        r"no longer like|no longer enjoy|stopped liking|despise)\s+(?P<x>.+)$",
        r"I'm not (?:a fan of|into|fond of|keen on)\s+(?P<x>.+)$",
    ),
    rule(
        "likes",
        _likes,
        r"I (?P<verb>like|love|enjoy|adore)\s+(?P<x>.+)$",
        r"I'm (?P<verb>a (?:big |huge |great )?fan of|fond of|into|keen on)\s+(?P<x>.+)$",
    ),
)
