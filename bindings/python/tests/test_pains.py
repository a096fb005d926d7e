"""What users of session layers complain about: the framework's own store shows it, ours does not.

Each test runs both, so that it also fails when a framework mends its store.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boswell_store import Store

TURNS = 200


def test_an_interrupted_turn_does_not_stop_later_turns(home: Path) -> None:
    """A turn that was cut off between a call and its answer. What Agent Framework's own provider
    hands to the next run has a call without an answer, which a model refuses; ours has one, and
    what was written stays as it was."""
    pytest.importorskip("agent_framework")
    from agent_framework import (
        AgentSession,
        Content,
        InMemoryHistoryProvider,
        Message,
        SessionContext,
    )

    from boswell_store.agent_framework import BoswellHistoryProvider

    call = Content.from_function_call("c1", "read", arguments="{}")
    said = [Message("user", ["hello"]), Message("assistant", [call])]

    async def sent(provider, *input: Message) -> list[str]:
        state: dict = {}
        await provider.save_messages("s", said, state=state)
        context = SessionContext(session_id="s", input_messages=list(input))
        session = AgentSession(session_id="s")
        await provider.before_run(agent=None, session=session, context=context, state=state)
        messages = context.get_messages(include_input=True)
        assert len(await provider.get_messages("s", state=state)) == 2
        return [content.type for message in messages for content in message.contents]

    again = Message("user", ["go on"])
    answer = Message("tool", [Content.from_function_result("c1", result="late")])

    async def run() -> None:
        open_call = ["text", "function_call"]
        assert await sent(InMemoryHistoryProvider(), again) == [*open_call, "text"]
        ours = BoswellHistoryProvider(home / "1")
        assert await sent(ours, again) == [*open_call, "function_result", "text"]
        # The caller brings the answer along: there is nothing to make up.
        ours = BoswellHistoryProvider(home / "2")
        assert await sent(ours, answer) == [*open_call, "function_result"]

    asyncio.run(run())


def test_frameworks_that_pair_calls_themselves_get_what_was_written(home: Path) -> None:
    """The OpenAI SDK drops a call without an answer before it asks a model, from any session."""
    pytest.importorskip("agents")
    from agents import SQLiteSession
    from agents.run_internal.session_persistence import prepare_input_with_session

    from boswell_store.openai import BoswellSession

    call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    said = [{"role": "user", "content": "hello"}, call]

    async def run() -> None:
        for session in [SQLiteSession("s"), BoswellSession("s", home)]:
            await session.add_items(list(said))
            assert await session.get_items() == said
            sent, _ = await prepare_input_with_session("go on", session, None)
            assert [it.get("type", "message") for it in sent] == ["message", "message"]

    asyncio.run(run())
    # The library itself answers the call in what a model is sent, and marks the answer.
    session = Store.open(home).session("s")
    handed = session.messages()
    assert [it["role"] for it in handed] == ["user", "assistant", "tool"]
    assert handed[-1]["call"] == "c1" and handed[-1]["is_error"]
    assert [it.get("interrupted", False) for it in handed] == [False, False, True]
    assert [it["role"] for it in session.messages(paired=False)] == ["user", "assistant"]
    assert [it["role"] for it in session.context()["messages"]][-1] == "toolResult"


def test_two_writers_lose_nothing_and_the_second_driver_learns_who(
    home: Path, tmp_path: Path
) -> None:
    """Strands' files: the second of two managers overwrites a message of the first."""
    pytest.importorskip("strands")
    from strands.session.file_session_manager import FileSessionManager
    from strands.types.exceptions import SessionException
    from strands.types.session import SessionAgent, SessionMessage

    from boswell_store.strands import BoswellSessionRepository

    def message(text: str) -> SessionMessage:
        return SessionMessage.from_message({"role": "user", "content": [{"text": text}]}, 0)

    agent = SessionAgent(agent_id="a", state={}, conversation_manager_state={})
    managers = [FileSessionManager("s", storage_dir=str(tmp_path / "theirs")) for _ in range(2)]
    managers[0].create_agent("s", agent)
    managers[0].create_message("s", "a", message("of the first"))
    managers[1].create_message("s", "a", message("of the second"))
    (kept,) = managers[0].list_messages("s", "a")
    assert kept.message["content"] == [{"text": "of the second"}]

    ours = [BoswellSessionRepository(Store.open(home)) for _ in range(2)]
    ours[0].create_session(managers[0].session)
    ours[0].create_agent("s", agent)
    ours[0].create_message("s", "a", message("of the first"))
    with pytest.raises(SessionException):
        ours[1].create_message("s", "a", message("of the second"))
    (kept,) = ours[1].list_messages("s", "a")
    assert kept.message["content"] == [{"text": "of the first"}]


FULL_DISK = """
import asyncio, resource, sys
sys.path.insert(0, sys.argv[3])
kind, place = sys.argv[1], sys.argv[2]
from agent_framework import FileHistoryProvider, Message
from boswell_store.agent_framework import BoswellHistoryProvider
made = {"theirs": FileHistoryProvider, "ours": BoswellHistoryProvider}[kind]

async def run():
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    provider = made(place)
    await provider.save_messages("s", [Message("user", ["first"])])
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
    for number in range(8):
        try:
            await provider.save_messages("s", [Message("user", ["x" * 500])])
        except Exception as error:
            print("noticed", type(error).__name__)
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

asyncio.run(run())
"""


