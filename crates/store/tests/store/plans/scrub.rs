//! Scrubbing on a disk that loses unsynced data: a file has the old or the new contents, and a
//! repeated scrub finishes.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Clock, Modified, Patch, Plan, Splice, Step};
use boswell_store::disk::durable;
use boswell_store::locks::Owner;
use boswell_store::model::SessionRef;
use boswell_store::notes::{NoteKind, Notes};
use boswell_store::operations::{Runner, Scrubbed, Scrubbing};
use boswell_store::vault::Reason;
use boswell_store::{Result, Wait};
use boswell_testkit::crash_disk::{CrashDisk, Keep};

use crate::plans::support::TestIds;

const ROOT: &str = "/store";
const SECRET: &[u8] = b"ghp_0a1B2c3D4e5F";
const MARK: &[u8] = b"[removed: x]";
const FILES: [(&str, &str); 2] = [
    ("log.jsonl", "{\"t\":\"ghp_0a1B2c3D4e5F\"}\n{\"n\":1.0}\n"),
    ("log/out.txt", "ghp_0a1B2c3D4e5F\n"),
];

fn session() -> SessionRef {
    SessionRef::new("pi", "s")
}

fn other() -> SessionRef {
    SessionRef::new("pi", "other")
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

fn without(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = bytes.windows(SECRET.len()).position(|it| it == SECRET)?;
    let rest = bytes.get(at + SECRET.len()..).unwrap();
    let rest = without(rest).unwrap_or_else(|| rest.to_vec());
    Some([bytes.get(..at).unwrap(), MARK, &rest].concat())
}

fn prepare(disk: &CrashDisk) {
    let root = Path::new(ROOT);
    for (key, bytes) in FILES {
        let path = root.join(key);
        durable::make_folders(disk, path.parent().unwrap()).unwrap();
        durable::create(disk, &path, bytes.as_bytes()).unwrap();
    }
    durable::make_folders(disk, Path::new("/home")).unwrap();
    let runner = runner(disk, 0);
    runner
        .delete(
            root,
            &["log.jsonl".to_owned(), "log/out.txt".to_owned()],
            &session(),
        )
        .unwrap();
    runner.restore(&session()).unwrap();
    let at = TestIds::new().now();
    notes(disk)
        .add(
            &session(),
            at,
            NoteKind::Summary("is ghp_0a1B2c3D4e5F".to_owned()),
        )
        .unwrap();
    notes(disk)
        .add(&other(), at, NoteKind::Tag("stays".to_owned()))
        .unwrap();
    let plan = Plan::new("rename", "call it ghp_0a1B2c3D4e5F")
        .step(Step::append("log.jsonl", "{\"m\":2}\n"));
    runner.run(root, &plan, &session(), Reason::Before).unwrap();
}

/// Replaces the remaining occurrences; can be repeated.
fn scrub(disk: &CrashDisk, first: u64) -> Result<Scrubbed> {
    let runner = runner(disk, first);
    runner.recover()?;
    runner.begin_scrub(&session())?;
    let mut plan = Plan::new("scrub", "replace secrets in pi:s");
    for (key, _) in FILES {
        let bytes = durable::read(disk, &Path::new(ROOT).join(key))?.unwrap_or_default();
        if let Some(at) = bytes.windows(SECRET.len()).position(|it| it == SECRET) {
            let splice = Splice {
                at: at as u64,
                len: SECRET.len() as u64,
                with: MARK.to_vec(),
            };
            let patch = Patch::whole(bytes.len() as u64).spliced(&[splice]);
            let (key, from) = (key.to_owned(), key.to_owned());
            plan.steps.push(Step::Assemble {
                key,
                from,
                patch,
                modified: Modified::Kept,
            });
        }
    }
    runner.erase(Path::new(ROOT), &plan, &session())?;
    let done = runner.scrub(&Scrubbing {
        is_meant: &|of, _, _| *of == session(),
        copy: &|_, bytes| without(bytes),
        line: &|of, line| {
            of.filter(|of| **of == session())
                .and_then(|_| without(line))
        },
    })?;
    runner.end_scrub(&session())?;
    Ok(done)
}

fn traces(disk: &CrashDisk) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|it| it == SECRET);
    disk.snapshot()
        .into_iter()
        .filter(|(_, bytes)| holds(bytes))
        .map(|(path, _)| path)
        .collect()
}

