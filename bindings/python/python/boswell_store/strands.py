"""`SessionRepository` of Strands Agents.

    from boswell_store.strands import BoswellSessionRepository
    from strands.session import RepositorySessionManager

    repository = BoswellSessionRepository("agent-home")
    manager = RepositorySessionManager(session_id="customer-17", session_repository=repository)
    Agent(session_manager=manager)

A message that is redacted is a new entry, and the last one counts; the first stays in the log until
the session is deleted.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from . import Conflict, NotFound, Store
from . import _records as records
from ._adapter import Place, Writers, opened, session_name

__all__ = ["BoswellSessionRepository"]

AGENT = "strands"
MEMBER = "strands"


@dataclass
class _View:
    """What was read of a session so far."""

    last: str | None = None
    session: dict[str, Any] | None = None
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    multi_agents: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, record: dict[str, Any]) -> None:
        kept = record.get(MEMBER)
        if not isinstance(kept, dict):
            return
        if "session" in kept:
            self.session = kept["session"]
        elif "message" in kept:
            message = kept["message"]
            of_agent = self.messages.setdefault(kept["agent"], {})
            of_agent[message["message_id"]] = message
        elif "agent_data" in kept:
            self.agents[kept["agent"]] = kept["agent_data"]
        elif "multi_agent_data" in kept:
            self.multi_agents[kept["multi_agent"]] = kept["multi_agent_data"]


class BoswellSessionRepository(SessionRepository):
    """Sessions, agents and messages in a home folder."""

    def __init__(self, store: Place, *, project: str | None = None) -> None:
        self._store: Store = opened(store)
        self._writers = Writers(self._store)
        self._project = project
        self._views: dict[str, _View] = {}
        self._lock = threading.Lock()

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        name = session_name(session.session_id)
        first = records.meta(AGENT, session.session_id)
        try:
            with self._store.create(id=name, project=self._project) as writer:
                writer.append_all([first, _record("session", session.to_dict())])
        except Conflict as error:
            raise SessionException(f"Session {session.session_id} already exists") from error
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        view = self._view(session_id)
        return None if view is None or view.session is None else Session.from_dict(view.session)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Deletes a session; the vault keeps a copy."""
        name = session_name(session_id)
        try:
            self._store.delete(name)
        except NotFound as error:
            raise SessionException(f"Session {session_id} does not exist") from error
        finally:
            self._writers.forget(name)
            with self._lock:
                self._views.pop(name, None)

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        view = self._required(session_id)
        if session_agent.agent_id in view.agents:
            what = f"Agent {session_agent.agent_id} already exists in session {session_id}"
            raise SessionException(what)
        self._append(session_id, _agent(session_agent))

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        view = self._view(session_id)
        if view is None or agent_id not in view.agents:
            return None
        return SessionAgent.from_dict(view.agents[agent_id])

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        known = self.read_agent(session_id, session_agent.agent_id)
        if known is None:
            what = f"Agent {session_agent.agent_id} in session {session_id} does not exist"
            raise SessionException(what)
        session_agent.created_at = known.created_at
        self._append(session_id, _agent(session_agent))

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        kept, number = session_message.to_dict(), session_message.message_id
        if number in self._required(session_id).messages.get(agent_id, {}):
            what = f"Message {number} already exists in agent {agent_id}"
            raise SessionException(what)
        made = _readable(session_message.to_message())
        made[0][MEMBER] = {"agent": agent_id, "message": kept}
        self._append(session_id, *made)

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **kwargs: Any
    ) -> SessionMessage | None:
        view = self._view(session_id)
        kept = None if view is None else view.messages.get(agent_id, {}).get(message_id)
        return None if kept is None else SessionMessage.from_dict(kept)

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        known = self.read_message(session_id, agent_id, session_message.message_id)
        if known is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = known.created_at
        record = records.custom("strands.message")
        record[MEMBER] = {"agent": agent_id, "message": session_message.to_dict()}
        self._append(session_id, record)

    def list_messages(
        self,
        session_id: str,
        agent_id: str,
        limit: int | None = None,
        offset: int = 0,
        **kwargs: Any,
    ) -> list[SessionMessage]:
        view = self._view(session_id)
        if view is None or agent_id not in view.agents and agent_id not in view.messages:
            what = f"Messages missing from agent: {agent_id} in session {session_id}"
            raise SessionException(what)
        kept = [message for _, message in sorted(view.messages.get(agent_id, {}).items())]
        end = None if limit is None else offset + limit
        return [SessionMessage.from_dict(message) for message in kept[offset:end]]

    def create_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        self._required(session_id)
        self._append(session_id, _multi_agent(multi_agent))

    def read_multi_agent(
        self, session_id: str, multi_agent_id: str, **kwargs: Any
    ) -> dict[str, Any] | None:
        view = self._view(session_id)
        return None if view is None else view.multi_agents.get(multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            what = f"MultiAgent state {multi_agent.id} in session {session_id} does not exist"
            raise SessionException(what)
        self._append(session_id, _multi_agent(multi_agent))

    def _required(self, session_id: str) -> _View:
        view = self._view(session_id)
        if view is None:
            raise SessionException(f"Session {session_id} does not exist")
        return view

    def _append(self, session_id: str, *made: dict[str, Any]) -> None:
        first = records.meta(AGENT, session_id)
        name = session_name(session_id)
        try:
            self._writers.write(
                name,
                lambda writer: writer.append_all(made),
                first=first,
                project=self._project,
            )
        except NotFound as error:
            raise SessionException(f"Session {session_id} does not exist") from error

    def _view(self, session_id: str) -> _View | None:
        """What is stored of a session; only new entries are read."""
        name = session_name(session_id)
        with self._lock:
            try:
                session = self._store.session(name)
            except NotFound:
                self._views.pop(name, None)
                return None
            view = self._views.setdefault(name, _View())
            try:
                entries = session.entries(after=view.last)
            except NotFound:
                # The session was deleted and made again.
                view = self._views[name] = _View()
                entries = session.entries()
            for entry in entries:
                view.take(entry.json())
                view.last = entry.id
            return view


def _record(member: str, value: Any) -> dict[str, Any]:
    record = records.custom(f"strands.{member}")
    record[MEMBER] = {member: value}
    return record


def _agent(agent: SessionAgent) -> dict[str, Any]:
    record = records.custom("strands.agent")
    record[MEMBER] = {"agent": agent.agent_id, "agent_data": agent.to_dict()}
    return record


def _multi_agent(multi_agent: Any) -> dict[str, Any]:
    record = records.custom("strands.multi_agent")
    state = multi_agent.serialize_state()
    record[MEMBER] = {"multi_agent": multi_agent.id, "multi_agent_data": state}
    return record


def _readable(message: Any) -> list[dict[str, Any]]:
    """The messages that a message of Strands is: results of tools are messages of their own."""
    content = message.get("content") or []
    results = [part["toolResult"] for part in content if "toolResult" in part]
    parts = [part for part in map(_part, content) if part is not None]
    made = []
    if message.get("role") == "assistant":
        made.append(records.assistant(parts, provider="strands"))
    elif parts or not results:
        made.append(records.user(parts))
    for result in results:
        texts = [part["text"] for part in result.get("content") or [] if "text" in part]
        made.append(
            records.tool_result(
                str(result.get("toolUseId", "")),
                "",
                [records.text(text) for text in texts],
                is_error=result.get("status") == "error",
            )
        )
    return made


def _part(part: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(part.get("text"), str):
        return records.text(part["text"])
    if "toolUse" in part:
        use = part["toolUse"]
        return records.call(str(use.get("toolUseId", "")), str(use.get("name", "")), use.get("input"))
    if "reasoningContent" in part:
        thought = part["reasoningContent"].get("reasoningText", {}).get("text")
        return records.thinking(thought) if isinstance(thought, str) else None
    return None
