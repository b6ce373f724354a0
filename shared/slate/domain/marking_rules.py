"""The rules by which turns are marked, one a line of thought, English first.

Verbs are written as imperatives or in the first person on purpose: "never send it" is a constraint, "I never got it"
is a story.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from slate.domain.sessions import Mark, Speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: what a sentence of this speaker must say, and what it must not."""

    name: str
    mark: Mark
    importance: int
    says: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    role: Speaker = Speaker.USER
    asked: bool = False
    """It holds in a question too."""


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ME: Final = r"(?:i|im|i'm|i've|we|we're|my (?:\w+ )?\w+|our (?:\w+ )?\w+|she|he|they)"
_START: Final = (
    r"(?:^|[:;,\u2014-] ?|\b(?:and|but|so|also|then)\s+)\W*(?:(?:please|kindly|also|you (?:must|should))[ ,]+)*"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WHEN: Final = (
    rf"(?:(?:the )?(?:{_MONTH}\.? \d{{1,2}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|\d{{1,2}}(?:st|nd|rd|th))\b|"
    r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}\b|\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d|noon|midnight|"
    r"(?:next |this |the end of |end of )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|"
    r"(?:the )?end of (?:the |this |next )?(?:day|week|month|quarter|year)|next (?:week|month)|q[1-4]\b|christmas|"
    rf"{_MONTH}\b)"
)
_MONEY: Final = (
    r"(?:[$\u20ac\u00a3\u00a5] ?\d|\d[\d.,]*k? ?(?:dollars?|euros?|pounds?|usd|eur|gbp|chf|yen|\u20ac|bucks)\b)"
)
_STORY: Final = r"(?:mind|been|got|had|heard|received|worked|seen|was|were|did|gets?|happens|\w{3,}ed)\b"
_NO_ORDER: Final = (
    r"(?:worry|know|think|mind|understand|see|get|have|remember|believe|like|want|need|care|really|even|feel|seem|"
    r"you)\b"
)

_CONSTRAINTS: Final = (
    Rule(
        name="constraint.allergy",
        mark=Mark.CONSTRAINT,
        importance=9,
        says=_of(
            rf"\b{_ME}\b[^.?!]{{0,40}}\b(?:allerg(?:ic|y|ies)|intolerant|intolerance|anaphyla\w+|c(?:o)?eliac)\b|"
            r"\ballergisch gegen\b|\b(?:habe|hat) eine \w*allergie\b|\u5bf9.{1,12}\u8fc7\u654f"
        ),
        unless=_of(r"\b(?:not|no longer|isn't|aren't|no) (?:an? )?(?:known )?(?:allerg|intoleran)|\u4e0d\u8fc7\u654f"),
        asked=True,
    ),
    Rule(
        name="constraint.diet",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            rf"\b{_ME}(?: am| are| is|'s)? (?:a )?(?:strict(?:ly)? )?"
            r"(?:vegan|vegetarian|pescatarian|diabetic|gluten[- ]free|lactose[- ]intolerant)s?\b|"
            r"\b(?:i|we) (?:only eat|don't eat|do not eat|can't eat|cannot eat|don't drink|keep) "
            r"(?:halal|kosher|meat|pork|beef|fish|dairy|gluten|nuts|eggs|shellfish|alcohol)\b"
        ),
        unless=_of(r"\b(?:not|no longer|used to|isn't) (?:be )?(?:a )?(?:vegan|vegetarian)"),
        asked=True,
    ),
    Rule(
        name="constraint.access",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            rf"\b{_ME}\b[^.?!]{{0,30}}\b(?:wheelchair|screen reader|deaf|hard of hearing|dyslexi\w+|colou?r[- ]?blind|"
            r"visually impaired)\b"
        ),
        asked=True,
    ),
    Rule(
        name="constraint.never",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            rf"{_START}(?:never|under no circumstances|don't ever|do not ever)\s+(?!{_STORY})\w+|\b\w+ must never\b"
        ),
        unless=_of(r"\bi (?:have |had |would )?never\b"),
    ),
    Rule(
        name="constraint.always",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(rf"{_START}always\s+(?!{_STORY})\w+|\byou (?:must|should) always\b|\b\w+ must always\b"),
    ),
    Rule(
        name="constraint.must",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            r"\b(?:must|shall) not\b|\bmustn't\b|\b(?:is|are) not allowed\b|\b(?:is|are) (?:strictly )?(?:forbidden|"
            r"prohibited|mandatory|non-negotiable)\b|"
            r"\b(?:must|has to|have to|needs? to) be (?:\w+ed|\w+en|spent|paid|sent|kept|made|built|done|left|under|"
            r"below|above|within|before|after|by|at (?:least|most)|in)\b|\bno exceptions\b"
        ),
        unless=_of(
            r"\bmust not have\b|\bi (?:must|have to) be (?:mistaken|confused)\b|\bmust be (?:mistaken|confused|in)\b"
        ),
    ),
    Rule(
        name="constraint.budget",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            rf"\b(?:budget|spending limit|price limit|credit limit)\b[^.?!]{{0,40}}\d|"
            rf"\b(?:at most|no more than|not more than|up to|under|below|max(?:imum)?(?: of)?|within|can (?:only )?"
            rf"(?:spend|afford))\s+(?:about |around )?{_MONEY}|\u9884\u7b97.{{0,8}}\d"
        ),
        unless=_of(r"\bi (?:paid|spent)\b"),
    ),
    Rule(
        name="constraint.deadline",
        mark=Mark.CONSTRAINT,
        importance=8,
        says=_of(
            rf"\b(?:deadline|due)\b[^.?!]{{0,30}}\b{_WHEN}|"
            r"\b(?:need\w*|must|has to|have to|should|required?|finish\w*|deliver\w*|arriv\w*|ready|submit\w*|done|"
            rf"ship\w*|launch\w*|expires?|spent|paid|get|have) [^.?!]{{0,60}}"
            rf"\b(?:by|before|no later than|until)\s+{_WHEN}"
        ),
        unless=_of(
            r"\b(?:arrived|(?:was|were|got) (?:shipped|delivered|done|paid)|got it|had)\b[^.?!]{0,30}\b(?:before|by)\b"
        ),
    ),
    Rule(
        name="constraint.order_not_to",
        mark=Mark.CONSTRAINT,
        importance=7,
        says=_of(rf"^\W*(?:please[ ,]+|and |but |so )*(?:do not|don't)\s+(?!{_NO_ORDER})\w+"),
    ),
    Rule(
        name="constraint.only",
        mark=Mark.CONSTRAINT,
        importance=7,
        says=_of(
            r"^\W*(?:please[ ,]+)?only (?:use|send|call|contact|show|reply|answer|ship|deliver|include|write|speak|"
            r"book|consider|recommend|suggest)\b"
        ),
    ),
    Rule(
        name="constraint.unable",
        mark=Mark.CONSTRAINT,
        importance=7,
        says=_of(
            r"\b(?:i|we) (?:can't|cannot|can not|am not able to|'m not able to|won't be able to|am unable to) "
            r"(?:eat|drink|walk|climb|fly|drive|travel|work|meet|attend|lift|hear|afford|spend|come|make it|fast)\b"
        ),
    ),
)

