"""The routes of search: in what is known of a person, in what was done, in the knowledge base."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from slate.contract.search import (
    FoundEpisodes,
    FoundMemories,
    FoundParts,
    PutDocument,
    PutEpisode,
    SearchDocuments,
    SearchEpisodes,
    SearchMemory,
    ShownDocument,
)
from slate.domain.access import Principal, Scope
from slate.domain.documents import Document
from slate.domain.episodes import Episode
from slate.service.search.episodic import Episodes
from slate.service.search.knowledge import Knowledge
from slate.service.search.searching import Search
from slate_functions.http.answers import Answer
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, PathId
from slate_functions.http.routes import delete, get, post
from slate_functions.memory_api import search_examples as examples

READ: Final = Scope.MEMORY_READ
WRITE: Final = Scope.MEMORY_WRITE
CREATED: Final = HTTPStatus.CREATED
DOCUMENT: Final = "/v1/documents/{document_id}"


class SearchRoutes:
    """Search: what is known of a person, for a query."""

    def __init__(self, search: Search) -> None:
        self._search = search

    @post("/v1/subjects/{subject}/search", scope=READ, sends=examples.SEARCH, gives=examples.FOUND)
    def search_memory(self, principal: Principal, subject: PathId, body: SearchMemory) -> FoundMemories:
        """Search what is known of a person: facts, and where asked for, what was said and done.

        A query that names a slot ("last order number") is answered from it first. Constraints of importance above 7 are
        there whatever the query, beside the `top_k`. What is stale, over, contested or for other readers is not.
        """
        return self._search.search(principal, subject, body)


class EpisodeRoutes:
    """Episodes: finished runs, kept for whoever has such a task again."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes = episodes

    @post("/v1/episodes", scope=WRITE, status=CREATED, sends=examples.PUT_EPISODE, gives=examples.EPISODE)
    def put_episode(self, principal: Principal, body: PutEpisode, idempotency_key: IdempotencyKey) -> Episode:
        """Keep what was asked, the steps that were taken, and how it ended."""
        return self._episodes.put(principal, body, idempotency_key)

    @post("/v1/episodes/search", scope=READ, sends=examples.SEARCH_EPISODES, gives=examples.FOUND_EPISODES)
    def search_episodes(self, principal: Principal, body: SearchEpisodes) -> FoundEpisodes:
        """Find episodes of similar tasks, with their outcome: about one person, or about all within reach."""
        return self._episodes.search(principal, body)


class DocumentRoutes:
    """Documents: the tenant's knowledge base, found by its parts."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    @post(
        "/v1/documents",
        scope=WRITE,
        status=CREATED,
        also=(HTTPStatus.OK,),
        refusals=(HTTPStatus.NOT_FOUND,),
        sends=examples.PUT_DOCUMENT,
        gives=examples.DOCUMENT,
    )
    def put_document(self, principal: Principal, body: PutDocument, if_match: IfMatch) -> Answer[Document]:
        """Keep a document; under an id that is there it replaces all of that document's parts at once.

        It is cut along its headings; code and tables stay whole.
        """
        document, new = self._knowledge.put(principal, body, if_match)
        return Answer(document, CREATED if new else HTTPStatus.OK)

    @get(DOCUMENT, scope=READ, gives=examples.SHOWN_DOCUMENT)
    def get_document(self, principal: Principal, document_id: PathId) -> ShownDocument:
        """Read a document, part after part, each under its headings."""
        return self._knowledge.get(principal, document_id)

    @delete(DOCUMENT, scope=WRITE, status=HTTPStatus.NO_CONTENT)
    def delete_document(self, principal: Principal, document_id: PathId, if_match: IfMatch) -> None:
        """Delete a document: from now on it is not found."""
        self._knowledge.delete(principal, document_id, if_match)

    @post("/v1/documents/search", scope=READ, sends=examples.SEARCH_DOCUMENTS, gives=examples.FOUND_PARTS)
    def search_documents(self, principal: Principal, body: SearchDocuments) -> FoundParts:
        """Find parts of documents, each with where it stands."""
        return self._knowledge.search(principal, body)
