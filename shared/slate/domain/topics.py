"""Whether a user's turn leaves the topic: its likeness to what the segment has been about falls below a threshold.

The threshold belongs to the embedder that makes the vectors: 0.65 is a usual figure for large models; that of the
embedder without weights is far lower. Each is calibrated on a labelled set (docs/summaries.md). A turn that says too
little to have a topic ("yes, please", "and the second one?") never leaves it; one that says that it does ("by the
way") needs less to be believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from slate.domain.vectors import Vector, joined, likeness
from slate.domain.words import content_words

NOMINAL_SIMILARITY: Final = 0.65
_REFERS_BACK: Final = re.compile(
    r"\b(that one|this one|the (same|other|first|second|third|last) (one|time)|as (i|you) said|you said|"
    r"earlier you|above|dieselbe|derselbe|das gleiche)\b",
    re.IGNORECASE,
)


_TURNS_AWAY: Final = re.compile(
    r"^\W*(ok(ay)?,?\s+)?(by the way|btw|something else|another (thing|question|topic)|switching (gears|topics?)|"
    r"unrelated|on (another|a different) (note|subject|topic)|(one )?last thing|new topic|changing the (subject|topic)|"
    r"different (question|topic)|andere (sache|frage)|anderes thema|übrigens|noch (etwas|was) anderes|"
    r"themenwechsel)\b|^\W*(另外|换个话题|对了|顺便)",
    re.IGNORECASE,
)
_BELIEVED: Final = 3
"""What says that it leaves the topic may be so many times as like it."""


class Topics(NamedTuple):
    """The rule for one embedder."""

    below: float = NOMINAL_SIMILARITY
    """A likeness below it is another topic."""
    least_words: int = 3
    """A turn of fewer words that carry content has no topic of its own."""

    def shifts(self, centroid: Sequence[float], text: str, vector: Vector) -> bool:
        """Whether this user turn is about something else than the centroid."""
        if not centroid or not any(vector) or _REFERS_BACK.search(text):
            return False
        below = self.below * _BELIEVED if _TURNS_AWAY.search(text) else self.below
        return len(content_words(text)) >= self.least_words and likeness(centroid, vector) < below

    def jumps(self, texts: Sequence[str], vectors: Sequence[Vector]) -> int:
        """How often the topic changes over user turns in their order: the less stable, the more a window shows."""
        centroid: Vector = ()
        weight = count = 0
        for text, vector in zip(texts, vectors, strict=True):
            if self.shifts(centroid, text, vector):
                count, centroid, weight = count + 1, (), 0
            if any(vector):
                centroid, weight = joined(centroid, weight, vector), weight + 1
        return count
