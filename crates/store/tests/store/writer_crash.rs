//! The writer on a disk that crashes, is full, or loses synced data, at every call.
//!
//! A story creates sessions, appends to them in every way and closes them. It is interrupted at
//! each call; then the machine boots again with none, all or some of the unsynced changes, and
//! every entry with a receipt must exist: complete, once, in order. A torn line stays, is reported,
//! and does not block the next append.

mod failing_disk;
mod recovery;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::counting::Counting;
use boswell_store::disk::durable;
use boswell_store::writer::Visibility;
use boswell_store::{
    Body, Draft, Durability, ErrorKind, Expect, Home, NewSession, Outcome, Receipt, Result,
    Session, SessionWriter, Wait, WritableStore,
};
use boswell_testkit::crash_disk::{CrashDisk, Keep};
use serde_json::Value;

const HOME: &str = "/home/store";
const A: &str = "session-a";
const B: &str = "session-b";

fn open(disk: &CrashDisk, id_source: u64) -> Result<WritableStore> {
    Home::on(
        Arc::new(disk.clone()),
        Arc::new(Counting::from(id_source)),
        HOME,
    )
    .sessions()
}

/// Returns a disk with a folder for homes.
fn fresh() -> CrashDisk {
    let disk = CrashDisk::new(1);
    durable::make_folders(&disk, Path::new("/home")).unwrap();
    disk.settle();
    disk
}

/// The acknowledged entries of one session.
#[derive(Debug, Clone, Default)]
struct Owed {
    created: bool,
    visible: bool,
    /// Acknowledged entries in order, each with whether it must survive a crash of the machine.
    entries: Vec<(String, bool)>,
}

impl Owed {
    fn receipts(&mut self, receipts: &[Receipt]) {
        for receipt in receipts.iter().filter(|receipt| !receipt.deduplicated) {
            assert!(
                !self.entries.iter().any(|(id, _)| *id == receipt.entry),
                "acknowledged twice"
            );
            self.entries.push((receipt.entry.to_string(), false));
        }
        if receipts
            .iter()
            .any(|receipt| receipt.durable == Durability::Fsync)
        {
            // A sync covers the whole log.
            self.entries
                .iter_mut()
                .for_each(|(_, durable)| *durable = true);
        }
    }
}

#[derive(Debug, Default)]
struct Story {
    a: Owed,
    b: Owed,
    /// The error that stopped the story.
    error: Option<boswell_store::Error>,
    /// Ids of the entries that the failed writer reported as possibly written.
    doubtful: Vec<String>,
    afterwards: Option<(ErrorKind, String)>,
}

/// Runs the story until something fails.
fn tell(disk: &CrashDisk) -> Story {
    let mut story = Story::default();
    if let Err(error) = try_to_tell(disk, &mut story) {
        story.error = Some(error);
    }
    story
}

fn try_to_tell(disk: &CrashDisk, story: &mut Story) -> Result<()> {
    let store = open(disk, 0)?;
    let writer = store.create(
        NewSession::in_project("/proj/demo")
            .with_id(A)
            .titled("crashes"),
    )?;
    story.a.created = true;
    watched(&writer, story, |writer, story| {
        first_part(&store, writer, &mut story.a)
    })?;
    writer.finish(Outcome::Completed)?;
    let writer = store.writer(A, Wait::No)?;
    let again = writer.append(Draft::user("again").with_id("d1"))?;
    story.a.receipts(&[again]);
    drop(writer);
    let new = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj/demo").with_id(B)
    };
    let writer = store.create(new)?;
    story.b.created = true;
    watched(&writer, story, |writer, story| {
        second_part(&store, writer, &mut story.b)
    })?;
    writer.release()
}

/// When a part fails, records the state that the writer reports.
fn watched(
    writer: &SessionWriter,
    story: &mut Story,
    part: impl FnOnce(&SessionWriter, &mut Story) -> Result<()>,
) -> Result<()> {
    part(writer, story).inspect_err(|_| {
        story.doubtful = writer.in_doubt().into_iter().map(String::from).collect();
        let next = writer.append(Draft::user("nobody gets this in").with_id("latched"));
        story.afterwards = next.err().map(|error| {
            (
                error.kind(),
                format!("{error}: {}", error.reason().unwrap_or_default()),
            )
        });
    })
}

