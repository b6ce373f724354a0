"""The one place where what KMS answers becomes what Slate raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Unavailable


@contextmanager
def translated() -> Iterator[None]:
    """A refusal reads as an absence: both are mended outside, and then the same call succeeds."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("the key service did not answer, or refused; repeat the call") from error
