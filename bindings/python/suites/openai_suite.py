"""The session tests of the OpenAI Agents SDK, from its source package, with our class in the place
of `SQLiteSession`. The tests that look into SQLite are listed in `openai_not_ours.txt`: every other
test must pass, and none of the listed ones may."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sources import unpacked

HERE = Path(__file__).resolve().parent
# Every file whose tests use the class, but for those of its subclasses and of other backends.
TESTS = [
    "tests/memory",
    "tests/deferred_session_writes",
    "tests/test_hitl_session_scenario.py",
    "tests/test_agent_runner.py",
    "tests/test_agent_runner_streamed.py",
    "tests/test_max_turns.py",
    "tests/test_native_tool_failure_history.py",
    "tests/test_programmatic_tool_calling.py",
    "tests/test_run_impl_resume_paths.py",
    "tests/test_soft_cancel.py",
    "tests/test_tool_batch_failure_history.py",
    "tests/test_tool_failure_boundaries.py",
]


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tests = unpacked(folder, "openai-agents", "0.24.0")
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    environment = os.environ | {
        "PYTHONPATH": str(HERE),
        "BOSWELL_SUITE_RESULT": str(result),
        "OPENAI_API_KEY": "none",
    }
    there = [test for test in TESTS if (tests / test).exists()]
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    subprocess.run(
        [*pytest, "-p", "swapped_session", "--tb=no", *there],
        cwd=tests,
        env=environment,
        # The counts on standard output are ours: some tests are expected to fail here.
        stdout=sys.stderr,
        check=False,
    )
    report(json.loads(result.read_text()))


def report(result: dict) -> None:
    not_ours = (HERE / "openai_not_ours.txt").read_text().splitlines()
    not_ours = {line for line in not_ours if line and not line.startswith("#")}
    used, failed = set(result["used"]), set(result["failed"])
    # Without the packages that a file of tests needs, its tests do not run.
    unexpected, fixed = sorted(failed - not_ours), sorted((not_ours & used) - failed)
    for test in unexpected:
        print(f"failed, and is not listed: {test}\n{result['failed'][test]}")
    for test in fixed:
        print(f"listed, and did not fail: {test}")
    print(f"all tests of the files: {result['passed']} passed, {len(failed)} failed")
    print(f"{len(used)} tests use the class; {len(used & not_ours)} of them look into SQLite")
    wrong = len(unexpected) + len(fixed)
    print(f"suite openai: {len(used - failed)} passed, {wrong} failed")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