fn old_or_new(disk: &CrashDisk, whole: &str) {
    for (key, _) in FILES {
        let is = durable::read(disk, &Path::new(ROOT).join(key))
            .unwrap()
            .unwrap();
        let old = if key == "log.jsonl" {
            whole.as_bytes()
        } else {
            b"ghp_0a1B2c3D4e5F\n"
        };
        assert!(is == old || Some(is) == without(old), "{key} is half");
    }
}

#[test]
fn a_scrub_leaves_no_copy_and_what_was_deleted_before_is_restored_without_the_secret() {
    let disk = CrashDisk::new(3);
    prepare(&disk);
    assert!(traces(&disk).len() > 4, "{:?}", traces(&disk));
    let done = scrub(&disk, 1000).unwrap();
    assert_eq!(traces(&disk), [] as [String; 0]);
    assert!(done.copies >= 2 && done.lines >= 2, "{done:?}");
    assert_eq!(
        notes(&disk).of(&session()).summary.as_deref(),
        Some("is [removed: x]")
    );
    assert_eq!(
        scrub(&disk, 2000).unwrap(),
        Scrubbed::default(),
        "once is enough"
    );
    let runner = runner(&disk, 3000);
    runner
        .delete(Path::new(ROOT), &["log.jsonl".to_owned()], &session())
        .unwrap();
    runner.restore(&session()).unwrap();
    let log = durable::read(&disk, &Path::new(ROOT).join("log.jsonl"))
        .unwrap()
        .unwrap();
    assert_eq!(log, b"{\"t\":\"[removed: x]\"}\n{\"n\":1.0}\n{\"m\":2}\n");
    let (listed, _) = runner.operations().unwrap();
    let scrubbed = listed
        .iter()
        .find(|it| it.operation.kind == "scrub")
        .unwrap();
    assert!(!scrubbed.undoable);
    assert!(runner.undo(&scrubbed.operation.id).is_err());
}

#[test]
fn a_scrub_that_dies_at_any_call_leaves_whole_files_and_goes_on() {
    let whole = format!("{}{{\"m\":2}}\n", FILES[0].1);
    let (mut call, mut checked, mut told) = (1, 0, 0);
    loop {
        let disk = CrashDisk::new(7);
        prepare(&disk);
        disk.settle();
        disk.tear_append(40);
        disk.crash_at(disk.calls() + call);
        let outcome = scrub(&disk, 1000);
        for keep in Keep::flavours(1) {
            let disk = disk.after_crash(keep);
            for one in runner(&disk, 5000).recover().unwrap() {
                assert!(
                    !matches!(
                        one.outcome,
                        boswell_store::operations::RecoveryOutcome::Unsettled(_)
                    ),
                    "at {call} {one:?}"
                );
            }
            old_or_new(&disk, &whole);
            let left = traces(&disk);
            let pending = runner(&disk, 6000).scrubs().unwrap();
            assert!(
                !pending.is_empty() || left.is_empty() || left.len() > 4,
                "untold at {call} {keep:?}: {left:?}"
            );
            told += usize::from(!pending.is_empty());
            scrub(&disk, 7000).unwrap();
            assert_eq!(traces(&disk), [] as [String; 0], "at {call} {keep:?}");
            assert_eq!(
                notes(&disk).of(&other()).tags,
                ["stays"],
                "at {call} {keep:?}"
            );
            checked += 1;
        }
        if outcome.is_ok() {
            break;
        }
        call += 1;
    }
    assert!(checked > 60 && told > 30, "{checked} {told}");
}
