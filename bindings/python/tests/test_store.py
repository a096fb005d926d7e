"""The store and its writers, without any framework."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import threading
from pathlib import Path

import pytest

import boswell_store
from boswell_store import (
    Busy,
    Conflict,
    Invalid,
    NotFound,
    Store,
    open_session,
    text_of,
)


def said(session: boswell_store.Session) -> list[str]:
    return [text_of(message) for message in session.messages()]


def test_what_was_appended_is_read_back_and_can_be_appended_again(store: Store) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "why is the build red? é 漢 \U0001f600"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "text": "look at the log"},
                {
                    "type": "tool_call",
                    "id": "c1",
                    "name": "read",
                    "arguments": {"path": "log.txt", "lines": [1, 2.5, None, True]},
                },
            ],
        },
        {
            "role": "tool",
            "call": "c1",
            "tool": "read",
            "is_error": False,
            "content": [{"type": "text", "text": "red"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "a test is flaky"}]},
    ]
    with store.create(project="/proj/demo", id="first", title="builds") as writer:
        for message in messages:
            receipt = writer.append(message)
            assert receipt.durability == "fsync" and not receipt.deduplicated
    session = store.session("first")
    assert session.messages() == messages
    assert (session.title, session.project) == ("builds", "/proj/demo")
    with store.create(id="second") as writer:
        writer.append_all(session.messages())
    assert store.session("second").messages() == messages


def test_a_text_is_a_message_with_one_part(store: Store) -> None:
    writer = store.create()
    writer.append({"role": "user", "content": "hello"})
    assert writer.session().messages() == [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    ]


def test_the_same_id_and_content_is_one_entry_and_other_content_a_conflict(store: Store) -> None:
    writer = store.create()
    ask = {"role": "user", "content": "hello"}
    first = writer.append(ask, id="ask")
    again = writer.append(ask, id="ask")
    assert again.deduplicated and again.entry == first.entry == "ask"
    with pytest.raises(Conflict) as refused:
        writer.append({"role": "user", "content": "bye"}, id="ask")
    assert refused.value.kind == "conflict"
    assert refused.value.hint
    assert said(writer.session()) == ["hello"]


def test_an_expectation_that_does_not_hold_writes_nothing(store: Store) -> None:
    writer = store.create()
    first = writer.append({"role": "user", "content": "one"})
    writer.append({"role": "assistant", "content": "two"}, expect_revision=first.revision)
    with pytest.raises(Conflict) as refused:
        writer.append({"role": "user", "content": "three"}, expect_revision=first.revision)
    assert refused.value.expected == first.revision
    assert refused.value.actual not in (None, first.revision)
    with pytest.raises(Conflict):
        writer.append({"role": "user", "content": "three"}, expect_leaf=first.entry)
    assert said(writer.session()) == ["one", "two"]


def test_branch_reset_and_fork_lose_nothing(store: Store) -> None:
    writer = store.create(id="tree")
    asked = writer.append({"role": "user", "content": "why?"})
    writer.append({"role": "assistant", "content": "no"})
    writer.branch(asked.entry)
    writer.append({"role": "assistant", "content": "yes"})
    assert said(writer.session()) == ["why?", "yes"]
    fork = store.fork("tree", at=asked.entry, new_id="forked")
    assert said(fork.session()) == ["why?"]
    writer.reset()
    assert writer.session().messages() == []
    texts = [entry.text for entry in writer.session().entries() if entry.text]
    assert texts == ["why?", "no", "yes"]


def test_a_compaction_replaces_what_is_sent(store: Store) -> None:
    writer = store.create()
    for number in range(4):
        last = writer.append({"role": "user", "content": f"message {number}"})
    writer.compact("they counted", last.entry, tokens_before=100)
    texts = said(writer.session())
    assert "they counted" in texts[0] and texts[-1] == "message 3" and len(texts) == 2
    assert len(writer.session().context()["messages"]) == 2


def test_pages_from_both_ends_are_the_whole_log(store: Store) -> None:
    writer = store.create()
    for number in range(10):
        writer.append({"role": "user", "content": str(number)}, id=f"e{number}")
    session = writer.session()
    whole = [entry.id for entry in session.entries()]
    assert len(whole) == len(session) == 11
    for backwards in (False, True):
        paged: list[str | None] = []
        edge: str | None = None
        while True:
            side = {"before": edge} if backwards else {"after": edge}
            page = session.entries(limit=3, backwards=backwards, **side)
            if not page:
                break
            paged += [entry.id for entry in page]
            edge = page[-1].id
        assert paged == (whole[::-1] if backwards else whole)
    last = session.entries(limit=1, backwards=True, branch=True)
    assert [entry.id for entry in last] == ["e9"]
    with pytest.raises(NotFound):
        session.entries(after="nowhere")
    with pytest.raises(Invalid):
        session.entries(limit=-1)


def test_a_snapshot_does_not_change(store: Store) -> None:
    writer = store.create(id="s")
    writer.append({"role": "user", "content": "one"})
    session = store.session("s")
    writer.append({"role": "user", "content": "two"})
    assert said(session) == ["one"]
    assert said(store.session("s")) == ["one", "two"]


def test_records_are_kept_as_they_came(store: Store) -> None:
    writer = store.create()
    data = {"deep": [1, {"a": None}], "float": 0.1, "text": "a\ud800b\u2028"}
    writer.append({"type": "custom", "customType": "x.y", "data": data}, id="c")
    writer.append(b'{"type":"custom","customType":"x.z","data":{"n":1e400}}')
    entries = writer.session().entries(backwards=True, limit=2)
    assert entries[1].json()["data"] == data
    assert b'"n":1e400' in entries[0].bytes
    assert entries[1].kind == "custom" and entries[1].id == "c"


def test_large_values_go_to_blobs_and_come_back(store: Store, home: Path) -> None:
    writer = store.create()
    text = "x" * 600_000
    writer.append({"role": "user", "content": text}, id="large")
    entry = writer.session().entry("large")
    assert len(entry.raw) < 550_000 < len(entry.bytes)
    assert entry.text == text and said(writer.session()) == [text]
    assert entry.missing_blobs == []
    blob = next((home / "blobs").iterdir())
    blob.unlink()
    entry = writer.session().entry("large")
    assert entry.missing_blobs == [f"blob:sha256:{blob.name}"]
    assert blob.name in entry.json()["message"]["content"]


def test_blobs_are_stored_once(store: Store) -> None:
    id = store.blobs.put(b"some bytes")
    assert id == store.blobs.put(b"some bytes")
    assert id.startswith("blob:sha256:")
    assert store.blobs.get(id) == b"some bytes"
    assert store.blobs.has(id)
    with pytest.raises(Invalid):
        store.blobs.get("nonsense")
    with pytest.raises(NotFound):
        store.blobs.get("0" * 64)


def test_a_follower_sees_each_entry_once(store: Store) -> None:
    writer = store.create(id="followed")
    first = writer.append({"role": "user", "content": "one"})
    follower = store.follow("followed")
    assert [entry.text for entry in follower.poll()[1] if entry.text] == ["one"]
    assert follower.poll()[1] == []
    writer.append({"role": "assistant", "content": "two"})
    _, entries = follower.poll()
    assert [(entry.kind, entry.text) for entry in entries] == [("assistant", "two")]
    since = store.follow("followed", since=first.revision)
    assert [entry.text for entry in since.poll()[1]] == ["two"]
    with pytest.raises(NotFound):
        store.follow("nowhere")


def test_a_deleted_session_can_be_restored(store: Store) -> None:
    with store.create(id="gone") as writer:
        writer.append({"role": "user", "content": "hello"})
    assert store.has("gone")
    assert store.delete("gone")
    assert not store.has("gone") and store.list() == []
    store.restore("gone")
    assert said(store.session("gone")) == ["hello"]
    with pytest.raises(NotFound):
        store.delete("nowhere")


def test_the_list_tells_title_project_and_times(store: Store) -> None:
    store.create(id="a", project="/proj/a", title="first").release()
    writer = store.create(id="b", project="/proj/b")
    writer.append({"role": "user", "content": "hello"})
    store.set_title("b", "second")
    infos = {info.id: info for info in store.list(details=True)}
    assert {(info.title, info.project) for info in infos.values()} == {
        ("first", "/proj/a"),
        ("second", "/proj/b"),
    }
    assert infos["b"].messages == 1
    assert infos["b"].modified > 1_600_000_000_000
    assert [info.title for info in store.list()] == [None, None]


def test_one_process_drives_and_others_learn_who(store: Store, home: Path) -> None:
    writer = store.create(id="driven")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        kind, pid = pool.apply(_refused, (str(home), "driven"))
        assert (kind, pid) == ("busy", os.getpid())
        writer.release()
        assert pool.apply(_refused, (str(home), "driven")) == (None, None)


def _refused(home: str, id: str) -> tuple[str | None, int | None]:
    try:
        with Store.open(home).writer(id):
            return None, None
    except Busy as error:
        return error.kind, error.holder_pid


def test_several_processes_share_a_session_without_the_lease(store: Store, home: Path) -> None:
    open_session(store, "shared", shared=True)
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        pool.starmap(_append_many, [(str(home), n) for n in range(3)])
    texts = said(store.session("shared"))
    assert sorted(texts) == sorted(f"{n}-{i}" for n in range(3) for i in range(20))
    for n in range(3):
        own = [text for text in texts if text.startswith(f"{n}-")]
        assert own == [f"{n}-{i}" for i in range(20)]


def _append_many(home: str, number: int) -> None:
    writer = open_session(Store.open(home), "shared", shared=True)
    for count in range(20):
        writer.append({"role": "user", "content": f"{number}-{count}"})


def test_threads_append_to_one_writer(store: Store) -> None:
    writer = store.create()
    threads = [
        threading.Thread(
            target=lambda n=n: [
                writer.append({"role": "user", "content": f"{n}-{i}"}) for i in range(10)
            ]
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said(writer.session())) == 80


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_use_after_a_fork_is_refused_and_harms_nothing(store: Store, home: Path) -> None:
    writer = store.create(id="forked")
    writer.append({"role": "user", "content": "before"})
    session = store.session("forked")
    reader, sender = os.pipe()
    child = os.fork()
    if child == 0:
        outcomes = []
        for call in (
            lambda: writer.append({"role": "user", "content": "child"}),
            lambda: store.list(),
            lambda: session.messages(),
            lambda: store.follow("forked"),
        ):
            try:
                call()
                outcomes.append("done")
            except Invalid as error:
                outcomes.append("refused" if error.hint else "without hint")
            except BaseException as error:  # noqa: BLE001
                outcomes.append(repr(error))
        # What the child inherited is dropped here; the lease of the parent must outlive that.
        del writer, store, session
        os.write(sender, json.dumps(outcomes).encode())
        os._exit(0)
    os.close(sender)
    assert os.waitpid(child, 0)[1] == 0
    with os.fdopen(reader) as pipe:
        assert json.load(pipe) == ["refused"] * 4
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_refused, (str(home), "forked"))[0] == "busy"
    writer.append({"role": "user", "content": "after"})
    assert said(writer.session()) == ["before", "after"]


def test_errors_say_what_why_and_what_next(store: Store) -> None:
    with pytest.raises(NotFound) as missing:
        store.session("nowhere")
    assert "nowhere" in missing.value.message
    assert "store.list()" in missing.value.hint
    assert "hint: " in str(missing.value)
    copy = pickle.loads(pickle.dumps(missing.value))
    assert type(copy) is NotFound and str(copy) == str(missing.value)
    for bad in ({"content": "x"}, {"role": "robot"}, "text", 7, {"role": "tool"}):
        with pytest.raises(Invalid):
            store.create().append(bad)


def test_a_closed_writer_says_how_to_go_on(store: Store) -> None:
    writer = store.create(id="closed")
    writer.append({"role": "user", "content": "one"})
    writer.finish()
    with pytest.raises(Invalid) as closed:
        writer.append({"role": "user", "content": "two"})
    assert "store.writer" in closed.value.hint
    with store.writer("closed") as again:
        again.append({"role": "user", "content": "two"})
    assert said(store.session("closed")) == ["one", "two"]


def test_a_ticket_is_waited_for_once(store: Store) -> None:
    writer = store.create()
    tickets = [writer.submit({"role": "user", "content": str(n)}) for n in range(5)]
    receipts = [ticket.wait() for ticket in tickets]
    assert len({receipt.entry for receipt in receipts}) == 5
    with pytest.raises(Invalid):
        tickets[0].wait()


def test_a_store_in_memory_keeps_nothing(tmp_path: Path) -> None:
    store = Store.in_memory()
    writer = store.create(project="/proj/demo")
    writer.append({"role": "user", "content": "hello"})
    assert said(writer.session()) == ["hello"]
    assert list(tmp_path.iterdir()) == []


def test_the_program_reads_what_python_wrote(store: Store, boswell) -> None:
    with store.create(id="0199aaaa-demo", title="red builds") as writer:
        writer.append({"role": "user", "content": "why is the quokka build red?"})
        writer.append({"role": "assistant", "content": "a test is flaky"})
    shown = boswell("show", "0199aaaa-demo")
    assert "quokka" in shown and "a test is flaky" in shown
    assert "quokka" in boswell("search", "quokka")
    assert "red builds" in boswell("list")
