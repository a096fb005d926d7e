"""The store for asyncio.

An append is queued for the one waiter thread of its store, which hands it to the writer and
completes the future through `call_soon_threadsafe`. Appends that are awaited together share one
`fsync`, however many there are. A cancelled caller no longer hears of its append; the append is
made whole, or not at all.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import AsyncIterator, Iterable
from typing import Any

from . import _native, open_session
from ._native import Entry, Receipt, Session, SessionInfo
from .types import Item

__all__ = ["Store", "Writer"]


def _complete(answers: list[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
    """Answers futures. Called on their event loop by the waiter thread."""
    for future, value, error in answers:
        if future.done():
            continue  # It was cancelled; the entry is written all the same.
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)


class Writer:
    """Appends to one session from an event loop."""

    def __init__(self, writer: _native.Writer) -> None:
        self.blocking = writer

    @property
    def id(self) -> str:
        return self.blocking.id

    @property
    def path(self) -> str:
        return self.blocking.path

    @property
    def in_doubt(self) -> list[str]:
        return self.blocking.in_doubt

    def _append(
        self,
        items: list[Item],
        each: bool,
        expect_revision: str | None,
        expect_leaf: str | None,
        durability: str,
    ) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self.blocking._append_for_loop(
            loop, future, items, each, expect_revision, expect_leaf, durability
        )
        return future

    def _call(self, call: str, *arguments: object) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self.blocking._call_for_loop(loop, future, call, *arguments)
        return future

    async def append(
        self,
        item: Item,
        *,
        expect_revision: str | None = None,
        expect_leaf: str | None = None,
        durability: str = "fsync",
    ) -> Receipt:
        """Appends a message or a record; returns when it is durable."""
        return await self._append([item], False, expect_revision, expect_leaf, durability)

    async def append_all(
        self,
        items: Iterable[Item],
        *,
        expect_revision: str | None = None,
        expect_leaf: str | None = None,
        durability: str = "fsync",
    ) -> list[Receipt]:
        """Appends a batch: checked, written and acknowledged as a whole."""
        items = list(items)
        if not items:
            return []
        return await self._append(items, True, expect_revision, expect_leaf, durability)

    async def branch(self, entry: str) -> Receipt:
        return await self._call("branch", entry)

    async def reset(self) -> Receipt:
        return await self._call("reset")

    async def compact(
        self, summary: str, first_kept: str, *, tokens_before: int = 0
    ) -> Receipt:
        return await self._call("compact", summary, first_kept, tokens_before)

    async def flush(self) -> None:
        await self._call("flush")

    async def session(self) -> Session:
        await self._call("flush")
        return await asyncio.to_thread(self.blocking.session)

    async def release(self) -> None:
        await self._call("release")

    async def finish(self, *, error: str | None = None) -> None:
        await self._call("finish", error)

    async def __aenter__(self) -> Writer:
        return self

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        await self.release()


class Store:
    """A folder with sessions, for an event loop. Reading runs in threads."""

    def __init__(self, store: _native.Store) -> None:
        self.blocking = store

    @staticmethod
    async def open(path: str | os.PathLike[str]) -> Store:
        return Store(await asyncio.to_thread(_native.Store.open, path))

    @staticmethod
    async def remote(address: str, *, tenant: str = "default") -> Store:
        remote = _native.Store.remote
        return Store(await asyncio.to_thread(remote, address, tenant=tenant))

    async def create(
        self,
        *,
        project: str | None = None,
        id: str | None = None,
        title: str | None = None,
        subject: str | None = None,
        expires_in: float | None = None,
    ) -> Writer:
        make = self.blocking.create
        return Writer(
            await asyncio.to_thread(
                make,
                project=project,
                id=id,
                title=title,
                subject=subject,
                expires_in=expires_in,
            )
        )

    async def writer(
        self, id: str, *, wait: float | None = 0.0, shared: bool = False
    ) -> Writer:
        open_ = self.blocking.writer
        return Writer(await asyncio.to_thread(open_, id, wait=wait, shared=shared))

    async def open_session(
        self,
        id: str,
        *,
        project: str | None = None,
        wait: float | None = 10.0,
        shared: bool = False,
    ) -> Writer:
        """Opens the session with that id for writing, or makes it."""
        return Writer(
            await asyncio.to_thread(
                open_session, self.blocking, id, project=project, wait=wait, shared=shared
            )
        )

    async def fork(
        self,
        id: str,
        *,
        at: str | None = None,
        new_id: str | None = None,
        project: str | None = None,
        title: str | None = None,
    ) -> Writer:
        fork = self.blocking.fork
        return Writer(
            await asyncio.to_thread(
                fork, id, at=at, new_id=new_id, project=project, title=title
            )
        )

    async def session(self, id: str) -> Session:
        return await asyncio.to_thread(self.blocking.session, id)

    async def has(self, id: str) -> bool:
        return await asyncio.to_thread(self.blocking.has, id)

    async def list(
        self, *, details: bool = False, subject: str | None = None
    ) -> builtins.list[SessionInfo]:
        return await asyncio.to_thread(self.blocking.list, details=details, subject=subject)

    async def search(
        self, query: str, *, session: str | None = None, limit: int = 20
    ) -> builtins.list[_native.SearchHit]:
        search = self.blocking.search
        return await asyncio.to_thread(search, query, session=session, limit=limit)

    async def expire(self) -> builtins.list[str]:
        return await asyncio.to_thread(self.blocking.expire)

    async def erase(self, subject: str) -> builtins.list[str]:
        return await asyncio.to_thread(self.blocking.erase, subject)

    async def delete(self, id: str) -> str | None:
        return await asyncio.to_thread(self.blocking.delete, id)

    async def restore(self, id: str) -> None:
        await asyncio.to_thread(self.blocking.restore, id)

    async def follow(
        self,
        id: str,
        *,
        since: str | None = None,
        from_end: bool = False,
        every: float = 0.1,
    ) -> AsyncIterator[Entry]:
        """Yields entries as they are written, looking for new ones `every` so many seconds."""
        follower = await asyncio.to_thread(
            self.blocking.follow, id, since=since, from_end=from_end
        )
        while True:
            _, entries = await asyncio.to_thread(follower.poll)
            for entry in entries:
                yield entry
            if not entries:
                await asyncio.sleep(every)
