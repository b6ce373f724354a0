"""AWS in this process: moto, made to answer as AWS does when callers race and when a call fails halfway.

Stock moto is not safe to share between threads, copies whole tables for a transaction, and sorts whole tables for a
query. While an engine runs, calls are served one at a time, a query reads from a sorted index what it returns and no
more, and a failed write is undone from a log of what it touched. Where moto's answers differ from AWS's, AWS's win:

- a page that reaches its Limit carries LastEvaluatedKey, also when nothing follows;
- a failed update leaves nothing, not even the key of the item it would have created;
- an upsert is one INSERT in the stream; a write that changes nothing leaves no record, nor does a cancelled
  transaction;
- a key of an index has the type that the table declares, or the write is refused;
- records and iterators that a stream no longer keeps are refused by name (AWS drops them by age, this by number).

Memory grows with what is stored, not with what was asked: moto's register of every item ever made is off, and a
stream keeps its last records.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from slate.adapters.inprocess.moto_expressions import deepcopy, find_clauses, parsed_once, traverse
from slate.adapters.inprocess.moto_tables import IndexedTables, project, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Self

    import boto3
    from moto.dynamodb.models.dynamo_type import Item
    from moto.dynamodb.models.table import StreamShard

MOTO: Final = "5.2.5"
STREAM_RECORDS: Final = 20_000
STREAM_ITERATORS: Final = 1_000


class MotoEngine:
    """Every call of its clients happens alone, and wholly or not at all; none reaches the network.

    Start and stop nest: what the first start changed in moto, the last stop puts back exactly, and the data go with
    it. Engines that run at the same time in one process share one AWS account, as moto does. Neither the environment
    nor ``~/.aws`` is changed, or followed to an account, a region or an endpoint. A client made here refuses calls
    while its engine is stopped.

    Raises RuntimeError on start when moto is not exactly the version whose methods are replaced.
    """

    def __init__(self, *, region: str = "us-east-1") -> None:
        self._region = region
        self._starts = 0
        self._session: boto3.Session | None = None

    def start(self) -> Self:
        """Serve AWS in this process from here on."""
        with _PROCESS.guard:
            _PROCESS.enter()
            self._starts += 1
        return self

    def stop(self) -> None:
        """Undo one start; on a stopped engine, do nothing."""
        with _PROCESS.guard:
            if self._starts:
                self._starts -= 1
                _PROCESS.leave()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    def client(self, service: str) -> Any:
        """A boto3 client of `service` (dynamodb, dynamodbstreams, s3, ...), safe to share between threads."""
        from botocore.config import Config

        self._require_running()
        config = Config(  # type: ignore[call-arg]  # the stubs lack ignore_configured_endpoint_urls
            account_id_endpoint_mode="disabled",  # moto does not know the streams' endpoint of an account
            ignore_configured_endpoint_urls=True,
            retries={"total_max_attempts": 1},  # what fails here is a fault; a retry would hide it
        )
        with _PROCESS.guard:  # boto3 sessions are not thread-safe
            self._session = self._session or _session(self._region)
            client = self._session.client(service, config=config)  # type: ignore[call-overload]
        _ = client.exceptions  # made now: threads that make them at once do not share them
        client.meta.events.register_first("before-send", self._require_running)
        return client

    def _require_running(self, **_: object) -> None:
        if not self._starts:
            raise RuntimeError("The engine is stopped: start it before making or using its clients.")


def _session(region: str) -> boto3.Session:
    """A session that no environment variable and no file can point at a real account."""
    import boto3
    import botocore.session

    nowhere = (None, None, None, None)
    core = botocore.session.Session(
        session_vars={"profile": nowhere, "config_file": nowhere, "credentials_file": nowhere}
    )
    return boto3.Session(
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106  # no secret: moto takes any  # nosec B106
        region_name=region,
        botocore_session=core,
    )


class _Process:
    """What the engines of a process share: moto's methods exist once, so their replacement does too."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self._running = 0
        self._undo = ExitStack()

    def enter(self) -> None:
        if not self._running:
            self._undo = _install()
        self._running += 1

    def leave(self) -> None:
        self._running -= 1
        if not self._running:
            self._undo.close()


_PROCESS: Final = _Process()


