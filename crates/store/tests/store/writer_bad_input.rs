//! Invalid requests: an error of the right kind, and no byte on disk changes.
#![expect(
    clippy::disallowed_methods,
    reason = "a test plants, looks and stops at the first surprise"
)]

mod places;

use boswell_store::model::json::Json;
use boswell_store::writer::Parent;
use boswell_store::{
    Body, Draft, Durability, ErrorKind, Expect, Home, NewSession, Result, SessionWriter, Wait,
    WritableStore,
};
use boswell_testkit::snapshot::TreeSnapshot;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const ID: &str = "here";

/// Creates a home with one closed session of two entries, `u1` and `a1`.
fn home() -> (TempDir, WritableStore, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = Home::at(folder.path().join("home")).sessions().unwrap();
    let writer = store
        .create(NewSession::in_project("/proj/demo").with_id(ID))
        .unwrap();
    writer.append(Draft::user("hello").with_id("u1")).unwrap();
    writer.append(Draft::assistant("hi").with_id("a1")).unwrap();
    let path = writer.path();
    writer.release().unwrap();
    (folder, store, path)
}

/// Checks that the request fails with that kind and a message, and changes nothing below `root`.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    root: &Path,
    kind: ErrorKind,
    request: impl FnOnce() -> Result<T>,
) -> String {
    let before = TreeSnapshot::take(root);
    let error = request().unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let changes = before.diff(&TreeSnapshot::take(root));
    assert!(changes.is_empty(), "{error}: {changes:?}");
    let text = error.to_string();
    assert!(
        !text.contains('\0') && !text.contains('\n') && text.len() < 600,
        "{text}"
    );
    text
}

const BAD_IDS: [&str; 14] = [
    "",
    "a/b",
    "../up",
    "..",
    ".",
    ".hidden",
    "a\\b",
    "nul\0",
    "-rf",
    "--help",
    "a b",
    "new\nline",
    "C:x",
    "x.jsonl",
];

#[test]
fn a_session_cannot_have_an_id_that_is_no_plain_name() {
    let (folder, store, _) = home();
    let long = "x".repeat(300);
    let too_long_for_a_file = "x".repeat(250);
    for id in BAD_IDS
        .iter()
        .copied()
        .chain([long.as_str(), &too_long_for_a_file])
    {
        let new = || NewSession::in_project("/proj/demo").with_id(id);
        refused(folder.path(), ErrorKind::Invalid, || store.create(new()));
        refused(folder.path(), ErrorKind::Invalid, || {
            store.fork(ID, None, new())
        });
    }
    let longest = "x".repeat(180);
    let new = NewSession::in_project("/proj/demo").with_id(&longest);
    let deferred = NewSession {
        visible: boswell_store::writer::Visibility::WithFirstAnswer,
        ..new
    };
    let writer = store.create(deferred).unwrap();
    writer
        .append(Draft::assistant("an id may be long, not too long"))
        .unwrap();
}

#[test]
fn a_session_that_is_not_there_is_not_found_whatever_it_is_called() {
    let (folder, store, _) = home();
    let long = "x".repeat(300);
    for id in BAD_IDS
        .iter()
        .copied()
        .chain(["nothing", "her", "HERE", "here.jsonl", &long])
    {
        let title = || Draft::new(Body::Title("t".to_owned()));
        refused(folder.path(), ErrorKind::NotFound, || store.session(id));
        refused(folder.path(), ErrorKind::NotFound, || {
            store.writer(id, Wait::Forever)
        });
        refused(folder.path(), ErrorKind::NotFound, || {
            store.annotate(id, title())
        });
        refused(folder.path(), ErrorKind::NotFound, || {
            store.fork(id, None, NewSession::default())
        });
    }
}

