"""The published conformance tests of LangGraph checkpointers, on our adapter."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator

from langgraph.checkpoint.conformance import checkpointer_test, validate

from boswell_store.langgraph import BoswellSaver


@checkpointer_test(name="boswell")
async def saver() -> AsyncIterator[BoswellSaver]:
    with tempfile.TemporaryDirectory() as folder:
        yield BoswellSaver(folder)


def main() -> None:
    report = asyncio.run(validate(saver))
    report.print_report()
    passed = sum(result.tests_passed for result in report.results.values())
    failed = sum(result.tests_failed for result in report.results.values())
    skipped = [name for name, result in report.results.items() if result.passed is None]
    print(f"suite langgraph: {passed} passed, {failed} failed")
    if failed or skipped:
        raise SystemExit(f"failed: {failed}; capabilities left out: {skipped}")


if __name__ == "__main__":
    main()
