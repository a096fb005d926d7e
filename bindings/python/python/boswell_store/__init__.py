"""Durable sessions for agents.

    from boswell_store import Store

    store = Store.open("agent-home")
    with store.create(project=".") as writer:
        writer.append({"role": "user", "content": "why is the build red?"})

An append returns when the entry is on the disk. `boswell_store.aio` is the same for asyncio;
`boswell_store.claude`, `.openai` and `.langgraph` are adapters for frameworks.
"""

from __future__ import annotations

import time
from typing import Any

from ._native import (
    Blobs,
    Entry,
    Follower,
    Receipt,
    SearchHit,
    Session,
    SessionInfo,
    Store,
    Ticket,
    Writer,
    __version__,
)
from .errors import (
    BoswellError,
    Busy,
    Conflict,
    Damaged,
    Denied,
    Internal,
    Invalid,
    NoSpace,
    NotFound,
    TooNew,
    Unavailable,
    Unsupported,
)

__all__ = [
    "Blobs",
    "BoswellError",
    "Busy",
    "Conflict",
    "Damaged",
    "Denied",
    "Entry",
    "Follower",
    "Internal",
    "Invalid",
    "NoSpace",
    "NotFound",
    "Receipt",
    "SearchHit",
    "Session",
    "SessionInfo",
    "Store",
    "Ticket",
    "TooNew",
    "Unavailable",
    "Unsupported",
    "Writer",
    "__version__",
    "open_session",
    "text_of",
]


def text_of(message: dict) -> str:
    """The text of a message that `Session.messages` returned."""
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")


def open_session(
    store: Store,
    id: str,
    *,
    project: str | None = None,
    wait: float | None = 10.0,
    shared: bool = False,
    first: dict[str, Any] | None = None,
    subject: str | None = None,
    expires_in: float | None = None,
) -> Writer:
    """Opens the session with that id for writing, or makes it, with `first` as its first entry.

    The lease of a process that was killed is free at once, so an agent that begins with this call
    resumes where it was interrupted.
    """
    end = None if wait is None else time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            return store.writer(id, wait=wait, shared=shared)
        except NotFound:
            pass
        try:
            made = store.create(
                id=id, project=project, subject=subject, expires_in=expires_in
            )
        except (Conflict, Busy):
            # Another thread or process is making it.
            if end is not None and time.monotonic() > end:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
            continue
        try:
            if first is not None:
                made.append(first)
        except BaseException:
            made.release()
            raise
        if not shared:
            return made
        made.release()
