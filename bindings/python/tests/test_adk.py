"""The session service of Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("google.adk")

from google.adk.errors._stale_session_error import StaleSessionError  # noqa: E402
from google.adk.errors.already_exists_error import AlreadyExistsError  # noqa: E402
from google.adk.errors.session_not_found_error import SessionNotFoundError  # noqa: E402
from google.adk.events.event import Event  # noqa: E402
from google.adk.events.event_actions import EventActions  # noqa: E402
from google.adk.sessions.base_session_service import GetSessionConfig  # noqa: E402
from google.genai import types  # noqa: E402

from boswell_store import Store  # noqa: E402
from boswell_store.adk import BoswellSessionService  # noqa: E402

PLACE = {"app_name": "shop", "user_id": "ann"}


def said(text: str, author: str = "user", **more) -> Event:
    content = types.Content(role=author, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", content=content, **more)


def changing(**delta) -> Event:
    return said("set", actions=EventActions(state_delta=delta))


def test_events_come_back_and_state_is_folded(home: Path) -> None:
    async def run() -> None:
        service = BoswellSessionService(home)
        session = await service.create_session(
            **PLACE, session_id=" s ", state={"a": 1, "app:x": 1, "user:y": 1, "temp:z": 1}
        )
        assert session.id == "s"
        assert session.state == {"a": 1, "app:x": 1, "user:y": 1}
        events = [said("hello"), said("hi", "model"), said("more")]
        for event in events:
            await service.append_event(session, event)
        await service.append_event(
            session, changing(**{"a": 2, "app:x": 2, "user:y": 2, "temp:z": 2})
        )
        # Of this run only, and never stored.
        assert session.state["temp:z"] == 2
        other = BoswellSessionService(Store.open(home))
        found = await other.get_session(**PLACE, session_id="s")
        assert [it.id for it in found.events] == [it.id for it in session.events]
        assert found.events[:3] == events
        assert found.state == {"a": 2, "app:x": 2, "user:y": 2}
        assert found.last_update_time == session.events[-1].timestamp
        assert await other.get_user_state(**PLACE) == {"y": 2}
        second = await other.create_session(**PLACE)
        assert second.state == {"app:x": 2, "user:y": 2}
        stranger = await other.create_session(app_name="shop", user_id="bob")
        assert stranger.state == {"app:x": 2}
        assert await other.get_session(**PLACE, session_id="nobody") is None

    asyncio.run(run())


def test_pages_of_events(home: Path) -> None:
    async def run() -> None:
        service = BoswellSessionService(home)
        session = await service.create_session(**PLACE, session_id="s")
        for number in range(6):
            await service.append_event(session, said(f"number {number}", timestamp=100.0 + number))

        async def texts(**config) -> list[str]:
            config = GetSessionConfig(**config)
            found = await service.get_session(**PLACE, session_id="s", config=config)
            return [it.content.parts[0].text[-1] for it in found.events]

        assert await texts(num_recent_events=2) == ["4", "5"]
        assert await texts(num_recent_events=0) == []
        assert await texts(num_recent_events=9) == list("012345")
        assert await texts(after_timestamp=103.0) == ["3", "4", "5"]
        assert await texts(after_timestamp=103.0, num_recent_events=1) == ["5"]

    asyncio.run(run())


def test_partial_events_are_not_kept_and_a_repeated_one_is_kept_once(home: Path) -> None:
    async def run() -> None:
        service = BoswellSessionService(home)
        session = await service.create_session(**PLACE, session_id="s")
        await service.append_event(session, said("par", partial=True))
        event = said("whole")
        await service.append_event(session, event)
        found = await service.get_session(**PLACE, session_id="s")
        await service.append_event(found, event.model_copy())
        found = await service.get_session(**PLACE, session_id="s")
        assert [it.content.parts[0].text for it in found.events] == ["whole"]
        with pytest.raises(AlreadyExistsError):
            await service.create_session(**PLACE, session_id="s")
        await service.delete_session(**PLACE, session_id="s")
        await service.delete_session(**PLACE, session_id="s")
        assert await service.get_session(**PLACE, session_id="s") is None
        with pytest.raises(SessionNotFoundError):
            await service.append_event(session, said("late"))

    asyncio.run(run())


def test_a_stale_session_is_refused_by_revision_and_a_title_makes_none_stale(
    home: Path,
) -> None:
    async def run() -> None:
        service, other = BoswellSessionService(home), BoswellSessionService(Store.open(home))
        first = await service.create_session(**PLACE, session_id="s")
        second = await other.get_session(**PLACE, session_id="s")
        # Clocks do not matter: an event of the past, and one of the future.
        await service.append_event(first, said("one", timestamp=1.0))
        with pytest.raises(StaleSessionError):
            await other.append_event(second, said("two", timestamp=9e9))
        second = await other.get_session(**PLACE, session_id="s")
        await other.append_event(second, said("two", timestamp=9e9))
        first = await service.get_session(**PLACE, session_id="s")
        await service.append_event(first, said("three", timestamp=0.5))
        (info,) = [it for it in Store.open(home).list() if it.id.endswith("s")]
        Store.open(home).set_title(info.id, "renamed")
        await service.append_event(first, said("four"))
        found = await other.get_session(**PLACE, session_id="s")
        texts = [it.content.parts[0].text for it in found.events]
        assert texts == ["one", "two", "three", "four"]

    asyncio.run(run())


def test_lists_are_by_user_and_oldest_first(home: Path) -> None:
    async def run() -> None:
        service = BoswellSessionService(home)
        for user, id in [("ann", "1"), ("bob", "2"), ("ann", "3"), ("x~y", "4")]:
            await service.create_session(app_name="shop", user_id=user, session_id=id)
        await service.create_session(app_name="other", user_id="ann", session_id="5")
        first = await service.get_session(**PLACE, session_id="1")
        await service.append_event(first, changing(**{"user:y": 1}))
        listed = (await service.list_sessions(**PLACE)).sessions
        assert [it.id for it in listed] == ["3", "1"]
        assert all(it.events == [] for it in listed)
        assert all(it.state["user:y"] == 1 for it in listed)
        everyone = (await service.list_sessions(app_name="shop")).sessions
        assert [it.id for it in everyone] == ["2", "3", "4", "1"]
        # Everything about a person goes, the state of the user among it.
        Store.open(home).erase("ann")
        assert (await service.list_sessions(**PLACE)).sessions == []
        assert await service.get_user_state(**PLACE) == {}
        assert len((await service.list_sessions(app_name="shop")).sessions) == 2

    asyncio.run(run())


def test_events_are_messages_for_boswell(home: Path, boswell) -> None:
    async def run() -> None:
        service = BoswellSessionService(home)
        session = await service.create_session(**PLACE, session_id="weather")
        call = types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"city": "Q"}))
        answer = types.FunctionResponse(id="c1", name="look", response={"sky": "dry as dust"})
        for author, part in [
            ("user", types.Part(text="how is Quillagua?")),
            ("model", call),
            ("user", types.Part(function_response=answer)),
            ("model", types.Part(text="it is dry")),
        ]:
            content = types.Content(role=author, parts=[part])
            await service.append_event(session, Event(author=author, content=content))

    asyncio.run(run())
    (info,) = Store.open(home).list()
    shown = boswell("show", info.id)
    for text in ["how is Quillagua?", "look", "dry as dust", "it is dry"]:
        assert text in shown
