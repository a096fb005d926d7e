"""Expiry, erasure by person, and search."""

from __future__ import annotations

from pathlib import Path

import pytest

from boswell_store import Busy, Invalid, Store, Unsupported


def say(store: Store, id: str, text: str, **options) -> None:
    with store.create(project="/proj", id=id, **options) as writer:
        writer.append({"role": "user", "content": text})
        writer.append({"role": "assistant", "content": "understood"})


def bytes_below(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_has_expired_is_deleted_and_can_be_restored(store: Store) -> None:
    say(store, "short", "hello", expires_in=0.0)
    say(store, "long", "hello", expires_in=3600.0)
    say(store, "forever", "hello")
    assert store.expire() == ["short"]
    assert store.expire() == []
    assert {it.id for it in store.list()} == {"long", "forever"}
    store.restore("short")
    store.set_expiry("short", None)
    store.set_expiry("long", 0.0)
    assert store.expire() == ["long"]
    with pytest.raises(Invalid):
        store.set_expiry("short", -1.0)
    with pytest.raises(Invalid):
        store.create(expires_in=float("nan"))


def test_a_session_that_is_open_does_not_expire_under_its_driver(store: Store) -> None:
    with store.create(id="s", expires_in=0.0) as writer:
        assert store.expire() == []
        writer.append({"role": "user", "content": "still here"})
    assert store.expire() == ["s"]


def test_everything_about_a_person_is_erased_with_copies_and_words(
    store: Store, home: Path
) -> None:
    say(store, "a", "the word is xylophone", subject="ann")
    say(store, "deleted", "again xylophone", subject="ann")
    say(store, "b", "marimba", subject="bob")
    store.fork("a", new_id="fork").release()
    assert {it.id for it in store.list(subject="ann")} == {"a", "deleted", "fork"}
    # Its words are in the search index now, and a copy of a log is in the vault.
    assert len(store.search("xylophone")) >= 2
    store.delete("deleted")
    assert b"xylophone" in bytes_below(home)
    with store.writer("a"):
        with pytest.raises(Busy) as refused:
            store.erase("ann")
        assert "a in use" in refused.value.message
    assert store.erase("ann") == ["a"]
    assert b"xylophone" not in bytes_below(home)
    assert store.search("xylophone") == []
    assert [it.id for it in store.list()] == ["b"]
    (info,) = store.list(details=True)
    assert info.subject == "bob"
    assert store.search("marimba")[0].session == "b"


def test_search_finds_words_phrases_and_one_session(store: Store) -> None:
    say(store, "a", "why is the build red? because of the wombat")
    say(store, "b", "the wombat sleeps")
    hits = store.search("wombat")
    assert {hit.session for hit in hits} == {"a", "b"}
    assert all(hit.role == "user" and "wombat" in hit.snippet for hit in hits)
    assert [hit.session for hit in store.search('"wombat sleeps"')] == ["b"]
    assert [hit.session for hit in store.search("wombat", session="a")] == ["a"]
    assert len(store.search("wombat", limit=1)) == 1
    entry = store.session("b").entry(store.search('"wombat sleeps"')[0].entry)
    assert entry.text == "the wombat sleeps"
    assert store.search("quokka") == []
    with pytest.raises(Unsupported):
        Store.in_memory().search("wombat")
