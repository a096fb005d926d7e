"""Records of the log for messages of frameworks.

A framework's object is kept whole in a member of its own, and the message beside it is what
`boswell show`, search and the page read.
"""

from __future__ import annotations

import json
import time
from typing import Any


def _message(message: dict[str, Any]) -> dict[str, Any]:
    message["timestamp"] = int(time.time() * 1000)
    return {"type": "message", "message": message}


def user(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return _message({"role": "user", "content": parts})


def assistant(
    parts: list[dict[str, Any]], *, provider: str, model: str = "unknown"
) -> dict[str, Any]:
    calls = any(part["type"] == "toolCall" for part in parts)
    return _message(
        {
            "role": "assistant",
            "content": parts,
            "api": "unknown",
            "provider": provider,
            "model": model,
            "stopReason": "toolUse" if calls else "stop",
        }
    )


def tool_result(
    call: str, tool: str, parts: list[dict[str, Any]], *, is_error: bool = False
) -> dict[str, Any]:
    return _message(
        {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": tool,
            "content": parts,
            "isError": is_error,
        }
    )


def custom(kind: str, data: Any = None) -> dict[str, Any]:
    record: dict[str, Any] = {"type": "custom", "customType": kind}
    if data is not None:
        record["data"] = data
    return record


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def thinking(value: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": value}


def call(id: str, name: str, arguments: Any) -> dict[str, Any]:
    """A tool call. Arguments that are not an object become one, as providers demand it."""
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = arguments
        arguments = parsed
    if not isinstance(arguments, dict):
        arguments = {} if arguments in (None, "") else {"input": arguments}
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def meta(agent: str, external_id: str, **more: str) -> dict[str, Any]:
    """The first entry of a session that an adapter makes: who wrote it, and its id there."""
    data: dict[str, Any] = {"agent": agent, "external_ids": {agent: external_id}}
    if more:
        data["metadata"] = more
    return custom("boswell.meta", data)
