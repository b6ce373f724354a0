"""A context is put together, kept as a receipt, and given; the receipt gives it again as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from slate.contract.contexts import AskContext, GivenContext
from slate.domain.access import Principal, Scope
from slate.domain.assembly import Occasion, assemble
from slate.domain.context import Context, Format, SectionName, turns_of, without
from slate.domain.errors import Invalid, NotFound
from slate.domain.messages import render
from slate.domain.sessions import Session
from slate.ports.clock import Clock
from slate.ports.context_store import ContextStore
from slate.ports.graph_store import GraphStore
from slate.ports.ids import Ids
from slate.ports.session_store import SessionStore
from slate.ports.token_counter import TokenCounter
from slate.service.context.offers import Asked, Offer, Source, SubjectSource
from slate.service.sessions.reaching import reaches

_DAY_MS: Final = 86_400_000


class Contexts:
    """The use cases of contexts. ``sources`` may grow; their order decides nothing."""

    def __init__(
        self,
        sources: Sequence[Source],
        memory: SubjectSource,
        store: ContextStore,
        sessions: SessionStore,
        graphs: GraphStore,
        counter: TokenCounter,
        ids: Ids,
        clock: Clock,
        *,
        window: int,
        receipt_days: int,
        given: Callable[[str, Context], None] = lambda _tenant, _context: None,
        deleted: Callable[[str, Context], Collection[str]] = lambda _tenant, _context: (),
    ) -> None:
        """``given`` is told of each context that was kept; ``deleted`` names items about facts that are gone since."""
        self._deleted = deleted
        self._sources = sources
        self._memory = memory
        self._store = store
        self._sessions = sessions
        self._graphs = graphs
        self._counter = counter
        self._ids = ids
        self._clock = clock
        self._window = window
        self._receipt_days = receipt_days
        self._given = given

    def give(self, principal: Principal, body: AskContext) -> GivenContext:
        """What the agent sees, inside its budget.

        Raises:
            Forbidden: the agent, or the subject, is another's.
            NotFound: what it names is not there, or not within reach.
            Invalid: it names nothing, or two people; or what is never dropped does not fit.
        """
        _check(body)
        named = principal.acting_subject(body.subject)
        asked = Asked(principal, body, principal.acting_agent(body.agent))
        offers = [offer for source in self._sources if (offer := source.offer(asked)) is not None]
        subject = _subject(named, offers)
        role = body.role or next((offer.role for offer in offers if offer.role), None)
        offers.append(self._memory.offer(asked, subject, role))
        now = self._clock.now()
        occasion = Occasion(
            context_id=f"c-{self._ids.new()}",
            agent=asked.agent,
            session=body.session,
            subject=subject,
            graph=body.graph,
            task=body.task,
            at=now,
            window=body.window or next((o.window for o in offers if o.window), self._window),
            counted_by=self._counter.name,
        )
        drafts = [draft for offer in offers for draft in offer.drafts]
        dropped = [each for offer in offers for each in offer.dropped]
        context = assemble(drafts, body.budget, self._counter.count, occasion, also=dropped)
        if warned := tuple(warning for offer in offers for warning in offer.warnings):
            context = context.model_copy(update={"warnings": (*context.warnings, *warned)})
        context = context.model_copy(update={"query": body.query})
        days = min([self._receipt_days, *(o.keep_days for o in offers if o.keep_days is not None)])
        context = self._kept(principal.tenant, context, now + days * _DAY_MS)
        self._given(principal.tenant, context)
        return _given(context, body.format)

    def _kept(self, tenant: str, context: Context, until: int) -> Context:
        """With its receipt; what is told only once is noted last, so that a context that fails leaves it to the next.

        Where another context told it meanwhile, this one is kept anew without it: a receipt says what was given.
        """
        self._store.keep(tenant, context, until)
        elsewhere = self._memory.told(tenant, context)
        if not elsewhere:
            return context
        anew = context.model_copy(update={"context_id": f"c-{self._ids.new()}"})
        anew = without(anew, dict.fromkeys(elsewhere, "told in another context meanwhile"))
        self._store.keep(tenant, anew, until)
        return anew

    def get(self, principal: Principal, context_id: str, form: Format) -> GivenContext:
        """The receipt, in any form: what this agent saw, byte for byte, but for what was deleted since.

        Raises:
            NotFound: there is none (any more), what it was made of is gone, or it is not within reach.
        """
        context = self._store.get(principal.tenant, context_id)
        gone = NotFound(f"there is no context {context_id!r} (any more)")
        # What was chosen for one agent, by what that agent may read, is not for another.
        if context.agent != principal.agent and Scope.ADMIN not in principal.scopes:
            raise gone
        if not principal.may_reach(context.subject):
            raise gone
        try:
            if context.session is not None and not reaches(principal, self._session(principal, context.session)):
                raise gone
            if context.graph is not None:
                self._graphs.head(principal.tenant, context.graph)
        except NotFound:
            raise gone from None
        return _given(self.redacted(principal.tenant, context), form)

    def redacted(self, tenant: str, context: Context) -> Context:
        """A turn or a fact that was deleted is served neither through its receipt nor through what was made from it."""
        gone: dict[str, str] = {}
        for session_id, shown in turns_of(context).items():
            there = self._turns_there(tenant, session_id, sorted(shown))
            gone |= {item_id: "deleted since" for seq, item_id in shown.items() if seq not in there}
        digest = [item for each in context.sections if each.name is SectionName.SUMMARY for item in each.items]
        if context.session is not None and digest:
            withdrawn = self._sessions.withdrawn(tenant, context.session)
            made_before = (item.id for item in digest if item.version is not None and item.version < withdrawn)
            gone |= dict.fromkeys(made_before, "a turn that was digested with it was deleted since")
        gone |= dict.fromkeys(self._deleted(tenant, context), "deleted since")
        return without(context, gone)

    def _turns_there(self, tenant: str, session_id: str, seqs: Sequence[int]) -> set[int]:
        try:
            self._sessions.head(tenant, session_id)
        except NotFound:
            return set()
        return {turn.seq for turn in self._sessions.many(tenant, session_id, seqs)}

    def _session(self, principal: Principal, session_id: str) -> Session:
        return self._sessions.head(principal.tenant, session_id)


def _check(body: AskContext) -> None:
    if body.task is not None and body.graph is None:
        raise Invalid.field("graph", "name the graph that the task belongs to")
    if body.session is None and body.graph is None and body.subject is None:
        raise Invalid.field("session", "name a `session`, a `graph` or a `subject` for the context to be made of")


def _subject(named: str | None, offers: Sequence[Offer]) -> str | None:
    """The one person that a context is about.

    Raises:
        Invalid: it would be about two.
    """
    people = dict.fromkeys([*([named] if named else []), *(o.subject for o in offers if o.subject is not None)])
    if len(people) > 1:
        message = "this is not the subject of the session or the graph; a context is about one person: leave it out"
        raise Invalid.field("subject", message)
    return next(iter(people), None)


def _given(context: Context, form: Format) -> GivenContext:
    return GivenContext(**dict(context), format=form, **render(context, form))
