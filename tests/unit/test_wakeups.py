from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from threading import Lock, Thread

import pytest

from slate.adapters.inprocess.wakeups import ThreadWakeups
from slate.service.waiting import Pauses, Waiting


@pytest.fixture
def wakeups():
    return ThreadWakeups()


@pytest.fixture
def line(wakeups):
    """Puts listeners in line, each of whom has looked."""
    with ExitStack() as stack:

        def stand(*topics):
            listener = stack.enter_context(wakeups.listen(topics))
            listener.looking()
            return listener

        yield stand


def told(*listeners):
    return [bool(listener.told) for listener in listeners]


def test_who_came_first_is_told_first_and_as_many_as_there_is_work(wakeups, line):
    first, second, third = line("t"), line("t"), line("t")
    wakeups.tell("t")
    assert told(first, second, third) == [True, False, False]
    wakeups.tell("t")
    assert told(first, second, third) == [True, True, False]


def test_another_topics_news_wakes_nobody(wakeups, line):
    first = line("t")
    wakeups.tell("u")
    assert told(first) == [False]


def test_who_was_told_and_found_nothing_keeps_its_place(wakeups, line):
    first, second = line("t"), line("t")
    wakeups.tell("t")
    first.looking()
    first.wait(0)
    wakeups.tell("t")
    assert told(first, second) == [True, False]


def test_news_that_comes_during_a_look_is_not_lost(wakeups, line):
    first = line("t")
    first.looking()
    wakeups.tell("t")
    assert first.wait(600), "it does not rest"
    assert told(first) == [True]


def test_who_leaves_before_looking_hands_on_what_it_was_told(wakeups, line):
    with wakeups.listen(["t"]) as first:
        first.looking()
        second = line("t")
        wakeups.tell("t")
    assert told(second) == [True]


def test_who_fails_hands_on_what_it_was_told(wakeups, line):
    def fail():
        with wakeups.listen(["t"]) as first:
            fail.second = line("t")
            wakeups.tell("t")
            first.looking()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert told(fail.second) == [True]


def test_who_found_what_it_was_told_of_wakes_nobody_else(wakeups, line):
    with wakeups.listen(["t"]) as first:
        second = line("t")
        wakeups.tell("t")
        first.looking()
        first.served()
    assert told(second) == [False]


def test_who_stands_in_several_lines_may_have_found_another_lines_work_and_hands_on(wakeups, line):
    with wakeups.listen(["t", "u"]) as first:
        second = line("u")
        wakeups.tell("u")
        first.looking()
        first.served()  # it may well have been work of t
    assert told(second) == [True]


def test_one_who_is_awake_already_is_not_told_of_the_other_lines_work(wakeups, line):
    both, other = line("t", "u"), line("u")
    wakeups.tell("t")
    wakeups.tell("u")
    assert told(both, other) == [True, True]


def test_many_may_be_told_at_once(wakeups, line):
    listeners = [line("t") for _ in range(4)]
    wakeups.tell("t", 3)
    assert told(*listeners) == [True, True, True, False]
    wakeups.tell_all()
    assert all(told(*listeners))


def test_no_news_is_lost_among_many_who_look_for_different_things():
    """Nobody looks of its own accord within the test's time: every piece of work is found through being told of it."""
    rng, lock, work, done = random.Random(5), Lock(), Counter(), []  # noqa: S311
    wakeups = ThreadWakeups()
    waiting = Waiting(wakeups, rng, pauses=Pauses(first_seconds=900, longest_seconds=900), places=50)

    def worker(topics):
        def look():
            with lock:
                for topic in topics:
                    if work[topic]:
                        work[topic] -= 1
                        return topic
            return None

        while found := waiting.until(look, topics=topics, seconds=30):
            done.append(found)
            if len(done) == 600:
                wakeups.close()

    threads = [Thread(target=worker, args=(rng.sample("abc", 1 + n % 3),)) for n in range(12)]
    for thread in threads:
        thread.start()
    for n in range(600):
        topic = "abc"[n % 3]
        with lock:
            work[topic] += 1
        wakeups.tell(topic)
    for thread in threads:
        thread.join(20)
    assert Counter(done) == {"a": 200, "b": 200, "c": 200}
    assert not any(thread.is_alive() for thread in threads)
