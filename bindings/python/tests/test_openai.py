"""The session of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import multiprocessing
from pathlib import Path

import pytest

pytest.importorskip("agents")

from boswell_store import Store, text_of  # noqa: E402
from boswell_store.openai import BoswellSession  # noqa: E402

ITEMS = [
    {"role": "user", "content": "what is the weather in Quillagua?"},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "ask the tool"}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Q"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "dry"},
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "content": [{"type": "output_text", "text": "it is dry", "annotations": []}],
    },
    {"type": "web_search_call", "id": "w1", "status": "completed"},
]


def test_items_come_back_as_they_came(home: Path) -> None:
    async def run() -> None:
        session = BoswellSession("customer/17: ä", home)
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items([])
        await session.clear_session()
        assert not list(Store.open(home).list())
        await session.add_items(ITEMS[:3])
        await session.add_items(ITEMS[3:])
        assert await session.get_items() == ITEMS
        for limit in range(len(ITEMS) + 2):
            last = ITEMS[-limit:] if limit else []
            assert await session.get_items(limit) == last
        other = BoswellSession("customer/17: ä", Store.open(home))
        assert await other.pop_item() == ITEMS[-1]
        assert await session.pop_item() == ITEMS[-2]
        await session.add_items([ITEMS[0]])
        assert await other.get_items() == [*ITEMS[:-2], ITEMS[0]]
        await other.clear_session()
        assert await session.get_items() == []
        await session.add_items(ITEMS[:1])
        assert await other.get_items() == ITEMS[:1]

    asyncio.run(run())


def test_nothing_is_deleted_and_items_are_messages(home: Path, boswell) -> None:
    async def run() -> None:
        session = BoswellSession("weather", home)
        await session.add_items(ITEMS)
        await session.pop_item()
        await session.pop_item()

    asyncio.run(run())
    store = Store.open(home)
    session = store.session("weather")
    assert [message["role"] for message in session.messages()][-1] == "tool"
    assert "it is dry" in [entry.text for entry in session.entries()]
    assert text_of(session.messages()[0]) == ITEMS[0]["content"]
    assert "Quillagua" in boswell("show", "weather")
    assert "Quillagua" in boswell("search", "quillagua")


def test_a_cancelled_turn_is_whole(home: Path) -> None:
    """openai-agents #1658: a write that was cut off by cancellation."""

    async def run() -> None:
        session = BoswellSession("cancelled", home)
        for number in range(20):
            task = asyncio.ensure_future(session.add_items(ITEMS))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # The mutation has ended when the caller hears of the cancellation.
            assert len(await session.get_items()) == len(ITEMS) * (number + 1)

    asyncio.run(run())


def test_two_processes_pop_each_item_once(home: Path) -> None:
    asyncio.run(
        BoswellSession("popped", home).add_items(
            [{"role": "user", "content": str(number)} for number in range(30)]
        )
    )
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        taken = pool.map(_pop_many, [str(home)] * 2)
    assert sorted(taken[0] + taken[1]) == list(range(30))
    assert asyncio.run(BoswellSession("popped", home).get_items()) == []


def _pop_many(home: str) -> list[int]:
    async def run() -> list[int]:
        session, taken = BoswellSession("popped", home), []
        for _ in range(15):
            item = await session.pop_item()
            taken.append(int(item["content"]))
        return taken

    return asyncio.run(run())
