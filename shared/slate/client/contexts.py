"""Contexts: what an agent sees for one call of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slate.client.answers import parse, segment
from slate.client.calls import Calls
from slate.contract.contexts import GivenContext
from slate.contract.forgetting import Feedback
from slate.domain.context import Format


class Contexts:
    """Asks for contexts, and for what was given earlier."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def ask(
        self,
        *,
        session: str | None = None,
        graph: str | None = None,
        task: str | None = None,
        subject: str | None = None,
        agent: str | None = None,
        query: str | None = None,
        budget: int | Mapping[str, int] | None = None,
        window: int | None = None,
        form: Format | str = Format.SECTIONS,
        **more: Any,
    ) -> GivenContext:
        """What to send to the model: sections, and beside them the messages in the form asked for.

        ``budget`` is the total, or the total and those of sections. A repeat makes another receipt and changes
        nothing else.

        Raises:
            NotFound: the session, the graph or the task is not there.
            Invalid: what is never dropped does not fit the total; it is named.
        """
        given = {
            "session": session,
            "graph": graph,
            "task": task,
            "subject": subject,
            "agent": agent,
            "query": query,
            "budget": {"total": budget} if isinstance(budget, int) else budget,
            "window": window,
            "format": Format(form).value,
            **more,
        }
        body = {name: value for name, value in given.items() if value is not None}
        return parse(GivenContext, self._calls.call("POST", "/v1/context", body=body))

    def get(self, context_id: str, *, form: Format | str = Format.SECTIONS) -> GivenContext:
        """The receipt: what the agent saw, rendered again byte for byte.

        Raises:
            NotFound: it is not kept any more, or its session or graph is gone.
        """
        path = f"/v1/contexts/{segment('context_id', context_id)}"
        return parse(GivenContext, self._calls.call("GET", path, params={"format": Format(form).value}))

    def feedback(self, context_id: str, *, used: Iterable[str] = (), noise: Iterable[str] = ()) -> Feedback:
        """Say which items the answer was made of, and which were of no use; each moves a fact once.

        Raises:
            NotFound: it is not kept any more.
            Invalid: an item was not in it.
        """
        path = f"/v1/contexts/{segment('context_id', context_id)}/feedback"
        return parse(Feedback, self._calls.call("POST", path, body={"used": list(used), "noise": list(noise)}))
