//! The vault and notes: copies match their checksums, and purged data is gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use boswell_dialect::Step;
use boswell_store::ErrorKind;
use boswell_store::disk::Clock;
use boswell_store::disk::{Disk, OpenMode, RealDisk};
use boswell_store::model::SessionRef;
use boswell_store::notes::{Note, NoteKind, Notes};
use boswell_store::operations::Runner;
use boswell_store::vault::{Reason, Retention};
use boswell_testkit::disk;

use crate::plans::support::{FailingDisk, Fault, Place, Then, session, tree};
use crate::plans::undo::run;

const DAY: i64 = 86_400_000;

#[test]
fn purging_leaves_no_copy_but_those_that_others_need() {
    let place = Place::new();
    let other = SessionRef::new("pi", "s2");
    place.put("mine", "secret of mine");
    place.put("shared", "shared bytes");
    let runner = place.runner();
    runner
        .delete(&place.root(), &["mine".into(), "shared".into()], &session())
        .unwrap();
    place.put("theirs", "shared bytes");
    runner
        .vault()
        .keep(&place.root(), "theirs", &other, Reason::Kept)
        .unwrap();
    let purged = runner.vault().purge(&session()).unwrap();
    assert_eq!(
        (purged.records, purged.objects, purged.inodes, purged.shared),
        (2, 1, 2, 1)
    );
    let left = runner.vault().list().unwrap().0;
    assert_eq!(left.len(), 1);
    assert_eq!(runner.vault().restore(&left[0]).unwrap(), b"shared bytes");
    for (key, file) in tree(&place.home()) {
        let Some((bytes, _)) = file else { continue };
        assert!(!bytes.contains("secret of mine"), "{key}");
    }
    assert_eq!(
        runner.restore(&session()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(runner.vault().purge(&session()).unwrap().records, 0);
}

#[test]
fn what_a_crash_left_of_a_copy_goes_with_the_next_purge() {
    let place = Place::new();
    place.put("doc", "secret of mine");
    let mut left = 0;
    for at in 0..60 {
        let broken = FailingDisk::at(at, Fault::Half, Then::Dead);
        let _ =
            place
                .runner_on(broken)
                .vault()
                .keep(&place.root(), "doc", &session(), Reason::Kept);
        let copies = || {
            let files = tree(place.home().parent().unwrap());
            files
                .iter()
                .filter(|(key, file)| key.contains("vault/objects/") && file.is_some())
                .count()
        };
        left +=
            usize::from(copies() > 0 && place.runner().vault().of(&session()).unwrap().is_empty());
        place.runner().vault().purge(&session()).unwrap();
        assert_eq!(copies(), 0, "{at}");
    }
    assert!(left > 2, "{left}");
}

#[test]
fn copies_expire_by_reason_and_age_and_damaged_lines_stay() {
    let place = Place::new();
    place.put("doc", "v1");
    place.put("kept", "kept");
    let runner = place.runner();
    run(&place, vec![Step::put("doc", "v2")]);
    runner
        .vault()
        .keep(&place.root(), "kept", &session(), Reason::Kept)
        .unwrap();
    let log = place.home().join("vault/log.jsonl");
    let file = RealDisk.open(&log, OpenMode::Append).unwrap();
    file.append(b"{\"torn\n").unwrap();
    let keep = Retention::default();
    assert_eq!(
        runner
            .vault()
            .expire(place.id_source.now(), &keep)
            .unwrap()
            .records,
        0
    );
    place
        .id_source
        .millis
        .fetch_add(91 * DAY, Ordering::Relaxed);
    let expired = runner.vault().expire(place.id_source.now(), &keep).unwrap();
    assert_eq!((expired.records, expired.objects), (1, 1));
    let (left, damaged) = runner.vault().list().unwrap();
    assert_eq!(
        (left.len(), left[0].reason, damaged.len()),
        (1, Reason::Kept, 1)
    );
    assert!(
        !runner.operations().unwrap().0[0].undoable,
        "without its copy it cannot be undone"
    );
    assert_eq!(
        runner
            .undo(&runner.operations().unwrap().0[0].operation.id)
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn copies_of_any_size_are_verified_when_read() {
    let place = Place::new();
    let noise: String = (0..3_000_000u32)
        .map(|n| char::from(b' ' + (n.wrapping_mul(2_654_435_761) >> 26) as u8))
        .collect();
    let runner = place.runner();
    for text in [
        "",
        "a",
        "{\"line\":1}\n".repeat(300_000).as_str(),
        noise.as_str(),
    ] {
        place.put("file", text);
        let record = runner
            .vault()
            .keep(&place.root(), "file", &session(), Reason::Kept)
            .unwrap();
        assert_eq!(record.len, text.len() as u64);
        assert!(runner.vault().get(record.sha256).unwrap() == text.as_bytes());
        let hex = record.sha256.to_string();
        let object = place
            .home()
            .join("vault/objects")
            .join(&hex[..2])
            .join(&hex[2..]);
        let whole = disk::read(&object);
        assert!(
            text.len() < 100_000 || text == noise || whole.len() < text.len() / 10,
            "it is compressed"
        );
        for at in [0, 5, 17, 18, 21, 24, 25, whole.len() / 2, whole.len() - 1] {
            let mut bad = whole.clone();
            if at >= bad.len() {
                continue;
            }
            bad[at] ^= 0x41;
            disk::write(&object, &bad);
            assert_eq!(
                runner.vault().get(record.sha256).unwrap_err().kind(),
                ErrorKind::Damaged,
                "{at}"
            );
        }
        disk::write(&object, &whole[..whole.len() - 1]);
        assert_eq!(
            runner.vault().get(record.sha256).unwrap_err().kind(),
            ErrorKind::Damaged
        );
        disk::write(&object, &whole);
    }
}

#[test]
fn notes_fold_in_order_and_damaged_lines_are_reported_and_kept() {
    let place = Place::new();
    let runner: Runner = place.runner();
    let load = || Notes::load(Arc::new(RealDisk), &place.home(), runner.locks().clone()).unwrap();
    let mut notes = load();
    let at = place.id_source.now();
    let mut add = |kind| notes.add(&session(), at, kind).unwrap();
    add(NoteKind::Tag("a".into()));
    add(NoteKind::Tag("b \"quoted\"\n会".into()));
    add(NoteKind::Tag("a".into()));
    add(NoteKind::Untag("a".into()));
    add(NoteKind::Status {
        status: "error".into(),
        message: Some("no".into()),
    });
    add(NoteKind::Label {
        entry: "e1".into(),
        label: Some("start".into()),
    });
    add(NoteKind::Label {
        entry: "e2".into(),
        label: Some("x".into()),
    });
    add(NoteKind::Label {
        entry: "e2".into(),
        label: None,
    });
    add(NoteKind::Summary("about".into()));
    add(NoteKind::Title(Some("called".into())));
    let path = place.home().join("notes.jsonl");
    let file = RealDisk.open(&path, OpenMode::Append).unwrap();
    file.append(b"not json\n{\"kind\":\"tag\"}\n{\"torn")
        .unwrap();
    let other = SessionRef::new("claude", "x:y");
    notes
        .add_all(vec![Note {
            session: other.clone(),
            at,
            kind: NoteKind::Tag("t".into()),
        }])
        .unwrap();
    let again = load();
    assert_eq!(again.list(), notes.list(), "what is written reads back");
    assert_eq!(
        again.damaged().iter().map(|d| d.line).collect::<Vec<_>>(),
        [11, 12, 13]
    );
    let folded = again.of(&session());
    assert_eq!(folded.tags, ["b \"quoted\"\n会"]);
    assert_eq!(folded.status, Some(("error".into(), Some("no".into()))));
    assert_eq!(
        folded.labels.into_iter().collect::<Vec<_>>(),
        [("e1".to_owned(), "start".to_owned())]
    );
    assert_eq!(
        (folded.summary.as_deref(), folded.title.as_deref()),
        (Some("about"), Some("called"))
    );
    assert_eq!(again.all().len(), 2);
    assert_eq!(again.of(&other).tags, ["t"]);
    assert_eq!(RealDisk.stat(&path).unwrap().unwrap().mode, 0o600);
}
