"""How long persons have waited for their erasure is counted, whatever it waits for."""

from __future__ import annotations

import re
from dataclasses import replace

from contract.world import World
from slate.adapters.inprocess.counts import ProcessCounts
from slate.contract.erasures import AskErasure
from slate.contract.holds import CreateHold
from slate.service.erasing.deadlines import Waiting
from slate.wiring.assembling import assemble

DAY = 86_400


def test_those_that_are_held_or_wait_are_counted_and_those_that_are_over_are_not(w: World) -> None:
    counts = ProcessCounts()
    slate = assemble(w.settings, replace(w.parts, counts=counts))
    hold = slate.privacy.holding.create(w.me, CreateHold(subject="u-held", reason="in court"), None)
    for subject in ("u-held", "u-free"):
        slate.privacy.erasing.ask(w.me, AskErasure(subject=subject, reason="asked for"), None)
    assert slate.privacy.deadlines.waiting() == Waiting(2, {20: 0, 25: 0})
    slate.privacy.deadlines.run_once()
    slate.privacy.deadlines.run_once()
    assert told(counts) == {"erasures_open": 2, "20 days": 0, "25 days": 0}
    for days in (1, 1, 3, 15):
        w.clock.advance(days * DAY)
        slate.privacy.eraser.run_once()
    assert slate.privacy.deadlines.waiting() == Waiting(1, {20: 1, 25: 0}), "the other has its receipt"
    slate.privacy.deadlines.run_once()
    assert told(counts) == {"erasures_open": 3, "20 days": 1, "25 days": 0}
    w.clock.advance(5 * DAY)
    assert slate.privacy.deadlines.waiting() == Waiting(1, {20: 1, 25: 1})
    slate.privacy.holding.lift(w.me, hold.hold_id)
    for days in (0, 1, 4, 1):
        w.clock.advance(days * DAY)
        slate.privacy.eraser.run_once()
    assert slate.privacy.deadlines.waiting().open == 0


def told(counts: ProcessCounts) -> dict[str, int]:
    """The sums so far, by name or part."""
    lines = re.findall(
        r'^slate_(erasures_open|erasures_late)_total(?:{by="(.*)"})? (\d+)$', counts.prometheus(), re.MULTILINE
    )
    return {by or name: int(sum_) for name, by, sum_ in lines}
