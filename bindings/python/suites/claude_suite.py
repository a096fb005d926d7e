"""The contracts of `SessionStore` that the Claude Agent SDK ships, on our adapter."""

from __future__ import annotations

import asyncio
import tempfile

from claude_agent_sdk.testing import run_session_store_conformance

from boswell_store.claude import BoswellSessionStore

CONTRACTS = 14


def main() -> None:
    made = 0
    with tempfile.TemporaryDirectory() as folder:

        def make() -> BoswellSessionStore:
            nonlocal made
            made += 1
            return BoswellSessionStore(f"{folder}/{made}")

        # It raises at the first contract that does not hold.
        asyncio.run(run_session_store_conformance(make))
    # One store to see which methods there are, and one for each contract.
    if made != CONTRACTS + 1:
        raise SystemExit(f"the suite made {made} stores: some contracts were left out")
    print(f"suite claude: {CONTRACTS} passed, 0 failed")


if __name__ == "__main__":
    main()
