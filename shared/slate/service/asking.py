"""Asking a model for an answer in a form: checked, asked once more with what was wrong, then given up, and logged.

Whoever asks has an answer by rules to fall back on, so that a model that is away stops nothing.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from pydantic import JsonValue

from slate.domain.errors import Unavailable
from slate.domain.summary_schema import mistakes
from slate.domain.usage import ModelUsage
from slate.ports.language_model import Asked, LanguageModel, ModelRefused

_log = logging.getLogger(__name__)

TRIES = 2


class Outcome(NamedTuple):
    """An answer that keeps to the form and the model that gave it, or neither; and what that took."""

    value: dict[str, JsonValue] | None
    model: str | None
    usage: ModelUsage


def ask(model: LanguageModel, asked: Asked) -> Outcome:
    """The model's answer, checked; nothing where it does not answer, or not in the form. Logs no content."""
    usage = ModelUsage()
    for _ in range(TRIES):
        try:
            answered = model.answer(asked)
        except (Unavailable, ModelRefused) as error:
            _log.warning("the job %s falls back to rules: %s", asked.job, error)
            if isinstance(error, ModelRefused) and error.input_tokens:
                usage = usage.plus(1, error.input_tokens, error.output_tokens)
            return Outcome(None, None, usage)
        usage = usage.plus(1, answered.input_tokens, answered.output_tokens)
        wrong = [answered.fault] if answered.fault else mistakes(asked.form, answered.value, "the answer")
        if not wrong and isinstance(answered.value, dict):
            return Outcome(answered.value, answered.model, usage)
        told = "; ".join(wrong[:5]) or "the answer must be an object"
        asked = asked._replace(correction=f"Your answer before did not keep to its schema: {told}. Answer again.")
    _log.warning("the job %s falls back to rules: %d answers did not keep to the schema", asked.job, TRIES)
    return Outcome(None, None, usage)
