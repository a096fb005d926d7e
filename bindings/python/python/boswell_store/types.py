"""The dictionaries that the store takes and returns."""

from __future__ import annotations

from typing import Any, TypedDict, Union

__all__ = ["ContextDict", "Item", "MessageDict"]


class _Role(TypedDict):
    role: str


class MessageDict(_Role, total=False):
    """A message: `role` is user, assistant, tool or system.

    `content` is a text or a list of parts: `{"type": "text", "text": …}`,
    `{"type": "thinking", "text": …, "signature": …}`,
    `{"type": "tool_call", "id": …, "name": …, "arguments": …}`,
    `{"type": "image", "data": base64, "mime": …}`. What is read always has a list.
    """

    content: Union[str, list[dict[str, Any]]]
    id: str
    parent: str
    # Of a tool's result.
    call: str
    tool: str
    is_error: bool
    # Of a result that is not in the log: it stands in for one that is missing.
    interrupted: bool
    # Of an answer of a model.
    model: str
    provider: str
    usage: dict[str, Any]
    stop_reason: str
    error: str


class ContextDict(TypedDict):
    """What a model would be sent, in the form of the log."""

    messages: list[dict[str, Any]]
    model: Union[str, None]


Item = Union[MessageDict, dict[str, Any], bytes]
"""What can be appended: a message, a record with `type`, or the JSON of a record."""
