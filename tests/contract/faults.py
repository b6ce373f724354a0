"""A client between Slate and its storage that goes wrong on purpose, at the call it is told to.

moto never loses a reply, never throttles and never reports a conflict; AWS does all three. A fault is given the real
call and decides whether it reaches the storage, and what the caller learns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import partial
from typing import Any, Final

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

Answer = dict[str, Any]
Call = Callable[[], Answer]
Fault = Callable[[str, Mapping[str, Any], Call], Answer]

WRITES: Final = frozenset({"batch_write_item", "delete_item", "put_item", "transact_write_items", "update_item"})
READS: Final = frozenset({"batch_get_item", "get_item", "query"})
"""The consistent ones; a query of an index is ``query_index`` here."""


class Killed(BaseException):
    """The process ended here: nothing after it runs, no handler sees it."""


class Faults:
    """Counts the writes of DynamoDB (or its reads), and lets chosen ones go wrong."""

    def __init__(self) -> None:
        self._counted = WRITES
        self._calls = 0
        self._at: dict[int, Fault] = {}
        self._dead = False
        self._frozen: dict[str, list[Answer]] = {}

    def arm(self, at: int, fault: Fault, *, times: int = 1, among: frozenset[str] = WRITES) -> None:
        """The ``at``-th of these calls from now on goes wrong, and the ``times - 1`` that follow it."""
        self._counted, self._calls, self._dead = among, 0, False
        self._at = {at + i: fault for i in range(times)}

    def also(self, at: int, fault: Fault) -> None:
        """One more call goes wrong, counted from the same start."""
        self._at[at] = fault

    def arm_every(self, fault: Fault, *, among: frozenset[str] = WRITES) -> None:
        """Every call goes wrong when it is first sent, and comes through when it is sent again."""
        self.arm(1, fault, among=among)
        self._at = dict.fromkeys(range(1, 1000, 2), fault)

    def kill_after(self, writes: int) -> None:
        """So many writes still succeed; then the process is dead, to S3 too."""
        self.kill_at(writes + 1)

    def kill_at(self, call: int, among: frozenset[str] = WRITES) -> None:
        """The process dies as it makes this one of these calls, which is not made."""
        self.arm(call, self._die, among=among)

    def disarm(self, among: frozenset[str] = WRITES) -> int:
        """Nothing goes wrong any more; answer how many calls were counted, and count anew."""
        calls, self._calls, self._at, self._dead = self._calls, 0, {}, False
        self._counted = among
        return calls

    def _die(self, _: str, __: Mapping[str, Any], ___: Call) -> Answer:
        self._dead = True
        raise Killed

    def freeze(self, index: str, snapshot: list[Answer]) -> None:
        """From now on this index answers as of the snapshot, a scan of the table; nothing later shows."""
        self._frozen[index] = snapshot

    def thaw(self) -> None:
        """Indexes show the present again."""
        self._frozen.clear()

    def pass_on(self, operation: str, call: Callable[..., Answer], /, *place: Any, **arguments: Any) -> Answer:
        if self._dead:
            raise Killed
        if "IndexName" in arguments:
            operation = "query_index"
            if arguments["IndexName"] in self._frozen:
                return _as_of(self._frozen[arguments["IndexName"]], arguments)
        if operation not in self._counted:
            return call(*place, **arguments)
        self._calls += 1
        fault = self._at.pop(self._calls, None)
        return call(**arguments) if fault is None else fault(operation, arguments, partial(call, **arguments))


class FaultyClient:
    """A boto3 client whose calls pass through the faults."""

    def __init__(self, client: Any, faults: Faults) -> None:
        self._client = client
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        return partial(self._faults.pass_on, name, found) if callable(found) else found


def reply_lost(_: str, __: Mapping[str, Any], call: Call) -> Answer:
    """The storage did it, or refused it, and nobody was told."""
    with contextlib.suppress(ClientError):
        call()
    raise ReadTimeoutError(endpoint_url="https://dynamodb")


def connection_closed(_: str, __: Mapping[str, Any], call: Call) -> Answer:
    """As ``reply_lost``, noticed at once."""
    with contextlib.suppress(ClientError):
        call()
    raise ConnectionClosedError(endpoint_url="https://dynamodb")


def request_lost(_: str, __: Mapping[str, Any], ___: Call) -> Answer:
    """The storage never heard of it; the caller cannot tell this from a lost reply."""
    raise ReadTimeoutError(endpoint_url="https://dynamodb")


def fault_of_theirs(_: str, __: Mapping[str, Any], call: Call) -> Answer:
    """A 500, which the documentation says may come after the write was applied."""
    with contextlib.suppress(ClientError):
        call()
    raise _error("InternalServerError")


def meanwhile(act: Callable[[], object]) -> Fault:
    """Another process does something whole, right before this call."""

    def fault(_: str, __: Mapping[str, Any], call: Call) -> Answer:
        Context().run(act)  # another process knows nothing of this one's operation
        return call()

    return fault


def throttled(_: str, __: Mapping[str, Any], ___: Call) -> Answer:
    raise _error("ProvisionedThroughputExceededException")


def transaction_throttled(name: str, arguments: Mapping[str, Any], call: Call) -> Answer:
    """The throttling that a transaction reports as the reason of one of its items."""
    if name != "transact_write_items":
        return throttled(name, arguments, call)
    raise _cancelled(["ProvisionedThroughputExceeded"] + ["None"] * (len(arguments["TransactItems"]) - 1))


def conflict(name: str, arguments: Mapping[str, Any], _: Call) -> Answer:
    """Another transaction holds an item: nothing is applied."""
    if name != "transact_write_items":
        raise _error("TransactionConflictException")
    raise _cancelled(["None"] * (len(arguments["TransactItems"]) - 1) + ["TransactionConflict"])


def conflict_hides_conditions(name: str, arguments: Mapping[str, Any], call: Call) -> Answer:
    """A transaction that meets another one and has failed conditions as well: one of them shows, the rest do not."""
    if name != "transact_write_items":
        return conflict(name, arguments, call)
    try:
        answer = call()
    except ClientError as error:
        reasons: Any = error.response["CancellationReasons"]
        failed = [i for i, reason in enumerate(reasons) if reason["Code"] == "ConditionalCheckFailed"]
        for i in range(len(reasons)):
            if i != failed[-1]:
                reasons[i] = {"Code": "TransactionConflict"}
        raise
    return answer


def _error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "injected"}}, "injected")


def _cancelled(codes: list[str]) -> ClientError:
    response: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": "injected"},
        "CancellationReasons": [{"Code": code} for code in codes],
    }
    return ClientError(response, "injected")


def _as_of(snapshot: list[Answer], query: Mapping[str, Any]) -> Answer:
    """What an index of the snapshot would have answered: ``#pk = :pk AND #sk > :sk``, or ``<``, in order."""
    pk, _, _, _, sk, comparison, _ = query["KeyConditionExpression"].split()
    pk, sk = pk[1:], sk[1:]
    wanted, bound = (query["ExpressionAttributeValues"][name]["S"] for name in (":pk", ":sk"))
    holds = {">": str.__gt__, "<": str.__lt__}[comparison]
    found = [item for item in snapshot if item.get(pk, {}).get("S") == wanted and holds(item[sk]["S"], bound)]
    found.sort(key=lambda item: item[sk]["S"])
    return {"Items": [{name: item[name] for name in ("pk", "sk", pk, sk)} for item in found[: query.get("Limit")]]}
