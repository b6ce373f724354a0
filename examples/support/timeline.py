"""Draws who worked on what, and when, as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from proof import Stint, Takeover

from slate.domain.instants import format_instant

# Okabe and Ito's colours, which people with any colour vision tell apart; a letter on each says the same.
_LOOKS: Final = {
    "triage": ("T", "#0072b2", "#ffffff"),
    "billing": ("B", "#e69f00", "#111111"),
    "shipping": ("S", "#56b4e9", "#111111"),
    "account": ("A", "#f0e442", "#111111"),
    "refund": ("F", "#e0702f", "#111111"),
    "reply": ("R", "#009e73", "#111111"),
    "review": ("V", "#cc79a7", "#111111"),
    "filing": ("L", "#7a6cc4", "#ffffff"),
}
_OTHER: Final = ("?", "#999999", "#111111")
_LEFT, _TOP, _LANE, _BAR = 90, 54, 64, 34
_LEAST_WIDTH, _SECOND = 1_060, 60
_LETTER_ROOM = 11


@dataclass(frozen=True, slots=True)
class Kill:
    """A worker that was killed, and when."""

    worker: str
    at: int


@dataclass(frozen=True, slots=True)
class _Scale:
    start: int
    end: int

    @property
    def width(self) -> float:
        return max(_LEAST_WIDTH, (self.end - self.start) / 1000 * _SECOND)

    def x(self, at: int) -> float:
        return _LEFT + (at - self.start) / max(self.end - self.start, 1) * self.width


def draw(stints: Sequence[Stint], workers: Sequence[str], taken: Sequence[Takeover], kill: Kill | None) -> str:
    """The page: a lane a worker, a bar a task, the kill, what was taken over, and the histories that prove it."""
    scale = _Scale(min((s.start for s in stints), default=0), max((s.end for s in stints), default=1))
    lanes = {worker: _TOP + i * _LANE for i, worker in enumerate(workers)}
    height = _TOP + len(workers) * _LANE + 26
    won = {(t.won.graph_id, t.won.task_id, t.won.epoch) for t in taken}
    picture = [
        *_axis(scale, height),
        *(_lane(worker, y, scale) for worker, y in lanes.items()),
        *(_dead(kill, lanes[kill.worker], scale) if kill else ()),
        *(_bar(s, lanes[s.agent], scale, kill, (s.graph_id, s.task_id, s.epoch) in won) for s in stints),
        *(_handover(t, lanes, scale) for t in taken),
        *(_kill_mark(kill, lanes[kill.worker], scale) if kill else ()),
    ]
    return _PAGE.format(
        summary=escape(_summary(stints, workers, taken, kill, scale)),
        legend="".join(_legend({s.task_id for s in stints})),
        width=f"{_LEFT + scale.width + 20:.0f}",
        height=height,
        picture="\n".join(picture),
        taken="".join(_told(t) for t in taken) or "<p>No task changed hands.</p>",
    )


def _summary(
    stints: Sequence[Stint], workers: Sequence[str], taken: Sequence[Takeover], kill: Kill | None, scale: _Scale
) -> str:
    done = sum(s.ended_by == "completed" for s in stints)
    seconds = (scale.end - scale.start) / 1000
    said = f"{len(workers)} workers completed {done} tasks in {seconds:.1f} seconds."
    if kill:
        said += f" {kill.worker} was killed {(kill.at - scale.start) / 1000:.1f} seconds in"
        said += "; " + ", ".join(f"{t.won.agent} finished its {t.lost.graph_id}/{t.lost.task_id}" for t in taken) + "."
    return said


def _axis(scale: _Scale, height: int) -> Iterable[str]:
    seconds = (scale.end - scale.start) / 1000
    step = next((step for step in (1, 2, 5, 10, 20, 60, 300) if seconds / step <= scale.width / 60), 900)
    for second in range(0, int(seconds) + 1, step):
        x = scale.x(scale.start + second * 1000)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 14}" y2="{height - 20}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{_TOP - 22}">{second} s</text>'


def _lane(worker: str, y: int, scale: _Scale) -> str:
    middle = y + _BAR / 2
    return (
        f'<line class="lane" x1="{_LEFT}" x2="{_LEFT + scale.width:.1f}" y1="{middle}" y2="{middle}"/>'
        f'<text class="worker" x="{_LEFT - 14}" y="{middle + 5}">{escape(worker)}</text>'
    )


def _bar(stint: Stint, y: int, scale: _Scale, kill: Kill | None, taken_over: bool) -> str:
    letter, fill, ink = _LOOKS.get(stint.task_id, _OTHER)
    killed = kill is not None and stint.agent == kill.worker and stint.start <= kill.at < stint.end
    end = kill.at if kill and killed else stint.end
    x, width = scale.x(stint.start), max(scale.x(end) - scale.x(stint.start) - 1, 2)
    kind = "bar taken" if taken_over else "bar"
    parts = [f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="3" fill="{fill}"/>']
    if killed:
        lapse = scale.x(stint.end) - scale.x(end)
        parts.append(f'<rect class="silent" x="{x + width:.1f}" y="{y}" width="{lapse:.1f}" height="{_BAR}"/>')
    if width >= _LETTER_ROOM:
        parts.append(f'<text class="letter" x="{x + width / 2:.1f}" y="{y + 22}" style="fill:{ink}">{letter}</text>')
    return f"<g><title>{escape(_tooltip(stint, killed, taken_over))}</title>{''.join(parts)}</g>"


def _tooltip(stint: Stint, killed: bool, taken_over: bool) -> str:
    end = "the worker was killed; the lease lapsed" if killed else stint.ended_by or "not ended"
    more = ", taken over" if taken_over else ""
    return (
        f"{stint.graph_id}/{stint.task_id}{more}\n{stint.agent}, epoch {stint.epoch}\n"
        f"{format_instant(stint.start)[11:23]} to {format_instant(stint.end)[11:23]}: {end}"
    )


def _dead(kill: Kill, y: int, scale: _Scale) -> Iterable[str]:
    x = scale.x(kill.at)
    width = max(_LEFT + scale.width - x, 0)
    yield f'<rect class="dead" x="{x:.1f}" y="{y - 6}" width="{width:.1f}" height="{_BAR + 12}"/>'


def _kill_mark(kill: Kill, y: int, scale: _Scale) -> Iterable[str]:
    x = scale.x(kill.at)
    yield f'<line class="kill" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{y + _BAR + 8}"/>'
    yield f'<text class="killed" x="{x + 6:.1f}" y="{y + _BAR + 18}">\u2715 {escape(kill.worker)} killed</text>'


def _handover(taken: Takeover, lanes: dict[str, int], scale: _Scale) -> str:
    x1, y1 = scale.x(taken.lost.end), lanes[taken.lost.agent] + _BAR / 2
    x2, y2 = scale.x(taken.won.start), lanes[taken.won.agent] + _BAR / 2
    said = f"{taken.won.agent} took {taken.won.graph_id}/{taken.won.task_id} over under epoch {taken.won.epoch}"
    bend = max(abs(x2 - x1) / 2, 26)
    path = f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2 - 2:.1f},{y2:.1f}"
    return f'<path class="handover" marker-end="url(#tip)" d="{path}"><title>{escape(said)}</title></path>'


def _legend(roles: set[str]) -> Iterable[str]:
    for role, (letter, fill, ink) in _LOOKS.items():
        if role in roles:
            yield f'<li><span style="background:{fill};color:{ink}">{letter}</span> {role}</li>'
    yield '<li><span class="key-taken"></span> taken over</li>'
    yield '<li><span class="key-silent"></span> its worker is dead, its lease has not lapsed</li>'


def _told(taken: Takeover) -> str:
    rows = "".join(
        f"<tr><td>{format_instant(at)[11:23]}</td><td>{event}</td><td>{escape(agent)}</td><td>{epoch}</td></tr>"
        for at, event, agent, epoch in (
            (taken.lost.start, "claimed", taken.lost.agent, taken.lost.epoch),
            (taken.lost.end, "lapsed", "", taken.lost.epoch),
            (taken.won.start, "claimed", taken.won.agent, taken.won.epoch),
            (taken.won.end, escape(taken.won.ended_by), taken.won.agent, taken.won.epoch),
        )
    )
    name = f"{taken.lost.graph_id}/{taken.lost.task_id}"
    head = "<tr><th>at (UTC)</th><th>event</th><th>agent</th><th>epoch</th></tr>"
    return f"<h2>History of {escape(name)}</h2><table>{head}{rows}</table>"


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Who worked on what</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b1b1b; --soft: #5c5c5c; --line: #d9d9d9;
  --page: #ffffff; --alarm: #b00020; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #f0f0f0; --soft: #b4b4b4; --line: #3d3d3d; --page: #16181b; --alarm: #ff8a80; }}
}}
body {{ font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem; }}
h1 {{ font-size: 1.4rem; margin: 0; }} h2 {{ font-size: 1.05rem; margin: 1.5rem 0 .4rem; }}
.scroll {{ overflow-x: auto; }}
svg {{ display: block; }} svg text {{ font: 12px system-ui, sans-serif; fill: var(--soft); }}
svg .worker {{ font-size: 14px; font-weight: 600; fill: var(--ink); text-anchor: end; }}
svg .tick {{ text-anchor: middle; }} svg .letter {{ font-weight: 700; text-anchor: middle; }}
.grid {{ stroke: var(--line); stroke-width: 1; }} .lane {{ stroke: var(--line); stroke-width: 2; }}
.bar.taken {{ stroke: var(--ink); stroke-width: 3; }}
.silent {{ fill: none; stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 4 3; }}
.dead {{ fill: var(--soft); opacity: .14; }}
.kill {{ stroke: var(--alarm); stroke-width: 3; }} svg .killed {{ fill: var(--alarm); font-weight: 700; }}
.handover {{ fill: none; stroke: var(--ink); stroke-width: 2; }} #tip path {{ fill: var(--ink); }}
ul {{ list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin: .6rem 0 1rem; }}
li span {{ display: inline-block; width: 1.5em; height: 1.5em; text-align: center; border-radius: 3px; font-weight: 700;
  vertical-align: middle; box-sizing: border-box; }}
.key-taken {{ border: 3px solid var(--ink); }} .key-silent {{ border: 1.5px dashed var(--alarm); }}
table {{ border-collapse: collapse; }} th, td {{ text-align: left; padding: .2rem 1.2rem .2rem 0;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }}
</style></head><body>
<h1>Who worked on what</h1>
<p>{summary} Point at a bar to see its task.</p>
<ul aria-label="Legend">{legend}</ul>
<div class="scroll"><svg role="img" aria-label="A lane for each worker, a bar for each task" width="{width}"
 height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z"/></marker></defs>
{picture}
</svg></div>
{taken}
</body></html>
"""
