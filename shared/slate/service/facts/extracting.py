"""Learns from what was said: from turns as they come, from segments that ended, from sessions that closed, on request.

It never adds latency to a turn: whoever writes one only queues a message, which names turns and holds nothing of
them. Every step may be repeated: the same statement of the same turn changes nothing. A model that answers garbage
stores nothing, and the extraction says so; the rules have read the turns before it in any case.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, cast

from pydantic import JsonValue

from slate.contract.facts import ExtractFacts
from slate.domain.access import Principal
from slate.domain.errors import NotFound, SubjectErased, Unavailable
from slate.domain.extracting import prompt
from slate.domain.extracting.extract import Turn as ReadTurn
from slate.domain.extracting.extract import extract
from slate.domain.extracting.meant import unmeant
from slate.domain.facts.grounding import Said, grounded
from slate.domain.facts.guard import guard
from slate.domain.facts.model import Candidate, Decision, Op, Source
from slate.domain.sessions import Extraction, ExtractionState, Session, Speaker, Turn
from slate.domain.tenants import ExtractAt
from slate.ports.clock import Clock
from slate.ports.extraction_store import ExtractionStore
from slate.ports.ids import Ids
from slate.ports.keyring import Keyring
from slate.ports.language_model import Asked, LanguageModel
from slate.ports.queue import Message, Queue
from slate.ports.session_store import SessionStore
from slate.service.asking import ask
from slate.service.facts.deciding import Author, Deciding
from slate.service.facts.reaching import reached
from slate.service.facts.remembering import not_ahead
from slate.service.forgetting.repeating import LOOKED_BACK
from slate.service.forgetting.waking import Heard
from slate.service.idempotency import Idempotency
from slate.service.sessions.ending import EXTRACT
from slate.service.tenants import Tenants

_log = logging.getLogger(__name__)

JOB: Final = "extraction"
"""Names the job to the language model."""
READ_AT_ONCE: Final = 200
SHOWN_TO_MODEL: Final = 60_000
"""Characters of a conversation that one question to a model shows."""
LISTED: Final = 1_000
"""Decisions that an extraction lists."""
_TRIES: Final = 5


class Material(NamedTuple):
    """One message, and where it stands."""

    number: int
    role: Speaker
    content: str
    at: int
    source: Source


class Extracting:
    """Takes conversations, and gives candidates to be decided."""

    def __init__(
        self,
        sessions: SessionStore,
        extractions: ExtractionStore,
        deciding: Deciding,
        tenants: Tenants,
        keyring: Keyring,
        idempotency: Idempotency,
        queue: Queue,
        *,
        ids: Ids,
        clock: Clock,
        model: LanguageModel | None,
        heard: Callable[[str, str, Sequence[Heard]], object] = lambda _tenant, _ref, _said: None,
        listened: Callable[[str, str, Session, Sequence[Turn], int], None] = lambda *_: None,
        closed: Callable[[str, Session], None] = lambda _tenant, _session: None,
    ) -> None:
        """Without a ``model``, rules alone read. Told are: what a person said, and that a session closed."""
        self._heard = heard
        self._listened = listened
        self._closed = closed
        self._sessions = sessions
        self._extractions = extractions
        self._deciding = deciding
        self._tenants = tenants
        self._keyring = keyring
        self._idempotency = idempotency
        self._queue = queue
        self._ids = ids
        self._clock = clock
        self._model = model

    # ---- on request

    def ask(
        self, principal: Principal, subject: str, body: ExtractFacts, idempotency_key: str | None, *, wait: bool
    ) -> Extraction:
        """Learn from a conversation: later, or at once where the caller waits.

        Raises:
            Invalid: it is dated in the future.
        """
        ref = reached(self._keyring, principal, subject)
        not_ahead(body.at, self._clock.now(), "at")
        tenant = principal.tenant

        def do(seed: str) -> tuple[Extraction, JsonValue]:
            queued = self._queued(f"x-{seed}", body.session_id, subject)
            given = self._given(body, principal.agent)
            if wait:
                # Rules alone: no caller is kept waiting for a model.
                readers = self._readers(tenant, body.session_id)
                learned = self._learn(tenant, ref, given, Author(principal.agent), model=False, readers=readers)
                done = self._ended(queued, learned)
                self._extractions.begin(tenant, done, None)
                return done, queued.extraction_id
            kept: JsonValue = {
                "agent": principal.agent,
                "messages": [[each.role.value, each.content, each.at, each.source.session_id] for each in given],
            }
            self._extractions.begin(tenant, queued, kept)
            self._queue.send({"kind": EXTRACT, "tenant": tenant, "extraction_id": queued.extraction_id})
            return queued, queued.extraction_id

        def again(kept: JsonValue) -> Extraction:
            return self._sessions.extraction(tenant, str(kept))

        request: JsonValue = [f"POST extract of {ref}", wait, body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=subject)

    def _given(self, body: ExtractFacts, agent: str) -> list[Material]:
        at = self._clock.now() if body.at is None else body.at
        source = Source(session_id=body.session_id, agent=agent)
        return [Material(place, m.role, m.content, at, source) for place, m in enumerate(body.messages, 1)]

    def _queued(self, extraction_id: str, session_id: str | None, subject: str | None) -> Extraction:
        now = self._clock.now()
        return Extraction(
            extraction_id=extraction_id,
            session_id=session_id,
            subject=subject,
            state=ExtractionState.QUEUED,
            created_at=now,
            updated_at=now,
        )

    def _ended(self, extraction: Extraction, learned: Learned) -> Extraction:
        decisions = tuple(decision.model_dump(mode="json") for decision in _listed(learned.decisions))
        state = ExtractionState.FAILED if learned.failed else ExtractionState.DONE
        now = self._clock.now()
        return extraction.model_copy(update={"decisions": decisions, "state": state, "updated_at": now})

    # ---- from the queue

    def consume(self, message: Message) -> None:
        """Whatever a message names; what is gone meanwhile is dropped.

        Raises:
            Unavailable: the message is to come again.
        """
        tenant = str(message["tenant"])
        with suppress(NotFound, SubjectErased):
            if "extraction_id" not in message:
                first, last = cast("int", message["first_seq"]), cast("int", message["last_seq"])
                self._live(tenant, str(message["session_id"]), first, last)
            else:
                self._finish(tenant, str(message["extraction_id"]))

    def _live(self, tenant: str, session_id: str, first: int, last: int) -> None:
        session = self._sessions.head(tenant, session_id)
        if session.subject is None:
            return
        by_model = self._tenants.of(tenant).extract is ExtractAt.TURN
        self._from_session(tenant, session, first, last, model=by_model)
        self._listen(tenant, session, first, last)

    def _listen(self, tenant: str, session: Session, first: int, last: int) -> None:
        """What the person said, whatever was learned from it, may be about what is known, and answer what was asked."""
        if session.subject is None:
            return
        ref, after = self._keyring.ref(tenant, session.subject), max(first - 1 - LOOKED_BACK, 0)
        while after < last:
            page = self._sessions.turns(tenant, session.session_id, after, READ_AT_ONCE, last=last)
            new = [turn for turn in page.items if turn.seq >= first]
            self._heard(tenant, ref, [Heard(turn.content, turn.at) for turn in new if turn.role is Speaker.USER])
            self._listened(tenant, ref, session, page.items, first)
            first = last + 1 if page.position is None else int(page.position) + 1
            after = last if page.position is None else max(first - 1 - LOOKED_BACK, 0)

    def segment(self, tenant: str, session_id: str, last_seq: int) -> None:
        """A model reads a segment that ended, where the tenant has it so."""
        if self._model is None or self._tenants.of(tenant).extract is not ExtractAt.SEGMENT:
            return
        with suppress(NotFound, SubjectErased):
            session = self._sessions.head(tenant, session_id)
            segment = self._sessions.segment(tenant, session_id, last_seq)
            if session.subject is not None and segment is not None:
                self._from_session(tenant, session, segment.first_seq, segment.last_seq, model=True)

    def _finish(self, tenant: str, extraction_id: str) -> None:
        """Once for each extraction, however often its message comes."""
        for _ in range(_TRIES):
            seen = self._sessions.extraction(tenant, extraction_id)
            if seen.state in (ExtractionState.DONE, ExtractionState.FAILED):
                self._extractions.drop(tenant, extraction_id)
                return
            learned = self._of(tenant, seen)
            ended = self._ended(seen, learned).model_copy(update={"version": seen.version + 1})
            if self._sessions.put_extraction(tenant, ended):
                self._extractions.drop(tenant, extraction_id)
                return
        raise Unavailable("an extraction keeps changing; its message comes again")

    def _of(self, tenant: str, extraction: Extraction) -> Learned:
        if extraction.subject is None:
            return Learned([], failed=False)
        material = self._extractions.material(tenant, extraction.extraction_id)
        if material is not None:
            ref = self._keyring.ref(tenant, extraction.subject)
            agent, given = _kept(material)
            readers = self._readers(tenant, extraction.session_id)
            return self._learn(tenant, ref, given, Author(agent), model=True, readers=readers)
        if extraction.session_id is None:
            return Learned([], failed=False)
        session = self._sessions.head(tenant, extraction.session_id)
        at_close = self._tenants.of(tenant).extract is ExtractAt.CLOSE
        learned = self._from_session(tenant, session, 1, session.turns, model=at_close)
        if at_close:
            self._listen(tenant, session, 1, session.turns)
        self._closed(tenant, session)
        return learned

    def _readers(self, tenant: str, session_id: str | None) -> tuple[str, ...]:
        """Who may read what was said in this session; all, where it is none that is kept here."""
        with suppress(NotFound, SubjectErased):
            if session_id is not None:
                return self._sessions.head(tenant, session_id).readers
        return ()

    # ---- reading

    def _from_session(self, tenant: str, session: Session, first: int, last: int, *, model: bool) -> Learned:
        """Read turns of a session, a page at a time."""
        if session.subject is None:
            return Learned([], failed=False)
        ref, author = self._keyring.ref(tenant, session.subject), Author(session.agent or "session")
        decisions: list[Decision] = []
        failed, after = False, first - 1
        while after is not None and after < last:
            page = self._sessions.turns(tenant, session.session_id, after, READ_AT_ONCE, last=last)
            now = self._clock.now()  # a turn may be dated ahead; what it says is known from now on
            given = [_of_turn(session, turn, min(turn.at, now)) for turn in page.items]
            learned = self._learn(tenant, ref, given, author, model=model, readers=session.readers)
            decisions, failed = [*decisions, *learned.decisions], failed or learned.failed
            after = last if page.position is None else int(page.position)
        return Learned(decisions, failed=failed)

    def _learn(
        self,
        tenant: str,
        ref: str,
        given: Sequence[Material],
        author: Author,
        *,
        model: bool,
        readers: tuple[str, ...] = (),
    ) -> Learned:
        """Rules first, each turn by itself; then the model, over all of it."""
        found = [candidate for each in given if each.role is Speaker.USER for candidate in _by_rules(each)]
        decisions = self._deciding.take(tenant, ref, _for(found, readers), author)
        failed = False
        if model and self._model is not None and any(each.role is Speaker.USER for each in given):
            for part in _parts(given):
                proposed = self._by_model(part, self._model)
                failed = failed or proposed is None
                for candidate, refused in proposed or []:
                    decisions.append(refused or self._deciding.take(tenant, ref, _for([candidate], readers), author)[0])
        return Learned(decisions, failed=failed)

    def _by_model(
        self, given: Sequence[Material], model: LanguageModel
    ) -> list[tuple[Candidate, Decision | None]] | None:
        """What a model finds, each with its refusal where it is not grounded; nothing where its answer is of no use."""
        turns = {each.number: Said(each.role, each.content) for each in given}
        fence = f"=== {self._ids.new()} ==="
        asked = Asked(
            job=JOB,
            instructions=prompt.INSTRUCTIONS.format(fence=fence),
            text=prompt.told(turns, fence),
            form=prompt.FORM,
            max_tokens=3_000,
        )
        outcome = ask(model, asked)
        if outcome.value is None:
            _log.warning("a model's answer could not be used: nothing of it was kept")
            return None
        instants = {each.number: each.at for each in given}
        sources = {each.number: each.source for each in given}
        found = prompt.candidates(outcome.value, instants, sources, str(outcome.model))
        cited = prompt.cited(outcome.value)
        return [(each, _refused(turns, turn, each)) for each, turn in zip(found, cited, strict=True)]


class Learned(NamedTuple):
    """What became of each candidate; ``failed``: a model's answer could not be used."""

    decisions: list[Decision]
    failed: bool