def _install() -> ExitStack:
    """Start moto and replace its methods; closing the stack puts everything back."""
    # Here and not at the top: importing moto takes a third of a second, and a Lambda bundle does not carry it.
    import moto
    from moto.core.botocore_stubber import BotocoreStubber
    from moto.core.common_models import BaseModel
    from moto.core.models import MockAWS
    from moto.core.serialize import BaseJSONSerializer
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.dynamo_type import Item
    from moto.dynamodb.models.table import StreamShard, Table
    from moto.dynamodb.parsing import validators
    from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node
    from moto.dynamodb.parsing.expressions import UpdateExpressionParser
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend

    if moto.__version__ != MOTO:
        raise RuntimeError(f"The local engine replaces methods of moto {MOTO}; installed is {moto.__version__}.")
    tables = IndexedTables()
    replacements: tuple[tuple[type | ModuleType, str, Callable[..., Any]], ...] = (
        (BotocoreStubber, "process_request", _one_at_a_time()),
        (BaseModel, "__new__", _unregistered),
        (BaseJSONSerializer, "_serialize_type_structure", _attribute_value),
        (StreamShard, "add", _record),
        (StreamShard, "get", _records),
        (DynamoDBStreamsBackend, "get_records", _iterate),
        (UpdateExpressionParser, "make", parsed_once()),
        (validators, "deepcopy", deepcopy),
        (DepthFirstTraverser, "traverse", traverse),
        (Node, "find_clauses", find_clauses),
        (Item, "project", project),
        (Table, "get_item", tables.get_item),
        (Table, "put_item", tables.put_item),
        (Table, "delete_item", tables.delete_item),
        (Table, "query", tables.query),
        (Table, "scan", scan),
        (DynamoDBBackend, "update_item", tables.update_item),
        (DynamoDBBackend, "transact_write_items", tables.transact_write_items),
    )
    with ExitStack() as undo:
        # moto's own fake credentials would go through os.environ; the session above carries them instead.
        mock = MockAWS({"core": {"mock_credentials": False, "reset_boto3_session": False}})
        mock.start()
        undo.callback(mock._user_config_mock.stop)  # noqa: SLF001  # moto forgets it inside another mock_aws
        undo.callback(mock.stop)
        for owner, name, replacement in replacements:
            _replace(undo, owner, name, replacement)
        return undo.pop_all()


def _replace(undo: ExitStack, owner: type | ModuleType, name: str, replacement: Callable[..., Any]) -> None:
    """Call `replacement` with the original method before the method's own arguments."""
    original = getattr(owner, name)

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    if name in vars(owner):
        undo.callback(setattr, owner, name, vars(owner)[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, method)


def _one_at_a_time() -> Callable[..., Any]:
    lock = threading.RLock()

    def process_request(original: Callable[..., Any], *args: Any) -> Any:
        with lock:
            return original(*args)

    return process_request


def _unregistered(original: Callable[..., Any], cls: type, *args: Any, **kwargs: Any) -> Any:
    """Make a DynamoDB model without adding it to moto's register, which never forgets one."""
    if cls.__module__.startswith("moto.dynamodb"):
        return object.__new__(cls)
    return original(cls, *args, **kwargs)


_TAGS: Final = frozenset({"S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"})


def _attribute_value(
    original: Callable[..., Any], serializer: Any, serialized: dict[str, Any], value: Any, shape: Any, key: str
) -> None:
    """Serialize an AttributeValue by its tag; moto probes it for each of the ten."""
    if shape.name == "AttributeValue" and key and isinstance(value, dict) and len(value) == 1 and value.keys() <= _TAGS:
        serialized[key] = _wire(value, serializer._base64)  # noqa: SLF001  # as moto encodes
    else:
        original(serializer, serialized, value, shape, key)


def _wire(value: Mapping[str, Any], encode: Callable[[bytes], str]) -> dict[str, Any]:
    ((tag, content),) = value.items()
    match tag:
        case "M":
            content = {name: _wire(member, encode) for name, member in content.items()}
        case "L":
            content = [_wire(member, encode) for member in content]
        case "B":
            content = encode(content)
        case "BS":
            content = [encode(member) for member in content]
    return {tag: content}


def _record(original: Callable[..., Any], shard: StreamShard, old: Item | None, new: Item | None) -> None:
    """Record a change, if it is one, and keep the stream bounded."""
    if old is not None and new is not None and old.to_json() == new.to_json():  # moto's == takes a nested 1 for true
        return
    original(shard, old, new)
    if len(shard.items) > STREAM_RECORDS:
        dropped = STREAM_RECORDS // 2
        shard.starting_sequence_number += dropped
        del shard.items[:dropped]


def _records(original: Callable[..., Any], shard: StreamShard, start: int, quantity: int) -> Any:
    from moto.core.exceptions import JsonRESTError

    if start < shard.starting_sequence_number:
        raise JsonRESTError("TrimmedDataAccessException", "The records at this iterator are no longer kept.")
    return original(shard, start, quantity)


def _iterate(original: Callable[..., Any], backend: Any, iterator_arn: str, limit: int) -> Any:
    from moto.core.exceptions import JsonRESTError

    iterators = backend.shard_iterators
    if iterator_arn not in iterators:
        raise JsonRESTError("ExpiredIteratorException", "The iterator is no longer kept.")
    page = original(backend, iterator_arn, limit)
    while len(iterators) > STREAM_ITERATORS:
        del iterators[next(iter(iterators))]
    return page
