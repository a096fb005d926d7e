//! Copies of a growing file by `keep`: every state can be restored, and another copy costs only the
//! added bytes.

use std::cell::Cell;

use boswell_store::model::SessionRef;
use boswell_store::operations::Runner;
use boswell_store::vault::{ChunkedCopies, Keeping};
use boswell_store::{ErrorKind, Wait};

use crate::plans::support::{FailingDisk, Fault, Place, Then, session, tree};

const MIB: usize = 1 << 20;

fn keep(
    place: &Place,
    runner: &Runner,
    kept: &mut ChunkedCopies,
    session: &SessionRef,
) -> boswell_store::Result<Keeping> {
    runner
        .vault()
        .keep_growing(kept, (&place.root(), "log"), session, Wait::No, &|| true)
}

fn noise(len: usize) -> String {
    (0..len as u64)
        .map(|n| char::from(b' ' + (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u8))
        .collect()
}

fn copies(place: &Place) -> usize {
    let files = tree(place.home().parent().unwrap());
    files
        .iter()
        .filter(|(key, file)| key.contains("vault/objects/") && file.is_some())
        .count()
}

fn back(place: &Place, runner: &Runner) -> Vec<u8> {
    let kept = runner.vault().kept().unwrap();
    runner
        .vault()
        .read_kept(kept.file(&place.root(), "log").unwrap())
        .unwrap()
}

#[test]
fn a_log_that_grows_costs_its_end_and_comes_back_whole_at_every_length() {
    let place = Place::new();
    let runner = place.runner();
    let whole = noise(3 * MIB + 5_000);
    let mut kept = ChunkedCopies::default();
    for len in [10, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 5_000] {
        place.put("log", &whole[..len]);
        let before = kept.file(&place.root(), "log").map_or(0, |file| file.len);
        let done = keep(&place, &runner, &mut kept, &session()).unwrap();
        assert!(
            done.complete && done.bytes <= len as u64 - before + MIB as u64,
            "{len}: {done:?}"
        );
        assert!(back(&place, &runner) == whole.as_bytes()[..len], "{len}");
        assert_eq!(
            keep(&place, &runner, &mut kept, &session()).unwrap().bytes,
            0,
            "once is enough"
        );
    }
}

#[test]
fn what_there_is_no_time_for_is_kept_by_the_next_run() {
    let place = Place::new();
    let runner = place.runner();
    let whole = noise(5 * MIB);
    place.put("log", &whole);
    let mut runs = 0;
    loop {
        runs += 1;
        let mut kept = runner.vault().kept().unwrap();
        let left = Cell::new(2);
        let go_on = || left.replace(left.get() - 1) > 0;
        let done = runner
            .vault()
            .keep_growing(
                &mut kept,
                (&place.root(), "log"),
                &session(),
                Wait::No,
                &go_on,
            )
            .unwrap();
        assert!(
            whole.as_bytes().starts_with(&back(&place, &runner)),
            "what is there is the beginning"
        );
        if done.complete {
            break;
        }
        assert!(runs < 10);
    }
    assert!(runs > 1);
    assert!(back(&place, &runner) == whole.as_bytes());
}

#[test]
fn a_file_that_was_rewritten_keeps_its_copy_before_through_tidying_up() {
    let place = Place::new();
    let runner = place.runner();
    let mut kept = ChunkedCopies::default();
    place.put("log", "first state\n");
    keep(&place, &runner, &mut kept, &session()).unwrap();
    let mut text = "another one\n".to_owned();
    for number in 0..300 {
        text += &format!("line {number}\n");
        place.put("log", &text);
        keep(&place, &runner, &mut kept, &session()).unwrap();
    }
    assert!(copies(&place) < 60, "{} copies are left", copies(&place));
    assert_eq!(back(&place, &runner), text.as_bytes());
    let log = String::from_utf8(boswell_testkit::disk::read(
        &place.home().join("vault/kept.jsonl"),
    ))
    .unwrap();
    let first = boswell_store::vault::Digest::of(b"first state\n").to_string();
    assert!(
        log.contains(&first)
            && runner
                .vault()
                .has(boswell_store::vault::Digest::parse(&first).unwrap())
                .unwrap()
    );
    runner.vault().purge(&session()).unwrap();
    assert_eq!(copies(&place), 0, "purged with all that was superseded");
    assert_eq!(
        runner.restore(&session()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn a_crash_at_any_call_leaves_a_copy_that_is_right_or_none() {
    let mut crashed = 0;
    for at in 0..60 {
        let place = Place::new();
        place.put("log", "one\n");
        keep(
            &place,
            &place.runner(),
            &mut ChunkedCopies::default(),
            &session(),
        )
        .unwrap();
        place.put("log", "one\ntwo\n");
        let broken = place.runner_on(FailingDisk::at(at, Fault::Half, Then::Dead));
        let mut kept = place.runner().vault().kept().unwrap();
        crashed += usize::from(keep(&place, &broken, &mut kept, &session()).is_err());
        let seen = back(&place, &place.runner());
        assert!(seen == b"one\n" || seen == b"one\ntwo\n", "{at}");
        let mut kept = place.runner().vault().kept().unwrap();
        keep(&place, &place.runner(), &mut kept, &session()).unwrap();
        assert_eq!(back(&place, &place.runner()), b"one\ntwo\n", "{at}");
    }
    assert!(crashed > 5, "{crashed}");
}

#[test]
fn purging_one_session_leaves_what_another_keeps_of_the_same_content() {
    let place = Place::new();
    let runner = place.runner();
    let other = SessionRef::new("claude", "other");
    let mut kept = ChunkedCopies::default();
    for (key, of) in [("log", session()), ("twin", other.clone())] {
        place.put(key, "same bytes\n");
        runner
            .vault()
            .keep_growing(&mut kept, (&place.root(), key), &of, Wait::No, &|| true)
            .unwrap();
    }
    runner.vault().purge(&session()).unwrap();
    let left = runner.vault().kept().unwrap();
    assert!(left.file(&place.root(), "log").is_none());
    assert_eq!(
        runner
            .vault()
            .read_kept(left.file(&place.root(), "twin").unwrap())
            .unwrap(),
        b"same bytes\n"
    );
    runner.vault().purge(&other).unwrap();
    assert_eq!(copies(&place), 0);
}

#[test]
fn two_that_keep_at_once_store_a_file_once_and_see_each_others_copies() {
    let place = Place::new();
    let (one, two) = (place.runner(), place.runner());
    place.put("log", "one\n");
    let mut stale = one.vault().kept().unwrap();
    keep(&place, &two, &mut ChunkedCopies::default(), &session()).unwrap();
    assert_eq!(
        keep(&place, &one, &mut stale, &session()).unwrap().bytes,
        0,
        "the other one has kept it"
    );
    place.put("log", "rewritten\n");
    keep(&place, &two, &mut two.vault().kept().unwrap(), &session()).unwrap();
    place.put("log", "rewritten\nand more\n");
    keep(&place, &one, &mut stale, &session()).unwrap();
    let log = String::from_utf8(boswell_testkit::disk::read(
        &place.home().join("vault/kept.jsonl"),
    ))
    .unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
    assert_eq!(back(&place, &one), b"rewritten\nand more\n");
}
