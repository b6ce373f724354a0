"""Whether the service answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

import slate
from slate_functions.http.routes import get
from slate_functions.tasks_api import examples


class Health(BaseModel):
    """What the service says of itself."""

    model_config = ConfigDict(frozen=True)

    status: Literal["ok"] = "ok"
    version: str = slate.__version__


class HealthRoutes:
    """Whether the service answers."""

    @get("/v1/health", public=True, gives=examples.HEALTH)
    def health(self) -> Health:
        """The service answers; nothing behind it is asked."""
        return Health()
