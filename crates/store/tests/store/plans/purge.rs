//! A purge on a disk that loses unsynced data: after a crash at any call, the next run finishes it.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Clock, Plan, Step};
use boswell_store::disk::durable;
use boswell_store::locks::Owner;
use boswell_store::model::SessionRef;
use boswell_store::notes::{NoteKind, Notes};
use boswell_store::operations::{Purging, Runner};
use boswell_store::vault::Reason;
use boswell_store::{Result, Wait};
use boswell_testkit::crash_disk::{CrashDisk, Keep};

use crate::plans::support::TestIds;

const ROOT: &str = "/store";
const WORDS: [&str; 4] = ["zebuprompt", "xerustitle", "tapirnote", "numbatname"];

fn gone() -> SessionRef {
    SessionRef::new("myagents", "gone")
}

fn other() -> SessionRef {
    SessionRef::new("myagents", "other")
}

fn runner(disk: &CrashDisk, first: u64) -> Runner {
    let owner = Owner {
        pid: 4242,
        program: "test".into(),
    };
    Runner::new(
        Arc::new(disk.clone()),
        "/home",
        TestIds::counting_from(first),
        owner,
    )
    .waiting(Wait::No)
}

fn notes(disk: &CrashDisk) -> Notes {
    Notes::load(
        Arc::new(disk.clone()),
        Path::new("/home"),
        runner(disk, 90_000).locks().clone(),
    )
    .unwrap()
}

fn index(title: &str, other: &str) -> String {
    format!(
        "[\n  {{\n    \"id\": \"gone\",\n    \"title\": \"{title}\"\n  }},\n  {{\n    \"id\": \"other\",\n    \"title\": \"{other}\"\n  }}\n]"
    )
}

/// Creates a session that was renamed, kept, noted and deleted; another one in the same index was
/// renamed in between.
fn prepare(disk: &CrashDisk) {
    let root = Path::new(ROOT);
    for (key, bytes) in [
        ("sessions/gone.jsonl", "{\"t\":\"zebuprompt\"}\n"),
        ("sessions.json", &index("a", "o")),
    ] {
        let path = root.join(key);
        durable::make_folders(disk, path.parent().unwrap()).unwrap();
        durable::create(disk, &path, bytes.as_bytes()).unwrap();
    }
    durable::make_folders(disk, Path::new("/home")).unwrap();
    let runner = runner(disk, 0);
    let rename = |name: &str, title: &str, other: &str| {
        Plan::new("rename", name).step(Step::put("sessions.json", index(title, other)))
    };
    runner
        .run(
            root,
            &rename("call it xerustitle", "xerustitle", "o"),
            &gone(),
            Reason::Before,
        )
        .unwrap();
    runner
        .run(
            root,
            &rename("call it p", "xerustitle", "p"),
            &other(),
            Reason::Before,
        )
        .unwrap();
    runner
        .vault()
        .keep(root, "sessions/gone.jsonl", &gone(), Reason::Kept)
        .unwrap();
    let at = TestIds::new().now();
    notes(disk)
        .add(&gone(), at, NoteKind::Summary("tapirnote".to_owned()))
        .unwrap();
    notes(disk)
        .add(&other(), at, NoteKind::Tag("stays".to_owned()))
        .unwrap();
    let left = "[\n  {\n    \"id\": \"other\",\n    \"title\": \"p\"\n  }\n]";
    let plan = Plan::new("delete", "delete numbatname")
        .step(Step::remove("sessions/gone.jsonl"))
        .step(Step::put("sessions.json", left));
    runner.run(root, &plan, &gone(), Reason::Deleted).unwrap();
}

fn purging() -> Purging {
    Purging {
        id: "00000000000000aa".to_owned(),
        at: TestIds::new().now(),
        sessions: vec![gone()],
        root: ROOT.into(),
        log: Some("sessions/gone.jsonl".to_owned()),
        paths: Vec::new(),
        blobs: Vec::new(),
        wholes: Vec::new(),
        linked: Vec::new(),
    }
}

fn purge(disk: &CrashDisk) -> Result<()> {
    let (runner, purging) = (runner(disk, 1000), purging());
    runner.begin_purge(&purging)?;
    runner.purge(&purging)?;
    runner.end_purge(&purging)
}

