"""What is remembered for a while is remembered for no longer, and is never more than so many things."""

from concurrent.futures import ThreadPoolExecutor

from slate.domain.lapsing import Lapsing


def test_a_thing_is_given_until_its_instant_and_not_at_it():
    kept = Lapsing[str, int](2)
    assert kept.keep("a", 1, until=10, now=0) == 1
    assert [kept.get("a", now) for now in (0, 9, 10, 11)] == [1, 1, None, None]


def test_the_first_to_be_kept_is_the_first_to_go_and_keeping_again_counts_anew():
    kept = Lapsing[str, int](2)
    for key, now in (("a", 0), ("b", 1), ("a", 2), ("c", 3)):
        kept.keep(key, now, until=100, now=now)
    assert [kept.get(key, 4) for key in "abc"] == [2, None, 3]


def test_of_things_that_last_equally_long_none_that_is_over_lies_about():
    kept = Lapsing[int, int](1_000)
    for now in range(100):
        kept.keep(now, now, until=now + 10, now=now)
    assert len(kept._things) == 10
    kept.get(0, 200)
    assert not kept._things


def test_one_that_lapses_before_those_that_were_kept_before_it_is_given_to_nobody_either():
    kept = Lapsing[str, int](2)
    kept.keep("long", 1, until=100, now=0)
    kept.keep("short", 2, until=5, now=0)
    assert (kept.get("short", 4), kept.get("short", 5), kept.get("long", 5)) == (2, None, 1)


def test_what_is_dropped_is_gone():
    kept = Lapsing[int, int](10)
    for key in range(4):
        kept.keep(key, key, until=9, now=0)
    kept.drop(lambda key: key % 2 == 0)
    assert [kept.get(key, 0) for key in range(4)] == [None, 1, None, 3]


def test_threads_that_keep_at_once_never_exceed_the_bound():
    kept = Lapsing[int, int](50)
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda i: kept.keep(i % 200, i, until=i + 500, now=i), range(2_000)))
    assert len(kept._things) <= 50
