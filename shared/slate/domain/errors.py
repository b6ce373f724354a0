"""Every way Slate refuses, as one tree; and the client raises the same classes.

::

    SlateError
    ├── Malformed            400 malformed          the body is not sound JSON
    ├── Unauthenticated      401 unauthenticated    no credential, or not one of ours
    ├── Forbidden            403 forbidden          the credential does not reach this
    │   ├── ScopeMissing     403 scope_missing      it lacks a scope, named
    │   └── RoleMissing      403 role_missing       it may not work for a role, named
    ├── NotFound             404 not_found          also what belongs to another tenant
    ├── MethodNotAllowed     405 method_not_allowed the path is known, the method is not
    ├── Conflict             409 conflict           another content, or another state, is there
    │   ├── LeaseLost        409 lease_lost         the token no longer holds the task or lock
    │   ├── ClaimLost        409 claim_lost         another holds the lock; who, and until when
    │   ├── AlreadyTerminal  409 already_terminal   the task ended before this could apply
    │   ├── Cycle            409 cycle              the dependencies run in a circle, named
    │   ├── InProgress       409 conflict           the same Idempotency-Key is being worked on now; retryable
    │   └── ParentMoved      409 conflict           a parent changed meanwhile; retryable
    ├── SubjectErased        410 subject_erased     the key of this person's data is gone
    ├── VersionMismatch      412 version_mismatch   If-Match names an older version; `current` is the entity
    ├── TooLarge             413 too_large          over a stated size
    ├── SubjectHeld          423 subject_held       this person's data is on hold
    ├── IfMatchRequired      428 if_match_required  the write needs the version that it is meant for
    ├── Invalid              422 invalid            lists every offending field
    ├── Unavailable          503 retry              a dependency is busy; the same call may be repeated
    │   └── Throttled        429 throttled          this credential calls too often; when to go on is said
    └── Internal             500 internal           a fault of ours, with the request id to quote

``data`` is what a caller needs to go on (the winner's state, the current version); it becomes members of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypedDict


class FieldError(TypedDict):
    """One offending field: where it stands in the request, and what would be right."""

    field: str
    message: str


class SlateError(Exception):
    """Every refusal has a stable ``code``, says whether the same call may succeed later, and carries data."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str, **data: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.data: Mapping[str, Any] = data


class Malformed(SlateError):
    """The body is not JSON that can be read."""

    code = "malformed"


class Unauthenticated(SlateError):
    """There is no credential, or it is not one that was given out and still stands."""

    code = "unauthenticated"


class Forbidden(SlateError):
    """The credential is sound and does not reach this."""

    code = "forbidden"


class ScopeMissing(Forbidden):
    """The credential lacks the scope that this route needs."""

    code = "scope_missing"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs the scope {scope}; use a key that has it", scope=scope)


class RoleMissing(Forbidden):
    """The credential is bound to roles, and this role is not among them."""

    code = "role_missing"

    def __init__(self, role: str, allowed: Sequence[str]) -> None:
        super().__init__(f"this key may not work for the role {role!r}; it may for {', '.join(allowed)}", role=role)


class NotFound(SlateError):
    """There is nothing by this name for this tenant."""

    code = "not_found"


class MethodNotAllowed(SlateError):
    """The path is known and takes other methods."""

    code = "method_not_allowed"


class Conflict(SlateError):
    """What is there has another content, or is in a state in which this cannot be done."""

    code = "conflict"


class LeaseLost(Conflict):
    """The token no longer holds the task, or the lock: its lease lapsed and another has it, or it was given up."""

    code = "lease_lost"


class ClaimLost(Conflict):
    """Another holds the lock: ``holder`` is the agent, and ``lease_until`` when its lease ends."""

    code = "claim_lost"


class AlreadyTerminal(Conflict):
    """The task ended before this call could apply."""

    code = "already_terminal"


class Cycle(Conflict):
    """The dependencies run in a circle; ``cycle`` names the tasks on it, in order."""

    code = "cycle"

    def __init__(self, cycle: Sequence[str]) -> None:
        ring = " -> ".join([*cycle, cycle[0]])
        super().__init__(f"the dependencies form a cycle: {ring}; take one of these out", cycle=list(cycle))


class InProgress(Conflict):
    """The same Idempotency-Key is being worked on right now by another call."""

    retryable = True


class ParentMoved(Conflict):
    """A parent changed between being read and being relied on; the same call may be repeated."""

    retryable = True


class SubjectErased(SlateError):
    """The key of this person's data is gone, and the data with it."""

    code = "subject_erased"


class SubjectHeld(SlateError):
    """This person's data is on hold: it is neither served nor deleted until the hold ends."""

    code = "subject_held"


class VersionMismatch(SlateError):
    """If-Match names another version than the entity has; ``current`` is the entity as it is."""

    code = "version_mismatch"

    def __init__(self, current: Mapping[str, Any]) -> None:
        super().__init__(
            f"the version is {current['version']} by now; look at `current` and send its version in If-Match",
            current=current,
        )


class IfMatchRequired(SlateError):
    """The write needs If-Match: the version that it is meant for."""

    code = "if_match_required"


class TooLarge(SlateError):
    """The content is over a stated size."""

    code = "too_large"


class Invalid(SlateError):
    """The request is readable and wrong: ``errors`` lists every offending field."""

    code = "invalid"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        first = "; ".join(f"{e['field']}: {e['message']}" for e in errors[:3])
        more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""  # noqa: PLR2004  # three lines are read
        super().__init__(first + more, errors=list(errors))

    @classmethod
    def field(cls, field: str, message: str) -> Invalid:
        """One field is wrong."""
        return cls([{"field": field, "message": message}])


class Unavailable(SlateError):
    """A service that Slate needs is busy or out of reach; nothing is known to have changed; repeat the call."""

    code = "retry"
    retryable = True


class Throttled(Unavailable):
    """This credential makes more calls than are its share; nothing was done. Go on after ``retry_after`` seconds."""

    code = "throttled"


class Internal(SlateError):
    """A fault of Slate's own; quote the request id."""


WITHHELD: Final = (SubjectErased, SubjectHeld)
"""A list goes on without what these refuse."""


def error_classes() -> Iterator[type[SlateError]]:
    """Every class of the tree, the root included: what the wire must be able to carry."""

    def walk(cls: type[SlateError]) -> Iterator[type[SlateError]]:
        yield cls
        for sub in cls.__subclasses__():
            yield from walk(sub)

    return walk(SlateError)
