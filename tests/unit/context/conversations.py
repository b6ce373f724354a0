"""Conversations for the context's tests: written by hand, and generated."""

from hypothesis import strategies as st

from slate.adapters.toktok.token_counter import ToktokCounter
from slate.domain.assembly import Occasion, assemble
from slate.domain.context import Budget
from slate.domain.conversation import Told, drafts_of
from slate.domain.marking import find, weigh
from slate.domain.sessions import Merged, Pinned, Session, Snapshot, Speaker, ToolCall, Turn
from slate.domain.tokens import message_tokens
from slate.domain.transcript import Window

COUNT = ToktokCounter().count
NOW = 1_800_000_000_000
RECENT, MARKED = 64, 100


def turn(seq, role, content, *, marks=(), importance=None, calls=(), answers=None, name=None):
    found = find(Speaker(role), content)
    marked = weigh(marks, importance, found)
    return Turn(
        seq=seq,
        role=role,
        content=content,
        name=name,
        tool_calls=calls,
        tool_call_id=answers,
        tokens=message_tokens(COUNT, content, name=name, calls=calls),
        importance=marked.importance,
        marks=marked.marks,
        found=found,
        at=NOW,
    )


def snapshot(turns, *, system=None, pinned=None, merged=None, window=None):
    """What a store reads of a session of these turns."""
    verbatim = sorted((t for t in turns if t.verbatim), key=lambda t: (-t.importance, -t.seq))
    return Snapshot(
        session=Session(
            session_id="s-1", system=system, window=window, retention_days=30, created_at=NOW, updated_at=NOW
        ),
        pinned=pinned or Pinned(),
        pinned_version=1,
        first=next((t for t in turns if t.role is Speaker.USER), None),
        merged=merged,
        recent=tuple(turns[-RECENT:]),
        marked=tuple(verbatim[:MARKED]),
        more_marked=len(verbatim) > MARKED,
    )


def context(read, *, total=4_096, jumps=0, window=128_000, window_rule=None, summaries=True, count=COUNT, **budget):
    told = Told(read, jumps, window_rule or Window(), summaries)
    occasion = Occasion(context_id="c-1", agent="a", session="s-1", at=NOW, window=window, counted_by="o200k_base")
    return assemble(drafts_of(told, total, count), Budget(total=total, **budget), count, occasion)


def seen(made):
    return "\n".join(item.text for section in made.sections for item in section.items)


def section(made, name):
    return next((s for s in made.sections if s.name == name), None)


def chat(start, exchanges, about="the weather"):
    said = []
    for i in range(exchanges):
        said.append(turn(start + 2 * i, "user", f"Tell me more about {about}, part {i}."))
        said.append(turn(start + 2 * i + 1, "assistant", f"Here is part {i} about {about}. " + "It goes on. " * 10))
    return said


# ---- generated

_words = st.sampled_from(
    [
        "never",
        "budget",
        "$4,200",
        "March",
        "15",
        "red",
        "Grüße",
        "你好",
        "🎉",
        "مرحبا",
        "def",
        "f(x):",
        '{"a":1}',
        "https://x.y/z?q=1",
        "I'm",
        "allergic",
        "to",
        "peanuts",
        "order",
        "ORD-2024",
        "\u202eabc\u202c",
        "0x1f",
        "the",
        "and",
        "of",
    ]
)
texts = st.one_of(
    st.lists(_words, min_size=1, max_size=30).map(" ".join),
    st.text(min_size=1, max_size=60),
    st.integers(1, 400).map(lambda n: "word " * n),
    st.just("Hello."),
)


@st.composite
def conversations(draw):
    """Turns of every role: calls with and without results, results without calls, marks, long output."""
    turns, pending, number = [], [], 0
    for _ in range(draw(st.integers(0, 24))):
        kind = draw(st.sampled_from(["user", "assistant", "call", "result", "orphan", "system", "huge"]))
        seq = len(turns) + 1
        if kind == "call":
            calls = tuple(
                ToolCall(
                    id=draw(st.sampled_from(["c 1", f"call-{number}", f"call-{number}-b"])) + str(i),
                    name="f.g",
                    arguments={"q": i},
                )
                for i in range(draw(st.integers(1, 2)))
            )
            number, pending = number + 1, [c.id for c in calls]
            turns.append(turn(seq, "assistant", draw(st.sampled_from(["", "Let me look."])), calls=calls))
        elif kind == "result" and pending:
            turns.append(turn(seq, "tool", draw(texts), answers=pending.pop(0), name="f.g"))
        elif kind == "orphan":
            turns.append(turn(seq, "tool", draw(texts), answers=draw(st.sampled_from([None, "nobody"]))))
        elif kind == "huge":
            turns.append(
                turn(seq, "tool", "row " * draw(st.integers(500, 3_000)), answers=pending.pop(0) if pending else None)
            )
        else:
            role = kind if kind in ("user", "assistant", "system") else "user"
            marks = draw(st.sampled_from([(), (), (), ("constraint",), ("fact",)]))
            turns.append(turn(seq, role, draw(texts), marks=marks))
    return turns


@st.composite
def snapshots(draw):
    turns = draw(conversations())
    merged = None
    if turns and draw(st.booleans()):
        lines = tuple(draw(st.lists(texts, max_size=4)))
        merged = Merged(fields={"intent": draw(texts)}, kept=lines, last_seq=draw(st.integers(0, len(turns))))
    pinned = Pinned(
        goal=draw(st.sampled_from(["", "quote a plan"])), constraints=tuple(draw(st.lists(texts, max_size=2)))
    )
    return snapshot(turns, system=draw(st.sampled_from([None, "Be brief."])), pinned=pinned, merged=merged)
