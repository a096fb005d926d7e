"""A LangGraph thread, as its log tells it.

The entries of a thread, besides messages:

* `langgraph.checkpoint`: a checkpoint. `values` says for each channel what it holds: a value
  (`[type, base64]`), the value of an earlier checkpoint (`{"same": id}`), or a list (`{"list": …}`)
  of which `keep` elements are those of an earlier checkpoint and `add` are new.
* `langgraph.writes`: writes of a task.
* `langgraph.hide`: checkpoints that were pruned. Their entries stay, so that others may refer to
  them.

A thread in memory follows its log, so that it sees what other processes write.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import Follower, NotFound, Store
from . import _records as records

if TYPE_CHECKING:
    from .langgraph import BoswellSaver

AGENT = "langgraph"
CHECKPOINT = "langgraph.checkpoint"
WRITES = "langgraph.writes"
HIDE = "langgraph.hide"
# The longest id of an entry, with room for the number of a repeated put.
LONGEST_ID = 240

Typed = tuple[str, bytes]


class Growing:
    """A list that shares its beginning with longer ones. A child that only adds elements adds them
    to the same memory."""

    __slots__ = ("items", "count")

    def __init__(self, items: list[Any], count: int) -> None:
        self.items = items
        self.count = count

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items[: self.count])

    def extended(self, keep: int, more: list[Any]) -> Growing:
        items = self.items
        if not (keep == self.count == len(items)):
            items = items[:keep]
        items.extend(more)
        return Growing(items, len(items))


@dataclass(eq=False)
class Saved:
    """A checkpoint in memory."""

    ns: str
    id: str
    entry: str
    parent: str | None
    data: dict[str, Any]
    versions: dict[str, Any] = field(default_factory=dict)
    # What each channel holds: one value, or a list.
    values: dict[str, Typed | Growing] = field(default_factory=dict)
    # Digests of the messages that were written as messages up to here.
    shown: Growing = field(default_factory=lambda: Growing([], 0))


class Thread:
    """The checkpoints of one thread. The caller holds `lock`."""

    def __init__(self, store: Store, name: str, saver: BoswellSaver) -> None:
        self.lock = threading.RLock()
        self._store = store
        self._name = name
        self._saver = saver
        self._follower: Follower | None = None
        self._generation = 0
        self.clear()

    def clear(self) -> None:
        self._follower = None
        self._forget()

    def _forget(self) -> None:
        self.thread_id: str | None = None
        # In the order of their first put.
        self._saved: dict[tuple[str, str], Saved] = {}
        self._by_version: dict[tuple[str, str, str], Typed | Growing] = {}
        self._writes: dict[tuple[str, str], dict[tuple[str, int], list[Any]]] = {}
        self._hidden: set[tuple[str, str]] = set()

    def refresh(self) -> bool:
        """Reads what is new in the log; false if there is no log."""
        try:
            if self._follower is None:
                self._follower = self._store.follow(self._name)
                self._generation = 0
            generation, entries = self._follower.poll()
        except NotFound:
            self.clear()
            return False
        if generation != self._generation:
            self._generation = generation
            self._forget()
        for entry in entries:
            if entry.kind in ("custom", "meta") and entry.id is not None:
                self._read(entry.id, entry.json())
        return True

    def _read(self, id: str, record: dict[str, Any]) -> None:
        kind = record.get("customType")
        data: dict[str, Any] = record.get("data") or {}
        if kind == CHECKPOINT:
            self._read_checkpoint(id, data)
        elif kind == WRITES:
            self._read_writes(data)
        elif kind == HIDE:
            self._hidden.update((ns, id) for ns, id in data["checkpoints"])
        elif kind == "boswell.meta":
            external = data.get("external_ids", {})
            self.thread_id = external.get(AGENT, self.thread_id)

    # Checkpoints

    def get(self, ns: str, id: str) -> Saved | None:
        """A checkpoint that was not pruned."""
        return None if (ns, id) in self._hidden else self._saved.get((ns, id))

    def any(self, ns: str, id: str) -> Saved | None:
        """A checkpoint, also one that was pruned."""
        return self._saved.get((ns, id))

    def latest(self, ns: str) -> Saved | None:
        return next(self.newest_first(ns, None), None)

    def newest_first(self, ns: str | None, before: str | None) -> Iterator[Saved]:
        """Checkpoints of a namespace, or of all; only those that came before one."""
        keys = reversed(self._saved)
        if before is not None:
            order = list(self._saved)
            places = [at for at, (_, id) in enumerate(order) if id == before]
            # A checkpoint that is not in this thread has no place in it, but ids sort by time.
            earlier = (
                order[: places[-1]]
                if places
                else [key for key in order if key[1] < before]
            )
            keys = reversed(earlier)
        for key in keys:
            if (ns is None or key[0] == ns) and key not in self._hidden:
                yield self._saved[key]

    def latest_of_each(self) -> list[Saved]:
        kept: dict[str, Saved] = {}
        for saved in self.newest_first(None, None):
            kept.setdefault(saved.ns, saved)
        return list(kept.values())

    def checkpoint(self, saved: Saved) -> Any:
        checkpoint = self._unpacked(saved.data["checkpoint"])
        checkpoint["channel_values"] = {
            channel: self._value(value) for channel, value in saved.values.items()
        }
        return checkpoint

    def metadata(self, saved: Saved) -> Any:
        return self._unpacked(saved.data["metadata"])

    def _value(self, value: Typed | Growing) -> Any:
        if isinstance(value, Growing):
            return [self._saver.serde.loads_typed(element) for element in value]
        return self._saver.serde.loads_typed(value)

    def encode(
        self,
        ns: str,
        parent: str | None,
        checkpoint: Any,
        metadata: Any,
        new_versions: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """The records of a put: messages that are new, then the checkpoint."""
        before = self.any(ns, parent) if parent else None
        values = checkpoint["channel_values"]
        specs: dict[str, Any] = {}
        for channel, version in checkpoint["channel_versions"].items():
            if channel in values and channel in new_versions:
                specs[channel] = self._spec(before, channel, values[channel])
            elif channel not in new_versions:
                spec = self._inherited(ns, before, channel, version, values)
                if spec is not None:
                    specs[channel] = spec
        data = {
            "ns": ns,
            "id": checkpoint["id"],
            "parent": parent,
            "checkpoint": self._packed(
                {key: value for key, value in checkpoint.items() if key != "channel_values"}
            ),
            "metadata": self._packed(metadata),
            "values": specs,
        }
        changed = {key: value for key, value in values.items() if key in new_versions}
        said = self._new_messages(before, changed)
        data["shown"] = [digest for digest, _ in said]
        record = records.custom(CHECKPOINT, data)
        record["id"] = self._free_id(ns, checkpoint["id"])
        batch = [message for _, message in said] + [record]
        if before is not None:
            batch[0]["parentId"] = before.entry
        return batch

    def _free_id(self, ns: str, id: str) -> str:
        """The id of the entry. A put that is repeated is a new entry, and the last one counts."""
        name = f"{ns}/{id}" if ns else id
        if len(name.encode()) > LONGEST_ID or not name.isprintable():
            name = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        saved = self.any(ns, id)
        if saved is None:
            return name
        _, _, number = saved.entry.rpartition("#")
        return f"{name}#{int(number) + 1 if number.isdecimal() and '#' in saved.entry else 2}"

    def _spec(self, before: Saved | None, channel: str, value: Any) -> Any:
        if not _is_list_of_objects(value):
            return _printed(self._saver.serde.dumps_typed(value))
        elements = [self._saver.serde.dumps_typed(element) for element in value]
        old = before.values.get(channel) if before is not None else None
        keep = 0
        if isinstance(old, Growing):
            for element, kept in zip(elements, old, strict=False):
                if element != kept:
                    break
                keep += 1
        spec: dict[str, Any] = {"add": [_printed(element) for element in elements[keep:]]}
        if keep:
            spec |= {"of": before.id, "keep": keep}  # type: ignore[union-attr]
        return {"list": spec}

    def _inherited(
        self,
        ns: str,
        before: Saved | None,
        channel: str,
        version: Any,
        values: dict[str, Any],
    ) -> Any:
        """What a channel holds that was not changed."""
        if before is not None and channel in before.values:
            if before.versions.get(channel) == version:
                return {"same": before.id}
        if (ns, channel, json.dumps(version)) in self._by_version:
            return {"version": version}
        # It was never stored here: the thread may come from another saver.
        return self._spec(before, channel, values[channel]) if channel in values else None

    def _read_checkpoint(self, entry: str, data: dict[str, Any]) -> None:
        ns, id = data["ns"], data["id"]
        saved = Saved(ns=ns, id=id, entry=entry, parent=data["parent"], data=data)
        before = self.any(ns, data["parent"]) if data["parent"] else None
        saved.versions = self._unpacked(data["checkpoint"])["channel_versions"]
        for channel, spec in data.pop("values").items():
            value = self._resolved(ns, channel, spec)
            if value is None:
                continue
            saved.values[channel] = value
            self._by_version[ns, channel, json.dumps(saved.versions.get(channel))] = value
        shown = before.shown if before is not None else Growing([], 0)
        saved.shown = shown.extended(shown.count, data.pop("shown", []))
        self._saved[ns, id] = saved
        self._hidden.discard((ns, id))

    def _resolved(self, ns: str, channel: str, spec: Any) -> Typed | Growing | None:
        if isinstance(spec, list):
            return _scanned(spec)
        if "version" in spec:
            return self._by_version.get((ns, channel, json.dumps(spec["version"])))
        if "same" in spec:
            source = self.any(ns, spec["same"])
            return source.values.get(channel) if source is not None else None
        added = [_scanned(element) for element in spec["list"]["add"]]
        if "of" not in spec["list"]:
            return Growing(added, len(added))
        source = self.any(ns, spec["list"]["of"])
        old = source.values.get(channel) if source is not None else None
        if not isinstance(old, Growing):
            return None
        return old.extended(spec["list"]["keep"], added)

    def _new_messages(
        self, before: Saved | None, values: dict[str, Any]
    ) -> list[tuple[str, dict[str, Any]]]:
        known = set(before.shown) if before is not None else set()
        said = []
        for value in values.values():
            for record in readable_messages(value):
                digest = _digest(record)
                if digest not in known:
                    known.add(digest)
                    said.append((digest, record))
        return said

    # Writes

    def encode_writes(
        self,
        ns: str,
        checkpoint: str,
        writes: Iterable[tuple[int, str, Any]],
        task: str,
        path: str,
    ) -> dict[str, Any] | None:
        """The record of the writes that are not there yet; special ones replace older ones."""
        there = self._writes.get((ns, checkpoint), {})
        fresh = [
            [at, channel, *_printed(self._saver.serde.dumps_typed(value))]
            for at, channel, value in writes
            if at < 0 or (task, at) not in there
        ]
        if not fresh:
            return None
        # At the tip, not below its checkpoint: writes may come after the next checkpoint, and the
        # last entry is where the session stands.
        return records.custom(
            WRITES,
            {"ns": ns, "id": checkpoint, "task": task, "path": path, "writes": fresh},
        )

    def _read_writes(self, data: dict[str, Any]) -> None:
        there = self._writes.setdefault((data["ns"], data["id"]), {})
        for at, channel, kind, value in data["writes"]:
            key = (data["task"], at)
            if at < 0 or key not in there:
                there[key] = [data["path"], channel, _scanned([kind, value])]

    def pending_writes(self, ns: str, id: str) -> list[tuple[str, str, Any]]:
        there = self._writes.get((ns, id), {})
        rows = sorted((path, task, at) for (task, at), (path, _, _) in there.items())
        return [
            (task, there[task, at][1], self._value(there[task, at][2]))
            for _, task, at in rows
        ]

    def history(self, saved: Saved | None, channels: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {channel: {"writes": []} for channel in channels}
        left = set(channels)
        seen = set()
        while saved is not None and saved.parent is not None and left:
            saved = self.any(saved.ns, saved.parent)
            if saved is None or saved.id in seen:
                break
            seen.add(saved.id)
            writes = self.pending_writes(saved.ns, saved.id)
            for channel in list(left):
                of_channel = [write for write in writes if write[1] == channel]
                found[channel]["writes"][:0] = of_channel
                if channel in saved.values:
                    found[channel]["seed"] = self._value(saved.values[channel])
                    left.discard(channel)
        return found

    # JSON where the value survives it, else what the serializer makes of it

    def _packed(self, value: Any) -> Any:
        try:
            text = json.dumps(value, allow_nan=False)
            if json.loads(text) == value:
                return {"json": json.loads(text)}
        except (TypeError, ValueError, RecursionError):
            pass
        return {"typed": _printed(self._saver.serde.dumps_typed(value))}

    def _unpacked(self, packed: dict[str, Any]) -> Any:
        if "json" in packed:
            # A copy: LangGraph changes what it is given.
            return json.loads(json.dumps(packed["json"]))
        return self._saver.serde.loads_typed(_scanned(packed["typed"]))


def _printed(typed: Typed) -> list[str]:
    kind, data = typed
    return [kind, base64.b64encode(data).decode()]


def _scanned(pair: list[str]) -> Typed:
    kind, data = pair
    return kind, base64.b64decode(data)


def _is_list_of_objects(value: Any) -> bool:
    """Whether a value is a list that is worth to be stored by elements: numbers are shorter
    together."""
    return type(value) is list and not any(
        element is None or isinstance(element, (bool, int, float)) for element in value
    )


def _digest(record: dict[str, Any]) -> str:
    stated = {key: value for key, value in record["message"].items() if key != "timestamp"}
    stated["id"] = record.get("langgraph")
    text = json.dumps(stated, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def readable_messages(value: Any) -> Iterator[dict[str, Any]]:
    """The messages of LangChain in a value, as records."""
    if not isinstance(value, (list, tuple)):
        value = [value]
    for message in value:
        kind, content = getattr(message, "type", None), getattr(message, "content", None)
        if not isinstance(kind, str) or content is None:
            continue
        record = _readable(message, kind, _parts(content))
        if record is not None:
            id = getattr(message, "id", None)
            if isinstance(id, str):
                record["langgraph"] = id
            yield record


def _readable(
    message: Any, kind: str, parts: list[dict[str, Any]]
) -> dict[str, Any] | None:
    if kind in ("human", "HumanMessageChunk"):
        return records.user(parts)
    if kind in ("ai", "AIMessageChunk"):
        for call in getattr(message, "tool_calls", None) or []:
            name, arguments = str(call.get("name", "")), call.get("args")
            parts.append(records.call(str(call.get("id")), name, arguments))
        stated = getattr(message, "response_metadata", None) or {}
        model = stated.get("model_name") or "unknown"
        return records.assistant(parts, provider="langchain", model=str(model))
    if kind in ("tool", "ToolMessageChunk"):
        return records.tool_result(
            str(getattr(message, "tool_call_id", "")),
            str(getattr(message, "name", None) or ""),
            parts,
            is_error=getattr(message, "status", None) == "error",
        )
    return None


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [records.text(content)]
    parts = []
    for block in content if isinstance(content, list) else []:
        text = block if isinstance(block, str) else None
        if isinstance(block, dict):
            text = block.get("text")
        if isinstance(text, str):
            parts.append(records.text(text))
    return parts
