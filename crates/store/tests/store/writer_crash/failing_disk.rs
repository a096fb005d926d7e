//! A full disk, and a disk whose sync fails.

use std::io;
use std::path::Path;

use boswell_store::{Draft, ErrorKind, NewSession, Session, Wait};
use boswell_testkit::crash_disk::{CrashDisk, Keep};

use super::{A, calls_of_the_story, examine, fresh, open, tell};

#[test]
fn a_full_disk_at_any_call_is_said_so_and_the_session_goes_on_once_there_is_room() {
    let calls = calls_of_the_story();
    let mut failed = 0;
    for call in 1..=calls {
        let disk = fresh();
        disk.fail_call(call, io::ErrorKind::StorageFull);
        let story = tell(&disk);
        let place = format!("call {call} of {calls} fails");
        if let Some(error) = &story.error {
            assert_eq!(error.kind(), ErrorKind::NoSpace, "{place}: {error}");
            failed += 1;
        }
        examine(&disk.after_crash(Keep::Nothing), &story, true, &place);
        examine(&disk.after_kill(), &story, false, &place);
        examine(&disk, &story, false, &place);
    }
    assert!(failed > calls / 2, "{failed} of {calls}");
}

#[test]
fn a_disk_that_fills_up_at_any_byte_names_what_is_in_doubt() {
    let disk = fresh();
    tell(&disk);
    let total: usize = disk.snapshot().values().map(Vec::len).sum();
    let mut latched = 0;
    for limit in (0..total).step_by(23) {
        let disk = fresh();
        disk.fill(limit as u64);
        let story = tell(&disk);
        let place = format!("room for {limit} of {total} bytes");
        let Some(error) = &story.error else { continue };
        assert_eq!(error.kind(), ErrorKind::NoSpace, "{place}: {error}");
        if let Some((kind, text)) = &story.afterwards {
            latched += usize::from(!story.doubtful.is_empty());
            // If the annotation failed, the driver gets an error that names another writer.
            let said = *kind == ErrorKind::NoSpace || text.starts_with("another writer");
            assert!(said, "{place}: {kind:?} {text}");
            assert!(
                story.doubtful.iter().all(|id| text.contains(id.as_str())),
                "{place}: {text}"
            );
            let named = error.reason().unwrap_or_default();
            assert!(
                story.doubtful.iter().all(|id| named.contains(id.as_str())),
                "{place}: {named}"
            );
        }
        disk.fill(u64::MAX);
        examine(&disk.after_crash(Keep::Nothing), &story, true, &place);
        examine(&disk.after_kill(), &story, false, &place);
        examine(&disk, &story, false, &place);
    }
    assert!(latched > 10, "{latched}");
}

#[test]
fn a_write_that_found_no_room_leaves_a_torn_line_and_the_next_writer_goes_on_in_the_same_file() {
    use boswell_store::disk::{Disk, durable};
    let disk = fresh();
    let writer = open(&disk, 0)
        .unwrap()
        .create(NewSession::in_project("/p").with_id(A))
        .unwrap();
    writer.append(Draft::user("why?")).unwrap();
    let path = writer.path();
    let read = || durable::read(&disk, &path).unwrap().unwrap();
    let (before, file) = (read(), disk.stat(&path).unwrap().unwrap().identity);
    let used: usize = disk.snapshot().values().map(Vec::len).sum();
    disk.fill(used as u64 + 40);
    let error = writer
        .append(Draft::user("a long question ".repeat(20)))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace);
    drop(writer);
    disk.fill(u64::MAX);
    let torn = read();
    assert_eq!(
        torn.len(),
        before.len() + 40,
        "as much was written as there was room for"
    );
    let writer = open(&disk, 1 << 16).unwrap().writer(A, Wait::No).unwrap();
    writer.append(Draft::user("again")).unwrap();
    assert_eq!(
        disk.stat(&path).unwrap().unwrap().identity,
        file,
        "a failed write is not a failed sync: nothing is copied"
    );
    assert!(
        read().starts_with(&[torn.as_slice(), b"\n{"].concat()),
        "the torn line stays, on a line of its own"
    );
}

#[test]
fn after_a_sync_that_failed_the_next_writer_copies_the_log_before_it_acknowledges_anything() {
    let calls = calls_of_the_story();
    let mut copied = 0;
    for call in 1..=calls {
        let disk = fresh();
        disk.lie_on_sync_after(call);
        let story = tell(&disk);
        let place = format!("the first sync from call {call} of {calls} on fails");
        if story.error.is_none() {
            continue;
        }
        // The machine crashes immediately, or only after the next writer has appended.
        for keep in Keep::flavours(2) {
            examine(&disk.after_crash(keep), &story, true, &place);
        }
        let inode = |disk: &CrashDisk| {
            open(disk, 9)
                .unwrap()
                .session(A)
                .ok()
                .and_then(|s| identity(disk, &s))
        };
        let before = inode(&disk);
        examine(&disk, &story, false, &place);
        copied +=
            u64::from(story.afterwards.is_some() && before.is_some() && inode(&disk) != before);
    }
    assert!(copied > 5, "{copied}");
}

fn identity(disk: &CrashDisk, session: &Session) -> Option<(u64, u64)> {
    use boswell_store::disk::Disk;
    disk.stat(Path::new(session.path()?))
        .ok()?
        .map(|stat| stat.identity)
}
