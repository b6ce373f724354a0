"""Sealed objects in one bucket, each tenant under its own prefix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


# To whoever may not list the whole bucket, S3 does not tell a missing object from a forbidden one. No tenant may; and
# of its own objects none is forbidden.
_MISSING: Final = frozenset({"NoSuchKey", "404"})
_NOT_TOLD: Final = frozenset({"AccessDenied", "403"})


class S3BlobStore:
    """Keeps bytes in S3. The bucket is versioned: ``delete_all`` removes every version and every delete marker."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, content: bytes) -> None:
        """One PutObject."""
        with _translated(key):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=content)

    def get(self, key: str) -> bytes:
        """One GetObject."""
        with _translated(key, _MISSING | _NOT_TOLD):
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()

    def delete_all(self, prefix: str, most: int | None = None) -> int:
        """A listing and a delete for each 1,000 versions."""
        gone = 0
        with _translated(prefix):
            for objects in self._versions(prefix):
                answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})
                if answer.get("Errors"):
                    raise Unavailable("some objects were not deleted; the same call goes on with them")
                gone += len(objects)
                if most is not None and gone >= most:
                    break
        return gone

    def count(self, prefix: str) -> int:
        """A listing for each 1,000 versions."""
        with _translated(prefix):
            return sum(map(len, self._versions(prefix)))

    def _versions(self, prefix: str) -> Iterator[Any]:
        """All versions and delete markers, a listing at a time."""
        for page in self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=prefix):
            found: list[Any] = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            if found:
                yield [{"Key": version["Key"], "VersionId": version["VersionId"]} for version in found]


@contextmanager
def _translated(key: str, missing: frozenset[str] = _MISSING) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in missing:
            raise NotFound(f"there is no object {key}") from None
        if code in {"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout"}:
            raise Unavailable("the object storage is busy; repeat the call") from error
        raise
    except BotoCoreError as error:
        raise Unavailable("the object storage did not answer; repeat the call") from error
