"""BM25, fusion, dates, the recipe for turns, and facts."""

import math
import random
from datetime import UTC, datetime

import pytest

from slate.domain.facts.model import Category, Fact
from slate.domain.ranking.bm25 import Postings, scores_of
from slate.domain.ranking.facts import best_facts, is_always_served
from slate.domain.ranking.fusion import fused, stretched
from slate.domain.ranking.slots import slots_named
from slate.domain.ranking.times import asks_when, named_in, says_when
from slate.domain.ranking.turns import TOP, Uttered, best_turns

NOW = 1_770_000_000_000
DAY = 86_400_000


def at(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, 12, tzinfo=UTC).timestamp() * 1000)


def turn(name: str, group: str = "s", **more: object) -> Uttered:
    given = {"at": 0, "speaker": "ann", "words": 0, "question": False, "timed": False, **more}
    return Uttered(name, group, **given)  # type: ignore[arg-type]


def fact(fact_id: str, statement: str, **more: object) -> Fact:
    given = {
        "category": Category.OTHER,
        "observed_at": NOW,
        "last_confirmed_at": NOW,
        "valid_from": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Fact(fact_id=fact_id, statement=statement, **{**given, **more})  # type: ignore[arg-type]


# ---- BM25


def test_bm25_is_the_formula():
    postings: Postings[str] = Postings()
    postings.put("1", ["a", "b", "a"])
    postings.put("2", ["b"])
    idf = math.log(1 + (2 - 1 + 0.5) / 1.5)
    assert postings.scores(["a"]) == {"1": pytest.approx(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))}


def test_documents_that_are_asked_once_score_as_those_that_are_kept():
    rng = random.Random(2)  # noqa: S311  # repeatable, not secret
    documents = {n: rng.choices("abcdefg", k=rng.randrange(9)) for n in range(60)}
    postings: Postings[int] = Postings()
    for name, terms in documents.items():
        postings.put(name, terms)
    for query in ("a", "abc", "aabz", "z", ""):
        assert scores_of(documents, query) == pytest.approx(postings.scores(query))
    assert scores_of({}, "a") == {}


def test_postings_after_any_changes_are_those_made_anew():
    rng = random.Random(1)  # noqa: S311  # repeatable, not secret
    kept: dict[int, list[str]] = {}
    postings: Postings[int] = Postings()
    for _ in range(500):
        name = rng.randrange(30)
        if rng.random() < 0.3:
            kept.pop(name, None)
            postings.drop(name)
        else:
            kept[name] = rng.choices("abcdefgh", k=rng.randrange(6))
            postings.put(name, kept[name])
    anew: Postings[int] = Postings()
    for name, terms in kept.items():
        anew.put(name, terms)
    assert len(postings) == len(kept)
    assert postings.scores("abcdefgh") == pytest.approx(anew.scores("abcdefgh"))
    assert set(postings.scores("ab", among={1, 2})) <= {1, 2}


# ---- fusion


def test_each_leg_is_stretched_and_shares_are_kept():
    assert stretched({"a": 3.0, "b": 1.0, "c": 2.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert stretched({"a": 2.0}) == {"a": 1.0}
    assert stretched({"a": 0.0}) == {"a": 0.0}
    assert stretched({}) == {}
    assert fused({"a": 2.0, "b": 0.0}, {"a": 0.1, "b": 0.9}, 0.25) == {"a": (0.75, 0.0), "b": (0.0, 0.25)}


def test_without_vectors_the_words_are_all():
    assert fused({"a": 2.0, "b": 1.0}, {"a": 0.0}, 0.6) == {"a": (1.0, 0.0), "b": (0.0, 0.0)}


# ---- dates


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("What happened on 7 May 2023?", (2023, 5, 7)),
        ("What happened on May 7th, 2023?", (2023, 5, 7)),
        ("in July 2022", (2022, 7, None)),
        ("since december", (None, 12, None)),
        ("on 2023-05-07", (2023, 5, 7)),
        ("in 2023-05", (2023, 5, None)),
    ],
)
def test_a_query_names_a_date(query: str, named: tuple[int | None, int, int | None]):
    assert named_in(query) == named


@pytest.mark.parametrize("query", ["may I ask", "order 4711", "0000-01", "2023-13-01", "the 40th"])
def test_what_is_no_date_is_none(query: str):
    assert named_in(query) is None


def test_what_lies_closer_to_a_date_counts_more():
    day, month = named_in("on 7 May 2023"), named_in("in May 2023")
    assert day is not None
    assert month is not None
    closeness = [day.closeness(at(2023, 5, d)) for d in (7, 8, 12, 30)]
    assert closeness == sorted(closeness, reverse=True)
    assert closeness[0] == 1
    assert month.closeness(at(2023, 5, 2)) == 1 > month.closeness(at(2023, 6, 20)) > month.closeness(at(2024, 5, 10))
    every_year = named_in("every december")
    assert every_year is not None
    assert every_year.closeness(at(2020, 12, 10)) == 1
    assert every_year.closeness(at(2021, 1, 20)) < 0.5


def test_a_leap_day_of_any_year_is_a_day():
    named = named_in("on 29 February")
    assert named is not None
    assert named.closeness(at(2023, 2, 28)) > 0.9


def test_when_is_asked_and_said():
    assert asks_when("When did she leave?")
    assert asks_when("On what date?")
    assert asks_when("how long was it?")
    assert not asks_when("Whence the wind?")
    assert not asks_when("I know when")
    assert says_when("I went yesterday")
    assert says_when("in 2019")
    assert not says_when("I went there")


# ---- turns