_INSTRUCTIONS: Final = (
    Rule(
        name="instruction.standing",
        mark=Mark.INSTRUCTION,
        importance=8,
        says=_of(
            r"\b(?:from now on|from here on|going forward|for the rest of (?:this|our|the)|"
            r"(?:whenever|every time|each time) (?:you|i ask|we))\b|\bab (?:jetzt|sofort)\b"
        ),
    ),
    Rule(
        name="instruction.remember",
        mark=Mark.INSTRUCTION,
        importance=8,
        says=_of(
            r"^\W*(?:please[ ,]+|and |also )*(?:remember|keep in mind|bear in mind|note|important)(?: that\b|:|,| -)"
        ),
    ),
    Rule(
        name="instruction.ensure",
        mark=Mark.INSTRUCTION,
        importance=7,
        says=_of(r"^\W*(?:please[ ,]+|and |also )*(?:make sure|be sure|ensure)\b"),
    ),
    Rule(
        name="instruction.style",
        mark=Mark.INSTRUCTION,
        importance=7,
        says=_of(
            r"^\W*(?:please[ ,]+|can you )?(?:answer|reply|respond|write|speak|talk)(?: to me| everything)? "
            r"(?:in (?:english|german|french|spanish|chinese|italian|dutch|plain|simple|short|bullet|one|full|formal|"
            r"markdown|json|metric)|briefly|with(?:out)?|using|formally|informally)\b|"
            r"\buse (?:metric|imperial|celsius|fahrenheit|british spelling|american spelling)\b"
        ),
    ),
    Rule(
        name="instruction.request",
        mark=Mark.INSTRUCTION,
        importance=7,
        says=_of(
            r"\b(?:i(?:'d| would)? (?:like|want|need|wish) to|i'm trying to|can i|could i|may i|i want you to|please|"
            r"can you|could you|i need you to) (?:just )?(?:return|cancel|exchange|refund|dispute|reschedule|"
            r"get a (?:refund|replacement|return)|request a (?:refund|return|replacement)|start a return|"
            r"send (?:it|this) back|close my account|delete my)\b|\breturn request\b"
        ),
        asked=True,
    ),
)

