"""Facts that fade and wake: each a step that nobody comes between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slate.adapters.inprocess.facts.people import People, Person
from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.acts import gone, left_by_itself, stepping
from slate.domain.forgetting.lately import with_query, with_served
from slate.domain.forgetting.strength import due_at
from slate.ports.fact_fading import Fade, Settled


class InProcessFactFading:
    """Lets facts fade and wake."""

    def __init__(self, people: People) -> None:
        self._people = people

    def settle(self, tenant: str, ref: str, fact_id: str, decide: Callable[[Fact], Fade | None]) -> Settled | None:
        """The step with its entry in the log, or the entry of the timer goes to where it is due by now."""
        with self._people.person(tenant, ref) as person:
            fact, due = person.fact(fact_id), person.due.get(fact_id)
            if fact is None:
                return None
            fade = decide(fact)
            if fade is None:
                self._look_again(person, fact)
                return Settled(fact, fact.state, due)
            (written,) = self._people.write(person, [gone(fact, fade.state, fade.act)], person.slots[fact_id])
            self._people.log(person, fade.act, fact)
            return Settled(written, fact.state, due)

    def wake(self, tenant: str, ref: str, fact_ids: Sequence[str], change: Callable[[Fact], Fact | None]) -> list[Fact]:
        """A use is no new version; what comes back from limbo is one."""
        woke: list[Fact] = []
        with self._people.person(tenant, ref) as person:
            for fact in person.known(list(dict.fromkeys(fact_ids))).values():
                up = change(fact)
                if up is None:
                    continue
                if up.state is fact.state:
                    self._people.put(person, up, person.due.get(up.fact_id))
                    self._look_again(person, up)
                else:
                    (up,) = self._people.write(person, [up], person.slots[up.fact_id])
                    person.note_restored(up.fact_id, self._people.clock.now())
                woke.append(up)
        return woke

    def step(self, tenant: str, ref: str, fact_id: str, once: str, reason: str, change: Callable[[Fact], Fact]) -> bool:
        """With the note that this occasion has had its say."""
        with self._people.person(tenant, ref) as person:
            fact = person.fact(fact_id)
            if fact is None or fact.state is FactState.FORGOTTEN:
                return False
            after = change(fact)
            if after == fact or (fact_id, once) in person.steps:
                return False
            self._people.write(person, [after], person.slots[fact_id])
            self._people.log(person, stepping(fact, after, self._people.clock.now(), reason), fact)
            person.steps.add((fact_id, once))
            return True

    def deleted(self, tenant: str, ref: str, fact_ids: Sequence[str]) -> set[str]:
        """Those that nobody may be shown any more."""
        with self._people.person(tenant, ref) as person:
            known = person.known(fact_ids)
            return set(fact_ids) - {fact_id for fact_id, fact in known.items() if left_by_itself(fact)}

    def living(self, tenant: str, ref: str) -> list[Fact]:
        """Active ones and those in limbo."""
        with self._people.person(tenant, ref) as person:
            return list(person.living.values())

    def count(self, tenant: str, ref: str, most: int) -> int:
        """Of these."""
        with self._people.person(tenant, ref) as person:
            return min(len(person.living), most + 1)

    def note_query(self, tenant: str, ref: str, query: str) -> None:
        """The last few different ones."""
        with self._people.person(tenant, ref) as person:
            person.asked = with_query(person.asked, query)

    def queries(self, tenant: str, ref: str) -> list[str]:
        """The oldest first."""
        with self._people.person(tenant, ref) as person:
            return list(person.asked)

    def note_served(self, tenant: str, ref: str, session_id: str, fact_ids: Sequence[str]) -> None:
        """As many as are remembered."""
        with self._people.person(tenant, ref) as person:
            person.served[session_id] = with_served(person.served.get(session_id, ()), fact_ids)

    def served(self, tenant: str, ref: str, session_id: str) -> list[str]:
        """The facts that a session was served."""
        with self._people.person(tenant, ref) as person:
            return list(person.served.get(session_id, ()))

    def _look_again(self, person: Person, fact: Fact) -> None:
        due = due_at(fact, self._people.policies(person.tenant), self._people.clock.now())
        if due is not None:
            self._people.look_at(person, fact.fact_id, due)
