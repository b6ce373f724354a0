"""A language model that answers in a given form."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pydantic import JsonValue

from slate.domain.summary_schema import Schema


class Asked(NamedTuple):
    """What a model is asked; ``text`` is material to work on, never an instruction."""

    job: str
    """Names what it is for, which decides the model: ``summary``, ``extraction``, ..."""
    instructions: str
    text: str
    form: Schema
    """The JSON Schema of the answer."""
    correction: str = ""
    """What was wrong with the answer before."""
    max_tokens: int = 1_000


class Answered(NamedTuple):
    """What a model answered; nothing has checked yet that it keeps to the form."""

    value: JsonValue
    model: str
    input_tokens: int
    output_tokens: int
    fault: str = ""
    """Why it cannot be used, whatever the value looks like: it was cut off, or is no call of the form."""


class ModelRefused(Exception):
    """The model will not answer this: no access, no such model, too long, held back. A repeat will not help."""

    def __init__(self, why: str, input_tokens: int = 0, output_tokens: int = 0) -> None:
        super().__init__(why)
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


class LanguageModel(Protocol):
    """Answers in the form asked for, as well as it can."""

    def answer(self, asked: Asked) -> Answered:
        """One call of the model.

        Raises:
            Unavailable: it does not answer now.
            ModelRefused: it will not answer this.
        """
        ...
