"""What models have been asked for a session's sake."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ModelUsage(BaseModel):
    """Calls and tokens since the session began; a call whose answer was lost or not used counts as well."""

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = Field(default=0, description="as the models counted them")
    output_tokens: int = 0

    def plus(self, calls: int, input_tokens: int, output_tokens: int) -> ModelUsage:
        """So much more."""
        return ModelUsage(
            calls=self.calls + calls,
            input_tokens=self.input_tokens + input_tokens,
            output_tokens=self.output_tokens + output_tokens,
        )
