"""Tokens: what a model counts, and an estimate where no tokenizer is at hand.

A count is never below the number of words. The estimate goes by script, and errs upwards: docs/tokens.md measures it
against an exact tokenizer. What a message costs beside its text is counted with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Final

from slate.domain.sessions import ToolCall

Count = Callable[[str], int]
"""The tokens of a text."""

MESSAGE_OVERHEAD: Final = 4
"""A message's role and delimiters: OpenAI documents 3, and 1 for a name."""
REPLY_OVERHEAD: Final = 3
"""What begins the reply. It is counted with each section, so that a context of one section counts it too."""
CALL_OVERHEAD: Final = 8
"""What frames one call of a tool."""

_PIECES: Final = re.compile(
    r"(?P<opaque>(?=[A-Za-z/+_-]*[0-9])[A-Za-z0-9/+_-]{20,})|(?P<digits>[0-9]+)|(?P<latin>[A-Z\u00c0-\u00de]*[a-z\u00df-\u024f\u1e00-\u1eff]+|[A-Z\u00c0-\u00de]+)"
    r"|(?P<letters>[\u0370-\u058f]+)|(?P<ideographs>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)"
    r"|(?P<abugidas>[\u0590-\u0eff\u10a0-\u10ff]+)|(?P<lines>[ \t]*[\r\n][\s]*)|(?P<spaces> {2,}|\t+)|(?P<space> )"
    r"|(?P<punctuation>[!-/:-@\[-`{-~]+)|(?P<other>.)",
    re.DOTALL,
)
_VOWELS: Final = frozenset("aeiouyäöüáàâéèêíîóôúûAEIOUYÄÖÜ")
_WITHIN: Final = re.compile(_PIECES.pattern.partition("|")[2], re.DOTALL)
_WHOLE_WORD: Final = 6
_LETTERS_A_TOKEN: Final = 4
_ACCENTED_LETTERS_A_TOKEN: Final = 3
_RANDOM_LETTERS_A_TOKEN: Final = 2
_LONGEST_WORD: Final = 30
_DIGITS_AMONG: Final = 10


def at_least_words(text: str, tokens: int) -> int:
    """No tokenizer counts fewer tokens than words; whatever a counter says, this holds."""
    return max(tokens, len(text.split()))


def estimate(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    return at_least_words(text, sum(_cost(match) for match in _PIECES.finditer(text)))


_PER_TOKEN: Final = {"digits": 3, "punctuation": 2, "letters": 2, "ideographs": 1, "abugidas": 1}
"""Characters of a run that are one token."""


def _cost(match: re.Match[str]) -> int:
    kind, piece = match.lastgroup, match[0]
    match kind:
        case "latin":
            return _word(piece)
        case "opaque":
            return _opaque(piece)
        case "lines" | "spaces":
            return 1
        case "space":
            return 0
    per_token = _PER_TOKEN.get(kind or "")
    # Of any other script no token is shorter than a byte.
    return -(-len(piece) // per_token) if per_token else len(piece.encode(errors="surrogatepass"))


def _word(word: str) -> int:
    size = len(word)
    if size > _LONGEST_WORD or not _VOWELS.intersection(word):
        return -(-size // _RANDOM_LETTERS_A_TOKEN)
    if not word.isascii():
        return -(-size // _ACCENTED_LETTERS_A_TOKEN)
    return 1 if size <= _WHOLE_WORD else -(-size // _LETTERS_A_TOKEN)


def _opaque(run: str) -> int:
    """Keys, digests and base64 are all but random: three tokens for four characters; a path is not."""
    if sum(c.isdigit() for c in run) * _DIGITS_AMONG < len(run):
        return sum(_cost(match) for match in _WITHIN.finditer(run))
    return -(-len(run) * 3 // 4)


def call_text(call: ToolCall) -> str:
    """A call of a tool as text: its name and its arguments as compact JSON."""
    return f"{call.name}({json.dumps(call.arguments, ensure_ascii=False, separators=(',', ':'))})"


def message_tokens(count: Count, content: str, *, name: str | None = None, calls: Iterable[ToolCall] = ()) -> int:
    """The tokens of a whole message: its text, its name, its calls of tools, and what frames them."""
    named = 0 if name is None else count(name) + 1
    called = sum(count(call_text(call)) + count(call.id) + CALL_OVERHEAD for call in calls)
    return count(content) + named + called + MESSAGE_OVERHEAD
