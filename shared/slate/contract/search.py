"""Search, episodes and documents on the wire."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from slate.contract.tasks import Request
from slate.domain.documents import DEFAULT_COLLECTION, Document, Title
from slate.domain.episodes import MAX_STEPS, Episode, EpisodeStep, Words
from slate.domain.facts.model import Category, Fact, Topic
from slate.domain.names import Id
from slate.domain.sessions import Turn
from slate.domain.tasks import StrictBool

DEFAULT_TOP: Final = 5
MAX_TOP: Final = 100
MAX_NAMED: Final = 20

Query = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=10_000),
    Field(description="what is looked for, in any script; nothing in it is a pattern"),
]
Top = Annotated[int, Field(strict=True, ge=1, le=MAX_TOP)]
Readers = Annotated[tuple[Id, ...], Field(max_length=100, description="agents and roles that may read it; empty: all")]


class Searched(StrEnum):
    """What of a person's memory is searched."""

    FACT = "fact"
    TURN = "turn"
    EPISODE = "episode"


class SearchMemory(Request):
    """What is looked for in what is known of a person."""

    query: Query
    categories: tuple[Category, ...] = Field(default=(), max_length=MAX_NAMED, description="of facts; empty: all")
    topics: tuple[Topic, ...] = Field(default=(), max_length=MAX_NAMED, description="of facts; empty: all")
    top_k: Top = Field(default=DEFAULT_TOP, description="so many; constraints above 7 are beside them")
    kinds: tuple[Searched, ...] = Field(default=(Searched.FACT,), min_length=1, max_length=3)
    explain: StrictBool = Field(default=False, description="with every part of each score")


class _Scored(BaseModel):
    model_config = ConfigDict(frozen=True)

    score: float
    why: dict[str, float] | None = Field(default=None, description="the parts of the score, where `explain` asks")


class FoundFact(Fact, _Scored):
    """A fact that was found."""

    kind: Literal["fact"] = "fact"


class FoundTurn(Turn, _Scored):
    """A turn that was found."""

    kind: Literal["turn"] = "turn"
    session_id: str


class FoundEpisode(Episode, _Scored):
    """An episode that was found."""

    kind: Literal["episode"] = "episode"


class FoundMemories(BaseModel):
    """What was found, the best first; ``warnings`` say what could not be searched as it should."""

    model_config = ConfigDict(frozen=True)

    items: tuple[FoundFact | FoundTurn | FoundEpisode, ...]
    warnings: tuple[str, ...] = ()


class PutEpisode(Request):
    """What was asked, the steps that were taken, and how it ended."""

    task: Words
    steps: tuple[EpisodeStep, ...] = Field(default=(), max_length=MAX_STEPS)
    outcome: Words
    subject: Id | None = None
    agent: Id | None = Field(default=None, description="the key's own, unless the key has `admin`")
    readers: Readers = ()


class SearchEpisodes(Request):
    """A task, for which episodes of similar ones are looked for."""

    query: Query
    subject: Id | None = Field(default=None, description="only those about this person; without it, all within reach")
    top_k: Top = DEFAULT_TOP


class FoundEpisodes(BaseModel):
    """Episodes of similar tasks, the most similar first."""

    model_config = ConfigDict(frozen=True)

    items: tuple[FoundEpisode, ...]
    warnings: tuple[str, ...] = ()


class PutDocument(Request):
    """A document of the knowledge base; under an id that is there it replaces all of that document."""

    document_id: Id | None = None
    title: Title
    text: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=900_000)]
    collection: Id = DEFAULT_COLLECTION
    readers: Readers = ()


class ShownDocument(Document):
    """A document with its text, as it was cut."""

    text: str


class SearchDocuments(Request):
    """What is looked for in the knowledge base."""

    query: Query
    collection: Id | None = Field(default=None, description="only in this one")
    top_k: Top = DEFAULT_TOP


class PartSource(BaseModel):
    """Where a part stands."""

    model_config = ConfigDict(frozen=True)

    collection: str
    part: int
    headings: tuple[str, ...]
    version: int


class FoundPart(BaseModel):
    """A part of a document that was found."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    title: str
    text: str = Field(description="word for word, under its headings")
    score: float
    why: dict[str, float]
    source: PartSource


class FoundParts(BaseModel):
    """Parts of documents, the best first."""

    model_config = ConfigDict(frozen=True)

    items: tuple[FoundPart, ...]
    warnings: tuple[str, ...] = ()
