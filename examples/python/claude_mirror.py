"""Mirrors a session of the Claude Agent SDK into PostgreSQL, so that another host can resume it.

python claude_mirror.py ADDRESS SESSION MESSAGE...

`ADDRESS` is that of a database whose tables `Store.make_tables` made. The SDK calls the store
itself, by `ClaudeAgentOptions(session_store=…)`; this example makes the same calls, so that it runs
without a key.
"""

from __future__ import annotations

import asyncio
import sys
import uuid

from claude_agent_sdk import SessionKey

from boswell_store import Store
from boswell_store.claude import BoswellSessionStore


async def main(address: str, session: str, messages: list[str]) -> None:
    store = BoswellSessionStore(Store.remote(address, tenant="example"))
    key: SessionKey = {"project_key": "-proj", "session_id": session}
    for text in messages:
        message = {"role": "user", "content": text}
        await store.append(key, [{"type": "user", "uuid": str(uuid.uuid4()), "message": message}])
    mirrored = await store.load(key) or []
    print(f"{len(mirrored)} entries are in the database")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
