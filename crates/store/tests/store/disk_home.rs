//! Blobs, memory and prompts, with a crash of the machine at every call.

use std::path::Path;
use std::sync::Arc;

use boswell_store::Home;
use boswell_store::blobs::{BlobId, Blobs};
use boswell_store::disk::SystemIds;
use boswell_store::disk::durable::make_folders;
use boswell_store::memory::Memories;
use boswell_store::model::Instant;
use boswell_store::prompts::Prompt;
use boswell_store::prompts::Prompts;
use boswell_testkit::crash_disk::{CrashDisk, Keep, everywhere};

const PROJECT: &str = "/srv/demo";

fn home() -> &'static Path {
    Path::new("/home/b")
}

fn at_home(disk: &CrashDisk) -> Home {
    Home::on(Arc::new(disk.clone()), Arc::new(SystemIds), home())
}

fn blobs(disk: &CrashDisk) -> Blobs {
    at_home(disk).blobs()
}

fn memories(disk: &CrashDisk) -> Memories {
    at_home(disk).memories()
}

fn prompts(disk: &CrashDisk) -> Prompts {
    at_home(disk).prompts()
}

fn prompt(text: &str) -> Prompt {
    Prompt {
        text: text.to_owned(),
        at: Instant::from_millis(1),
        project: None,
        session: None,
    }
}

/// Creates an empty durable home; the test itself adds contents.
fn prepare(disk: &CrashDisk) {
    make_folders(disk, home()).unwrap();
}

fn page(disk: &CrashDisk) -> Option<String> {
    let memory = memories(disk).load(PROJECT).unwrap();
    memory
        .pages
        .into_iter()
        .find(|page| page.name == "page.md")
        .map(|page| page.text)
}

#[test]
fn a_blob_is_whole_or_not_there_and_once_kept_it_stays() {
    let bytes = vec![b'x'; 9_000];
    let id = BlobId::of(&bytes);
    everywhere(
        1,
        prepare,
        |disk| blobs(disk).put(&bytes).is_ok(),
        |crash| {
            let blobs = blobs(&crash.disk);
            if blobs.has(&id).unwrap() {
                assert_eq!(
                    blobs.get(&id).unwrap(),
                    bytes,
                    "call {}, {:?}",
                    crash.call,
                    crash.keep
                );
            } else {
                assert!(
                    !crash.outcome,
                    "call {}, {:?}: a kept blob is gone",
                    crash.call, crash.keep
                );
            }
            blobs.put(&bytes).unwrap();
        },
    );
}

#[test]
fn a_page_of_memory_is_the_old_one_or_the_new_one() {
    let old = |disk: &CrashDisk| {
        prepare(disk);
        memories(disk).put(PROJECT, "page.md", "old\n").unwrap();
    };
    let act = |disk: &CrashDisk| memories(disk).append(PROJECT, "page.md", "new").is_ok();
    everywhere(2, old, act, |crash| {
        let page = page(&crash.disk).unwrap();
        let expected = page == "old\nnew\n" || page == "old\n" && !crash.outcome;
        assert!(expected, "call {}, {:?}: {page:?}", crash.call, crash.keep);
    });
    let act = |disk: &CrashDisk| memories(disk).remove(PROJECT, "page.md").is_ok();
    everywhere(3, old, act, |crash| {
        let page = page(&crash.disk);
        assert!(
            page.is_none() || page.as_deref() == Some("old\n") && !crash.outcome,
            "call {}",
            crash.call
        );
    });
}

#[test]
fn a_prompt_that_was_added_survives_its_process_and_torn_ones_cost_no_other() {
    let old = |disk: &CrashDisk| {
        prepare(disk);
        prompts(disk).add(&prompt("old")).unwrap();
    };
    everywhere(
        4,
        old,
        |disk| prompts(disk).add(&prompt("new")).is_ok(),
        |crash| {
            let found = prompts(&crash.disk).recent(9).unwrap().prompts;
            let texts: Vec<&str> = found.iter().map(|prompt| prompt.text.as_str()).collect();
            assert!(
                texts == ["new", "old"] || texts == ["old"],
                "call {}, {:?}: {texts:?}",
                crash.call,
                crash.keep
            );
        },
    );
    // The prompt history is not synced, so a power failure may lose the newest prompts; a killed
    // process must not.
    for call in 1..20 {
        let disk = CrashDisk::new(5);
        old(&disk);
        disk.settle();
        disk.crash_at(call);
        let added = prompts(&disk).add(&prompt("new")).is_ok();
        let newest = prompts(&disk.after_kill())
            .recent(1)
            .unwrap()
            .prompts
            .remove(0)
            .text;
        assert!(!added || newest == "new", "killed at call {call}");
    }
}

#[test]
fn what_is_written_again_after_its_writer_was_killed_is_durable() {
    for call in 1..30 {
        let disk = CrashDisk::new(7);
        prepare(&disk);
        disk.settle();
        disk.crash_at(call);
        let _ = blobs(&disk).put(b"blob");
        let next = disk.after_kill();
        let id = blobs(&next).put(b"blob").unwrap();
        let found = blobs(&next.after_crash(Keep::Nothing)).get(&id);
        assert!(
            found.is_ok_and(|bytes| bytes == b"blob"),
            "a blob, killed at call {call}"
        );
    }
}
