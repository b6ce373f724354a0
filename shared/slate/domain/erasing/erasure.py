"""An erasure as it stands: which steps are done, what was counted in each, and when it goes on.

::

    RECEIVED ──no hold──► FENCED ─► KEYS_SHREDDED ─► INDEX_DELETED ─► PRIMARY_DELETED ─► DRAINED ─► EXPUNGED
       │  ▲                                                             ▲ three sweeps           │
    a hold │ the last one ends                                          └──── something left ────┤
       ▼  │                                                                                    empty
      HELD                                                  CLOSED ◄─horizons─ RECEIPTED ◄─ VERIFIED

Every transition is a pure function of the erasure and the instant; what is stored is the erasure after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.erasing.receipts import Horizons, StoreCount
from slate.domain.erasing.steps import DAY_MS, HOUR_MS, ROOTS_STAND_MS, Step, backoff, due_by
from slate.domain.instants import Instant

HELD_LOOK_MS: Final = HOUR_MS
"""A held erasure is looked at so often, beside being told when the last hold ends."""
KEYS: Final = "keys"
"""The store of a person's data keys."""


class StepDone(BaseModel):
    """A step that is done: when, and how many of each store it dealt with."""

    model_config = ConfigDict(frozen=True)

    step: Step
    at: Instant
    counts: dict[str, int] = Field(default_factory=dict)


class Progress(BaseModel):
    """How far the step under way is."""

    model_config = ConfigDict(frozen=True)

    done: int = Field(default=0, ge=0, description="things that this step has dealt with")
    counts: dict[str, int] = Field(default_factory=dict, description="the same, by store")
    position: str = ""
    """Where it goes on."""

    def plus(self, counts: Mapping[str, int], position: str = "") -> Progress:
        """With what was done now."""
        return Progress(done=self.done + sum(counts.values()), counts=added(self.counts, counts), position=position)


class Erasure(BaseModel):
    """A request to erase everything about a person."""

    model_config = ConfigDict(frozen=True)

    erasure_id: str
    ref: str
    subject: str | None = None
    """Whose; sealed under their own key, and so not known any more once the keys are gone. The same of the reason."""
    reason: str | None = None
    asked_by: str
    state: Step = Step.RECEIVED
    requested_at: Instant
    received_at: Instant
    due_by: Instant
    epoch: int = 0
    """The one that begins with it; 0 before the fence."""
    steps: tuple[StepDone, ...] = ()
    progress: Progress | None = None
    found: dict[str, int] = Field(default_factory=dict)
    """What was there once the fence was closed, by store."""
    erased: dict[str, int] = Field(default_factory=dict)
    """What went, by store; a run that died may not have told all."""
    swept: int = 0
    """Sweeps that are done."""
    expunging: str | None = None
    """How far the index is with rewriting its files."""
    failures: int = 0
    failure: str | None = None
    """The kind of the last one, of those in a row."""
    next_at: Instant | None = None
    version: int = 1

    @property
    def fenced_at(self) -> int | None:
        """When the fence was closed."""
        return self.at(Step.FENCED)

    def at(self, step: Step) -> int | None:
        """When a step was done, the last time."""
        return next((done.at for done in reversed(self.steps) if done.step is step), None)

    # ---- transitions

    def done(self, step: Step, now: int, counts: Mapping[str, int] | None = None, *, next_at: int | None) -> Erasure:
        """With a step done, and the next one due at an instant; at none after the last."""
        line = StepDone(step=step, at=now, counts={k: v for k, v in (counts or {}).items() if v})
        return self._now(state=step, steps=(*self.steps, line), progress=None, next_at=next_at)

    def going_on(self, progress: Progress | None, next_at: int, **more: object) -> Erasure:
        """The step under way is not done yet."""
        return self._now(progress=progress, next_at=next_at, **more)

    def held(self, now: int) -> Erasure:
        """It waits for the last hold to end; that it does is told once."""
        if self.state is Step.HELD:
            return self._now(next_at=now + HELD_LOOK_MS)
        return self.done(Step.HELD, now, next_at=now + HELD_LOOK_MS)

    def failed(self, kind: str, now: int) -> Erasure:
        """It could not go on: later, and longer after each failure in a row."""
        failures = self.failures + 1
        rest = {"failures": failures, "failure": kind, "next_at": now + backoff(failures)}
        return self.model_copy(update={**rest, "version": self.version + 1})

    def again(self, now: int, left: Mapping[str, int]) -> Erasure:
        """Something is left, or came after the last sweep: everything is looked through once more.

        Not at once: what is left may be a root that was emptied just now, which stands for a while.
        """
        line = StepDone(step=Step.PRIMARY_DELETED, at=now, counts={k: v for k, v in left.items() if v})
        return self._now(
            state=Step.PRIMARY_DELETED,
            steps=(*self.steps, line),
            progress=None,
            swept=max(self.swept - 1, 0),
            expunging=None,
            next_at=now + ROOTS_STAND_MS,
        )

    def _now(self, **changes: object) -> Erasure:
        """What succeeds ends a row of failures."""
        cleared = {"failures": 0, "failure": None, "version": self.version + 1}
        return self.model_copy(update={**changes, **cleared})

    # ---- what the receipt says

    def stores(self, after: Mapping[str, int]) -> dict[str, StoreCount]:
        """Of each store what was counted, what went, and what is left."""
        names = sorted({*self.found, *self.erased, *after})
        return {
            name: StoreCount(
                counted=self.found.get(name, 0),
                # What was found and is not left went, whether or not the run that took it out lived to say so.
                erased=max(self.erased.get(name, 0), self.found.get(name, 0) - after.get(name, 0)),
                after=after.get(name, 0),
            )
            for name in names
        }

    def horizons(self, days: Days) -> Horizons:
        """Until when copies lie that nobody can reach into."""
        shredded, gone = self.at(Step.KEYS_SHREDDED) or 0, self.at(Step.DRAINED) or 0
        return Horizons(
            keys=shredded + days.keys * DAY_MS,
            snapshots=(self.at(Step.EXPUNGED) or 0) + days.snapshots * DAY_MS,
            backups=gone + days.backups * DAY_MS,
        )


class Days(BaseModel):
    """For how many days copies lie that nobody can reach into."""

    model_config = ConfigDict(frozen=True)

    keys: int = 1
    snapshots: int = 14
    backups: int = 35


def received(
    erasure_id: str, ref: str, subject: str | None, reason: str | None, asked_by: str, requested_at: int, now: int
) -> Erasure:
    """A request that just came."""
    erasure = Erasure(
        erasure_id=erasure_id,
        ref=ref,
        subject=subject,
        reason=reason,
        asked_by=asked_by,
        requested_at=requested_at,
        received_at=now,
        due_by=due_by(requested_at),
        version=0,
    )
    return erasure.done(Step.RECEIVED, now, next_at=now)


def added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Both together."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}
