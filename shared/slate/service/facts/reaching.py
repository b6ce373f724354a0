"""Who reaches whose memory: asked before anything of it is read or changed."""

from __future__ import annotations

from slate.domain.access import Principal
from slate.domain.errors import NotFound
from slate.domain.facts.model import Fact
from slate.ports.keyring import Keyring


def reached(keyring: Keyring, principal: Principal, subject: str) -> str:
    """The ref of a subject that is within the credential's bounds.

    Raises:
        NotFound: it is not; whether anything is known there is not told.
    """
    if not principal.may_reach(subject):
        raise NotFound(f"there is no subject {subject!r}")
    return keyring.ref(principal.tenant, subject)


def readable(principal: Principal, fact: Fact) -> Fact:
    """The fact, if this caller may read it.

    Raises:
        NotFound: it is for other readers.
    """
    if not principal.may_read(fact.readers):
        raise NotFound(f"there is no fact {fact.fact_id!r} of this subject")
    return fact