class TurnWatch:
    """Told of turns as they are appended: has them read where the tenant wants that before the close."""

    def __init__(self, tenants: Tenants, queue: Queue) -> None:
        self._tenants = tenants
        self._queue = queue

    def appended(self, tenant: str, session: Session, turns: Sequence[Turn]) -> None:
        """One message where a user has spoken."""
        said = [turn.seq for turn in turns if turn.role is Speaker.USER]
        if not said or session.subject is None or self._tenants.of(tenant).extract is ExtractAt.CLOSE:
            return
        self._queue.send(
            {
                "kind": EXTRACT,
                "tenant": tenant,
                "session_id": session.session_id,
                "first_seq": min(said),
                "last_seq": max(said),
            }
        )


def _refused(turns: Mapping[int, Said], cited: int, candidate: Candidate) -> Decision | None:
    """Why a model's candidate is not grounded in what the user said and meant."""
    quote = candidate.quote or ""
    if wrong := grounded(turns, cited, quote):
        return Decision(op=Op.REFUSED, reason=wrong, code="ungrounded")
    if guard(candidate.statement, candidate.attribute, candidate.value):
        return None  # it is held back, to be looked at
    found = unmeant(turns[cited].content, quote)
    return None if found is None else Decision(op=Op.REFUSED, reason=found.reason, code=found.code)


