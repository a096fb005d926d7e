"""The store of the Claude Agent SDK."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

pytest.importorskip("claude_agent_sdk")

from boswell_store import Store  # noqa: E402
from boswell_store.claude import BoswellSessionStore  # noqa: E402

KEY = {"project_key": "-proj-demo", "session_id": "0199"}
ENTRIES = [
    {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "what ate the wombat?"},
    },
    {
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {
            "role": "assistant",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "look", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
            ],
        },
    },
    {
        "type": "user",
        "uuid": "r1",
        "parentUuid": "a1",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "grass"}],
        },
    },
    {"type": "summary", "summary": "about wombats", "leafUuid": "r1"},
]


def test_a_batch_that_is_repeated_is_kept_once(home: Path, caplog) -> None:
    async def run() -> None:
        store = BoswellSessionStore(home)
        await store.append(KEY, ENTRIES[:2])
        await store.append(KEY, ENTRIES[:3])
        again = BoswellSessionStore(Store.open(home))
        await again.append(KEY, ENTRIES)
        assert await store.load(KEY) == ENTRIES
        changed = {**ENTRIES[0], "message": {"role": "user", "content": "other"}}
        with caplog.at_level(logging.WARNING):
            await store.append(KEY, [changed])
        assert "other content" in caplog.text
        assert await store.load(KEY) == ENTRIES

    asyncio.run(run())


def test_entries_are_messages(home: Path, boswell) -> None:
    asyncio.run(BoswellSessionStore(home).append(KEY, ENTRIES))
    (info,) = Store.open(home).list()
    shown = boswell("show", info.id)
    assert "what ate the wombat?" in shown and "grass" in shown
    assert "wombat" in boswell("search", "wombat")


def test_sessions_of_any_name_are_kept_apart(home: Path) -> None:
    names = ["a", "A", "a b", "a/b", "a~b", "..", "-x", "x.jsonl", "é", "x" * 300, "%61"]

    async def run() -> None:
        store = BoswellSessionStore(home)
        for name in names:
            key = {"project_key": "p/q:r", "session_id": name}
            await store.append(key, [{"type": "x", "name": name}])
            await store.append({**key, "subpath": "subagents/1"}, [{"type": "y", "name": name}])
        for name in names:
            key = {"project_key": "p/q:r", "session_id": name}
            assert await store.load(key) == [{"type": "x", "name": name}]
            assert await store.list_subkeys(key) == ["subagents/1"]
        listed = await store.list_sessions("p/q:r")
        assert sorted(entry["session_id"] for entry in listed) == sorted(names)

    asyncio.run(run())
