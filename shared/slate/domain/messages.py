"""A context as messages, valid for the API that takes them.

OpenAI takes system messages anywhere; Anthropic and Bedrock Converse take them apart, and want users and assistants in
turn, the user first, no text that is blank. All three refuse a result without its call and a call without its result:
such a one is said in words. Ids and names that an API would not take are put into its alphabet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from slate.domain.context import Context, Format, Item
from slate.domain.rendering import Parts, as_text, parts_of
from slate.domain.sessions import Speaker, ToolCall
from slate.domain.tokens import call_text

OPENED: Final = "(the assistant opens the conversation)"
BLANK: Final = "(empty)"
MAX_NAME: Final = 64
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool whose result is there."""

    id: str
    name: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True)
class Message:
    """One message before it takes the form of an API."""

    role: Speaker
    text: str = ""
    name: str | None = None
    calls: tuple[Call, ...] = ()
    answers: str | None = None
    """The id of the call whose result this is."""
    turn: bool = False
    """It was said in the conversation, and is not what is known of it."""


def render(context: Context, form: Format) -> dict[str, JsonValue]:
    """What a context is given as beside its sections: the fields of the answer that this form has."""
    match form:
        case Format.SECTIONS:
            return {}
        case Format.TEXT:
            return {"text": as_text(context)}
        case Format.OPENAI:
            return {"messages": _openai(parts_of(context))}
        case Format.ANTHROPIC:
            return _anthropic(parts_of(context))
        case Format.CONVERSE:
            return {"converse": _converse(parts_of(context))}


# ---- what is said, in the order in which it is said


def _messages(parts: Parts) -> list[Message]:
    """The conversation, with what is known of it after the first message: under the role of the system."""
    known = [Message(Speaker.SYSTEM, text) for text in (parts.summary, parts.changing) if text]
    ids = _Ids()
    return [*_spoken(parts.before, ids), *_spoken(parts.first, ids), *known, *_spoken(parts.recent, ids)]


def _spoken(items: Sequence[Item], ids: _Ids) -> list[Message]:
    answered = _answered(items)
    said: list[Message] = []
    open_calls: dict[str | None, str] = {}
    for item in items:
        role = item.role or Speaker.USER
        if role is Speaker.TOOL:
            if item.tool_call_id in open_calls:
                said.append(Message(role, item.text, item.name, answers=open_calls.pop(item.tool_call_id)))
            else:
                said.append(Message(Speaker.USER, f"[tool{_by(item.name)}] {item.text}"))
            continue
        native = {call.id: call for call in item.tool_calls if (item.id, call.id) in answered}
        open_calls = {call_id: ids.for_call(call_id) for call_id in native}
        told = [f"[called {call_text(call)}: no result]" for call in item.tool_calls if call.id not in native]
        text = "\n".join([*([item.text] if item.text else []), *told])
        calls = tuple(Call(open_calls[call.id], ids.name(call.name), call.arguments) for call in native.values())
        said.append(Message(role, text, item.name, calls, turn=True))
    return said


def _answered(items: Sequence[Item]) -> set[tuple[str, str]]:
    """The calls, by their turn, whose results follow at once."""
    found: set[tuple[str, str]] = set()
    calling: Item | None = None
    waiting: dict[str | None, ToolCall] = {}
    for item in items:
        if item.role is not Speaker.TOOL:
            calling, waiting = item, {call.id: call for call in item.tool_calls}
        elif calling is not None and item.tool_call_id in waiting:
            found.add((calling.id, waiting.pop(item.tool_call_id).id))
        else:
            calling, waiting = None, {}
    return found


def _by(name: str | None) -> str:
    return "" if name is None else f" {name}"


@dataclass(slots=True)
class _Ids:
    """Ids of calls in the alphabet of every API, no two alike."""

    given: set[str] = field(default_factory=set)

    def for_call(self, call_id: str) -> str:
        base = _NOT_IN_NAME.sub("_", call_id)[: MAX_NAME - 6]
        number, made = 1, base
        while made in self.given:
            number += 1
            made = f"{base}-{number}"
        self.given.add(made)
        return made

    @staticmethod
    def name(name: str) -> str:
        return _NOT_IN_NAME.sub("_", name)[:MAX_NAME]


