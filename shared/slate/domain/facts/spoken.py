"""What a person says for herself in a turn: sentence by sentence, without what is only shown, quoted or asked.

Code, quotations, pasted documents, lines of other speakers, examples, material to be translated or rewritten and roles
to be played say nothing about who sends them. Where it is not sure whose words they are, they are left out.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

DOCUMENT_FROM: Final = 2_000
"""A paragraph of so many characters is a document: pasted, not said."""

MOST_TAGS: Final = 200
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_TAGGED: Final = re.compile(r"<(\w+)[^<>]{0,200}>.*?</\1>", re.DOTALL)
_QUOTED: Final = re.compile(
    r"(?m)^\s*>.*$|\"[^\"\n]{1,1000}\"|\u201c[^\u201d\n]{1,1000}\u201d|\u00ab[^\u00bb\n]{1,1000}\u00bb|"
    r"\u201e[^\u201c\n]{1,1000}\u201c|(?:(?<=\s)|(?<=^)|"
    r"(?<=[:(]))'(?=\w)[^\n]{1,1000}?(?<=[\w.!?])'(?=$|[\s.,;:!?)])"
)
_ANOTHERS_LINE: Final = re.compile(
    r"(?im)^\W*(?:user|assistant|system|tool|human|ai|bot|customer|agent|q|a|input|output|from|to|subject|"
    r"example ?\d*|(?-i:[A-Z][a-z]+ [A-Z][a-z]+))\s*\d*\s*[:\uff1a].*$"
)
_SHOWN: Final = re.compile(
    r"\b(?:(?:here(?:'s| is| are)|see|like|following|below|another|an|some|few|these) (?:\w+ ){0,3}?examples?|"
    r"for example|for instance|e\.g\.|examples?\s*[:\uff1a]|few[- ]shot|sample (?:text|input|"
    r"sentence|message|dialog)|"
    r"z\.\s?b\.|zum beispiel|beispiele?\s*:|par exemple|por ejemplo|test (?:data|input|sentence))",
    re.IGNORECASE,
)
_WORKED_ON: Final = re.compile(
    r"\b(?:translat\w+|rewrit\w+|rephras\w+|paraphras\w+|proofread\w*|summari[sz]\w+|correct(?: the grammar| this)|"
    r"(?:reply|respond|answer|react)(?:ing)? to (?:this|that|the|a|his|her|their) (?:\w+ )?(?:e-?mail|message|letter|"
    r"review|ticket|text|comment|customer)|"
    r"(?:check|improve|review|polish|shorten|fix|revise) (?:my|this|the) (?:\w+ )?(?:essay|text|e-?mail|letter|draft|"
    r"paragraph|wording|article|post)|"
    r"edit this|classif\w+|analy[sz]e (?:this|the following)|extract|parse|grammar|complete (?:the|this) sentence|"
    r"respond to this|reply to this|following (?:text|message|email|sentence|review|letter|"
    r"conversation|transcript))\b"
    r"|\b(?:transcript|template|placeholder|lorem ipsum)\b",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    r"\b(?:above|(?:translat|rewrit|rephras|paraphras|proofread|summari[sz])\w* (?:this|that|it|these|them)\b)"
    r"(?!.*[:\uff1a]$)",
    re.IGNORECASE,
)
"""What is to be worked on stands before."""
_REPORTED: Final = re.compile(
    r"^(?!.{0,60}\bI (?:\w+ )?(?:said|told|wrote|mentioned)\b)[^:\uff1a]{0,80}"
    r"\b(?:sa(?:id|ys)|wr(?:ote|ites)|tells? me|told me|replied|texted|asked|answered|reads)\s*[:\uff1a]",
    re.IGNORECASE,
)
_INVENTED: Final = re.compile(
    r"\b(?:(?:write|draft|compose|invent|make up|tell)\b.{0,60}\b(?:stor(?:y|ies)|poem|song|"
    r"novel|scene|dialogue?|essay|"
    r"script|joke|character|in the (?:voice|style) of|as if)|role[- ]?play\w*|pretend\w*|imagine|let's say|"
    r"act(?:ing)? as|in the (?:story|novel|game|film|movie|book)|my character|hypothetical\w*|suppose)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(
    r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|Ms|vs|No|St|Mt|Ft)\.)(?<!\b(?:Mrs|e\.g|i\.e)\.)\s+|"
    r"(?<=[\u3002\uff01\uff1f])\s*|\s*\n+\s*"
)
_REMEMBER: Final = re.compile(
    r"\W*(?:can|could|would|will) you (?:please )?(?:remember|note|keep in mind|save|store) (?:that )(?P<x>.+)$",
    re.IGNORECASE,
)
_TURNS_TO_ASK: Final = re.compile(
    r"\W*(?P<x>(?:(?:hi|hello|hey|well|so|since|as|because|given that)\W+)?(?:i|i'm|i've|my|"
    r"we|we're)\b.+?)\s*[,;:.\u2014-]+\s*(?:(?:and|so|but|now) )?"
    r"(?:what|which|how|where|when|who|why|can|could|should|would|do|does|did|is|are|will|any|"
    r"got|please|shall|may)\b",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(r"[?\uff1f][\s\W]*$")


def spoken(content: str) -> list[str]:
    """The sentences that the person says for herself, as statements; questions are none."""
    text = readable(content)
    paragraphs = (part for part in re.split(r"\n\s*\n", text) if len(part) < DOCUMENT_FROM)
    said: list[str] = []
    for paragraph in paragraphs:
        if _INVENTED.search(paragraph):
            continue
        for sentence in _sentences(paragraph):
            if _WORKED_ON.search(sentence):
                # What follows is what is to be worked on, in the paragraphs to come too; or what was before is.
                return [] if _BACK.search(sentence) else said
            if _SHOWN.search(sentence) or _REPORTED.search(sentence):
                if sentence.rstrip().endswith((":", "\uff1a")):
                    return said
                break
            stated = _stated(sentence) if _ASKS.search(sentence) else sentence
            if stated.strip(" \u2026"):
                said.append(stated.strip())
    return said


def _sentences(paragraph: str) -> list[str]:
    return _SENTENCE.split(_ANOTHERS_LINE.sub("\n", _QUOTED.sub(" \u2026 ", paragraph)))


def _stated(question: str) -> str:
    """What a question states before it asks: "I'm allergic to nuts, what can I eat?"."""
    if asked := _REMEMBER.match(question):
        return f"Remember that {asked['x'].rstrip(' ?')}."
    before = _TURNS_TO_ASK.match(question)
    return "" if before is None else before["x"]


def readable(content: str) -> str:
    """A text without code and marked-up material, with plain apostrophes and no invisible characters.

    What is all markup is a document, and nothing is left of it.
    """
    if content.count("<") > MOST_TAGS:
        return ""
    visible = "".join(c for c in content if unicodedata.category(c) != "Cf")
    plain = visible.replace("\u2019", "'").replace("\u02bc", "'").replace("\u00a0", " ")
    return _TAGGED.sub(" ", _CODE.sub(" ", plain))
