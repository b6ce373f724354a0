"""Parts a sentence into clauses that each have their subject: "I'm vegan and work at Initech" says two things."""

from __future__ import annotations

import re
from typing import Final

_ADJECTIVE: Final = (
    r"(?:allergic|vegetarian|vegan|pescatarian|based|born|married|divorced|single|retired|"
    r"unemployed|self-employed|lactose|"
    r"gluten|blind|deaf|colou?r-?blind|dyslexic|originally|from|intolerant)"
)
# Verbs that share the subject before them; those that may be a noun or a preposition ("like", "love", "practice") only
# with what makes them verbs.
_VERB: Final = (
    r"(?:live in|lived in|living in|work(?:ed)? (?:at|for|as|in|on|from)|working (?:at|for|as|on)|prefer|"
    r"use (?=(?-i:[A-Z])|a\b|an\b|the\b|metric|imperial|screen)|used to|enjoy|hate|dislike|"
    r"speak|don't|can't|moved|switched|"
    r"joined|started|left|quit|eat|drink (?:no|only)|avoid|follow an?|need (?:a|an|captions|"
    r"large|wheelchair|step)|have an?|"
    r"play the|collect \w+s\b|decided|chose|stopped|no longer|write in|code in|report to|"
    r"lead the|manage the|never (?:eat|drink)|"
    r"also (?:speak|use|eat|prefer|work|live|have)|now (?:live|work|use|prefer|eat)|currently (?:live|work|use)|"
    r"only (?:fly|eat|drink|travel)|teach)"
)
_OWN: Final = (
    r"(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|he|he's|she|she's|they|they're|it|it's|you|"
    r"you're|that|that's|this|there|"
    r"who|which|his|her|their|please|call me)"
)
_NEW: Final = rf"(?:{_OWN}|{_ADJECTIVE}|{_VERB})(?![\w'-])"
_PART: Final = re.compile(
    rf"(?:\s*[,;]\s*(?:and|but|so|then|yet|although|though|also|plus)?\s*|\s+(?:and|but|yet|so|"
    rf"although|though|plus)\s+|"
    rf"\s+-\s+|\s*\u2014\s*)(?=(?:also |then |now |currently |still |just |actually )*{_NEW})",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:(?:well|hi|hello|hey|ok|okay|oh|so|and|but|also|actually|yes|yeah|yep|right|no|sure|"
    r"thanks|thank you|great|by the way|"
    r"btw|fyi|just so you know|for the record|as i (?:said|mentioned)(?: before| earlier)?|"
    r"honestly|personally|in general|generally|"
    r"basically|as you (?:know|can see|may know)|to be clear|one (?:more |other )?thing|"
    r"important|reminder|p\.?s\.?|(?:some |for )?(?:context|background)|about me|oh and|"
    r"anyway|"
    r"first|second|finally|good news|"
    r"update|correction|sorry|exactly|true|in fact|i should (?:mention|add|say)(?: that)?|"
    r"i (?:just )?(?:want(?:ed)? to|should|must|'d like to) (?:mention|add|say|tell you|let you know)(?: that)?|"
    r"(?:please )?(?:remember|note|keep in mind|be aware|make (?:a )?note|don't forget|save|store|memori[sz]e)"
    r"(?: for (?:later|next time|the future))?(?: that|:)|(?:please )?(?:remember|note):|"
    r"you (?:should|must|need to) know (?:that )?|i (?:told|tell) you (?:that )?|it's (?:true|"
    r"important) that|the thing is|"
    r"quick (?:update|note)|as of (?:today|now)|since (?:last|this) \w+|from now on|"
    r"going forward|nowadays|these days|"
    r"last (?:week|month|year|\w+day)|(?:a|two|three|few) \w+ ago|yesterday|today|recently|"
    r"lately|right now|at the moment|"
    r"dear \w+|hi \w+|hello \w+|(?:since|as|because|given that)(?= (?:i|i'm|i've|my)\b))\b[\s,:!.\u2014-]*)+",
    re.IGNORECASE,
)
_SHORT: Final = (
    (re.compile(r"\b(?:i am|im|i m)\b", re.IGNORECASE), "I'm"),
    (
        re.compile(
            r"\bi have (?=(?:moved|switched|changed|decided|been|lived|worked|started|stopped|become|"
            r"joined|left|quit|gone|given|"
            r"always|just|recently|never|used|chosen|migrated|retired|got))",
            re.IGNORECASE,
        ),
        "I've ",
    ),
    (re.compile(r"\b(?:ive)\b", re.IGNORECASE), "I've"),
    (re.compile(r"\bwe are\b", re.IGNORECASE), "we're"),
    (re.compile(r"\b(?:do not|dont)\b", re.IGNORECASE), "don't"),
    (re.compile(r"\b(?:can ?not|cant)\b", re.IGNORECASE), "can't"),
    (re.compile(r"\b(?:am not|ain't)\b", re.IGNORECASE), "am not"),
    (re.compile(r"\bany longer\b", re.IGNORECASE), "anymore"),
    (re.compile(r"\bany more\b", re.IGNORECASE), "anymore"),
    (re.compile(r"(?<![\w'])i(?=[\s'])"), "I"),
)
_FILLER: Final = re.compile(
    r"^(I|I'm|I've|we|we're|we've|my)\s+(?:(?:also|just|actually|really|now|currently|still|"
    r"recently|usually|mostly|mainly|"
    r"generally|personally|simply|already|absolutely|definitely|truly|finally|normally|"
    r"typically|often|in fact|strongly|"
    r"do|did|much|honestly|primarily|ofc|kind of|quite|very much|presently|always)\s+)+",
    re.IGNORECASE,
)
_STARTED: Final = re.compile(
    r"(?P<lead>(?:just |recently |finally |currently |now |still )*)(?:(?P<done>moved|"
    r"relocated|switched|joined|started|quit|left) |"
    r"(?:living|working|based|residing|studying) )",
    re.IGNORECASE,
)
_MINE: Final = re.compile(r"^(?:I|I'm|I've|I'd|I'll|we|we're|we've)(?:\s|$)", re.IGNORECASE)


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, each with the subject it shares; those of other subjects stay as they are."""
    text = _plain(sentence)
    found: list[str] = []
    mine = True
    for part in _PART.split(text):
        clause = lead_off(part)
        if re.match(rf"{_OWN}(?![\w'])", clause, re.IGNORECASE):
            mine = _MINE.match(clause) is not None
        elif not found and (started := _STARTED.match(clause)):
            clause = f"I{'' if started['done'] else chr(39) + 'm'} {clause[started.end('lead') :]}"
        elif not found and not re.match(rf"{_ADJECTIVE}\b", clause, re.IGNORECASE):
            mine = False  # whom it is about is not sure
        elif not mine:
            continue
        elif re.match(rf"(?:not |also )?{_ADJECTIVE}\b", clause, re.IGNORECASE):
            clause = f"{'i' if text.islower() else 'I'}'m {clause}"
        elif re.match(rf"{_VERB}\b", clause, re.IGNORECASE):
            clause = f"{'i' if text.islower() else 'I'} {clause}"
        found.append(_FILLER.sub(r"\1 ", clause))
    return [clause for clause in found if clause]


def lead_off(text: str) -> str:
    """A clause without what only leads to it."""
    return _LEAD.sub("", text.strip()).strip()


def _plain(sentence: str) -> str:
    text = " ".join(sentence.split()).rstrip(" .!;\u2026")
    small = text.islower()
    for pattern, replacement in _SHORT:
        text = pattern.sub(replacement, text)
    text = lead_off(text)
    return text.lower() if small else text
