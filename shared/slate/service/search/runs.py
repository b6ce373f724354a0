"""What a session leaves as an episode when it is closed: its goal, its plan and decisions, and how far it got.

It is made of the pinned state alone, which agents write; what the person said is recalled from her turns, which obey
the facts, and is never copied here. A session without a goal, or without a plan or a decision, leaves none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from slate.domain.episodes import MAX_CHARACTERS, MAX_STEPS, Episode, EpisodeStep
from slate.domain.errors import Conflict, NotFound, SubjectErased
from slate.domain.sessions import Pinned
from slate.ports.clock import Clock
from slate.ports.episode_store import EpisodeStore
from slate.ports.session_store import SessionStore


class Runs:
    """Keeps episodes of sessions."""

    def __init__(self, sessions: SessionStore, episodes: EpisodeStore, clock: Clock) -> None:
        self._sessions = sessions
        self._episodes = episodes
        self._clock = clock

    def closed(self, message: Mapping[str, Any]) -> None:
        """One episode for each close, however often its message comes; a session that is gone leaves none."""
        tenant, session_id = str(message["tenant"]), str(message.get("session_id", ""))
        if "extraction_id" not in message or not session_id:
            return  # a part of a session that goes on
        with suppress(NotFound, SubjectErased, Conflict):  # another content: kept at the first try
            session, pinned, _, _ = self._sessions.shown(tenant, session_id)
            if not is_a_run(pinned.pinned):
                return
            self._episodes.put(
                tenant,
                Episode(
                    episode_id=f"e-{message['extraction_id']}",
                    task=pinned.pinned.goal,
                    steps=_steps(pinned.pinned),
                    outcome=_outcome(pinned.pinned),
                    subject=session.subject,
                    agent=session.agent,
                    readers=session.readers,
                    source=f"session {session_id}",
                    created_at=self._clock.now(),
                ),
            )


def is_a_run(pinned: Pinned) -> bool:
    """Whether somebody set out to do something, and did or decided some of it."""
    return bool(pinned.goal.strip() and (pinned.plan or pinned.decisions))


def _steps(pinned: Pinned) -> tuple[EpisodeStep, ...]:
    planned = [(step.step, "done" if step.done else "open") for step in pinned.plan]
    decided = [(f"decided: {decision}", None) for decision in pinned.decisions if decision.strip()]
    named = [(action.strip()[:MAX_CHARACTERS], result) for action, result in (*planned, *decided) if action.strip()]
    return tuple(EpisodeStep(action=action, result=result) for action, result in named[:MAX_STEPS])


def _outcome(pinned: Pinned) -> str:
    if not pinned.plan:
        return "decided"
    done = sum(step.done for step in pinned.plan)
    return "done" if done == len(pinned.plan) else f"{done} of {len(pinned.plan)} steps done"
