"""Feedback: what an answer was made of becomes a step more important, what was noise a step less; each time once."""

from __future__ import annotations

from collections.abc import Sequence

from slate.contract.forgetting import Feedback, GiveFeedback
from slate.domain.access import Principal
from slate.domain.context import Format
from slate.domain.errors import Invalid
from slate.domain.facts.model import Fact
from slate.domain.forgetting.feedback import stepped
from slate.domain.forgetting.reflecting import used
from slate.domain.ranking.terms import terms
from slate.domain.sessions import Session, Speaker, Turn
from slate.ports.counts import Count, Counts
from slate.ports.fact_fading import FactFading
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore
from slate.service.context.giving import Contexts
from slate.service.forgetting.waking import served_facts
from slate.service.tenants import Tenants

READ_AT_ONCE = 200
MOST_TURNS = 1_000
"""Of a session, so many of the last turns are looked at when it closes."""


class Learning:
    """Learns from use what matters."""

    def __init__(
        self,
        fading: FactFading,
        contexts: Contexts,
        sessions: SessionStore,
        tenants: Tenants,
        keyring: Keyring,
        counts: Counts,
    ) -> None:
        self._fading = fading
        self._contexts = contexts
        self._sessions = sessions
        self._tenants = tenants
        self._keyring = keyring
        self._counts = counts

    # ---- given

    def give(self, principal: Principal, context_id: str, body: GiveFeedback) -> Feedback:
        """Move what a context served; the same context moves a fact once, however often it is told.

        Raises:
            NotFound: there is no such context (any more), or it is not within reach.
            Invalid: an item was not in it, or is both used and noise.
        """
        context = self._contexts.get(principal, context_id, Format.SECTIONS)
        _check(body, {item.id for section in context.sections for item in section.items})
        facts = set(served_facts(context))
        if context.subject is None:
            return Feedback(context_id=context_id)
        ref, tenant = self._keyring.ref(principal.tenant, context.subject), principal.tenant
        useful, useless = ([each for each in ids if each in facts] for ids in (body.used, body.noise))
        raised = self._step(tenant, ref, useful, context_id, +1, f"used, says feedback on {context_id}")
        lowered = self._step(tenant, ref, useless, context_id, -1, f"of no use, says feedback on {context_id}")
        return Feedback(context_id=context_id, raised=raised, lowered=lowered)

    def _step(
        self, tenant: str, ref: str, fact_ids: Sequence[str], once: str, step: int, reason: str
    ) -> tuple[str, ...]:
        def change(fact: Fact) -> Fact:
            return stepped(fact, step)

        self._counts.add(Count.USED if step > 0 else Count.NOISE, len(fact_ids))
        moved = tuple(each for each in fact_ids if self._fading.step(tenant, ref, each, once, reason, change))
        self._counts.add(Count.STEPS, len(moved), by="up" if step > 0 else "down")
        return moved

    # ---- found at the close of a session

    def reflect(self, tenant: str, session: Session) -> None:
        """Look at what the answers made of the facts that a session was served; no model is asked."""
        if session.subject is None or not self._tenants.of(tenant).reflection:
            return
        ref = self._keyring.ref(tenant, session.subject)
        served = set(self._fading.served(tenant, ref, session.session_id))
        if not served:
            return
        turns = self._turns(tenant, session)
        answers = {term for turn in turns if turn.role is Speaker.ASSISTANT for term in terms(turn.content)}
        asked = {term for turn in turns if turn.role is Speaker.USER for term in terms(turn.content)}
        found = {
            fact.fact_id: used(terms(fact.statement), answers, asked)
            for fact in self._fading.living(tenant, ref)
            if fact.fact_id in served
        }
        once = f"session-{session.session_id}"
        useful = [fact_id for fact_id, verdict in found.items() if verdict is True]
        useless = [fact_id for fact_id, verdict in found.items() if verdict is False]
        self._step(tenant, ref, useful, once, +1, f"used in session {session.session_id}")
        self._step(tenant, ref, useless, once, -1, f"served to session {session.session_id}, and of no use there")

    def _turns(self, tenant: str, session: Session) -> list[Turn]:
        after: int | None = max(session.turns - MOST_TURNS, 0)
        turns: list[Turn] = []
        while after is not None:
            page = self._sessions.turns(tenant, session.session_id, after, READ_AT_ONCE)
            turns += page.items
            after = None if page.position is None else int(page.position)
        return turns


def _check(body: GiveFeedback, shown: set[str]) -> None:
    for field in ("used", "noise"):
        unknown = [each for each in getattr(body, field) if each not in shown]
        if unknown:
            raise Invalid.field(field, f"{unknown[0]!r} was not in this context; name items by their ids in it")
    if both := set(body.used) & set(body.noise):
        raise Invalid.field("noise", f"{min(both)!r} is named as used, too; name it once")