#[test]
fn an_id_is_not_found_by_its_end() {
    let (folder, store, _) = home();
    let deferred = |id: &str| NewSession {
        visible: boswell_store::writer::Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj/demo").with_id(id)
    };
    let writer = store.create(deferred("a_b")).unwrap();
    writer.append(Draft::user("hidden")).unwrap();
    refused(folder.path(), ErrorKind::NotFound, || store.session("b"));
    refused(folder.path(), ErrorKind::NotFound, || {
        store.writer("b", Wait::No)
    });
    let other = store.create(deferred("b")).unwrap();
    other.append(Draft::user("mine")).unwrap();
    assert_eq!(store.session("b").unwrap().log().heads.len(), 2);
    assert_eq!(store.session("a_b").unwrap().log().heads.len(), 2);
}

#[test]
fn the_lease_of_one_session_is_not_the_lock_of_another() {
    let (_folder, store, _) = home();
    let named = |id: &str| {
        store
            .create(NewSession::in_project("/proj/demo").with_id(id))
            .unwrap()
    };
    let (one, two) = (named("x"), named("x.append"));
    one.append(Draft::user("not in the way")).unwrap();
    two.append(Draft::user("of each other")).unwrap();
}

#[test]
fn an_id_that_is_taken_is_not_made_again() {
    let (folder, store, _) = home();
    refused(folder.path(), ErrorKind::Conflict, || {
        store.create(NewSession::in_project("/elsewhere").with_id(ID))
    });
    refused(folder.path(), ErrorKind::Conflict, || {
        store.fork(ID, None, NewSession::in_project("/elsewhere").with_id(ID))
    });
    refused(folder.path(), ErrorKind::Invalid, || {
        store.create(NewSession::in_project("/w").titled(" \n "))
    });
}

type Request = fn(&SessionWriter) -> Result<()>;

