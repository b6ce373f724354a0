"""What of Bedrock's failures may go away by itself."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

OUT_OF_REACH: Final = (BotoCoreError, ResponseParserError)
"""There was no answer, or none that can be read."""
_BUSY_CODES: Final = frozenset(
    {
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "ServiceQuotaExceededException",
        "ServiceUnavailableException",
        "ThrottlingException",
    }
)
_BUSY_STATUSES: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


def code_of(error: ClientError) -> str:
    """Its name; where somebody on the way answered instead of Bedrock, the status."""
    return error.response.get("Error", {}).get("Code") or "an unknown error"


def is_busy(error: ClientError) -> bool:
    """Whether the same call may succeed later: by its code, and by its status where Bedrock itself did not answer."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code_of(error) in _BUSY_CODES or status in _BUSY_STATUSES or status >= HTTPStatus.INTERNAL_SERVER_ERROR
