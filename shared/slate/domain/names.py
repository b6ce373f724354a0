"""What an id may look like: one rule for everything that ends up in a key.

An id never contains ``#``, the separator of keys, and no control character, so that an id can be shown, logged and
put in a path as it is. Callers put no personal data into ids: they stand in keys in clear.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import StringConstraints

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@:\-]{0,127}$"
TENANT_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, strict=True)]
"""1 to 128 of ``A-Z a-z 0-9 . _ @ : -``, the first a letter or digit."""

_ID = re.compile(ID_PATTERN)
_TENANT = re.compile(TENANT_PATTERN)


def is_id(text: str) -> bool:
    """Whether a text may be an id."""
    return _ID.fullmatch(text) is not None


def is_tenant(text: str) -> bool:
    """Whether a text may name a tenant: lower case letters, digits and hyphens."""
    return _TENANT.fullmatch(text) is not None
