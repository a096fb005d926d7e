//! Tests of trials: the same seed gives the same bytes, and verdicts keep their form.

use std::process::Command;
use std::time::Duration;

use super::run::{Sleep, ended, names_error};
use super::*;

/// Looks at a process ten times in each of ten made-up seconds, which pass at once; again and again
/// if it must be given the chance to start.
#[cfg(target_os = "linux")]
fn sleeps(script: &str, tries: usize) -> bool {
    let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
    let looked = |_| {
        std::thread::yield_now();
        let mut sleep = Sleep::of(child.id());
        (0..100).any(|tenth| sleep.is_for_good(Duration::from_millis(100 * tenth)))
    };
    let found = (0..tries).any(looked);
    child.kill().unwrap();
    child.wait().unwrap();
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_waits_for_nothing_sleeps_and_one_that_is_late_does_not() {
    assert!(sleeps("exec sleep 1000", 100_000));
    assert!(!sleeps("while :; do :; done", 1));
}

#[cfg(unix)]
#[test]
fn a_client_that_was_killed_has_no_outcome() {
    let ends = |script: &str| {
        let status = Command::new("sh").args(["-c", script]).status().unwrap();
        ended(status, "")
    };
    assert_eq!(ends("kill -KILL $$"), None);
    assert_eq!(ends("exit 1"), Some(ClientOutcome::Failed));
    let refused = Command::new("sh").args(["-c", "exit 1"]).status().unwrap();
    let printed = "No conversation found with session ID: x";
    assert_eq!(ended(refused, printed), Some(ClientOutcome::Refused));
}

#[test]
fn a_seed_decides_every_trial() {
    let origins = made();
    let hashes = |seed| -> Vec<String> {
        trials(&origins, seed, 150)
            .iter()
            .map(Trial::hash)
            .collect()
    };
    assert_eq!(hashes(7), hashes(7));
    assert_ne!(hashes(7), hashes(8));
}

#[test]
fn every_operator_damages_some_origin() {
    let origins = made();
    let mut idle: Vec<String> = Vec::new();
    let mut number = 0;
    loop {
        let operator = Operator::nth(number);
        if number > 0 && operator.name() == Operator::nth(0).name() {
            break;
        }
        let changes = |origin: &TrialOrigin| {
            (0..5).any(|seed| operator.apply(&origin.bytes, &mut Rng::new(seed)) != origin.bytes)
        };
        if !origins.iter().any(changes) {
            idle.push(operator.name());
        }
        number += 1;
    }
    assert_eq!(idle, ["Untouched"]);
}

#[test]
fn tags_are_found_again_in_order() {
    let line = r#"{"type":"user","message":{"content":"hello"}}"#;
    let bytes = tagged(format!("{line}\n{line}\n").as_bytes());
    assert_eq!(tags_in(&String::from_utf8_lossy(&bytes)), [1, 2]);
}

#[test]
fn verdicts_are_read_as_they_were_written() {
    let text = "ab 2.1.150=refused 2.1.325=1-5,7,3 2.1.50=-\ncd 2.1.325=failed\n";
    let table = VerdictTable::parse(text).unwrap();
    assert_eq!(table.text(), text);
    assert_eq!(
        table.files["ab"]["2.1.325"],
        ClientOutcome::Sent(vec![1, 2, 3, 4, 5, 7, 3])
    );
    assert_eq!(VerdictTable::parse("ab 2.1.325=x"), None);
}

#[test]
fn an_error_of_the_clients_code_is_told_from_one_of_the_machine() {
    assert!(names_error(
        "Failed to resume session: null is not an object (evaluating 'H.type')"
    ));
    assert!(names_error(
        "Cannot read properties of null (reading 'content')"
    ));
    assert!(!names_error("Execution error"));
    assert!(!names_error("neither a request nor an end"));
}

#[test]
fn repaired_files_are_made_again_byte_for_byte() {
    let hashes = |seed| -> Vec<String> {
        let files = repaired(&made(), seed, 5);
        files.iter().map(|it| it.trial.hash()).collect()
    };
    assert_eq!(hashes(7).len(), 5);
    assert_eq!(hashes(7), hashes(7));
    assert_ne!(hashes(7), hashes(8));
}
