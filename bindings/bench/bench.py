"""Durable appends of the packages beside the Rust library, and turns beside the frameworks' stores.

`cargo xtask bench bindings` builds everything in release mode and starts this. Cases alternate, and
medians are compared. A row is case, ours, baseline, ratio, sign and limit, with tabs between.

The stores of the frameworks are SQLite with its default `synchronous=FULL`, so that each commit is
synced, as each of our appends is.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

from boswell_store import aio

TEXT = "x" * 1000
MESSAGE = {"role": "user", "content": TEXT}
TOGETHER = 64


class Child:
    """A process that measures when it is told to."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, words: str) -> list[float]:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        print(words, file=process.stdin, flush=True)
        answer = process.stdout.readline()
        if not answer:
            raise SystemExit("a measured process ended")
        return [float(word) for word in answer.split()]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def row(case: str, ours: str, theirs: str, ratio: float, sign: str, limit: float) -> None:
    print(case, ours, theirs, f"{ratio:.3f}", sign, limit, sep="\t", flush=True)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


async def timed(call: Awaitable[Any]) -> float:
    began = time.perf_counter()
    await call
    return time.perf_counter() - began


async def appends(folder: Path, rounds: int, each: int) -> None:
    """One append after another in all three languages, and 64 that are awaited together."""
    from boswell_store import Store

    rust = Child(os.environ["BENCH_RUST"], str(folder / "rust"))
    node = Child(os.environ["BENCH_NODE"], os.environ["BENCH_APPEND"], str(folder / "node"))
    blocking = Store.open(folder / "blocking").create(project="/bench")
    writer = await (await aio.Store.open(folder / "aio")).create(project="/bench")
    found: dict[str, list[float]] = {}

    def add(case: str, seconds: list[float]) -> None:
        found.setdefault(case, []).extend(seconds)

    async def together() -> None:
        await asyncio.gather(*(writer.append(MESSAGE) for _ in range(TOGETHER)))

    for _ in range(rounds):
        add("rust", rust.ask(str(each)))
        for _ in range(each):
            began = time.perf_counter()
            blocking.append(MESSAGE)
            add("python", [time.perf_counter() - began])
        add("node", node.ask(f"one {each}"))
        for _ in range(each):
            add("aio", [await timed(writer.append(MESSAGE))])
        add("aio together", [await timed(together())])
        add("node together", node.ask(f"together {TOGETHER}"))
    rust.end()
    node.end()
    middle = {case: median(seconds) for case, seconds in found.items()}
    base = middle["rust"]
    names = {"python": "Python", "aio": "Python, asyncio", "node": "Node"}
    for case, name in names.items():
        ours = middle[case]
        words = milliseconds(ours), milliseconds(base)
        row(f"durable append of 1 KB, {name}, beside Rust", *words, ours / base, "<=", 1.3)
    for case, name in [("aio", "asyncio"), ("node", "Node")]:
        shared = middle[f"{case} together"] / TOGETHER
        words = milliseconds(shared), milliseconds(middle[case])
        gain = middle[case] / shared
        case = f"append, 64 awaited together, {name}, beside one by one"
        row(case, *words, gain, ">=", 4)


Turn = Callable[[int], Awaitable[Any]]


async def compare(case: str, ours: Turn, theirs: Turn, rounds: int, each: int) -> None:
    """Turns a second of both, in turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for turn, found in zip((ours, theirs), seconds):
            for at in range(each):
                found.append(await timed(turn(number * each + at)))
    made = [1 / median(found) for found in seconds]
    words = [f"{rate:.0f} turns/s" for rate in made]
    row(case, words[0], words[1], made[0] / made[1], ">=", 1)


def openai(folder: Path) -> tuple[Turn, Turn]:
    from agents import SQLiteSession

    from boswell_store.openai import BoswellSession

    def turn(session: Any) -> Turn:
        async def run(number: int) -> None:
            await session.add_items([{"role": "user", "content": TEXT}])
            await session.add_items([{"role": "assistant", "content": TEXT}])

        return run

    theirs = SQLiteSession("s", str(folder / "openai.db"))
    return turn(BoswellSession("s", folder / "openai")), turn(theirs)


def langgraph(folder: Path) -> tuple[Turn, Turn]:
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, MessagesState, StateGraph

    from boswell_store.langgraph import BoswellSaver

    def reply(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(TEXT)]}

    def turn(saver: Any) -> Turn:
        builder = StateGraph(MessagesState)
        builder.add_node("reply", reply)
        builder.add_edge(START, "reply")
        graph = builder.compile(checkpointer=saver)

        async def run(number: int) -> None:
            # A thread has ten turns: the other saver writes every message anew in each of them.
            config = {"configurable": {"thread_id": f"t{number // 10}"}}
            graph.invoke({"messages": [HumanMessage(TEXT)]}, config, durability="sync")

        return run

    connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
    return turn(BoswellSaver(folder / "langgraph")), turn(SqliteSaver(connection))


async def adk(folder: Path) -> tuple[Turn, Turn]:
    from google.adk.events.event import Event
    from google.adk.sessions.database_session_service import DatabaseSessionService
    from google.genai.types import Content, Part

    from boswell_store.adk import BoswellSessionService

    async def turn(service: Any) -> Turn:
        session = await service.create_session(app_name="bench", user_id="u", session_id="s")

        async def run(number: int) -> None:
            for author in ("user", "model"):
                content = Content(role=author, parts=[Part(text=TEXT)])
                await service.append_event(session, Event(author=author, content=content))

        return run

    theirs = DatabaseSessionService(f"sqlite+aiosqlite:///{folder / 'adk.db'}")
    return await turn(BoswellSessionService(folder / "adk")), await turn(theirs)


async def main(rounds: int, each: int) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as made:
        folder = Path(made)
        await appends(folder, rounds, each)
        cases = {
            "OpenAI session, turn of two items, beside SQLiteSession": openai(folder),
            "LangGraph, turn of a graph, beside SqliteSaver": langgraph(folder),
            "ADK, turn of two events, beside DatabaseSessionService": await adk(folder),
        }
        for case, (ours, theirs) in cases.items():
            await compare(case, ours, theirs, rounds, each)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