def _listed(decisions: Sequence[Decision]) -> Sequence[Decision]:
    """As many as an item holds; how many are left off is said."""
    if len(decisions) <= LISTED:
        return decisions
    more = Decision(op=Op.NOOP, reason=f"and {len(decisions) - LISTED:,} more decisions that are not listed")
    return [*decisions[:LISTED], more]


def _by_rules(each: Material) -> list[Candidate]:
    source = each.source
    return extract(ReadTurn(each.content, each.at, source.session_id, source.seq, source.agent))


def _for(found: Iterable[Candidate], readers: tuple[str, ...]) -> list[Candidate]:
    """What is said where only some may read is for these readers only."""
    return [each.model_copy(update={"readers": readers}) if readers else each for each in found]


def _of_turn(session: Session, turn: Turn, at: int) -> Material:
    source = Source(session_id=session.session_id, seq=turn.seq, agent=turn.agent)
    return Material(turn.seq, turn.role, turn.content, at, source)


def _kept(material: JsonValue) -> tuple[str, list[Material]]:
    kept = cast("dict[str, list[list[str]]]", material)
    agent = str(kept["agent"])
    given = [
        Material(place, Speaker(role), content, int(at), Source(session_id=session_id, agent=agent))
        for place, (role, content, at, session_id) in enumerate(kept["messages"], 1)
    ]
    return agent, given


def _parts(given: Sequence[Material]) -> list[list[Material]]:
    """Runs of messages that one question can show."""
    parts: list[list[Material]] = [[]]
    size = 0
    for each in given:
        if parts[-1] and size + len(each.content) > SHOWN_TO_MODEL:
            parts.append([])
            size = 0
        parts[-1].append(each._replace(content=each.content[:SHOWN_TO_MODEL]))
        size += len(each.content)
    return parts
