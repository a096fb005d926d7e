"""Sessions in PostgreSQL, and two frameworks on them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from postgres import folder_of_programs, server

from boswell_store import Busy, Conflict, NotFound, Store, Unsupported, text_of
from conftest import absent


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    programs = folder_of_programs()
    if programs is None:
        absent("PostgreSQL (PG_BIN)")
    with server(programs) as made:
        yield made


@pytest.fixture
def remote(address: str) -> Store:
    return Store.remote(address, tenant=f"t{uuid4().hex}")


def test_a_session_in_a_database_is_written_and_read(remote: Store, address: str) -> None:
    assert remote.path is None
    with remote.create(project="/proj", id="s", title="weather") as writer:
        writer.append({"role": "user", "content": "hello"})
        with pytest.raises(Busy):
            remote.writer("s")
        receipt = writer.append({"role": "assistant", "content": "it is dry"})
    assert [text_of(it) for it in remote.session("s").messages()] == ["hello", "it is dry"]
    (info,) = remote.list(details=True)
    assert (info.id, info.title) == ("s", "weather")
    with remote.writer("s") as writer:
        with pytest.raises(Conflict):
            writer.append({"role": "user", "content": "late"}, expect_leaf="nobody")
        writer.append({"role": "user", "content": "more"}, expect_leaf=receipt.entry)
    _, entries = remote.follow("s").poll()
    assert [it.text for it in entries if it.kind == "user"] == ["hello", "more"]
    with remote.fork("s", new_id="copy") as fork:
        assert len(fork.session().messages()) == 3
    # Another tenant sees nothing.
    assert Store.remote(address, tenant="other").list() == []
    assert remote.delete("s") is None
    with pytest.raises(NotFound):
        remote.session("s")


def test_sessions_in_a_database_expire_and_are_erased_by_person(remote: Store) -> None:
    for id, subject, expires in [("a", "ann", None), ("b", "bob", None), ("c", None, 0.0)]:
        with remote.create(id=id, subject=subject, expires_in=expires) as writer:
            writer.append({"role": "user", "content": id})
    assert remote.expire() == ["c"]
    assert [it.id for it in remote.list(subject="ann")] == ["a"]
    assert remote.erase("ann") == ["a"]
    assert [it.id for it in remote.list()] == ["b"]


def test_what_needs_files_says_so(remote: Store) -> None:
    for call in [
        lambda: remote.search("word"),
        lambda: remote.restore("s"),
        lambda: remote.blobs.put(b"bytes"),
    ]:
        with pytest.raises(Unsupported):
            call()


def test_the_openai_session_is_in_a_database(remote: Store) -> None:
    pytest.importorskip("agents")
    from boswell_store.openai import BoswellSession

    async def run() -> None:
        items = [{"role": "user", "content": f"number {n}"} for n in range(5)]
        session = BoswellSession("customer", remote)
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.get_items(2) == items[-2:]
        assert await session.pop_item() == items[-1]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(run())


def test_the_langgraph_suite_passes_on_a_database(address: str) -> None:
    conformance = pytest.importorskip("langgraph.checkpoint.conformance")
    from boswell_store.langgraph import BoswellSaver

    @conformance.checkpointer_test(name="BoswellSaver")
    async def saver():
        yield BoswellSaver(Store.remote(address, tenant=f"t{uuid4().hex}"))

    report = asyncio.run(conformance.validate(saver))
    failed = {name: it for name, it in report.results.items() if it.passed is not True}
    assert not failed
    assert sum(result.tests_passed for result in report.results.values()) == 81


def test_the_claude_store_is_a_mirror_in_a_database(address: str) -> None:
    testing = pytest.importorskip("claude_agent_sdk.testing")
    from boswell_store.claude import BoswellSessionStore

    def made():
        return BoswellSessionStore(Store.remote(address, tenant=f"t{uuid4().hex}"))

    asyncio.run(testing.run_session_store_conformance(made))
