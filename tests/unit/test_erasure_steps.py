"""When an erasure is due, when it goes on, and what its receipt counts."""

from __future__ import annotations

import pytest

from slate.domain.erasing.erasure import Days, received
from slate.domain.erasing.steps import DAY_MS, HOUR_MS, OPEN, Step, backoff, due_by, sweeps
from slate.domain.instants import format_instant, parse_instant
from slate.ports.subject_stores import Erased
from slate.service.erasing.registry import Registry

NOW = parse_instant("2026-11-30T12:00:00Z")


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        ("2026-11-30T12:00:00.123Z", "2026-12-30T12:00:00.123Z"),
        ("2026-12-15T00:00:00.000Z", "2027-01-15T00:00:00.000Z"),
        ("2027-01-31T08:00:00.000Z", "2027-02-28T08:00:00.000Z"),
        ("2028-01-30T08:00:00.000Z", "2028-02-29T08:00:00.000Z"),
        ("2027-10-31T23:59:59.999Z", "2027-11-30T23:59:59.999Z"),
    ],
)
def test_it_is_due_on_the_same_day_of_the_next_month_or_on_its_last(asked: str, due: str) -> None:
    assert format_instant(due_by(parse_instant(asked))) == due


def test_who_fails_rests_longer_each_time_and_a_quarter_of_an_hour_at_most() -> None:
    rests = [backoff(failures) // 1000 for failures in range(1, 12)]
    assert rests[:4] == [10, 20, 40, 80]
    assert rests[-1] == 900
    assert rests == sorted(rests)
    assert backoff(10_000) == 900_000


def test_the_last_sweep_comes_after_whatever_a_queue_still_kept() -> None:
    assert sweeps(4) == (900_000, DAY_MS, 4 * DAY_MS + HOUR_MS)


def test_success_ends_a_row_of_failures_and_each_transition_is_a_version() -> None:
    new = received("e-1", "ref", "u", "by letter", "ann", NOW, NOW)
    failed = new.failed("Unavailable", NOW).failed("Unavailable", NOW)
    assert (failed.failures, failed.failure, failed.next_at) == (2, "Unavailable", NOW + 20_000)
    fenced = failed.done(Step.FENCED, NOW + 1, next_at=NOW + 1)
    assert (fenced.failures, fenced.failure, fenced.fenced_at) == (0, None, NOW + 1)
    assert [each.version for each in (new, failed, fenced)] == [1, 3, 4]


def test_what_was_found_and_is_left_no_more_was_erased_whoever_died_telling() -> None:
    erasure = received("e-1", "ref", "u", "by letter", "ann", NOW, NOW).model_copy(
        update={"found": {"facts": 5, "keys": 1}, "erased": {"facts": 2, "sessions": 3}}
    )
    stores = erasure.stores({"facts": 0, "keys": 0, "sessions": 0})
    assert {name: (each.counted, each.erased, each.after) for name, each in stores.items()} == {
        "facts": (5, 5, 0),
        "keys": (1, 1, 0),
        "sessions": (0, 3, 0),
    }


def test_copies_that_nobody_reaches_into_have_an_end() -> None:
    erasure = received("e-1", "ref", "u", "by letter", "ann", NOW, NOW)
    for day, step in enumerate((Step.KEYS_SHREDDED, Step.DRAINED, Step.EXPUNGED)):
        erasure = erasure.done(step, NOW + day * DAY_MS, next_at=None)
    horizons = erasure.horizons(Days())
    assert (horizons.keys, horizons.backups, horizons.snapshots) == tuple(NOW + day * DAY_MS for day in (1, 36, 16))
    assert Step.RECEIPTED not in OPEN


class Place:
    """A place of one store, which is emptied one thing a call."""

    def __init__(self, store: str, things: int) -> None:
        self.stores = (store,)
        self.things = things

    def count(self, _: str, __: str) -> dict[str, int]:
        return {self.stores[0]: self.things}

    def erase(self, _: str, __: str, ___: int, position: str = "") -> Erased:
        self.things -= 1
        return Erased({self.stores[0]: 1}, f"{position}." if self.things else None)


def test_places_are_emptied_one_after_the_other_and_each_is_gone_on_with() -> None:
    registry = Registry([Place("vectors", 2), Place("items", 2)])
    positions, gone = [""], dict.fromkeys(registry.stores, 0)
    while positions[-1] is not None:
        done = registry.erase("acme", "ref", 0, positions[-1])
        for store, count in done.counts.items():
            gone[store] += count
        positions.append(done.position)
    assert positions == ["", "0 .", "1 .", None]
    assert gone == {"items": 2, "vectors": 2}


def test_a_store_is_declared_in_one_place() -> None:
    with pytest.raises(ValueError, match="two places account for items"):
        Registry([Place("items", 1), Place("items", 1)])
