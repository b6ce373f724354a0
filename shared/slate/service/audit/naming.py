"""What an answer says of whom: the items in it, called as an export calls them.

Every entity that a route of memory or privacy answers is listed here, or holds ones that are. What only says what
became of items says nothing of them: the storage tells those that changed. A test fails on an answer that is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from slate.contract.erasures import ErasureStatus
from slate.contract.search import FoundPart, FoundTurn
from slate.domain.context import Context, Item
from slate.domain.documents import Document
from slate.domain.episodes import Episode
from slate.domain.exporting.export import Export
from slate.domain.facts.model import Consents, Fact, Forgetting, Notice, Quarantined
from slate.domain.holds import Hold
from slate.domain.pinned import PinnedState
from slate.domain.sessions import Extraction, Merged, Pinned, Session, Summary, Turn
from slate.domain.values import Changed, Value


class Named(NamedTuple):
    """An item of an answer."""

    kind: str
    id: str
    version: int | None = None
    said: Any = None
    """What a digest is made of; none: of nothing."""
    subject: str | None = None
    """Whom it is about, where it says so."""


Naming = Callable[[Any, str], Named]
"""Names an entity that was answered about a session, which may be nobody's: then the name is empty."""


def _data(entity: BaseModel, model: type[BaseModel]) -> Any:
    """The entity itself, without what an answer has beside it."""
    return entity.model_dump(mode="json", include=set(model.model_fields))


def _fact(fact: Fact, _: str) -> Named:
    return Named("fact", fact.fact_id, fact.version, _data(fact, Fact))


def _turn(turn: Turn, session: str) -> Named:
    owner = turn.session_id if isinstance(turn, FoundTurn) else session
    return Named("turn", f"{owner}/turns/{turn.seq}", turn.version, _data(turn, Turn))


def _session(session: Session, _: str) -> Named:
    return Named("session", session.session_id, session.version, None, session.subject)


def _pinned(state: PinnedState, session: str) -> Named:
    return Named("pinned", f"{session}/pinned", state.version, _data(state, Pinned))


def _summary(summary: Summary, session: str) -> Named:
    return Named("segment", f"{session}/segments/to-{summary.last_seq}", summary.version, _data(summary, Summary))


def _merged(merged: Merged, session: str) -> Named:
    return Named("summary", f"{session}/summary", merged.version, _data(merged, Merged))


def _value(value: Value | Changed, session: str) -> Named:
    data = _data(value, Value) if isinstance(value, Value) else None
    return Named("value", f"{session}/values/{value.key}", value.version, data)


def _episode(episode: Episode, _: str) -> Named:
    return Named("episode", episode.episode_id, episode.version, _data(episode, Episode), episode.subject)


def _shown(item: Item, session: str) -> Named:
    """What stands in a context: what was shown of it is digested, not all that it is."""
    name = item.id
    if item.kind == "turn":
        elsewhere, _, seq = item.id.removeprefix("turn:").rpartition("/")
        name = f"{elsewhere or session}/turns/{seq}"
    elif item.kind in _OF_SESSION:
        name = f"{session}/{item.id.replace(':', '-')}"
    return Named(item.kind, name, item.version, item.text)


_OF_SESSION: Final = frozenset({"system", "pinned", "summary"})

_NAMES: Final[Mapping[type[BaseModel], Naming]] = {
    Fact: _fact,
    Turn: _turn,
    Session: _session,
    PinnedState: _pinned,
    Summary: _summary,
    Merged: _merged,
    Value: _value,
    Changed: _value,
    Episode: _episode,
    Item: _shown,
    Notice: lambda notice, _: Named("notice", notice.notice_id, notice.version, _data(notice, Notice)),
    Quarantined: lambda held, _: Named("quarantined", held.quarantine_id, held.version, _data(held, Quarantined)),
    Forgetting: lambda entry, _: Named("forgetting", entry.log_id, entry.version, _data(entry, Forgetting)),
    Consents: lambda consents, _: Named("consents", "consents", consents.version, _data(consents, Consents)),
    Extraction: lambda found, _: Named("extraction", found.extraction_id, found.version, None, found.subject),
    Document: lambda document, _: Named("document", document.document_id, document.version),
    FoundPart: lambda part, _: Named("document", f"{part.document_id}/{part.source.part}", part.source.version),
    Context: lambda context, _: Named("context", context.context_id, None, None, context.subject),
    Export: lambda export, _: Named("export", export.export_id, export.version, None, export.subject),
    ErasureStatus: lambda erasure, _: Named("erasure", erasure.erasure_id, erasure.version, None, erasure.subject),
    Hold: lambda hold, _: Named("hold", hold.hold_id, None, None, hold.subject),
}
CONTAINERS: Final = (Context, Session)
"""What is itself an item, and holds items."""


def naming_of(model: type) -> Naming | None:
    """What names entities of this model, or of the one that it extends."""
    return next((_NAMES[each] for each in model.__mro__ if each in _NAMES), None)


def session_of(answer: Any) -> str | None:
    """The session that an answer is of, where it says so."""
    named = answer.session if isinstance(answer, Context) else getattr(answer, "session_id", None)
    return named if isinstance(named, str) else None


def items_of(answer: Any, session: str | None) -> Iterator[Named]:
    """Every item of an answer, in its order."""
    if isinstance(answer, BaseModel):
        naming = naming_of(type(answer))
        if naming is not None:
            yield naming(answer, session or "")
        if naming is None or isinstance(answer, CONTAINERS):
            within = session_of(answer) or session
            for name in type(answer).model_fields:
                yield from items_of(getattr(answer, name), within)
    elif isinstance(answer, tuple | list):
        for each in answer:
            yield from items_of(each, session)
