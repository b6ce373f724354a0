"""Slate: shared state and memory for teams of AI agents.

The rooms, from the inside out: ``settings``, ``domain`` (entities and rules), ``ports`` (what the outside must
offer) and ``contract`` (what goes over the wire), ``service`` (use cases), ``adapters`` and ``client``, ``wiring``
(the one place that picks adapters) and ``testing``. Imports only point inward; the linter in CI says so.
"""

__version__ = "0.1.0"
