"""`BaseCheckpointSaver` of LangGraph.

    from boswell_store.langgraph import BoswellSaver

    graph = builder.compile(checkpointer=BoswellSaver("agent-home"))

A thread is a session. A checkpoint is one entry, whose parent is the entry of its parent
checkpoint. Only channels that changed are written, and of a list only the elements that are new,
so that a thread grows with what happens in it and not with its length at every step. Messages of a
checkpoint are also written as messages, so that `boswell show` and search read them.
"""

from __future__ import annotations

import asyncio
import builtins
import random
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    SerializerProtocol,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from . import Conflict, NotFound, Session, Store, Writer
from . import _records as records
from ._adapter import Place, Writers, opened, session_name, settled
from ._langgraph_thread import AGENT, HIDE, Saved, Thread

__all__ = ["BoswellSaver"]

# How many threads are kept in memory; others are read from their logs when they are used.
MOST_THREADS = 64
# How often a put is tried again when other processes write to the thread first.
TRIES = 100
# How many records are copied in one write.
COPIED_AT_ONCE = 256


class BoswellSaver(BaseCheckpointSaver[str]):
    """Checkpoints in a folder of sessions."""

    def __init__(
        self,
        store: Place,
        *,
        serde: SerializerProtocol | None = None,
        project: str | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._store: Store = opened(store)
        self._writers = Writers(self._store)
        self._project = project
        self._threads: OrderedDict[str, Thread] = OrderedDict()
        self._lock = threading.Lock()

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = _place(config)
        thread = self._thread(thread_id)
        with thread.lock:
            if not thread.refresh():
                return None
            wanted = get_checkpoint_id(config)
            saved = thread.get(ns, wanted) if wanted else thread.latest(ns)
            return None if saved is None else self._tuple(thread, thread_id, saved)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        if limit is not None and limit <= 0:
            return
        left = limit
        for thread_id in self._thread_ids(config):
            for found in self._of_thread(thread_id, config, filter, before, left):
                yield found
                if left is not None:
                    left -= 1
                    if left == 0:
                        return

    def _of_thread(
        self,
        thread_id: str,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> builtins.list[CheckpointTuple]:
        configurable = (config or {}).get("configurable", {})
        ns, only = configurable.get("checkpoint_ns"), configurable.get("checkpoint_id")
        bound = get_checkpoint_id(before) if before else None
        thread, found = self._thread(thread_id), []
        with thread.lock:
            if not thread.refresh():
                return []
            for saved in thread.newest_first(ns, bound):
                if only is not None and saved.id != only:
                    continue
                metadata = thread.metadata(saved)
                if filter and any(metadata.get(k) != v for k, v in filter.items()):
                    continue
                found.append(self._tuple(thread, thread_id, saved))
                if limit is not None and len(found) >= limit:
                    break
        return found

    def _thread_ids(self, config: RunnableConfig | None) -> builtins.list[str]:
        if config is not None:
            return [_place(config)[0]]
        return [thread.thread_id for thread in self._all_threads() if thread.thread_id]

    def _all_threads(self) -> Iterator[Thread]:
        """Every thread of the store; other sessions in it are left out."""
        for info in self._store.list():
            thread = self._named(info.id)
            with thread.lock:
                if thread.refresh() and thread.thread_id is not None:
                    yield thread

    def _tuple(self, thread: Thread, thread_id: str, saved: Saved) -> CheckpointTuple:
        parent = saved.parent
        return CheckpointTuple(
            config=_config(thread_id, saved.ns, saved.id),
            checkpoint=thread.checkpoint(saved),
            metadata=thread.metadata(saved),
            parent_config=None if parent is None else _config(thread_id, saved.ns, parent),
            pending_writes=thread.pending_writes(saved.ns, saved.id),
        )

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Any:
        """Writes to channels along the parents of a checkpoint, oldest first, back to the nearest
        stored value. Parents that were pruned are walked too: their entries are still there."""
        thread_id, ns = _place(config)
        thread = self._thread(thread_id)
        with thread.lock:
            thread.refresh()
            wanted = get_checkpoint_id(config)
            saved = thread.any(ns, wanted) if wanted else thread.latest(ns)
            return thread.history(saved, list(channels))

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, ns = _place(config)
        parent = get_checkpoint_id(config)
        stated = get_checkpoint_metadata(config, metadata)
        thread = self._thread(thread_id)
        with thread.lock:
            for _ in range(TRIES):
                thread.refresh()
                batch = thread.encode(ns, parent, checkpoint, stated, new_versions)
                if self._written(thread_id, batch):
                    return _config(thread_id, ns, checkpoint["id"])
        raise Conflict("other writers keep appending to the thread first", hint="try again")

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread_id, ns = _place(config)
        checkpoint_id = str(config["configurable"]["checkpoint_id"])
        numbered = [
            (WRITES_IDX_MAP.get(channel, at), channel, value)
            for at, (channel, value) in enumerate(writes)
        ]
        thread = self._thread(thread_id)
        with thread.lock:
            thread.refresh()
            record = thread.encode_writes(ns, checkpoint_id, numbered, task_id, task_path)
            if record is not None and not self._written(thread_id, [record]):
                raise Conflict("the thread was changed meanwhile", hint="try again")

    def _written(self, thread_id: str, batch: builtins.list[dict[str, Any]]) -> bool:
        """Appends a batch; false if another process took one of its ids first."""
        name, first = session_name(thread_id), records.meta(AGENT, thread_id)
        try:
            self._writers.write(
                name,
                lambda writer: writer.append_all(batch),
                first=first,
                project=self._project,
            )
        except Conflict as error:
            if "taken" in error.message:
                return False
            raise
        return True

    # Removing

    def delete_thread(self, thread_id: str) -> None:
        """Deletes the session of a thread; the vault keeps a copy."""
        name = session_name(str(thread_id))
        thread = self._named(name)
        with thread.lock:
            self._writers.forget(name)
            thread.clear()
            try:
                self._store.delete(name)
            except NotFound:
                pass

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Hides the checkpoints of runs, in every thread, with their writes."""
        runs = {str(run) for run in run_ids}
        if not runs:
            return
        for thread in list(self._all_threads()):
            self._hide(
                thread,
                lambda saved, thread=thread: thread.metadata(saved).get("run_id") in runs,
            )

    def prune(
        self, thread_ids: Sequence[str], *, strategy: str = "keep_latest", **_: Any
    ) -> None:
        """Hides all checkpoints but the latest of each namespace, or deletes the threads."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"`{strategy}` is not a strategy: keep_latest or delete")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
                continue
            thread = self._thread(str(thread_id))
            with thread.lock:
                if thread.refresh():
                    kept = thread.latest_of_each()
                    self._hide(thread, lambda saved, kept=kept: saved not in kept)

    def _hide(self, thread: Thread, is_hidden: Any) -> None:
        with thread.lock:
            thread.refresh()
            hidden = [
                [saved.ns, saved.id]
                for saved in thread.newest_first(None, None)
                if is_hidden(saved)
            ]
            if hidden and thread.thread_id is not None:
                record = records.custom(HIDE, {"checkpoints": hidden})
                self._written(thread.thread_id, [record])

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies every entry of a thread to another one."""
        source, target = str(source_thread_id), str(target_thread_id)
        try:
            session = self._store.session(session_name(source))
        except NotFound:
            return
        name, first = session_name(target), records.meta(AGENT, target)
        self._writers.get(name, first=first, project=self._project)
        root = _meta_entry(self._store.session(name))
        named = _meta_entry(session)
        copied: builtins.list[Any] = []
        for entry in session.entries():
            record = entry.json()
            if entry.kind == "header" or _is_meta(record):
                continue  # These are the target's own.
            if entry.parent == named:
                record["parentId"] = root
                copied.append(record)
            else:
                copied.append(entry.bytes)
        for at in range(0, len(copied), COPIED_AT_ONCE):
            append = partial(_append, batch=copied[at : at + COPIED_AT_ONCE])
            self._writers.write(name, append, first=first, project=self._project)

    # Versions, threads

    def get_next_version(self, current: Any, channel: None = None) -> str:
        """A version that is larger than `current`. The random part tells versions of two forks of
        a thread apart."""
        before = int(str(current).split(".")[0]) if current is not None else 0
        return f"{before + 1:032}.{random.random():.16f}"

    def _thread(self, thread_id: str) -> Thread:
        return self._named(session_name(str(thread_id)))

    def _named(self, name: str) -> Thread:
        with self._lock:
            thread = self._threads.get(name)
            if thread is None:
                thread = self._threads[name] = Thread(self._store, name, self)
            self._threads.move_to_end(name)
            while len(self._threads) > MOST_THREADS:
                self._threads.popitem(last=False)
            return thread

    # The same for event loops: reading and writing run in threads, and a write goes on to its end
    # when its caller is cancelled.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await settled(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        rows = self.list(config, filter=filter, before=before, limit=limit)
        while True:
            found = await asyncio.to_thread(next, rows, None)
            if found is None:
                return
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await settled(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await settled(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await settled(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await settled(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await settled(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(
        self, thread_ids: Sequence[str], *, strategy: str = "keep_latest", **_: Any
    ) -> None:
        await settled(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Any:
        return await settled(
            self.get_delta_channel_history, config=config, channels=channels
        )


def _append(writer: Writer, batch: list[Any]) -> None:
    writer.append_all(batch)


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")


def _config(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": ns,
            "checkpoint_id": checkpoint_id,
        }
    }


def _is_meta(record: Any) -> bool:
    return record.get("customType") == "boswell.meta"


def _meta_entry(session: Session) -> str | None:
    """The entry that names the thread: the first one after the header."""
    for entry in session.entries(limit=2):
        if _is_meta(entry.json()):
            return entry.id
    return None