# ---- OpenAI


def _openai(parts: Parts) -> list[JsonValue]:
    head = "\n\n".join(text for text in (parts.system, parts.pinned) if text)
    messages = [Message(Speaker.SYSTEM, head)] if head else []
    return [_openai_message(message) for message in (*messages, *_messages(parts))]


def _openai_message(message: Message) -> JsonValue:
    if message.answers is not None:
        return {"role": "tool", "tool_call_id": message.answers, "content": message.text}
    made: Json = {"role": message.role.value, "content": message.text}
    if message.name is not None:
        made["name"] = _Ids.name(message.name)
    if message.calls:
        made["content"] = message.text or None
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in message.calls
        ]
    return made


# ---- Anthropic and Bedrock Converse: the same rules, other words


@dataclass(frozen=True, slots=True)
class _Turn:
    """What one of the two says until the other speaks."""

    role: str
    parts: list[Message]


def _in_turn(messages: Iterable[Message]) -> list[_Turn]:
    """Messages of one side joined, the user's first; results of calls begin a turn by themselves."""
    turns: list[_Turn] = []
    for message in messages:
        role = "assistant" if message.role is Speaker.ASSISTANT else "user"
        if not turns and role == "assistant":
            turns.append(_Turn("user", [Message(Speaker.USER, OPENED)]))
        if not turns or turns[-1].role != role:
            turns.append(_Turn(role, []))
        turns[-1].parts.append(message)
    return turns


def _texts(message: Message, *, last: bool) -> list[str]:
    """The texts of a message: never blank, and at the end of all without the blanks that an API refuses there."""
    text = message.text.rstrip() if last and message.role is Speaker.ASSISTANT else message.text
    if text.strip():
        return [f"[system] {text}" if message.turn and message.role is Speaker.SYSTEM else text]
    return [] if message.calls else [BLANK]


def _anthropic(parts: Parts) -> dict[str, JsonValue]:
    system: list[JsonValue] = [{"type": "text", "text": text} for text in (parts.system, parts.pinned) if text.strip()]
    turns = _in_turn(_messages(parts))
    messages: list[JsonValue] = []
    for place, turn in enumerate(turns):
        content: list[JsonValue] = []
        for message in turn.parts:
            content += _anthropic_parts(message, last=place == len(turns) - 1)
        messages.append({"role": turn.role, "content": content})
    return {"system": system, "messages": messages}


def _anthropic_parts(message: Message, *, last: bool) -> list[JsonValue]:
    texts = _texts(message, last=last)
    if message.answers is not None:
        return [{"type": "tool_result", "tool_use_id": message.answers, "content": texts[0]}]
    said: list[JsonValue] = [{"type": "text", "text": text} for text in texts]
    return said + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)}
        for call in message.calls
    ]


def _converse(parts: Parts) -> JsonValue:
    system: list[JsonValue] = [{"text": text} for text in (parts.system, parts.pinned) if text.strip()]
    turns = _in_turn(_messages(parts))
    messages: list[JsonValue] = []
    for place, turn in enumerate(turns):
        content: list[JsonValue] = []
        for message in turn.parts:
            content += _converse_parts(message, last=place == len(turns) - 1)
        messages.append({"role": turn.role, "content": content})
    return {"system": system, "messages": messages}


def _converse_parts(message: Message, *, last: bool) -> list[JsonValue]:
    texts = _texts(message, last=last)
    if message.answers is not None:
        return [{"toolResult": {"toolUseId": message.answers, "content": [{"text": texts[0]}]}}]
    said: list[JsonValue] = [{"text": text} for text in texts]
    return said + [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": _object(call.arguments)}}
        for call in message.calls
    ]


def _object(arguments: JsonValue) -> JsonValue:
    """Both take an object where OpenAI takes any text."""
    if isinstance(arguments, dict):
        return arguments
    return {} if arguments is None else {"arguments": arguments}
