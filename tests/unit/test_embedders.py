"""Bedrock's embedder asks as the model wants to be asked; queries are asked for once; the local one knows meaning."""

from __future__ import annotations

import gc
import io
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from slate.adapters.bedrock.embedder import BedrockEmbedder
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.domain.errors import Internal, Unavailable
from slate.domain.vectors import likeness
from slate.service.search.caching import CachingEmbedder


class Runtime:
    """Answers each text with a vector that says how long it is."""

    def __init__(self, error: Exception | None = None, dimension: int = 3) -> None:
        self.error, self.dimension, self.asked = error, dimension, []
        self._lock = threading.Lock()

    def invoke_model(self, **request: Any) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        body = json.loads(request["body"])
        with self._lock:
            self.asked.append((request["modelId"], body))
        vector = [float(len(body["inputText"])), 1.0, 0.0, 0.0][: self.dimension]
        return {"body": io.BytesIO(json.dumps({"embedding": vector}).encode())}


def embedder(runtime: Runtime) -> BedrockEmbedder:
    return BedrockEmbedder(lambda: runtime, "amazon.titan-embed-text-v2:0", 3, ThreadPoolExecutor(2))


def test_each_text_is_asked_for_by_itself_and_in_order():
    runtime = Runtime()
    vectors = embedder(runtime).embed(["a", "", "abc"])
    assert vectors[1] == (0.0, 0.0, 0.0)
    assert vectors[0][0] < vectors[2][0]
    assert {len(v) for v in vectors} == {3}
    assert sorted(body["inputText"] for _, body in runtime.asked) == ["a", "abc"]
    assert {(model, body["dimensions"], body["normalize"]) for model, body in runtime.asked} == {
        ("amazon.titan-embed-text-v2:0", 3, True)
    }


def test_vectors_of_two_dimensions_have_two_names():
    one, other = (BedrockEmbedder(Runtime, "m", size, ThreadPoolExecutor(1)) for size in (256, 512))
    assert one.name != other.name


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "InvokeModel"), Unavailable),
        (EndpointConnectionError(endpoint_url="x"), Unavailable),
        (ClientError({"Error": {"Code": "ValidationException"}}, "InvokeModel"), Internal),
    ],
)
def test_what_may_be_repeated_is_told_from_a_fault(error: Exception, raised: type[Exception]):
    with pytest.raises(raised):
        embedder(Runtime(error)).embed(["a"])


def test_a_vector_of_another_dimension_is_a_fault():
    with pytest.raises(Internal):
        embedder(Runtime(dimension=2)).embed(["a"])


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return super().embed(texts)


def test_a_query_that_comes_again_is_asked_for_once():
    inner = Counting()
    caching = CachingEmbedder(inner, ManualClock(0), kept=2)
    first = caching.embed(["a b", "c d", "a b"])
    assert first[0] == first[2] == inner.embed(["a b"])[0]
    inner.asked.clear()
    assert caching.embed(["c d", "a b"]) == [first[1], first[0]]
    assert inner.asked == []
    caching.embed(["e f"])
    caching.embed(["c d"])
    assert inner.asked == ["e f", "c d"], "the one that was not asked for longest made room"
    assert (caching.name, caching.share, caching.dimension) == (inner.name, inner.share, inner.dimension)


def test_a_query_is_in_no_memory_and_its_vector_no_longer_than_five_minutes():
    inner, clock = Counting(), ManualClock(0)
    caching = CachingEmbedder(inner, clock)
    (vector,) = caching.embed(["where does zqann live"])
    vectors = [tuple(vector), list(vector)]
    assert not _holds(caching, lambda each: isinstance(each, str) and "zqann" in each, but=inner)
    assert _holds(caching, lambda each: each in vectors, but=inner)
    clock.advance(301)
    caching.embed(["b"])
    assert not _holds(caching, lambda each: each in vectors, but=inner)


def _holds(thing: Any, is_one: Callable[[Any], bool], *, but: Any) -> bool:
    """Whether an object holds on to one such, anywhere below it."""
    seen, left = {id(but)}, [vars(thing)]
    while left:
        each = left.pop()
        if is_one(each):
            return True
        if id(each) not in seen and not isinstance(each, type) and not callable(each):
            seen.add(id(each))
            left.extend(gc.get_referents(each))
    return False


def test_the_local_embedder_knows_that_a_dog_is_a_pet():
    local = pytest.importorskip("slate.adapters.wordllama.embedder", exc_type=ImportError)
    try:
        made = local.WordLlamaEmbedder()
    except ImportError:
        pytest.skip("the extra `embedder` is not installed")
    dog, pet, tax, nothing = made.embed(["a dog", "my pet animal", "income tax form", ""])
    assert likeness(dog, pet) > likeness(dog, tax)
    assert likeness(dog, dog) == pytest.approx(1)
    assert not any(nothing)
    assert len(dog) == made.dimension