fn first_part(store: &WritableStore, writer: &SessionWriter, owed: &mut Owed) -> Result<()> {
    let fsync = |draft: Draft, id: &str| writer.append(draft.with_id(id));
    let os =
        |draft: Draft, id: &str| writer.append_with(draft.with_id(id), Expect::Any, Durability::Os);
    owed.receipts(&[fsync(Draft::user("why?"), "u1")?]);
    owed.receipts(&[os(Draft::assistant("because"), "a1")?]);
    owed.receipts(&[os(Draft::user("and then?"), "u2")?]);
    owed.receipts(&[fsync(Draft::assistant("x".repeat(300)), "a2")?]);
    let batch = vec![
        Draft::user("one").with_id("b1"),
        Draft::assistant("two").with_id("b2"),
        Draft::tool_result("call", "bash", "three").with_id("b3"),
    ];
    owed.receipts(&writer.append_all(batch, Expect::Any, Durability::Fsync)?);
    owed.receipts(&[writer.branch("u1")?]);
    let ticket = writer.submit(Draft::assistant("otherwise").with_id("c1"))?;
    let label = Draft::new(Body::Label {
        target: "u1".into(),
        label: Some("start".to_owned()),
    });
    let label = store.annotate(A, label.with_id("l1"))?;
    owed.receipts(&[ticket.wait()?]);
    owed.receipts(&[label]);
    Ok(())
}

fn second_part(store: &WritableStore, writer: &SessionWriter, owed: &mut Owed) -> Result<()> {
    owed.receipts(&[writer.append(Draft::user("hidden").with_id("e1"))?]);
    owed.receipts(&[store.annotate(B, Draft::new(Body::Title("named".to_owned())).with_id("t1"))?]);
    owed.receipts(&[writer.append(Draft::assistant("seen").with_id("e2"))?]);
    owed.visible = true;
    owed.receipts(&[writer.append(Draft::user("more").with_id("e3"))?]);
    Ok(())
}

// ---- the oracle ----

fn bytes_of(disk: &CrashDisk, session: &Session) -> Vec<u8> {
    durable::read(disk, Path::new(session.path().unwrap()))
        .unwrap()
        .unwrap()
}

/// Returns the ids of complete records on separate lines, without the header's.
fn own_lines(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let values = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    values
        .filter(|v| v["type"] != "session")
        .filter_map(|v| v["id"].as_str().map(str::to_owned))
        .collect()
}

/// Whether some line is not a record.
fn has_torn_lines(bytes: &[u8]) -> bool {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .into_iter()
        .any(|line| serde_json::from_slice::<Value>(line).is_err())
}

/// Reports what is wrong with a session. `machine`: the machine crashed, so that only synced
/// entries must exist.
fn judge(
    disk: &CrashDisk,
    store: &WritableStore,
    id: &str,
    owed: &Owed,
    machine: bool,
    place: &str,
) -> Option<Vec<u8>> {
    let session = match store.session(id) {
        Ok(session) => session,
        Err(error) => {
            assert!(
                !owed.created && error.is_not_found(),
                "{place}: {id} cannot be read: {error}"
            );
            return None;
        }
    };
    let bytes = bytes_of(disk, &session);
    let shown = bytes.escape_ascii();
    let lines = own_lines(&bytes);
    let once: BTreeSet<&String> = lines.iter().collect();
    assert_eq!(once.len(), lines.len(), "{place}: doubled in {shown}");
    let owed_ids = owed
        .entries
        .iter()
        .filter(|(_, durable)| *durable || !machine)
        .map(|(id, _)| id);
    let places: Vec<usize> = owed_ids
        .map(|id| {
            lines
                .iter()
                .position(|line| line == id)
                .unwrap_or_else(|| panic_lost(place, id, &bytes))
        })
        .collect();
    assert!(
        places.is_sorted(),
        "{place}: acknowledged entries stand in another order: {shown}"
    );
    assert_eq!(
        !session.log().gaps.is_empty(),
        has_torn_lines(&bytes),
        "{place}: torn lines go unreported: {shown}"
    );
    if owed.visible {
        assert!(
            store.find(id).is_ok(),
            "{place}: {id} is hidden after its first answer"
        );
    }
    Some(bytes)
}

#[expect(clippy::panic, reason = "the test ends here")]
fn panic_lost(place: &str, id: &str, bytes: &[u8]) -> usize {
    panic!("{place}: `{id}` is lost from {}", bytes.escape_ascii())
}

