//! Compares what boswell predicts for three versions of the client with what each sent when it
//! resumed the same damaged files. The runs are recorded (`cargo xtask soak claude`).

use std::collections::BTreeSet;

use boswell_dialect::claude::Claude;
use boswell_dialect::{Dialect, Reading, Repairer};
use boswell_model::Slot;
use boswell_testkit::claude_trials::{self, ClientOutcome, Recorded, Trial, compact, tags_in};
use boswell_testkit::corpus;

use crate::claude_support::Session;

/// Returns the tags of records.
fn tags(session: &Session, slots: &[Slot]) -> BTreeSet<u32> {
    let view = session.view();
    let tags = |slot: &Slot| tags_in(&String::from_utf8_lossy(&view.payload(*slot).unwrap()));
    slots.iter().flat_map(tags).collect()
}

fn text(tags: BTreeSet<u32>) -> String {
    compact(&Vec::from_iter(tags))
}

/// Returns the prediction in the form of a recorded outcome; the order does not matter.
fn predicted(session: &Session, version: &str) -> String {
    match Claude.reading(&session.view(), version).unwrap() {
        Some(Reading::Sent(slots)) => text(tags(session, &slots)),
        Some(Reading::Refused) => "refused".to_owned(),
        Some(Reading::Failed) => "failed".to_owned(),
        None => "unknown".to_owned(),
    }
}

fn recorded(outcome: &ClientOutcome) -> String {
    match outcome {
        ClientOutcome::Sent(tags) => text(BTreeSet::from_iter(tags.iter().copied())),
        other => other.text(),
    }
}

/// Returns a line for each prediction that differs from what a client did, and the number of all.
fn differences(trials: &[Trial], known: &Recorded) -> (Vec<String>, usize) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for trial in trials {
        let Some(verdict) = known.table.files.get(&trial.hash()) else {
            continue;
        };
        let session = Session::of(&trial.session, trial.bytes.clone());
        for (version, outcome) in verdict {
            count += 1;
            let (real, ours) = (recorded(outcome), predicted(&session, version));
            if real != ours {
                let (name, hash) = (&trial.name, trial.hash());
                wrong.push(format!(
                    "{version} {name} {hash}\n  real {real}\n  ours {ours}"
                ));
            }
        }
    }
    (wrong, count)
}

fn compare(origins: &[claude_trials::TrialOrigin], kind: &str) {
    for known in claude_trials::recorded(kind) {
        let trials = claude_trials::trials(origins, known.seed, known.count);
        let (wrong, count) = differences(&trials, &known);
        assert!(count > 0, "no verdict of {kind} files");
        assert!(
            wrong.is_empty(),
            "{} of {count} differ:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

#[test]
fn every_verdict_on_damaged_files_that_testkit_made_is_predicted() {
    compare(&claude_trials::made(), "made");
}

#[test]
fn every_verdict_on_damaged_captures_is_predicted() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    compare(&claude_trials::captured(&captures), "captured");
}

#[test]
fn every_verdict_on_real_files_is_predicted() {
    let folders = [corpus::CORPUS, corpus::CAPTURES].map(corpus::require_or_skip);
    let [Some(corpus), Some(captures)] = folders else {
        return;
    };
    let trials = claude_trials::real(&[&corpus, &captures]);
    for known in claude_trials::recorded("real") {
        let (wrong, count) = differences(&trials, &known);
        assert!(count > 0, "no verdict of real files");
        assert!(wrong.is_empty(), "of {count} differ:\n{}", wrong.join("\n"));
    }
}

#[test]
fn the_context_is_what_the_newest_client_is_predicted_to_send() {
    for trial in claude_trials::trials(&claude_trials::made(), 1, 200) {
        let session = Session::of(&trial.session, trial.bytes.clone());
        let Some(Reading::Sent(slots)) = Claude.reading(&session.view(), "2.1.325").unwrap() else {
            continue;
        };
        let context = Claude.context(&session.view(), session.tip()).unwrap();
        let is_made = |form: &boswell_model::ContextForm| {
            matches!(form, boswell_model::ContextForm::Made { .. })
        };
        let items = context.items.iter().filter(|item| !is_made(&item.form));
        let ours: Vec<Slot> = items.flat_map(|item| item.slots()).collect();
        assert_eq!(slots, ours, "{}", trial.name);
    }
}
