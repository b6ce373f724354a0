"""The sections that a memory gives to a context, from what was found in it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from slate.domain.budget import Draft, Ranked
from slate.domain.context import Item, SectionName
from slate.domain.episodes import Episode, text_of
from slate.domain.facts.model import Fact, Notice
from slate.domain.facts.standing import Question
from slate.domain.ranking.turns import Ranked as Scored
from slate.domain.rendering import line_tokens
from slate.domain.sessions import Turn
from slate.domain.tokens import Count

SHOWN_CHARACTERS: Final = 1_500
"""Of a turn that is recalled; the rest of it is where it says."""


def facts_draft(always: Sequence[tuple[Fact, Scored]], best: Sequence[tuple[Fact, Scored]], count: Count) -> Draft:
    """What is always served first, and first to get room; then the best."""
    ordered = [*always, *best]
    items = [_item(fact.fact_id, "fact", fact.statement, scored, version=fact.version) for fact, scored in ordered]
    needed = frozenset(fact.fact_id for fact, _ in ordered)
    return _draft(SectionName.FACTS, items, count, needed)


def reconfirm_draft(asked: Iterable[Question], count: Count) -> Draft:
    """What is to be asked before it is used."""
    items = [
        Item(
            id="+".join(fact.fact_id for fact in question.facts),
            kind="question",
            text=question.text,
            tokens=0,
            version=question.facts[0].version,
        )
        for question in asked
    ]
    return _draft(SectionName.RECONFIRM, items, count, frozenset(item.id for item in items))


def notices_draft(notices: Iterable[Notice], count: Count) -> Draft:
    """What the person is to be told."""
    items = [
        Item(id=notice.notice_id, kind="notice", text=notice.text, tokens=0, version=notice.version)
        for notice in notices
    ]
    return _draft(SectionName.NOTICES, items, count, frozenset(item.id for item in items))


def recall_draft(
    turns: Iterable[tuple[str, Turn, Scored]], session: str | None, count: Count, *, scale: float
) -> Draft:
    """What was said; a turn of this very session has the id that it has in the window, so as to be shown once."""
    items = []
    for session_id, turn, scored in turns:
        own = session_id == session
        item = _item(
            f"turn:{turn.seq}" if own else f"turn:{session_id}/{turn.seq}",
            "turn",
            _said(session_id, turn),
            scored,
            version=turn.version,
            scale=scale,
        )
        items.append(item.model_copy(update={"role": turn.role, **({"seq": turn.seq} if own else {})}))
    return _draft(SectionName.RECALL, items, count, frozenset())


def episodes_draft(episodes: Iterable[tuple[Episode, Scored]], count: Count) -> Draft:
    """What was done before."""
    items = [
        _item(episode.episode_id, "episode", text_of(episode), scored, version=episode.version)
        for episode, scored in episodes
    ]
    return _draft(SectionName.EPISODES, items, count, frozenset())


def knowledge_draft(parts: Iterable[tuple[str, int, str, float, Mapping[str, float]]], count: Count) -> Draft:
    """Parts of documents: id, version, text, score and its parts."""
    items = [
        Item(id=part_id, kind="document", text=text, tokens=0, score=score, why=why, version=version)
        for part_id, version, text, score, why in parts
    ]
    return _draft(SectionName.KNOWLEDGE, items, count, frozenset())


def _item(item_id: str, kind: str, text: str, scored: Scored, *, version: int, scale: float = 1.0) -> Item:
    return Item(
        id=item_id,
        kind=kind,
        text=text,
        tokens=0,
        score=round(scored.score / scale, 4),
        why={name: round(part / scale, 4) for name, part in scored.why.items()},
        version=version,
    )


def _draft(name: SectionName, items: Sequence[Item], count: Count, need: frozenset[str]) -> Draft:
    return Ranked(name, tuple(line_tokens(count, item, name) for item in items), need=need)


def _said(session_id: str, turn: Turn) -> str:
    day = datetime.fromtimestamp(turn.at / 1000, UTC)
    text = turn.content
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS].rstrip()} [... the rest: GET /v1/sessions/{session_id}/turns/{turn.seq}]"
    return f"[{day:%d %B %Y}, {turn.name or turn.role.value}] {text}"
