"""Fixtures of the tests. A program that is absent skips a test here, and fails it in CI."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from boswell_store import Store

IN_CI = os.environ.get("CI") in ("true", "1")


def absent(what: str) -> None:
    """Skips the test, loudly; in CI nothing may be skipped."""
    if IN_CI:
        pytest.fail(f"{what} is absent, and a CI run may not skip its tests")
    pytest.skip(f"{what} is absent")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Store:
    return Store.open(home)


class Boswell:
    """The command line program on one home."""

    def __init__(self, program: str, home: Path) -> None:
        self._program = program
        self._home = home

    def __call__(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home.parent),
            "BOSWELL_HOME": str(self._home),
        }
        done = subprocess.run(
            [self._program, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout


@pytest.fixture
def boswell(home: Path) -> Boswell:
    program = os.environ.get("BOSWELL_PROGRAM")
    if not program or not Path(program).is_file():
        absent("the program `boswell` (BOSWELL_PROGRAM)")
    return Boswell(program, home)
