"""The store for asyncio: order, cancellation, loops that end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from boswell_store import Conflict, Invalid, Store, aio, text_of


def said(store: Store, id: str) -> list[str]:
    return [text_of(message) for message in store.session(id).messages()]


def test_appends_that_are_awaited_together_keep_their_order(home: Path) -> None:
    async def run() -> list[str]:
        store = await aio.Store.open(home)
        async with await store.create(id="s") as writer:
            receipts = await asyncio.gather(
                *(writer.append({"role": "user", "content": str(n)}) for n in range(200))
            )
        return [receipt.entry for receipt in receipts]

    entries = asyncio.run(run())
    store = Store.open(home)
    assert said(store, "s") == [str(n) for n in range(200)]
    written = [entry.id for entry in store.session("s").entries() if entry.kind == "user"]
    assert written == entries


def test_calls_keep_their_place_between_appends(home: Path) -> None:
    async def run() -> None:
        store = await aio.Store.open(home)
        writer = await store.create(id="s")
        asked = await writer.append({"role": "user", "content": "why?"})
        await asyncio.gather(
            writer.append({"role": "assistant", "content": "no"}),
            writer.branch(asked.entry),
            writer.append({"role": "assistant", "content": "yes"}),
            writer.flush(),
        )
        await writer.compact("they asked", asked.entry)
        await writer.finish()
        with pytest.raises(Invalid):
            await writer.append({"role": "user", "content": "too late"})

    asyncio.run(run())
    assert said(Store.open(home), "s")[1:] == ["why?", "yes"]


def test_an_error_reaches_its_own_caller_only(home: Path) -> None:
    async def run() -> list[object]:
        store = await aio.Store.open(home)
        writer = await store.create(id="s")
        first = await writer.append({"role": "user", "content": "one"})
        return await asyncio.gather(
            writer.append({"role": "user", "content": "two"}),
            writer.append({"role": "user", "content": "x"}, expect_revision=first.revision),
            writer.append_all([{"role": "user", "content": "3"}, {"role": "user", "content": "4"}]),
            return_exceptions=True,
        )

    answers = asyncio.run(run())
    assert isinstance(answers[1], Conflict) and answers[1].expected
    assert len(answers[2]) == 2
    assert said(Store.open(home), "s") == ["one", "two", "3", "4"]


def test_a_cancelled_append_is_whole_or_absent(home: Path) -> None:
    async def run() -> int:
        store = await aio.Store.open(home)
        writer = await store.create(id="s")
        cancelled = 0
        for number in range(100):
            batch = [{"role": "user", "content": f"{number}.{part}"} for part in range(3)]
            task = asyncio.ensure_future(writer.append_all(batch))
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                cancelled += 1
        await writer.release()
        return cancelled

    assert asyncio.run(run()) > 0
    texts = said(Store.open(home), "s")
    assert texts == [f"{number}.{part}" for number in range(100) for part in range(3)]


def test_a_loop_that_ended_does_not_stop_the_next_one(home: Path) -> None:
    store = Store.open(home)
    writer = aio.Writer(store.create(id="s"))

    async def forget() -> None:
        asyncio.ensure_future(writer.append({"role": "user", "content": "forgotten"}))
        await asyncio.sleep(0)

    async def heard() -> None:
        await writer.append({"role": "user", "content": "heard"})

    for _ in range(5):
        asyncio.run(forget())
    asyncio.run(heard())
    assert said(store, "s") == ["forgotten"] * 5 + ["heard"]


def test_entries_are_followed(home: Path) -> None:
    async def run() -> list[str]:
        store = await aio.Store.open(home)
        writer = await store.open_session("s")
        found: list[str] = []

        async def follow() -> None:
            async for entry in store.follow("s", every=0.01):
                if entry.text:
                    found.append(entry.text)
                if len(found) == 3:
                    return

        following = asyncio.ensure_future(follow())
        for text in ("a", "b", "c"):
            await writer.append({"role": "user", "content": text})
        await asyncio.wait_for(following, 30)
        return found

    assert asyncio.run(run()) == ["a", "b", "c"]
