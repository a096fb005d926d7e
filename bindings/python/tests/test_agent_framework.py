"""The history provider of the Microsoft Agent Framework."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("agent_framework")

from agent_framework import Content, InMemoryHistoryProvider, Message  # noqa: E402

from boswell_store import Store  # noqa: E402
from boswell_store.agent_framework import BoswellHistoryProvider  # noqa: E402

MESSAGES = [
    Message("system", ["be brief"]),
    Message("user", ["how is Quillagua?"], author_name="ann", message_id="m1"),
    Message("assistant", [Content.from_function_call("c1", "look", arguments={"city": "Q"})]),
    Message("tool", [Content.from_function_result("c1", result="dry as dust")]),
    Message("assistant", ["it is dry"]),
]


def test_messages_come_back_as_from_the_framework_s_own_provider(home: Path) -> None:
    async def run() -> None:
        ours, theirs = BoswellHistoryProvider(home), InMemoryHistoryProvider()
        state: dict = {}
        for batch in [MESSAGES[:2], [], MESSAGES[2:]]:
            await ours.save_messages("s", batch)
            await theirs.save_messages("s", batch, state=state)
        other = BoswellHistoryProvider(Store.open(home))
        found = await other.get_messages("s")
        expected = await theirs.get_messages("s", state=state)
        assert [it.to_dict() for it in found] == [it.to_dict() for it in expected]
        assert await other.get_messages("nobody") == []
        await other.save_messages(None, MESSAGES[:1])
        assert len(await ours.get_messages(None)) == 1
        assert len(await ours.get_messages("s")) == len(MESSAGES)

    asyncio.run(run())


def test_messages_are_messages_for_boswell(home: Path, boswell) -> None:
    asyncio.run(BoswellHistoryProvider(home).save_messages("weather", MESSAGES))
    shown = boswell("show", "weather")
    for text in ["how is Quillagua?", "look", "dry as dust", "it is dry"]:
        assert text in shown
