"""What a person's memory, and the knowledge base, give to a context."""

from __future__ import annotations

from typing import Final

from slate.domain.access import Principal
from slate.domain.budget import Draft
from slate.domain.context import Context, SectionName
from slate.domain.errors import Invalid, NotFound
from slate.domain.facts.model import Category, Notice
from slate.domain.facts.topics import topics_of
from slate.domain.ranking.turns import TOP
from slate.domain.remembered import (
    episodes_draft,
    facts_draft,
    knowledge_draft,
    notices_draft,
    recall_draft,
    reconfirm_draft,
)
from slate.domain.sessions import Speaker
from slate.ports.fact_records import FactRecords
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore
from slate.ports.token_counter import TokenCounter
from slate.service.context.offers import Asked, Offer
from slate.service.search.asking import Reader
from slate.service.search.episodic import Episodes
from slate.service.search.knowledge import Knowledge
from slate.service.search.known import FactSearch, Known, Wanted
from slate.service.search.recalling import Recalling

FACTS: Final = 5
"""At most, beside the constraints that are always served."""
TURNS: Final = 10
EPISODES: Final = 2
PARTS: Final = 3
QUESTIONS: Final = 5
_LOOKED_BACK: Final = 6


class MemorySource:
    """Gives `facts`, `reconfirm`, `notices`, `recall`, `episodes` and `knowledge`.

    Where the caller names no query, the user's last words stand in for it in the person's own memory; what is the
    tenant's (episodes, documents) is looked at for a query alone.
    """

    def __init__(
        self,
        facts: FactSearch,
        recalling: Recalling,
        episodes: Episodes,
        knowledge: Knowledge,
        records: FactRecords,
        sessions: SessionStore,
        keyring: Keyring,
        counter: TokenCounter,
    ) -> None:
        self._facts = facts
        self._recalling = recalling
        self._episodes = episodes
        self._knowledge = knowledge
        self._records = records
        self._sessions = sessions
        self._keyring = keyring
        self._count = counter.count

    def offer(self, asked: Asked, subject: str | None, role: str | None) -> Offer:
        """What is known of this person, and to this query; a role brings its topics.

        Raises:
            Invalid: a category is none.
        """
        principal, body, reader = asked.principal, asked.body, _reader(asked)
        drafts: list[Draft] = []
        warnings: list[str] = []
        if subject is not None:
            ref = self._keyring.ref(principal.tenant, subject)
            query = body.query or self._last_said(principal, body.session)
            known = self._facts.find(principal.tenant, ref, _wanted(asked, query, role), reader)
            drafts += self._known(known)
            warnings += known.warnings
            drafts.append(notices_draft(self._notices(asked, ref), self._count))
            if query:
                recalled = self._recalling.find(principal.tenant, subject, ref, query, TURNS, reader)
                drafts.append(recall_draft(recalled.turns, body.session, self._count, scale=TOP))
                warnings += recalled.warnings
        if body.query:
            done = self._episodes.find(principal.tenant, subject, body.query, EPISODES, reader)
            drafts.append(episodes_draft(done.episodes, self._count))
            drafts.append(self._written(principal, body.query, reader, warnings))
            warnings += done.warnings
        return Offer(drafts=drafts, warnings=tuple(dict.fromkeys(warnings)))

    def told(self, tenant: str, context: Context) -> list[str]:
        """Each session is told once, of what is really shown: whoever notes a notice first tells it."""
        shown = [item.id for each in context.sections if each.name is SectionName.NOTICES for item in each.items]
        if not shown or context.session is None or context.subject is None:
            return []
        ref = self._keyring.ref(tenant, context.subject)
        mine = self._records.deliver(tenant, ref, context.session, shown, context.context_id)
        return [each for each in shown if each not in mine]

    def _known(self, known: Known) -> list[Draft]:
        return [
            facts_draft(known.always, known.best, self._count),
            reconfirm_draft(known.asked[:QUESTIONS], self._count),
        ]

    def _written(self, principal: Principal, query: str, reader: Reader, warnings: list[str]) -> Draft:
        written = self._knowledge.find(principal.tenant, None, query, PARTS, reader)
        warnings += written.warnings
        parts = [
            (
                f"{part.document_id}/{part.source.part}",
                part.source.version,
                f"[{part.title}] {part.text}",
                part.score,
                part.why,
            )
            for part in written.parts
        ]
        return knowledge_draft(parts, self._count)

    def _notices(self, asked: Asked, ref: str) -> list[Notice]:
        """What this session was not told yet."""
        session, tenant = asked.body.session, asked.principal.tenant
        if session is None:
            return []
        return [n for n in self._records.undelivered(tenant, ref, session) if asked.may_read(n.readers, None)]

    def _last_said(self, principal: Principal, session_id: str | None) -> str | None:
        """Where nobody says what it is about: the user's last words."""
        if session_id is None:
            return None
        try:
            turns = self._sessions.turns_back(principal.tenant, session_id, None, _LOOKED_BACK).items
        except NotFound:
            return None
        return next((turn.content for turn in turns if turn.role is Speaker.USER and turn.content), None)


def _reader(asked: Asked) -> Reader:
    """For another agent, that agent's own rights count."""
    if asked.agent == asked.principal.agent:
        return Reader.of(asked.principal)
    roles = () if asked.body.role is None else (asked.body.role,)
    return Reader(asked.may_read, frozenset({asked.agent, *roles}))


def _wanted(asked: Asked, query: str | None, named: str | None) -> Wanted:
    known = {category.value for category in Category}
    if wrong := [each for each in asked.body.categories if each not in known]:
        raise Invalid.field("categories", f"{wrong[0]!r} is none; it is one of {', '.join(sorted(known))}")
    role = (named or "").replace("-", " ").replace("_", " ")
    categories = tuple(Category(each) for each in asked.body.categories)
    return Wanted(query, categories, asked.body.topics, FACTS, about=topics_of(role, None) if role else ())
