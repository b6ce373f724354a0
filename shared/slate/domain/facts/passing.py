"""What does not last, was only thought, or was meant otherwise is no fact: each with its reason."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from slate.domain.facts.guard import plain
from slate.domain.facts.model import Category


class Passing(NamedTuple):
    """Why a statement is not kept."""

    code: str
    reason: str


TRANSIENT: Final = Passing("transient", "it passes by itself: a mood, a moment, today only")
HYPOTHETICAL: Final = Passing("hypothetical", "it was considered, not said to be so")
IRONY: Final = Passing("irony", "it does not seem to be meant as it is said")
QUESTION: Final = Passing("question", "a question states nothing")
FILLER: Final = Passing("filler", "it says nothing about the person")

_TODAY: Final = re.compile(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|minute|instant)|right now|at the moment|just now|for now|"
    r"at this moment|in a (?:minute|moment|second|hurry|rush|meeting)|heute|gerade eben|"
    r"im moment|aujourd'hui|hoy)\b|\u4eca\u5929|\u73b0\u5728|\u4eca\u65e5"
)
_SINCE_TODAY: Final = re.compile(
    r"\b(?:as of|from|since|starting|effective|beginning|ab|seit) (?:today|tonight|"
    r"this (?:morning|afternoon)|right now|"
    r"heute)\b|\b(?:moved|started|joined|quit|left|married|engaged|diagnosed|became|become|"
    r"switched|signed|hired|fired|"
    r"promoted|born|graduated|retired|adopted|bought|decided|resigned|divorced|stopped|began|"
    r"changed|got (?:a|the|my))\b"
)
_WHO: Final = r"\b(?:i'm|i am|i feel|we're|we are|ich bin|je suis|(?:user|customer|s?he|they) (?:is|are))"
_HOW: Final = (
    r"\s+(?:(?:so|very|really|quite|a bit|a little|pretty|too|just|still|feeling|currently|kind of|super|getting|"
    r"extremely|somewhat|all)\s+)*"
)
_MOOD: Final = re.compile(
    rf"(?:{_WHO}|^(?:am|is|are|feel(?:s|ing)?)){_HOW}"
    r"(?:tired|sleepy|exhausted|hungry|thirsty|bored|busy|late|sick of this|sad|happy|angry|"
    r"annoyed|frustrated|confused|"
    r"lost|stuck|excited|nervous|stressed|stressed out|worried|in a hurry|upset|grumpy|hungover|cold|hot|unwell|"
    r"under the weather|glad|sorry|waiting|sleeping|"
    r"going to bed|off to bed|having (?:lunch|dinner|breakfast|coffee)|in a meeting|on a call|"
    r"m\u00fcde|hungrig|beschäftigt|fatigu\u00e9e?|cansad[oa])\b(?!\s+(?:of being|of the))"
    # Of somebody who is not named, such a word may be all that there is to know.
    rf"|{_WHO}{_HOW}(?:back|ready|done|here|almost there|on (?:my|the|his|her|their) way)\b"
    r"|\brunning (?:\w+ )?(?:late|behind)\b|\b(?:brb|afk|be right back|gotta go|g2g)\b|"
    r"\bhav(?:e|ing|s) a (?:bad|good|great|"
    r"rough|long|slow) (?:day|morning|week|night)\b|\b(?:i've|i have|has|have|got|"
    r"i've got) (?:a )?(?:headache|hangover|cold)\b"
)
_ALWAYS: Final = re.compile(
    r"\b(?:always|often|usually|every|never|chronic\w*|generally|permanently|regularly|each|"
    r"whenever|mostly|tends?|on "
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
)
_THOUGHT: Final = re.compile(
    r"\b(?:think(?:s|ing)?|thought|toy(?:s|ing)?|play(?:s|ing)? with the idea|dream(?:s|"
    r"ing)?) (?:\w+ )?(?:about|of|on)\b"
    r"|\bconsider(?:s|ed|ing)?\b|\b(?:might|maybe|perhaps|possibly|hypothetical\w*|theoretically|supposedly)\b"
    r"|\b(?:wonder(?:s|ed|ing)?|what if|suppose|imagine|pretend|let's say|as if|if only|in case|unsure|undecided)\b"
    r"|\b(?:not sure|don't know|doesn't know) (?:if|whether)\b|\b(?:wish(?:es)?|if) (?:i|he|she|they|we|you|it)\b"
    r"|\b(?:tempted|inclined) to\b|\b(?:could|would|should) have\b|\b(?:i|we) (?:could|would|"
    r"may)\b(?! (?:like|prefer|rather|love|"
    r"never|always|not|hate))|\b(?:was|were|am|i'm|is|are) (?:almost|nearly|about to|"
    r"going to (?:be|become|try|use))\b"
    r"|\b(?:plans?|planning|hop(?:e|es|ing)|want(?:s|ed)?|intend\w*) to (?:use|try|switch|"
    r"become|get|start|learn|adopt)\b"
    r"|\b(?:vielleicht|\u00fcberleg\w+|w\u00fcrde gern|hätte gern|peut-\u00eatre|"
    r"quiz[a\u00e1]s)\b|\u4e5f\u8bb8|\u53ef\u80fd\u4f1a|\u8003\u8651"
)
_PRAISE: Final = (
    r"(?:great|wonderful|fantastic|lovely|brilliant|perfect|awesome|amazing|terrific|nice|excellent|super|splendid|"
    r"marvel+ous|bravo|congrat\w*|love|loving|enjoy\w*|thrilled|delighted|best|favou?rite|"
    r"just what i (?:needed|wanted)|"
    r"toll|prima|klasse)"
)
_WOE: Final = (
    r"(?:broken|breaks?|broke|crash\w*|fail\w*|bugs?|error\w*|outage|down again|late again|delay\w*|cancel\w*|lost|"
    r"missing|ruin\w*|useless|worthless|wrong|worse|worst|scratched|damaged|dead|stuck|"
    r"waiting (?:for )?(?:hours|forever|"
    r"on hold)|on hold|another (?:one|bug|error|crash|delay|bill|fee|broken)|yet another|"
    r"for the (?:third|fourth|fifth|tenth|"
    r"hundredth|umpteenth|\d+(?:rd|th)) time|kaputt|schon wieder|rude|overcharg\w*|double[- ]charg\w*|slow(?:est)?)"
)
_IRONY: Final = re.compile(
    r"\boh,? (?:great|wonderful|joy|lovely|perfect|fantastic)\b"
    r"|\b(?:yeah|yea|sure),? right\b|(?:^|\s)/s(?:arcasm)?\b|\bnot\s*!+$|\u1f644|\U0001f644|"
    r"\U0001f643|\bas if\b|\bthanks a lot for\b"
    r"|\bsarcas\w+|\bjust kidding\b|\b(?:j/k|jk|lol no)\b|\bi'm (?:only |just )?(?:joking|kidding)\b"
)
_BOTH: Final = re.compile(rf"\b{_PRAISE}\b.*\b{_WOE}\b|\b{_WOE}\b.*\b{_PRAISE}\b")
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|me|my|we|us|our|ich|mich)\b|!|\bjust what\b|^(?:great|wonderful|perfect)\b"
)
_FILLER: Final = re.compile(
    r"(?:(?:ok(?:ay)?|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|ty|yes|yep|yeah|no|"
    r"nope|sure|please|great|perfect|"
    r"fine|cool|nice|right|exactly|correct|done|hi|hello|hey|bye|goodbye|good (?:morning|evening|afternoon|night)|"
    r"continue|go (?:on|ahead)|that helped|got it|i see|sounds good|never ?mind|will do|"
    r"you're welcome|np|understood|"
    r"i agree|that works|makes sense|ja|nein|danke|bitte|gut|merci|oui|gracias)[\s,.!;:-]*)+"
)
_LASTS: Final = frozenset({Category.DECISION, Category.TASK})


def passing(statement: str, category: Category, *, dated: bool = False) -> Passing | None:
    """Why this is not kept; nothing where it may be. What is ``dated`` says itself when it ends."""
    text = plain(statement)
    if text.endswith(("?", "\uff1f")):
        return QUESTION
    if _FILLER.fullmatch(text):
        return FILLER
    if ironic(text):
        return IRONY
    if _THOUGHT.search(text) and category is not Category.TASK:
        return HYPOTHETICAL
    if not dated and category not in _LASTS and _passes(text):
        return TRANSIENT
    return None


def ironic(sentence: str) -> bool:
    """Whether a sentence praises and complains in one breath, or says itself that it is no statement."""
    text = plain(sentence)
    return _IRONY.search(text) is not None or bool(_FIRST_PERSON.search(text) and _BOTH.search(text))


def hypothetical(sentence: str) -> bool:
    """Whether a sentence weighs something instead of saying it."""
    return _THOUGHT.search(plain(sentence)) is not None


def transient(sentence: str) -> bool:
    """Whether what a sentence says passes by itself."""
    return _passes(plain(sentence))


def _passes(text: str) -> bool:
    if _ALWAYS.search(text):
        return False
    return bool(_MOOD.search(text)) or (bool(_TODAY.search(text)) and not _SINCE_TODAY.search(text))
