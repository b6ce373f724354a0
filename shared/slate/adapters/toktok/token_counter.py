"""An exact counter of an OpenAI encoding: nothing is fetched, the vocabularies are compiled into the package."""

from __future__ import annotations

from collections.abc import Sequence

import toktok

from slate.domain.tokens import at_least_words


class ToktokCounter:
    """Counts exactly, by one encoding; its tables are built at the first count, once for the process."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        self._encoding = encoding

    @property
    def name(self) -> str:
        """The encoding."""
        return self._encoding

    def count(self, text: str) -> int:
        """What stands for a special token counts as the text that it is."""
        return self.count_all([text])[0]

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """In the calling thread: texts here are short, and a pool would cost more than it saves."""
        # Half of a surrogate pair is no text, yet JSON can carry it: it counts as what replaces it.
        sound = [text.encode(errors="replace").decode() for text in texts]
        counts = toktok.batch_count(sound, self._encoding, threads=1)
        return [at_least_words(text, tokens) for text, tokens in zip(texts, counts, strict=True)]
