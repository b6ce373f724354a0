"""A context out of its drafts: filled, counted, and told of; the last pure step before it is kept and given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slate.domain.budget import Draft, fill
from slate.domain.context import Budget, Context, Dropped, breakdown, warnings_of
from slate.domain.rendering import frames, stable_text
from slate.domain.tokens import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """For whom a context is made, when, and of what."""

    context_id: str
    agent: str
    session: str | None = None
    subject: str | None = None
    graph: str | None = None
    task: str | None = None
    at: int
    window: int
    counted_by: str


def assemble(
    drafts: Sequence[Draft], budget: Budget, count: Count, occasion: Occasion, *, also: Sequence[Dropped] = ()
) -> Context:
    """Fill the budget; ``also`` is what was left out before.

    Raises:
        Invalid: what may never be dropped does not fit.
    """
    filled = fill(drafts, budget, frames(count))
    total = sum(section.tokens for section in filled.sections)
    made = Context(
        context_id=occasion.context_id,
        agent=occasion.agent,
        session=occasion.session,
        subject=occasion.subject,
        graph=occasion.graph,
        task=occasion.task,
        created_at=occasion.at,
        sections=filled.sections,
        breakdown=breakdown(filled.sections),
        total_tokens=total,
        budget=budget.total,
        window=occasion.window,
        window_share=round(total / occasion.window, 4),
        stable_prefix_tokens=0,
        counted_by=occasion.counted_by,
        dropped=(*filled.dropped, *also),
        warnings=warnings_of(total, occasion.window),
    )
    return made.model_copy(update={"stable_prefix_tokens": count(stable_text(made))})