fn traces(disk: &CrashDisk) -> Vec<String> {
    let holds =
        |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|it| it == word.as_bytes());
    let all = disk.snapshot().into_iter();
    all.filter(|(_, bytes)| WORDS.iter().any(|word| holds(bytes, word)))
        .map(|(path, _)| path)
        .collect()
}

/// Runs the purge with a crash at that call, which writes half of an append.
fn dies_at(call: u64) -> (CrashDisk, Result<()>) {
    let disk = CrashDisk::new(7);
    prepare(&disk);
    disk.settle();
    disk.tear_append(40);
    disk.crash_at(disk.calls() + call);
    let outcome = purge(&disk);
    (disk, outcome)
}

#[test]
fn a_purge_that_dies_at_any_call_is_finished_by_the_next_run() {
    let (mut checked, mut begun, mut finished, mut call) = (0, 0, 0, 1);
    loop {
        let (disk, outcome) = dies_at(call);
        for keep in Keep::flavours(2) {
            let disk = disk.after_crash(keep);
            let runner = runner(&disk, 5000);
            let pending = runner.purges().unwrap();
            for purging in &pending {
                runner.purge(purging).unwrap();
                runner.end_purge(purging).unwrap();
                begun += 1;
            }
            let recorded = runner.operations().unwrap().0;
            let purged = recorded
                .iter()
                .filter(|it| it.operation.kind == "purge")
                .count();
            if outcome.is_ok() || !pending.is_empty() || purged > 0 {
                finished += 1;
                assert_eq!(traces(&disk), [] as [String; 0], "at {call} {keep:?}");
                assert_eq!(purged, 1, "at {call} {keep:?}");
            } else {
                assert!(
                    traces(&disk).len() > 3,
                    "nothing was begun at {call} {keep:?}"
                );
            }
            assert!(runner.purges().unwrap().is_empty());
            assert_eq!(
                notes(&disk).of(&other()).tags,
                ["stays"],
                "at {call} {keep:?}"
            );
            assert!(
                recorded.iter().any(|it| it.operation.session == other()),
                "at {call} {keep:?}"
            );
            checked += 1;
        }
        if outcome.is_ok() {
            break;
        }
        call += 1;
    }
    assert!(
        checked > 100 && begun > 50 && finished > begun,
        "{checked} {begun} {finished}"
    );
}

#[test]
fn an_operation_on_another_session_goes_on_from_copies_without_the_purged_one() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    purge(&disk).unwrap();
    let runner = runner(&disk, 2000);
    let listed = runner.operations().unwrap().0;
    let rename = listed
        .iter()
        .find(|it| it.operation.session == other())
        .unwrap();
    assert!(rename.undoable, "{rename:?}");
    runner.undo(&rename.operation.id).unwrap();
    let index = durable::read(&disk, Path::new("/store/sessions.json"))
        .unwrap()
        .unwrap();
    let want = "[\n  {\n    \"id\": \"other\",\n    \"title\": \"o\"\n  }\n]";
    assert_eq!(String::from_utf8(index).unwrap(), want);
    assert_eq!(traces(&disk), [] as [String; 0]);
    let purged = listed
        .iter()
        .find(|it| it.operation.kind == "purge")
        .unwrap();
    assert!(!purged.undoable && purged.operation.files().is_empty());
    assert!(
        runner
            .undo(&purged.operation.id)
            .unwrap_err()
            .reason()
            .unwrap()
            .contains("leaves no copy")
    );
}

#[test]
fn a_damaged_line_that_names_the_purged_session_goes_and_others_stay() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    for name in ["notes.jsonl", "ops.jsonl"] {
        let lines = "{\"ref\":\"myagents:gone\",\"title\":\"zebuprompt\n{\"ref\":\"myagents:other\",\"title\":\"torn\n";
        durable::append_lines(&disk, &Path::new("/home").join(name), lines.as_bytes()).unwrap();
    }
    purge(&disk).unwrap();
    assert_eq!(traces(&disk), [] as [String; 0]);
    assert_eq!(notes(&disk).damaged().len(), 1);
    assert_eq!(runner(&disk, 3000).operations().unwrap().1.len(), 1);
}
