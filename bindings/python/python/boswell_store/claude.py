"""`SessionStore` of the Claude Agent SDK.

    from boswell_store.claude import BoswellSessionStore

    options = ClaudeAgentOptions(session_store=BoswellSessionStore("agent-home"))

The SDK writes its own files first and mirrors them here, in batches that it repeats after an
error. So an entry with a `uuid` is kept once, and entries are handed back as they came.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from typing import Any

from claude_agent_sdk import SessionStore, fold_session_summary

from . import Conflict, NotFound, SessionInfo
from . import _records as records
from ._adapter import Place, Writers, opened, session_name, settled

__all__ = ["BoswellSessionStore"]

AGENT = "claude-agent-sdk"
MEMBER = "claude"
LONGEST_ID = 255

logger = logging.getLogger(__name__)


class BoswellSessionStore(SessionStore):
    """Transcripts by key: `project_key`, `session_id` and, for subagents, `subpath`."""

    def __init__(self, store: Place, *, project: str | None = None) -> None:
        self._store = opened(store)
        self._writers = Writers(self._store)
        self._project = project
        # Entries of a session that this process knows to be in its log.
        self._known: dict[str, set[str]] = {}
        self._summaries: dict[str, tuple[str, Any]] = {}
        self._lock = threading.Lock()

    async def append(self, key: Any, entries: list[Any]) -> None:
        if entries:
            await settled(self._append, key, list(entries))

    async def load(self, key: Any) -> list[Any] | None:
        return await settled(self._load, _name(key))

    async def list_sessions(self, project_key: str) -> list[Any]:
        return await settled(self._listed, project_key)

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        return await settled(self._summarised, project_key)

    async def delete(self, key: Any) -> None:
        await settled(self._delete, key)

    async def list_subkeys(self, key: Any) -> list[str]:
        return await settled(self._subkeys, key)

    def _append(self, key: Any, entries: list[Any]) -> None:
        name = _name(key)
        # One batch at a time, so that the order of calls is the order of entries.
        with self._lock:
            if name not in self._known or not self._store.has(name):
                self._known[name] = self._ids(name)
            known, batch = self._known[name], []
            for entry in entries:
                record = _record(entry, known)
                if record.get("id") in known:
                    self._repeated(name, record)
                    continue
                if "id" in record:
                    known.add(record["id"])
                batch.append(record)
            try:
                self._write(name, key, batch)
            except BaseException:
                # The next call looks what of the batch is there.
                del self._known[name]
                raise

    def _write(self, name: str, key: Any, batch: list[dict[str, Any]]) -> None:
        if not batch:
            return
        first = records.meta(AGENT, key["session_id"], **_key_of(key))
        self._writers.write(
            name,
            lambda writer: writer.append_all(batch),
            first=first,
            project=self._project or key["project_key"],
        )

    def _repeated(self, name: str, record: dict[str, Any]) -> None:
        """An entry that is there already: the first one is kept."""
        kept = self._entry(name, record["id"])
        if kept is not None and kept != record[MEMBER]:
            logger.warning(
                "entry %s of session %s came again with other content; the first one is kept",
                record["id"],
                name,
            )

    def _entry(self, name: str, id: str) -> Any:
        try:
            return self._store.session(name).entry(id).json().get(MEMBER)
        except NotFound:
            return None

    def _ids(self, name: str) -> set[str]:
        try:
            session = self._store.session(name)
        except NotFound:
            return set()
        return {entry.id for entry in session.entries() if entry.id is not None}

    def _entries(self, name: str) -> Iterator[Any]:
        for entry in self._store.session(name).entries():
            record = entry.json()
            if isinstance(record, dict) and MEMBER in record:
                yield record[MEMBER]

    def _load(self, name: str) -> list[Any] | None:
        try:
            # A session that was made by a call which then failed has no entries.
            return list(self._entries(name)) or None
        except NotFound:
            return None

    def _of_project(self, project_key: str) -> Iterator[tuple[SessionInfo, dict[str, str]]]:
        """Main transcripts of a project, with their keys."""
        ending = f"~{_digest(project_key)}"
        for info in self._store.list():
            if info.id.endswith(ending) and info.id.count("~") == 1:
                key = self._key(info.id)
                if key is not None:
                    yield info, key

    def _key(self, name: str) -> dict[str, str] | None:
        """The key of a session; none if it is not there or has no entries."""
        try:
            entries = self._store.session(name).entries(limit=3)
        except NotFound:
            return None
        stated = [entry.json() for entry in entries]
        for record in stated:
            if record.get("customType") == "boswell.meta" and len(stated) == 3:
                return record["data"]["metadata"]
        return None

    def _listed(self, project_key: str) -> list[Any]:
        return [
            {"session_id": key["session_id"], "mtime": info.modified or 0}
            for info, key in self._of_project(project_key)
        ]

    def _summarised(self, project_key: str) -> list[Any]:
        return [
            self._summary(info, key) for info, key in self._of_project(project_key)
        ]

    def _summary(self, info: SessionInfo, key: dict[str, str]) -> Any:
        revision = self._store.session(info.id).revision
        kept = self._summaries.get(info.id)
        if kept is None or kept[0] != revision:
            session_key: Any = {
                "project_key": key["project_key"],
                "session_id": key["session_id"],
            }
            entries = list(self._entries(info.id))
            summary = dict(fold_session_summary(None, session_key, entries))
            kept = (revision, summary)
            self._summaries[info.id] = kept
        return {**kept[1], "mtime": info.modified or 0}

    def _delete(self, key: Any) -> None:
        name = _name(key)
        names = [name]
        if not key.get("subpath"):
            below = f"{name}~"
            names += [info.id for info in self._store.list() if info.id.startswith(below)]
        for name in names:
            with self._lock:
                self._writers.forget(name)
                self._known.pop(name, None)
                self._summaries.pop(name, None)
                try:
                    self._store.delete(name)
                except NotFound:
                    pass

    def _subkeys(self, key: Any) -> list[str]:
        below = f"{_name({**key, 'subpath': None})}~"
        keys = (
            self._key(info.id)
            for info in self._store.list()
            if info.id.startswith(below)
        )
        return [found["subpath"] for found in keys if found is not None]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _name(key: Any) -> str:
    """The session id of a key: `session~project` or `session~project~subpath`, the latter two as
    digests, because a file name has not room for paths."""
    name = f"{session_name(key['session_id'])}~{_digest(key['project_key'])}"
    if key.get("subpath"):
        name += f"~{_digest(key['subpath'])}"
    return name


def _key_of(key: Any) -> dict[str, str]:
    stated = {"project_key": key["project_key"], "session_id": key["session_id"]}
    if key.get("subpath"):
        stated["subpath"] = key["subpath"]
    return stated


def _record(entry: Any, known: set[str]) -> dict[str, Any]:
    """The record of an entry: a message if it is one, and the entry as it came."""
    record = _readable(entry) if isinstance(entry, dict) else None
    if record is None:
        record = records.custom("claude.entry")
    if isinstance(entry, dict):
        id, parent = entry.get("uuid"), entry.get("parentUuid")
        if _is_id(id):
            record["id"] = id
        if _is_id(parent) and parent in known:
            record["parentId"] = parent
        if isinstance(entry.get("timestamp"), str) and entry["timestamp"]:
            record["timestamp"] = entry["timestamp"]
    record[MEMBER] = entry
    return record


def _is_id(text: Any) -> bool:
    return (
        isinstance(text, str)
        and 0 < len(text.encode("utf-8", "surrogatepass")) <= LONGEST_ID
        and text.isprintable()
    )


def _readable(entry: dict[str, Any]) -> dict[str, Any] | None:
    message = entry.get("message")
    if entry.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return None
    blocks = [block for block in blocks if isinstance(block, dict)]
    parts = [part for part in map(_part, blocks) if part is not None]
    if entry["type"] == "assistant":
        model = message.get("model")
        model = model if isinstance(model, str) else "unknown"
        return records.assistant(parts, provider="anthropic", model=model)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if len(results) == 1 and isinstance(results[0].get("tool_use_id"), str):
        result = results[0]
        return records.tool_result(
            result["tool_use_id"],
            "",
            [records.text(_result_text(result))],
            is_error=result.get("is_error") is True,
        )
    parts += [records.text(_result_text(result)) for result in results]
    return records.user(parts)


def _part(block: dict[str, Any]) -> dict[str, Any] | None:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return records.text(block["text"])
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return records.thinking(block["thinking"])
    if kind == "tool_use" and isinstance(block.get("id"), str):
        return records.call(block["id"], str(block.get("name", "")), block.get("input"))
    return None


def _result_text(block: dict[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    texts = [
        part["text"]
        for part in content or []
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts)