_FACTS: Final = (
    Rule(
        name="fact.done",
        mark=Mark.FACT,
        importance=8,
        says=_of(
            r"\b(?:i|we)(?:'ve| have)? already (?:\w+ly )?(?:returned|sent|paid|cancel+ed|shipped|submitted|signed|"
            r"received|ordered|bought|booked|tried|contacted|called|replaced|reset|reported|refunded|reinstalled|restarted|"
            r"checked|uploaded|filed|moved|changed|told|did|done)\b|\bich habe [^.?!]{0,40}\b(?:bereits|schon) \w+"
        ),
    ),
    Rule(
        name="fact.place",
        mark=Mark.FACT,
        importance=8,
        # With a capital: "I'm in Berlin", not "I'm in trouble".
        says=re.compile(
            r"\b(?:[Ii]'m|[Ii] am|[Ww]e're|[Ww]e are) (?:\w+ )?(?:based |located |living |currently )?(?:in|from) "
            r"(?:the )?[A-Z]\w+|\b(?:[Ii]|[Ww]e) (?:now |currently )?(?:live|moved|relocated|reside) (?:in|to) "
            r"(?:the )?[A-Z]\w+"
        ),
    ),
    Rule(
        name="fact.name",
        mark=Mark.FACT,
        importance=7,
        says=re.compile(
            r"\b[Mm]y (?:first |last |full |sur)?name(?: is|'s) [A-Z]|\b(?:[Pp]lease )?[Cc]all me [A-Z]\w+"
        ),
    ),
    Rule(
        name="fact.work",
        mark=Mark.FACT,
        importance=6,
        says=re.compile(r"\b(?:[Ii]|[Ww]e) work (?:at|for) (?:the )?[A-Z]|\bI work as an? \w+"),
    ),
    Rule(
        name="fact.identifier",
        mark=Mark.FACT,
        importance=7,
        says=_of(
            r"\bmy (?:order|invoice|ticket|case|account|customer|booking|reservation|tracking|reference|confirmation|"
            r"policy|contract|member\w*)(?: number| no\.?| id)? (?:is |was |: ?|# ?)?(?=[\w-]*\d)[\w-]{2,}|"
            r"\b(?:order|invoice|ticket|booking|tracking|reference)(?: number| no\.?| id) (?:is |: ?|# ?)?"
            r"(?=[\w-]*\d)[\w-]{3,}"
        ),
    ),
    Rule(
        name="fact.preference",
        mark=Mark.FACT,
        importance=6,
        says=_of(
            r"\b(?:i|we)(?:'d| would)? (?:much |really |usually |strongly )?(?:prefer|rather have)\b|\bmy favou?rite\b|"
            r"\b(?:i|we) (?:really )?(?:like|liked|love|loved|hate|hated|dislike|can't stand) the \w+"
        ),
        unless=_of(r"\b(?:like|love|liked|loved) the (?:idea|way|sound|fact|look)\b"),
    ),
)

_DECISIONS: Final = (
    Rule(
        name="decision.made",
        mark=Mark.DECISION,
        importance=8,
        says=_of(
            r"\b(?:let's|let us|we(?:'ll| will)|i(?:'ll| will)) (?:go with|take|stick with|settle on|choose|pick|use) "
            r"(?:the|option|plan|version|that|this|number|[a-z]\b|\w+ instead)|\b(?:i|we)(?:'ve| have)? (?:now )?"
            r"(?:decided|settled on|agreed)\b|\bdecision:|\bit's decided\b|"
            r"\b(?:i|we) (?:choose|pick|chose|picked) the\b"
        ),
        unless=_of(
            r"\b(?:haven't|have not|not yet|hasn't|don't|if)\b[^.?!]{0,40}\b(?:decid|agree|choos|chose|go with)"
        ),
    ),
    Rule(
        name="decision.agreed",
        mark=Mark.DECISION,
        importance=7,
        role=Speaker.ASSISTANT,
        says=_of(
            r"\b(?:we (?:have )?(?:agreed|decided|settled)|as agreed|decision:|"
            r"i(?:'ve| have) (?:now )?(?:booked|refunded|cancel+ed|ordered|issued|scheduled|reserved|approved|rejected|"
            r"escalated) (?:your|the|a|an|it)\b)"
        ),
    ),
)

RULES: Final[tuple[Rule, ...]] = (*_CONSTRAINTS, *_INSTRUCTIONS, *_FACTS, *_DECISIONS)

GREETING: Final = _of(
    r"(?:\W*\b(?:hi|hello|hey|hallo|thanks?|thank you|thx|many|so|very|a lot|again|there|everyone|team|all|good "
    r"(?:morning|afternoon|evening|night|day)|bye|goodbye|see you|later|cheers|you're welcome|welcome|danke|"
    r"guten (?:morgen|tag|abend)|much|you too|have a (?:nice|good|great) (?:day|one|evening|weekend))\b){1,6}\W*"
)
"""Nothing but a greeting or thanks: of no importance to what comes later."""
