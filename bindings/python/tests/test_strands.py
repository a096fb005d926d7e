"""The session repository of Strands Agents."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("strands")

from strands.session.repository_session_manager import RepositorySessionManager  # noqa: E402
from strands.types.exceptions import SessionException  # noqa: E402
from strands.types.session import (  # noqa: E402
    Session,
    SessionAgent,
    SessionMessage,
    SessionType,
)

from boswell_store import Store  # noqa: E402
from boswell_store.strands import BoswellSessionRepository  # noqa: E402


def agent(id: str = "default", **state) -> SessionAgent:
    return SessionAgent(agent_id=id, state=state, conversation_manager_state={"removed": 0})


def message(number: int, text: str, role: str = "user") -> SessionMessage:
    return SessionMessage.from_message({"role": role, "content": [{"text": text}]}, number)


@pytest.fixture
def repository(home: Path) -> BoswellSessionRepository:
    repository = BoswellSessionRepository(home)
    repository.create_session(Session(session_id="s/1", session_type=SessionType.AGENT))
    return repository


def test_sessions_agents_and_messages_come_back(repository, home: Path) -> None:
    repository.create_agent("s/1", agent(mood="good"))
    made = [message(number, f"number {number}") for number in range(5)]
    for one in made:
        repository.create_message("s/1", "default", one)
    other = BoswellSessionRepository(Store.open(home))
    assert other.read_session("s/1") == repository.read_session("s/1")
    assert other.read_session("s/1").session_id == "s/1"
    assert other.read_session("nobody") is None
    assert other.read_agent("s/1", "default").state == {"mood": "good"}
    assert other.read_agent("s/1", "nobody") is None
    assert other.list_messages("s/1", "default") == made
    assert other.list_messages("s/1", "default", limit=2, offset=1) == made[1:3]
    assert other.list_messages("s/1", "default", offset=3) == made[3:]
    assert other.read_message("s/1", "default", 2) == made[2]
    assert other.read_message("s/1", "default", 9) is None


def test_what_is_updated_keeps_its_birth(repository) -> None:
    repository.create_agent("s/1", agent(mood="good"))
    born = repository.read_agent("s/1", "default").created_at
    repository.update_agent("s/1", agent(mood="bad"))
    found = repository.read_agent("s/1", "default")
    assert (found.state, found.created_at) == ({"mood": "bad"}, born)
    one = message(0, "my number is 12345")
    repository.create_message("s/1", "default", one)
    redacted = message(0, "my number is 12345")
    redacted.redact_message = {"role": "user", "content": [{"text": "redacted"}]}
    repository.update_message("s/1", "default", redacted)
    (found,) = repository.list_messages("s/1", "default")
    assert found.to_message()["content"] == [{"text": "redacted"}]
    assert found.created_at == one.created_at


def test_what_is_not_there_is_refused(repository) -> None:
    for call in [
        lambda: repository.create_session(Session("s/1", SessionType.AGENT)),
        lambda: repository.update_agent("s/1", agent("nobody")),
        lambda: repository.update_message("s/1", "default", message(0, "x")),
        lambda: repository.list_messages("s/1", "nobody"),
        lambda: repository.list_messages("nobody", "default"),
        lambda: repository.delete_session("nobody"),
    ]:
        with pytest.raises(SessionException):
            call()
    repository.delete_session("s/1")
    assert repository.read_session("s/1") is None


def test_bytes_survive(repository) -> None:
    repository.create_agent("s/1", agent())
    picture = {"image": {"format": "png", "source": {"bytes": b"\x89PNG\0"}}}
    one = SessionMessage.from_message({"role": "user", "content": [picture]}, 0)
    repository.create_message("s/1", "default", one)
    assert repository.read_message("s/1", "default", 0).message["content"] == [picture]


def test_messages_are_messages_for_boswell(repository, home: Path, boswell) -> None:
    use = {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"city": "Q"}}}
    result = {"toolUseId": "c1", "status": "success", "content": [{"text": "dry as dust"}]}
    for number, (role, part) in enumerate(
        [
            ("user", {"text": "how is Quillagua?"}),
            ("assistant", use),
            ("user", {"toolResult": result}),
            ("assistant", {"text": "it is dry"}),
        ]
    ):
        one = SessionMessage.from_message({"role": role, "content": [part]}, number)
        repository.create_message("s/1", "default", one)
    (info,) = Store.open(home).list()
    shown = boswell("show", info.id)
    for text in ["how is Quillagua?", "look", "dry as dust", "it is dry"]:
        assert text in shown


def test_the_session_manager_of_the_framework_uses_it(home: Path) -> None:
    repository = BoswellSessionRepository(home)
    manager = RepositorySessionManager(session_id="chat", session_repository=repository)
    assert manager.session.session_id == "chat"
    again = RepositorySessionManager(
        session_id="chat", session_repository=BoswellSessionRepository(Store.open(home))
    )
    assert again.session.created_at == manager.session.created_at
