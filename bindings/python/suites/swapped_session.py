"""A plugin of pytest that puts our session in the place of `SQLiteSession`, and counts the tests
that use it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import agents
import agents.memory
import agents.memory.sqlite_session

from boswell_store import Store
from boswell_store.openai import BoswellSession

_running: str | None = None
_used: set[str] = set()
_failed: dict[str, str] = {}
_passed: set[str] = set()


class SwappedSession(BoswellSession):
    """Takes the arguments of `SQLiteSession`."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        sessions_table: str = "agent_sessions",
        messages_table: str = "agent_messages",
        session_settings: Any = None,
    ) -> None:
        if _running is not None:
            _used.add(_running)
        self.db_path = db_path
        in_memory = str(db_path) == ":memory:"
        store = Store.in_memory() if in_memory else f"{db_path}.boswell"
        super().__init__(session_id, store, session_settings=session_settings)


for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = SwappedSession


def pytest_runtest_logstart(nodeid: str) -> None:
    global _running
    _running = nodeid


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _failed[report.nodeid] = str(report.longrepr)[-2000:]
    elif report.when == "call" and report.passed:
        _passed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    result = {
        "used": sorted(_used),
        "failed": {test: _failed[test] for test in sorted(_failed)},
        "passed": len(_passed),
    }
    Path(os.environ["BOSWELL_SUITE_RESULT"]).write_text(json.dumps(result))
