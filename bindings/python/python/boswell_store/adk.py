"""`BaseSessionService` of Google's Agent Development Kit.

    from boswell_store.adk import BoswellSessionService

    Runner(agent=agent, app_name="shop", session_service=BoswellSessionService("agent-home"))

An event is an entry with the id of the event. Whether a session object is stale is decided by the
revision of the log, not by a clock. `app:` and `user:` state have logs of their own, in which the
last value counts. The user of a session is its subject: `Store.erase(user_id)` erases everything
about one.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from . import Conflict, NotFound, Store
from . import Session as StoredSession
from . import _records as records
from ._adapter import Place, Writers, opened, session_name, settled

try:
    from google.adk.errors._stale_session_error import StaleSessionError
except ImportError:  # Older versions raise this.
    StaleSessionError = ValueError  # type: ignore[misc, assignment]

__all__ = ["BoswellSessionService"]

AGENT = "adk"
MEMBER = "adk"
# A name is part of a file name.
LONGEST = 180
# How often an append is tried again when something that is no event came first.
TRIES = 100


@dataclass
class _View:
    """What was read of a session so far."""

    last: str | None = None
    revision: str = ""
    made: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    updated: float = 0.0
    # Ids of the entries of its events.
    events: list[str] = field(default_factory=list)
    newest: str | None = None

    def take(self, id: str, record: dict[str, Any]) -> None:
        kept = record.get(MEMBER)
        if not isinstance(kept, dict):
            return
        if "session" in kept:
            self.made = kept["session"]
            self.state.update(self.made.get("state") or {})
            self.updated = self.made["created"]
        elif "event" in kept:
            event = kept["event"]
            delta = (event.get("actions") or {}).get("state_delta") or {}
            self.state.update(_scoped(delta)[None])
            self.updated = event.get("timestamp", self.updated)
            self.events.append(id)
            self.newest = event.get("id")
        elif "delta" in kept:
            self.state.update(kept["delta"])


class BoswellSessionService(BaseSessionService):
    """Sessions of apps and users in a home folder."""

    def __init__(self, store: Place, *, project: str | None = None) -> None:
        self._store: Store = opened(store)
        self._writers = Writers(self._store)
        self._project = project
        self._views: dict[str, _View] = {}
        self._lock = threading.Lock()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        return await settled(self._create, app_name, user_id, state or {}, session_id)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        return await settled(self._get, app_name, user_id, session_id, config)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        return await settled(self._list, app_name, user_id)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        await settled(self._delete, _name(app_name, user_id, session_id.strip()))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        return await settled(self._state, _state_name(app_name, user_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        isolated = await settled(self._append, session, event)
        if isolated is None:
            return event
        session.last_update_time = event.timestamp
        session._storage_update_marker = isolated
        return self._commit_event_to_session(session, event)

    def _create(
        self, app: str, user: str, state: dict[str, Any], id: str | None
    ) -> Session:
        id = (id or "").strip() or str(uuid.uuid4())
        name = _name(app, user, id)
        deltas = _scoped(to_jsonable_python(state))
        made = {
            "app": app,
            "user": user,
            "id": id,
            "state": deltas[None],
            "created": time.time(),
        }
        record = records.custom("adk.session")
        record[MEMBER] = {"session": made}
        first = records.meta(AGENT, id, app=app, user=user)
        try:
            with self._store.create(id=name, project=self._project, subject=user) as writer:
                writer.append_all([first, record])
        except Conflict as error:
            raise AlreadyExistsError(f"Session with id {id} already exists.") from error
        self._add_state(app, user, deltas)
        view = self._view(name)
        assert view is not None
        return self._session(view[1], view[0], [])

    def _get(
        self, app: str, user: str, id: str, config: GetSessionConfig | None
    ) -> Session | None:
        found = self._view(_name(app, user, (id or "").strip()))
        if found is None:
            return None
        stored, view = found
        wanted = view.events
        if config is not None and config.num_recent_events is not None:
            wanted = wanted[len(wanted) - min(config.num_recent_events, len(wanted)) :]
        events = []
        # From the end, so that only what is wanted is read.
        for entry in reversed(wanted):
            event = Event.model_validate(stored.entry(entry).json()[MEMBER]["event"])
            if config is not None and config.after_timestamp is not None:
                if event.timestamp < config.after_timestamp:
                    break
            events.append(event)
        return self._session(view, stored, events[::-1])

    def _session(self, view: _View, stored: StoredSession, events: list[Event]) -> Session:
        app, user = view.made["app"], view.made["user"]
        state = dict(view.state)
        for prefix, name in [
            (State.APP_PREFIX, _state_name(app, None)),
            (State.USER_PREFIX, _state_name(app, user)),
        ]:
            state |= {prefix + key: value for key, value in self._state(name).items()}
        session = Session(
            id=view.made["id"],
            app_name=app,
            user_id=user,
            state=state,
            events=events,
            last_update_time=view.updated,
        )
        session._storage_update_marker = stored.revision
        return session

    def _list(self, app: str, user: str | None) -> ListSessionsResponse:
        prefix = f"{session_name(app)}~" if user is None else f"{_name(app, user, '')}"
        sessions = []
        for info in self._store.list():
            if not info.id.startswith((prefix, "%%")):
                continue
            found = self._view(info.id)
            made = {} if found is None else found[1].made
            if found is None or made.get("app") != app or user not in (None, made.get("user")):
                continue
            sessions.append(self._session(found[1], found[0], []))
        sessions.sort(key=lambda it: (it.last_update_time, it.user_id, it.id))
        return ListSessionsResponse(sessions=sessions)

    def _delete(self, name: str) -> None:
        self._writers.forget(name)
        try:
            self._store.delete(name)
        except NotFound:
            pass
        with self._lock:
            self._views.pop(name, None)

    def _append(self, session: Session, event: Event) -> str | None:
        """Appends an event, and returns the revision after it; none if it was there already."""
        name = _name(session.app_name, session.user_id, session.id)
        made = _records(event)
        for _ in range(TRIES):
            found = self._view(name)
            if found is None:
                raise SessionNotFoundError(f"Session {session.id} not found.")
            stored, view = found
            known = event.id in view.events
            if known and stored.entry(event.id).json()[MEMBER]["event"] == made[0][MEMBER]["event"]:
                return None
            self._require_current(session, stored, view)
            # Events that merely share an id are kept.
            made[0].pop("id", None)
            if event.id and not known:
                made[0]["id"] = event.id
            try:
                receipts = self._writers.write(
                    name,
                    lambda writer: writer.append_all(made, expect_revision=stored.revision),
                    first=records.meta(AGENT, session.id),
                    project=self._project,
                )
            except Conflict as error:
                if error.expected is None:
                    raise
                continue
            delta = (made[0][MEMBER]["event"].get("actions") or {}).get("state_delta") or {}
            self._add_state(session.app_name, session.user_id, _scoped(delta))
            return receipts[-1].revision
        raise Conflict("other writers keep appending to the session first", hint="try again")

    def _require_current(self, session: Session, stored: StoredSession, view: _View) -> None:
        """Refuses a session object that lacks events. What is no event, such as a title, does not
        make it stale."""
        marker = session._storage_update_marker
        if marker == stored.revision or not view.events:
            return
        if any(event.id == view.newest for event in session.events[-1:]):
            return
        if marker is not None or not any(it.id == view.newest for it in session.events):
            raise StaleSessionError(
                "The session has been modified in storage since it was loaded: other events were"
                " appended. Get it again before appending."
            )

    def _add_state(
        self, app: str, user: str, deltas: dict[str | None, dict[str, Any]]
    ) -> None:
        for prefix, name in [
            (State.APP_PREFIX, _state_name(app, None)),
            (State.USER_PREFIX, _state_name(app, user)),
        ]:
            if not deltas[prefix]:
                continue
            record = records.custom("adk.state")
            record[MEMBER] = {"delta": deltas[prefix]}
            first = records.meta(AGENT, name)
            self._writers.write(
                name,
                methodcaller("append", record),
                first=first,
                project=self._project,
                subject=user if prefix == State.USER_PREFIX else None,
            )

    def _state(self, name: str) -> dict[str, Any]:
        found = self._view(name)
        return {} if found is None else dict(found[1].state)

    def _view(self, name: str) -> tuple[StoredSession, _View] | None:
        """What is stored of a session; only new entries are read."""
        with self._lock:
            try:
                stored = self._store.session(name)
            except NotFound:
                self._views.pop(name, None)
                return None
            view = self._views.setdefault(name, _View())
            try:
                entries = stored.entries(after=view.last)
            except NotFound:
                # The session was deleted and made again.
                view = self._views[name] = _View()
                entries = stored.entries()
            for entry in entries:
                view.take(entry.id or "", entry.json())
                view.last = entry.id
            return stored, view


def _name(app: str, user: str, id: str) -> str:
    """The name of a session. The parts are quoted, and contain no `~`."""
    head = f"{session_name(app)}~{session_name(user)}~"
    name = head + (session_name(id) if id else "")
    if len(name) <= LONGEST:
        return name
    return f"%%{hashlib.sha256(name.encode()).hexdigest()}"


def _state_name(app: str, user: str | None) -> str:
    name = f"{session_name(app)}~~state"
    if user is not None:
        name = f"{session_name(app)}~{session_name(user)}~~state"
    return name if len(name) <= LONGEST else f"%%{hashlib.sha256(name.encode()).hexdigest()}"


def _scoped(delta: dict[str, Any]) -> dict[str | None, dict[str, Any]]:
    """A change of state by its scope; that of the session is under `None`."""
    scopes: dict[str | None, dict[str, Any]] = {
        None: {},
        State.APP_PREFIX: {},
        State.USER_PREFIX: {},
        State.TEMP_PREFIX: {},
    }
    for key, value in delta.items():
        prefix = next((it for it in scopes if it is not None and key.startswith(it)), None)
        scopes[prefix][key.removeprefix(prefix or "")] = value
    return scopes


def _records(event: Event) -> list[dict[str, Any]]:
    """The entry of an event, and further results of tools in it as messages of their own."""
    kept = event.model_dump(mode="json", exclude_none=True)
    made = _readable(event)
    for record in made:
        if "message" in record:
            record["message"]["timestamp"] = int(event.timestamp * 1000)
    made[0][MEMBER] = {"event": kept}
    return made


def _readable(event: Event) -> list[dict[str, Any]]:
    parts, results = [], []
    for part in (event.content.parts if event.content else None) or []:
        if part.text:
            parts.append(records.thinking(part.text) if part.thought else records.text(part.text))
        elif part.function_call:
            call = part.function_call
            parts.append(records.call(call.id or "", call.name or "", call.args))
        elif part.function_response:
            answer = part.function_response
            text = [records.text(str(answer.response))]
            results.append(records.tool_result(answer.id or "", answer.name or "", text))
    if event.author != "user" and parts:
        model = event.model_version or "unknown"
        return [records.assistant(parts, provider="adk", model=model), *results]
    if parts:
        return [records.user(parts), *results]
    return results or [records.custom("adk.event")]
