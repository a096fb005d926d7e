"""The checkpointer of LangGraph."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.base")

from langchain_core.messages import AIMessage, HumanMessage  # noqa: E402
from langgraph.checkpoint.base import empty_checkpoint  # noqa: E402
from langgraph.checkpoint.base.id import uuid6  # noqa: E402

from boswell_store import Store  # noqa: E402
from boswell_store.langgraph import BoswellSaver  # noqa: E402


def put(saver: Any, thread: str, values: dict[str, Any], parent: Any = None, changed: Any = None):
    """Puts a checkpoint below another one; returns its config."""
    config = parent or {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    before = saver.get_tuple(parent).checkpoint["channel_versions"] if parent else {}
    new = {
        channel: saver.get_next_version(before.get(channel), None)
        for channel in (changed if changed is not None else values)
    }
    checkpoint = empty_checkpoint()
    checkpoint["id"] = str(uuid6(clock_seq=-2))
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = {**before, **new}
    return saver.put(config, checkpoint, {"source": "loop", "step": 0}, new)


def grown(saver: Any, thread: str, turns: int) -> list[Any]:
    """A conversation of so many turns; returns its messages."""
    messages: list[Any] = []
    config = None
    for turn in range(turns):
        messages = [
            *messages,
            HumanMessage(content=f"question {turn} " + "x" * 200, id=f"h{turn}"),
            AIMessage(content=f"answer {turn} " + "y" * 200, id=f"a{turn}"),
        ]
        config = put(saver, thread, {"messages": messages, "turn": turn}, config)
    return messages


def size(home: Path) -> int:
    return sum(file.stat().st_size for file in home.rglob("*.jsonl"))


def test_a_thread_grows_with_what_is_said(tmp_path: Path) -> None:
    """langgraphjs #1138: storage that grows with the square of the turns."""
    sizes = []
    for turns in (50, 100, 200):
        home = tmp_path / str(turns)
        saver = BoswellSaver(home)
        messages = grown(saver, "t", turns)
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        again = BoswellSaver(Store.open(home)).get_tuple(config)
        assert again.checkpoint["channel_values"] == {"messages": messages, "turn": turns - 1}
        sizes.append(size(home))
    # Twice the turns, twice the bytes; the square would be four times.
    assert sizes[1] < 2.2 * sizes[0] and sizes[2] < 2.2 * sizes[1]


def test_lists_that_do_not_only_grow_come_back(home: Path) -> None:
    saver = BoswellSaver(home)
    first = put(saver, "t", {"l": ["a", "b", "c"]})
    cut = put(saver, "t", {"l": ["a", "b"]}, first)
    other = put(saver, "t", {"l": ["a", "x", "c", "d"]}, first)
    longer = put(saver, "t", {"l": ["a", "b", "e"]}, cut)
    same = put(saver, "t", {"l": ["a", "b", "e"]}, longer, changed=[])
    empty = put(saver, "t", {"l": []}, same)
    expected = [
        (first, ["a", "b", "c"]),
        (cut, ["a", "b"]),
        (other, ["a", "x", "c", "d"]),
        (longer, ["a", "b", "e"]),
        (same, ["a", "b", "e"]),
        (empty, []),
    ]
    for reader in (saver, BoswellSaver(Store.open(home))):
        for config, value in expected:
            assert reader.get_tuple(config).checkpoint["channel_values"] == {"l": value}
        assert len(list(reader.list(None))) == 6


def test_a_put_that_is_repeated_counts_last(home: Path) -> None:
    saver = BoswellSaver(home)
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    checkpoint = empty_checkpoint()
    for number in range(4):
        checkpoint["channel_values"] = {"n": number}
        checkpoint["channel_versions"] = {"n": number + 1}
        stored = saver.put(config, checkpoint, {"step": number}, {"n": number + 1})
    for reader in (saver, BoswellSaver(Store.open(home))):
        assert reader.get_tuple(stored).checkpoint["channel_values"] == {"n": 3}
        assert len(list(reader.list(config))) == 1


def test_messages_of_a_thread_are_messages(home: Path, boswell) -> None:
    saver = BoswellSaver(home)
    grown(saver, "talk", 3)
    texts = [entry.text for entry in Store.open(home).session("talk").entries() if entry.text]
    assert [text.split(" x")[0].split(" y")[0] for text in texts] == [
        "question 0", "answer 0", "question 1", "answer 1", "question 2", "answer 2",
    ]
    assert "question 2" in boswell("show", "talk")
    assert "answer" in boswell("search", "answer")


def test_two_processes_use_one_thread(home: Path) -> None:
    saver = BoswellSaver(home)
    put(saver, "shared", {"n": "first"})
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.starmap(_put_many, [(str(home), number) for number in range(2)])
    config = {"configurable": {"thread_id": "shared", "checkpoint_ns": ""}}
    found = [row.checkpoint["channel_values"]["n"] for row in saver.list(config)]
    assert sorted(found) == sorted(["first", *(f"{n}-{i}" for n in range(2) for i in range(10))])


def _put_many(home: str, number: int) -> None:
    saver = BoswellSaver(home)
    for count in range(10):
        put(saver, "shared", {"n": f"{number}-{count}"})


def test_pruned_checkpoints_are_hidden_and_what_refers_to_them_stays(home: Path) -> None:
    saver = BoswellSaver(home)
    config = None
    for number in range(4):
        values = {"l": [f"e{n}" for n in range(number + 1)], "fixed": "value"}
        config = put(saver, "t", values, config, changed=["l"] if number else None)
    saver.prune(["t"])
    for reader in (saver, BoswellSaver(Store.open(home))):
        (row,) = reader.list({"configurable": {"thread_id": "t"}})
        assert row.checkpoint["channel_values"] == {
            "l": ["e0", "e1", "e2", "e3"],
            "fixed": "value",
        }