def ranked(
    turns: list[Uttered], query: str = "q", names: set[str] = frozenset(), **legs: dict[str, float]
) -> list[str]:  # type: ignore[assignment]
    best = best_turns(
        query, turns, legs.get("words", {}), legs.get("vector", {}), share=0.5, names=names, count=len(turns)
    )
    for each in best:
        assert each.score == pytest.approx(sum(each.why.values()))
        assert each.score <= TOP
    return [each.name for each in best]


def test_words_and_vector_decide_first():
    turns = [turn("1", "a"), turn("2", "b"), turn("3", "c")]
    assert ranked(turns, words={"2": 3.0, "3": 1.0}) == ["2", "3", "1"]
    assert ranked(turns, vector={"1": 0.1, "2": 0.2, "3": 0.9}) == ["3", "2", "1"]


def test_the_only_person_named_who_speaks_counts_more():
    turns = [turn("1", "a", speaker="bob"), turn("2", "b", speaker="ann")]
    assert ranked(turns, names={"bob"})[0] == "1"
    assert ranked(turns, names={"bob", "ann"}) == ["2", "1"], "of two nobody is meant more"


def test_who_asks_when_hears_from_turns_that_say_when():
    turns = [turn("1", "a", timed=True), turn("2", "b")]
    assert ranked(turns, "When was it?")[0] == "1"
    assert ranked(turns, "What was it?")[0] == "2"


def test_a_date_draws_the_turns_of_its_days():
    turns = [turn("1", "a", at=at(2023, 5, 7)), turn("2", "b", at=at(2024, 1, 1))]
    assert ranked(turns, "What was on 7 May 2023?")[0] == "1"


def test_a_turn_is_known_by_its_company():
    turns = [turn("1", "a"), turn("2", "a"), turn("3", "a"), turn("4", "b"), turn("5", "c")]
    words = {"1": 9.0, "2": 9.0, "3": 5.0, "4": 5.0}
    assert ranked(turns, words=words).index("3") < ranked(turns, words=words).index("4")


def test_long_turns_count_more_and_questions_less():
    turns = [turn("1", "a", words=30), turn("2", "b", words=30, question=True), turn("3", "c")]
    assert ranked(turns)[0] == "1"
    assert ranked(turns, words={"2": 0.0})[0] == "1"


def test_no_turns_are_no_answer():
    assert best_turns("q", [], {}, {}, share=0.5, names=(), count=5) == []


# ---- facts


def best(query: str | None, facts: list[Fact], **more: object) -> list[str]:
    given = {"share": 0.2, "now": NOW, "count": 10, "likeness": {}, **more}
    found = best_facts(query, facts, **given)  # type: ignore[arg-type]
    for each in found:
        assert each.score == pytest.approx(sum(each.why.values()))
        assert {"relevance", "recency", "importance", "confidence"} <= each.why.keys()
    return [each.name for each in found]


def test_relevance_goes_before_importance():
    facts = [fact("1", "Has a red bicycle", importance=10), fact("2", "Prefers dark mode", importance=4)]
    assert best("dark mode", facts)[0] == "2"


def test_a_slot_that_is_named_goes_before_likeness():
    facts = [
        fact("1", "The order number format is four digits; order numbers are numbers of orders"),
        fact("2", "4711", attribute="last_order_number", value="4711", importance=4),
    ]
    assert best("what was my last order number?", facts)[0] == "2"


def test_of_equals_the_newer_the_surer_and_the_more_important():
    assert best("x", [fact("1", "a"), fact("2", "a", last_confirmed_at=NOW - 90 * DAY)]) == ["1", "2"]
    assert best("x", [fact("1", "a", confidence=0.3), fact("2", "a", confidence=0.9)]) == ["2", "1"]
    assert best(None, [fact("1", "a", importance=4), fact("2", "b", importance=9)]) == ["2", "1"]


def test_what_was_of_use_lately_is_not_old():
    """What is asked for every other week, said once a year ago, does not stand behind every news in the same words."""
    old = NOW - 365 * DAY
    used = fact("1", "Reports to Karin", last_confirmed_at=old, woken_at=NOW - 14 * DAY, importance=6, wakes=11)
    news = fact("2", "Read reports", importance=4)
    assert best("whom do reports go to", [used, news]) == ["1", "2"]
    assert best("whom do reports go to", [used.model_copy(update={"woken_at": None}), news]) == ["2", "1"]


def test_a_topic_in_common_makes_relevant_what_shares_no_word():
    facts = [fact("1", "Has a red bicycle"), fact("2", "Is vegetarian", topics=("food",))]
    assert best("what should I cook tonight?", facts)[0] == "2"
    assert best("anything", facts, topics=("Food",))[0] == "2"


def test_meaning_counts_where_the_index_knows_it():
    facts = [fact("1", "Owns a spaniel"), fact("2", "Owns a bicycle")]
    assert best("which dog", facts, likeness={"1": 0.7, "2": 0.1}, share=0.5)[0] == "1"


def test_constraints_above_seven_are_always_served():
    assert is_always_served(fact("1", "a", category=Category.CONSTRAINT, importance=8))
    assert not is_always_served(fact("1", "a", category=Category.CONSTRAINT, importance=7))
    assert not is_always_served(fact("1", "a", category=Category.PREFERENCE, importance=10))


@pytest.mark.parametrize(
    ("query", "attribute", "named"),
    [
        ("what is my last order number?", "last_order_number", True),
        ("my order", "last_order_number", False),
        ("Where do I live?", "city", True),
        ("who do I work for", "employer", True),
        ("draft a mail to my employer", "employer", True),
        ("where should we ship it?", "address", True),
        ("please place an order", "city", False),
        ("what shall I cook tonight", "allergy:peanut", True),
        ("which time zone am I in", "timezone", True),
        ("", "city", False),
    ],
)
def test_a_query_names_a_slot(query: str, attribute: str, named: bool):
    assert (attribute in slots_named(query, [attribute])) is named
