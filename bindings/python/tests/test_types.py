"""The package, its stubs and the examples have the types that they state."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from conftest import absent

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings/python"


def test_mypy_accepts_the_package_its_stubs_and_the_examples(tmp_path: Path) -> None:
    if find_spec("mypy") is None:
        absent("mypy")
    examples = sorted((ROOT / "examples").rglob("*.py"))
    assert len(examples) >= 6
    settings = ["--cache-dir", str(tmp_path), "--config-file", str(PACKAGE / "pyproject.toml")]
    command = [sys.executable, "-m", "mypy", *settings, str(PACKAGE / "python/boswell_store")]
    done = subprocess.run(
        [*command, *map(str, examples)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_refuses_a_wrong_call(tmp_path: Path) -> None:
    """The stubs are found, and say something."""
    if find_spec("mypy") is None:
        absent("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from boswell_store import Store\nStore.open(1, 2)\n")
    settings = ["--cache-dir", str(tmp_path), "--config-file", str(PACKAGE / "pyproject.toml")]
    command = [sys.executable, "-m", "mypy", *settings, str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "Store" in done.stdout, done.stdout + done.stderr
