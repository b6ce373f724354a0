"""An app over a whole Slate, so that no function is served without what belongs to every request."""

from __future__ import annotations

from collections.abc import Sequence

from slate.wiring.parts import Slate
from slate_functions.http.app import App
from slate_functions.http.auditing import audited
from slate_functions.http.observing import Observer


def app_of(slate: Slate, groups: Sequence[object], observer: Observer) -> App:
    """Requests are operations of this Slate; callers keep to its pace; what reads or changes memory is written down."""
    return App(groups, observer, slate.operate, slate.admission.admit, audit=audited(slate.audit.writing))