def test_a_failed_write_is_noticed_and_leaves_a_readable_session(
    home: Path, tmp_path: Path
) -> None:
    """A disk that is full in the middle of a message. Agent Framework's file notices, and is then
    unreadable: its last line is torn."""
    pytest.importorskip("agent_framework")
    from agent_framework import FileHistoryProvider

    from boswell_store.agent_framework import BoswellHistoryProvider

    def run(kind: str, place: Path) -> str:
        code = [sys.executable, "-c", FULL_DISK, kind, str(place), str(tmp_path)]
        return subprocess.run(code, capture_output=True, text=True, check=True).stdout

    theirs = tmp_path / "theirs"
    run("theirs", theirs)
    with pytest.raises(Exception):
        asyncio.run(FileHistoryProvider(theirs).get_messages("s"))
    assert "noticed" in run("ours", home)
    provider = BoswellHistoryProvider(home)
    before = asyncio.run(provider.get_messages("s"))
    assert before[0].text == "first"
    from agent_framework import Message

    asyncio.run(provider.save_messages("s", [Message("user", ["after"])]))
    after = asyncio.run(provider.get_messages("s"))
    assert [it.text for it in after] == [*(it.text for it in before), "after"]


def test_a_cancelled_write_is_whole(home: Path, tmp_path: Path) -> None:
    """A batch of which the caller is cancelled: all of it is there, or nothing. SQLite's own
    transaction gives the same; what a store of one file for each message keeps is a part."""
    pytest.importorskip("agents")
    from boswell_store.openai import BoswellSession

    async def run() -> None:
        session = BoswellSession("s", home)
        for turn in range(20):
            batch = [{"role": "user", "content": f"{turn}.{number}"} for number in range(50)]
            task = asyncio.ensure_future(session.add_items(batch))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        items = await session.get_items()
        counts: dict[str, int] = {}
        for item in items:
            turn = item["content"].split(".")[0]
            counts[turn] = counts.get(turn, 0) + 1
        assert set(counts.values()) <= {50}

    asyncio.run(run())


def graph(saver):
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    def reply(state: MessagesState) -> dict:
        return {"messages": [AIMessage(f"reply {len(state['messages'])}")]}

    builder = StateGraph(MessagesState)
    builder.add_node("reply", reply)
    builder.add_edge(START, "reply")
    return builder.compile(checkpointer=saver)


def growth(saver, size) -> tuple[int, int]:
    """The bytes after half of the turns, and after all."""
    from langchain_core.messages import HumanMessage

    compiled, config = graph(saver), {"configurable": {"thread_id": "t"}}
    sizes = []
    for _ in range(2):
        for _ in range(TURNS // 2):
            compiled.invoke({"messages": [HumanMessage("x" * 200)]}, config)
        sizes.append(size())
    return sizes[0], sizes[1]


def test_a_long_thread_grows_by_its_turns_and_not_by_their_square(
    home: Path, tmp_path: Path
) -> None:
    pytest.importorskip("langgraph.graph")
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    from boswell_store.langgraph import BoswellSaver

    path = tmp_path / "theirs.db"
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = sqlite.SqliteSaver(connection)

    def theirs_size() -> int:
        connection.execute("pragma wal_checkpoint(truncate)")
        return path.stat().st_size

    half, whole = growth(saver, theirs_size)
    connection.close()
    # Twice the turns, far more than twice the bytes.
    assert whole > 3 * half, (half, whole)
    store = Store.open(home)
    ours_half, ours_whole = growth(
        BoswellSaver(store), lambda: Path(store.session("t").path).stat().st_size
    )
    assert ours_whole < 2.3 * ours_half, (ours_half, ours_whole)
    print(f"growth: theirs {half} {whole}, ours {ours_half} {ours_whole}")
    assert ours_whole < whole / 4


def test_the_end_of_a_large_session_is_read_without_its_beginning(
    home: Path, tmp_path: Path
) -> None:
    """The last 20 messages of 20,000. Strands lists and sorts every file for a page."""
    pytest.importorskip("agents")
    from boswell_store.openai import BoswellSession

    async def run() -> float:
        session = BoswellSession("s", home)
        for start in range(0, 20_000, 1_000):
            batch = [{"role": "user", "content": f"{start + n}"} for n in range(1_000)]
            await session.add_items(batch)
        ends, wholes = [], []
        # In turns, each time as a process that starts: nothing is known of the session. The best
        # of three, since other programs run too.
        for _ in range(3):
            began = time.perf_counter()
            last = await BoswellSession("s", home).get_items(20)
            ends.append(time.perf_counter() - began)
            assert [it["content"] for it in last] == [str(n) for n in range(19_980, 20_000)]
            began = time.perf_counter()
            assert len(await BoswellSession("s", home).get_items()) == 20_000
            wholes.append(time.perf_counter() - began)
        return min(ends) / min(wholes)

    assert asyncio.run(run()) < 0.35


def test_a_session_is_stale_by_its_revision_and_not_by_a_clock(
    home: Path, tmp_path: Path
) -> None:
    """An event whose clock is behind. ADK's database refuses nothing here, and loses the order; a
    session that was read anew and is current must never be refused."""
    pytest.importorskip("google.adk")
    from google.adk.errors._stale_session_error import StaleSessionError
    from google.adk.events.event import Event

    from boswell_store.adk import BoswellSessionService

    async def run() -> None:
        service = BoswellSessionService(home)
        place = {"app_name": "shop", "user_id": "ann"}
        first = await service.create_session(**place, session_id="s")
        second = await service.get_session(**place, session_id="s")
        # The clock of the first writer is an hour ahead, that of the second one behind.
        await service.append_event(first, Event(author="user", timestamp=time.time() + 3600))
        with pytest.raises(StaleSessionError):
            await service.append_event(second, Event(author="user", timestamp=1.0))
        second = await service.get_session(**place, session_id="s")
        await service.append_event(second, Event(author="user", timestamp=1.0))
        found = await service.get_session(**place, session_id="s")
        assert [it.timestamp == 1.0 for it in found.events] == [False, True]

    asyncio.run(run())