#[test]
fn an_append_that_cannot_be_right_writes_nothing_and_the_writer_goes_on() {
    let requests: &[(ErrorKind, Request)] = &[
        (ErrorKind::NotFound, |w| {
            w.append(Draft::user("x").below(Parent::Entry("nothing".into())))
                .map(drop)
        }),
        (ErrorKind::NotFound, |w| {
            w.append(Draft::user("x").below(Parent::Entry(ID.into())))
                .map(drop)
        }),
        (ErrorKind::NotFound, |w| w.branch("nothing").map(drop)),
        (ErrorKind::NotFound, |w| {
            w.branch_with_summary(Some(&"nothing".into()), "s")
                .map(drop)
        }),
        (ErrorKind::NotFound, |w| w.rewind("nothing").map(drop)),
        (ErrorKind::Invalid, |w| w.rewind("a1").map(drop)),
        (ErrorKind::NotFound, |w| {
            w.compact("s", "nothing", 0).map(drop)
        }),
        (ErrorKind::NotFound, |w| {
            w.append(Draft::new(Body::Label {
                target: "nothing".into(),
                label: None,
            }))
            .map(drop)
        }),
        (ErrorKind::Conflict, |w| {
            w.append(Draft::user("other").with_id("u1")).map(drop)
        }),
        (ErrorKind::Conflict, |w| {
            w.append(
                Draft::user("hello")
                    .with_id("u1")
                    .below(Parent::Entry("a1".into())),
            )
            .map(drop)
        }),
        (ErrorKind::Conflict, |w| {
            let batch = vec![
                Draft::user("same").with_id("n1"),
                Draft::user("same").with_id("n1"),
            ];
            w.append_all(batch, Expect::Any, Durability::Fsync)
                .map(drop)
        }),
        (ErrorKind::Conflict, |w| {
            w.append_with(
                Draft::user("x"),
                Expect::Revision("1".parse().unwrap()),
                Durability::Os,
            )
            .map(drop)
        }),
        (ErrorKind::Conflict, |w| {
            w.append_with(Draft::user("x"), Expect::Leaf("u1".into()), Durability::Os)
                .map(drop)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(Draft::user("x").with_id("")).map(drop)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(Draft::user("x").with_id("nul\0")).map(drop)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(Draft::user("x").with_id("i".repeat(300)))
                .map(drop)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(Draft::new(Body::Title("\t".to_owned()))).map(drop)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(Draft::custom("x", Json::Raw(b"{\"a\":".to_vec())))
                .map(drop)
        }),
        (ErrorKind::Invalid, |w| native(w, "not json")),
        (ErrorKind::Invalid, |w| native(w, "[1]")),
        (ErrorKind::Invalid, |w| native(w, "{}")),
        (ErrorKind::Invalid, |w| native(w, r#"{"type":7}"#)),
        (ErrorKind::Invalid, |w| {
            native(w, r#"{"type":"custom"} {"type":"custom"}"#)
        }),
        (ErrorKind::Invalid, |w| {
            native(w, r#"{"type":"session","version":3,"id":"z"}"#)
        }),
        (ErrorKind::Invalid, |w| {
            native(w, r#"{"type":"custom","id":null}"#)
        }),
        (ErrorKind::Invalid, |w| {
            native(w, r#"{"type":"custom","id":5}"#)
        }),
        (ErrorKind::Invalid, |w| {
            native(w, r#"{"type":"custom","parentId":5}"#)
        }),
        (ErrorKind::NotFound, |w| {
            native(w, r#"{"type":"custom","parentId":"nothing"}"#)
        }),
        (ErrorKind::NotFound, |w| {
            native(w, r#"{"type":"custom","id":"me","parentId":"me"}"#)
        }),
        (ErrorKind::Conflict, |w| {
            native(w, r#"{"type":"custom","id":"u1","customType":"x"}"#)
        }),
        (ErrorKind::Invalid, |w| {
            w.append(
                Draft::new(Body::Native(br#"{"type":"custom","id":"n5"}"#.to_vec())).with_id("n6"),
            )
            .map(drop)
        }),
    ];
    let (folder, store, _) = home();
    let writer = store.writer(ID, Wait::No).unwrap();
    writer
        .append(Draft::new(Body::Label {
            target: "u1".into(),
            label: Some("l".to_owned()),
        }))
        .unwrap();
    for (kind, request) in requests {
        refused(folder.path(), *kind, || request(&writer));
        assert!(writer.in_doubt().is_empty());
    }
    assert_eq!(store.session(ID).unwrap().log().heads.len(), 4);
    writer.append(Draft::user("right again")).unwrap();
}

fn native(writer: &SessionWriter, record: &str) -> Result<()> {
    writer
        .append(Draft::new(Body::Native(record.as_bytes().to_vec())))
        .map(drop)
}

#[test]
fn what_is_the_same_but_for_something_left_out_is_not_the_same() {
    let (folder, store, _) = home();
    let writer = store.writer(ID, Wait::No).unwrap();
    let label = |label: Option<&str>| {
        Draft::new(Body::Label {
            target: "u1".into(),
            label: label.map(str::to_owned),
        })
        .with_id("l1")
    };
    writer.append(label(Some("start"))).unwrap();
    assert!(writer.append(label(Some("start"))).unwrap().deduplicated);
    refused(folder.path(), ErrorKind::Conflict, || {
        writer.append(label(None))
    });
    let state = |data: Option<Json>| {
        Draft::new(Body::Custom {
            kind: "x".to_owned(),
            data,
        })
        .with_id("s1")
    };
    writer.append(state(Some(Json::Null))).unwrap();
    refused(folder.path(), ErrorKind::Conflict, || {
        writer.append(state(None))
    });
}

#[test]
fn only_what_leaves_the_leaf_where_it_is_needs_no_lease() {
    let (folder, store, _) = home();
    let title = || Draft::new(Body::Title("t".to_owned()));
    refused(folder.path(), ErrorKind::Invalid, || {
        store.annotate(ID, Draft::user("x"))
    });
    refused(folder.path(), ErrorKind::Invalid, || {
        store.annotate(ID, Draft::assistant("x"))
    });
    refused(folder.path(), ErrorKind::Invalid, || {
        store.annotate(ID, title().below(Parent::Root))
    });
    refused(folder.path(), ErrorKind::Invalid, || {
        store.annotate(ID, title().below(Parent::Entry("u1".into())))
    });
}
