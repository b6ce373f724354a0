"""The one place where what botocore raises becomes what Slate raises, or what ``Calls`` makes something of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    ParamValidationError,
)
from botocore.exceptions import ConnectionError as NoConnectionError

from slate.domain.errors import Unavailable

Failed = Mapping[int, Any]
"""The places of failed conditions in a transaction, with the items there as DynamoDB writes them."""

_THROTTLED: Final = frozenset({"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"})
# DynamoDB's documentation: after these a write may or may not have been applied.
_UNANSWERED: Final = frozenset({"InternalServerError", "RequestTimeout", "ServiceUnavailable"})
_CONFLICTS: Final = frozenset({"TransactionConflictException", "TransactionInProgressException"})
_BUSY_REASONS: Final = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


class Conflicting(Exception):  # stays within this package
    """Another transaction touched the same items; ``failed`` where conditions failed as well."""

    def __init__(self, failed: Failed) -> None:
        super().__init__()
        self.failed = failed


class Refused(Exception):  # as above
    """Conditions of a transaction failed, and nothing stood in their way."""

    def __init__(self, failed: Failed) -> None:
        super().__init__()
        self.failed = failed


class Unanswered(Exception):  # as above
    """Nobody knows whether the call was applied."""


@contextmanager
def translated() -> Iterator[None]:
    """Around a call."""
    try:
        yield
    except ClientError as error:
        _translate(error)
    except (HTTPClientError, NoConnectionError, IncompleteReadError) as error:
        raise Unanswered from error
    except ParamValidationError:
        raise  # a request that botocore does not let out is a fault of ours
    except BotoCoreError as error:
        raise Unavailable("the storage is out of reach; repeat the call") from error


def _translate(error: ClientError) -> NoReturn:
    code = error.response["Error"]["Code"]
    if code in _CONFLICTS:
        raise Conflicting({}) from None
    if code in _UNANSWERED:
        raise Unanswered from error
    if code == "TransactionCanceledException":
        reasons: Any = error.response.get("CancellationReasons", [])
        failed = {
            place: reason.get("Item")
            for place, reason in enumerate(reasons)
            if reason["Code"] == "ConditionalCheckFailed"
        }
        if any(reason["Code"] in _BUSY_REASONS for reason in reasons):
            raise Conflicting(failed) from None
        if failed:
            raise Refused(failed) from None
    if code in _THROTTLED:
        raise Unavailable("the storage is busy; repeat the call") from error
    raise error
