"""The tests of Strands' session manager over a repository, from its source package, with ours in the
place of the repository that they use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from sources import unpacked

HERE = Path(__file__).resolve().parent
TESTS = "tests/strands/session/test_repository_session_manager.py"


def main() -> None:
    source = unpacked(Path(sys.argv[1]).resolve(), "strands-agents", "1.62.0")
    path = [str(HERE), str(source), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*pytest, "-p", "swapped_repository", "--noconftest", "--tb=short", TESTS],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last(done.stdout))}
    passed, failed = counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
    if failed or not passed:
        print(done.stdout + done.stderr)
    print(f"suite strands: {passed} passed, {failed} failed")
    if failed or not passed:
        raise SystemExit(1)


def last(output: str) -> str:
    lines = [line for line in output.splitlines() if " in " in line and "passed" in line]
    return lines[-1] if lines else ""


if __name__ == "__main__":
    main()