/// Opens a session after a crash and appends to it. All existing bytes must stay.
fn goes_on(disk: &CrashDisk, id: &str, owed: &mut Owed, id_source: u64, place: &str) -> Result<()> {
    let store = open(disk, id_source)?;
    let before = bytes_of(disk, &store.session(id)?);
    let tip = store.session(id)?.tip()?;
    let tip = tip
        .slot()
        .map(|slot| store.session(id).unwrap().log().label(slot).into_owned());
    let writer = store.writer(id, Wait::No)?;
    let text = "the next one";
    let receipt = writer.append(Draft::assistant(text).with_id(format!("next-{id_source}")))?;
    owed.receipts(std::slice::from_ref(&receipt));
    owed.visible = true;
    let after = bytes_of(disk, &store.session(id)?);
    assert!(
        after.starts_with(&before),
        "{place}: what was there was changed"
    );
    let last = after
        .strip_suffix(b"\n")
        .and_then(|rest| rest.rsplit(|byte| *byte == b'\n').next())
        .unwrap();
    let last: Value = serde_json::from_slice(last).unwrap();
    assert_eq!(
        (last["id"].as_str(), last["parentId"].as_str()),
        (Some(receipt.entry.as_str()), tip.as_deref()),
        "{place}"
    );
    assert_eq!(last["message"]["content"][0]["text"], text);
    writer.release()
}

/// Checks all guarantees for a disk in this state, also if the machine crashes again immediately.
fn examine(disk: &CrashDisk, story: &Story, machine: bool, place: &str) {
    let store = open(disk, 1 << 20).unwrap();
    for (id, owed) in [(A, &story.a), (B, &story.b)] {
        if judge(disk, &store, id, owed, machine, place).is_none() {
            continue;
        }
        let mut owed = owed.clone();
        if machine {
            owed.entries.retain(|(_, durable)| *durable);
        }
        goes_on(disk, id, &mut owed, 1 << 21, place).unwrap();
        let rebooted = disk.after_crash(Keep::Nothing);
        let again = open(&rebooted, 1 << 22).unwrap();
        judge(
            &rebooted,
            &again,
            id,
            &owed,
            true,
            &format!("{place}, then once more"),
        )
        .unwrap();
    }
}

fn calls_of_the_story() -> u64 {
    let disk = fresh();
    let story = tell(&disk);
    assert!(story.error.is_none(), "{:?}", story.error);
    assert_eq!((story.a.entries.len(), story.b.entries.len()), (11, 4));
    disk.calls()
}

/// Returns the disk after the story was interrupted at a call that wrote part of an append.
fn cut_off(call: u64, tear: usize) -> (CrashDisk, Story) {
    let disk = fresh();
    disk.tear_append(tear);
    disk.crash_at(call);
    let story = tell(&disk);
    (disk, story)
}

/// Returns how many bytes of an append are written: none, one, half, all but the line end, all.
fn tears(call: u64) -> Vec<usize> {
    let torn = cut_off(call, 0).0.torn().unwrap_or(0);
    let tears: BTreeSet<usize> = [0, 1, torn / 2, torn.saturating_sub(1), torn]
        .into_iter()
        .filter(|t| *t <= torn)
        .collect();
    tears.into_iter().collect()
}

// ---- the tests ----

#[test]
fn what_was_acknowledged_survives_a_crash_at_every_call() {
    let calls = calls_of_the_story();
    let mut checked = 0;
    for call in 1..=calls + 1 {
        for tear in tears(call) {
            let (disk, story) = cut_off(call, tear);
            for keep in Keep::flavours(3) {
                let place = format!("call {call} of {calls}, {tear} bytes taken, {keep:?}");
                examine(&disk.after_crash(keep), &story, true, &place);
                checked += 1;
            }
            examine(
                &disk.after_kill(),
                &story,
                false,
                &format!("call {call} of {calls}, {tear} bytes taken, killed"),
            );
        }
    }
    assert!(checked > 600, "{checked}");
}

#[test]
fn one_more_append_costs_one_sync() {
    let disk = CrashDisk::new(5);
    let writer = open(&disk, 0)
        .unwrap()
        .create(NewSession::in_project("/w"))
        .unwrap();
    for n in 0..3 {
        let before = disk.syncs();
        writer.append(Draft::user(format!("{n}"))).unwrap();
        assert_eq!(disk.syncs() - before, 1, "append {n}");
    }
    let before = disk.syncs();
    writer
        .append_with(Draft::user("os"), Expect::Any, Durability::Os)
        .unwrap();
    assert_eq!(
        disk.syncs(),
        before,
        "an entry that need not survive the machine costs none"
    );
}
