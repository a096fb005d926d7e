"""Every example runs, and the chat agent may be killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from postgres import folder_of_programs, server

from boswell_store import Store, text_of
from conftest import absent

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROMPTS = [f"prompt {number}" for number in range(12)]


def run(script: str, *arguments: object) -> list[str]:
    command = [sys.executable, str(EXAMPLES / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_the_chat_agent_answers_every_prompt_once_however_often_it_is_killed(home: Path) -> None:
    rng = random.Random(int(os.environ.get("BOSWELL_SEED", "7")))
    command = [sys.executable, str(EXAMPLES / "python/chat_agent.py"), str(home), *PROMPTS]
    acknowledged: list[str] = []
    kills = 0
    for _ in range(2 * len(PROMPTS)):
        agent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        # Killed after some answers, at a random moment of the next turn.
        for _ in range(rng.randrange(1, 4)):
            acknowledged.append(agent.stdout.readline().rstrip("\n"))
        time.sleep(rng.random() * 0.01)
        agent.send_signal(signal.SIGKILL)
        acknowledged += agent.stdout.read().splitlines()
        if agent.wait() == 0:
            break
        kills += 1
    acknowledged = [line for line in acknowledged if line]
    run("python/chat_agent.py", home, *PROMPTS)
    messages = Store.open(home).session("chat").messages()
    asked = [text_of(message) for message in messages if message["role"] == "user"]
    answered = [text_of(message) for message in messages if message["role"] == "assistant"]
    assert asked == PROMPTS
    assert answered == [
        f"answer {2 * number + 1} to: {prompt}" for number, prompt in enumerate(PROMPTS)
    ]
    # What was printed was acknowledged, and nothing acknowledged is lost.
    assert set(acknowledged) <= set(answered) and acknowledged
    assert kills > 0


def test_a_session_is_read_without_boswell(home: Path) -> None:
    run("python/chat_agent.py", home, *PROMPTS)
    store = Store.open(home)
    with store.writer("chat") as writer:
        long = "z" * 600_000
        last = writer.append({"role": "user", "content": long})
        writer.append({"role": "user", "content": "taken back"})
        writer.branch(last.entry)
    lines = run("read_without_boswell.py", store.session("chat").path)
    assert lines[0] == "user: prompt 0"
    assert lines[1] == "assistant: answer 1 to: prompt 0"
    assert lines[-1] == f"user: {long}"
    assert len(lines) == 2 * len(PROMPTS) + 1
    source = (EXAMPLES / "read_without_boswell.py").read_text()
    assert len(source.splitlines()) <= 40


def test_the_graph_goes_on_in_the_next_process(home: Path) -> None:
    pytest.importorskip("langgraph.graph")
    assert run("python/langgraph_graph.py", home, "hello") == ["1 messages so far"]
    assert run("python/langgraph_graph.py", home, "again", "more") == [
        "3 messages so far",
        "5 messages so far",
    ]
    texts = [text_of(message) for message in Store.open(home).session("counted").messages()]
    assert texts[0] == "hello" and texts[-1] == "5 messages so far" and len(texts) == 6


def test_the_pydantic_ai_agent_goes_on_in_the_next_process(home: Path) -> None:
    pytest.importorskip("pydantic_ai")
    assert run("python/pydantic_ai_agent.py", home, "hello") == ["1 messages so far"]
    assert run("python/pydantic_ai_agent.py", home, "again") == ["3 messages so far"]
    texts = [text_of(message) for message in Store.open(home).session("counted").messages()]
    assert texts == ["hello", "1 messages so far", "again", "3 messages so far"]


def test_the_claude_mirror_is_in_a_database() -> None:
    pytest.importorskip("claude_agent_sdk")
    programs = folder_of_programs()
    if programs is None:
        absent("PostgreSQL (PG_BIN)")
    with server(programs) as address:
        mirror = ["python/claude_mirror.py", address, "s1"]
        assert run(*mirror, "one", "two") == ["2 entries are in the database"]
        assert run(*mirror, "three") == ["3 entries are in the database"]


def test_the_openai_agent_goes_on_in_the_next_process(home: Path) -> None:
    pytest.importorskip("agents")
    assert run("python/openai_agent.py", home, "hello") == ["1 items so far"]
    assert run("python/openai_agent.py", home, "again") == ["3 items so far"]
