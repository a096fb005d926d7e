"""`Session` of the OpenAI Agents SDK.

    from boswell_store.openai import BoswellSession

    session = BoswellSession("customer-17", "agent-home")
    await Runner.run(agent, "hello", session=session)

Items are kept as they came. `pop_item` and `clear_session` move the leaf: nothing is deleted, and
`boswell tree` shows what was taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Any

import agents.memory.session
from agents.memory import SessionSettings
from agents.memory.session import SessionABC
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from . import Conflict, Entry, NotFound, Session
from . import _records as records
from ._adapter import Place, Writers, opened, session_name, settled

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

# Other versions of the SDK may not have it.
CompactionSnapshot: Any = getattr(agents.memory.session, "_CompactionSnapshot", None)

__all__ = ["BoswellSession"]

AGENT = "openai-agents"
MEMBER = "openai"
# How many entries are read at a time from the end of a session.
PAGE = 64
# How often a change is tried again when other writers append first.
TRIES = 100


class BoswellSession(SessionABC):
    """The items of one session."""

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        store: Place,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        project: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(
            SessionSettings() if session_settings is None else session_settings
        )
        self._store = opened(store)
        self._writers = Writers(self._store)
        self._name = session_name(session_id)
        self._project = project
        self._closed = False

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in order; with a limit, the last ones."""
        self._require_open()
        return await settled(self._items, resolve_session_limit(limit, self.session_settings))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items as one batch; returns when they are durable."""
        self._require_open()
        if items:
            await settled(self._add, list(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the last item back, and returns it."""
        self._require_open()
        return await settled(self._pop)

    async def clear_session(self) -> None:
        """Takes all items back."""
        self._require_open()
        await settled(self._clear)

    def close(self) -> None:
        """Gives the files up. What was acknowledged is durable without this."""
        self._closed = True
        self._writers.forget(self._name)

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"the session {self.session_id} is closed")

    async def _get_compaction_snapshot(
        self, limit: int, *, prune_prefix: Any = None
    ) -> Any:
        """The last items, and a call that replaces the end of them. The SDK asks for it when it
        compacts: the replaced items stay on their old branch, and either all of the new ones are
        in their place or none. Items at the start for which `prune_prefix` holds are left out."""
        if CompactionSnapshot is None:
            return None
        session, pairs, complete = await settled(self._last_pairs, limit)

        async def replace_suffix(start: int, output: list[Any]) -> bool:
            if not pairs[start:]:
                return False
            return await settled(
                self._replace, session, pairs[start][0], list(output), prune_prefix
            )

        return CompactionSnapshot([item for _, item in pairs], complete, replace_suffix)

    def _last_pairs(self, limit: int) -> tuple[Any, list[tuple[Entry, Any]], bool]:
        try:
            session = self._store.session(self._name)
        except NotFound:
            return None, [], True
        found = ((entry, _item(entry)) for entry in _backwards(session))
        pairs = list(islice((pair for pair in found if pair[1] is not None), limit + 1))
        return session, pairs[:limit][::-1], len(pairs) <= limit

    def _replace(
        self, session: Session, first: Entry, output: list[Any], prune: Any
    ) -> bool:
        parent, kept = first.parent, []
        if prune is not None:
            entries = session.entries(branch=True, before=first.id)
            items = [item for item in map(_item, entries) if item is not None]
            kept = list(dropwhile(prune, items))
            if len(kept) == len(items):
                kept = []
            else:
                parent = None  # A new branch from the root, without the items at the start.
        made = [_record(item) for item in kept + output]
        try:
            if made:
                made[0]["parentId"] = parent
                self._write(
                    lambda writer: writer.append_all(made, expect_revision=session.revision)
                )
            else:
                self._move(parent, session.revision)
        except Conflict as error:
            if error.expected is None:
                raise
            return False
        return True

    def _write(self, call: Any) -> Any:
        first = records.meta(AGENT, self.session_id)
        return self._writers.write(self._name, call, first=first, project=self._project)

    def _add(self, items: list[Any]) -> None:
        made = [_record(item) for item in items]
        self._write(lambda writer: writer.append_all(made))

    def _items(self, limit: int | None) -> list[Any]:
        try:
            session = self._store.session(self._name)
        except NotFound:
            return []
        if limit is None or limit < 0:
            found = (_item(entry) for entry in session.entries(branch=True))
            return [item for item in found if item is not None]
        found = (_item(entry) for entry in _backwards(session))
        last = islice((item for item in found if item is not None), limit)
        return list(last)[::-1]

    def _pop(self) -> Any:
        for _ in range(TRIES):
            try:
                session = self._store.session(self._name)
            except NotFound:
                return None
            items = ((entry, _item(entry)) for entry in _backwards(session))
            popped = next((pair for pair in items if pair[1] is not None), None)
            if popped is None:
                return None
            entry, item = popped
            try:
                # Only if nothing was appended since: it would be taken back with the item.
                self._move(entry.parent, session.revision)
            except Conflict as error:
                if error.expected is None:
                    raise
                continue
            return item
        raise Conflict("other writers keep appending to the session first", hint="try again")

    def _move(self, parent: str | None, revision: str) -> None:
        leaf = records.custom("boswell.leaf")
        self._write(
            lambda writer: writer.append(
                leaf, parent=parent, root=parent is None, expect_revision=revision
            )
        )

    def _clear(self) -> None:
        if self._store.has(self._name):
            self._write(lambda writer: writer.reset())


def _backwards(session: Session) -> Iterator[Entry]:
    """The entries of the branch from its end, read in pages."""
    before: str | None = None
    while True:
        page = session.entries(branch=True, backwards=True, before=before, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        before = page[-1].id


def _item(entry: Entry) -> Any:
    """The item of an entry; none for entries that are not items."""
    record = entry.json()
    return record.get(MEMBER) if isinstance(record, dict) else None


def _record(item: Any) -> dict[str, Any]:
    record = _readable(item) if isinstance(item, dict) else None
    if record is None:
        record = records.custom("openai.item")
    record[MEMBER] = item
    return record


def _readable(item: dict[str, Any]) -> dict[str, Any] | None:
    """The message that an item is; none for items that are not messages."""
    kind = item.get("type") or ("message" if "role" in item else None)
    if kind == "message":
        parts = _parts(item.get("content"))
        if item.get("role") == "assistant":
            return records.assistant(parts, provider="openai")
        if item.get("role") == "user":
            return records.user(parts)
    elif kind == "function_call" and isinstance(item.get("call_id"), str):
        call = records.call(
            item["call_id"], str(item.get("name", "")), item.get("arguments")
        )
        return records.assistant([call], provider="openai")
    elif kind == "function_call_output" and isinstance(item.get("call_id"), str):
        output = item.get("output")
        parts = _parts(output) if isinstance(output, (str, list)) else []
        return records.tool_result(item["call_id"], "", parts)
    elif kind == "reasoning":
        texts = [
            part["text"]
            for part in item.get("summary") or []
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if texts:
            thought = records.thinking("\n".join(texts))
            return records.assistant([thought], provider="openai")
    return None


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [records.text(content)]
    parts = []
    for part in content or []:
        if isinstance(part, dict):
            text = part.get("text") or part.get("refusal")
            if isinstance(text, str):
                parts.append(records.text(text))
    return parts
