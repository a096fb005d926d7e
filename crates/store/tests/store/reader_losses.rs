//! Compares the losses that `check` reports for versions of Claude Code with recorded runs of them.
//! The runs are recorded by `cargo xtask soak claude`.

use std::collections::BTreeSet;

use boswell_dialect::by_name;
use boswell_model::{Flags, Slot};
use boswell_store::repair::{Report, check};
use boswell_store::{Session, Store};
use boswell_testkit::claude_trials::{self, ClientOutcome, Trial, Verdict, tags_in};
use boswell_testkit::{corpus, disk};

/// A damaged or real file as a session of a store.
struct Case {
    _folder: tempfile::TempDir,
    session: Session,
}

impl Case {
    fn of(trial: &Trial) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let log = format!("projects/-w/{}.jsonl", trial.session);
        disk::write(&folder.path().join(log), &trial.bytes);
        let store = Store::in_folder(by_name("claude").unwrap(), folder.path());
        let listed = store.list().unwrap().sessions;
        let session = store.read_to_check(&listed[0]).unwrap();
        Case {
            _folder: folder,
            session,
        }
    }

    fn tags(&self, slot: Slot) -> BTreeSet<u32> {
        let view = self.session.view();
        let text = view.payload(slot).unwrap();
        tags_in(&String::from_utf8_lossy(&text))
            .into_iter()
            .collect()
    }

    /// The tags of messages that people see.
    fn said(&self) -> BTreeSet<u32> {
        let is_said = |slot: &Slot| {
            let head = self.session.log().head(*slot).unwrap();
            let is_other = [Flags::HIDDEN, Flags::ERROR, Flags::SIDECHAIN]
                .into_iter()
                .any(|flag| head.flags.has(flag));
            head.kind.is_conversation() && !is_other
        };
        let slots = self.session.log().slots().filter(is_said);
        slots.flat_map(|slot| self.tags(slot)).collect()
    }
}

fn sent(outcome: &ClientOutcome) -> Option<BTreeSet<u32>> {
    match outcome {
        ClientOutcome::Sent(tags) => Some(tags.iter().copied().collect()),
        ClientOutcome::Refused | ClientOutcome::Failed => None,
    }
}

/// Returns what is wrong with the losses reported for one version.
fn wrong(case: &Case, report: &Report, version: &str, outcome: &ClientOutcome) -> Option<String> {
    let loss = report.losses.iter().find(|loss| loss.reader == version);
    let Some(sent) = sent(outcome) else {
        let is_told = loss.is_some_and(|loss| loss.whole.is_some());
        return (!is_told && !case.said().is_empty()).then(|| "sends nothing".to_owned());
    };
    // A message that the provider refuses is sent.
    let is_refused = |slot: &Slot| {
        let mut problems = report.problems.iter();
        problems.any(|it| {
            let word = it.kind.word();
            it.slot == Some(*slot) && matches!(word, "orphan_result" | "refused_block")
        })
    };
    let entries = loss.into_iter().flat_map(|loss| loss.entries.iter());
    let mut false_alarms = entries.filter(|slot| !is_refused(slot)).filter(|slot| {
        let tags = case.tags(**slot);
        !tags.is_empty() && tags.is_subset(&sent)
    });
    let slot = false_alarms.next()?;
    Some(format!("sends {:?}", case.tags(*slot)))
}

/// Returns whether one of two versions that read alike sent a message that the other did not, and
/// no loss of the other is reported.
fn unreported(case: &Case, report: &Report, verdict: &Verdict) -> Option<String> {
    let of = |version: &str| sent(verdict.get(version)?);
    let (middle, newest) = (of("2.1.150")?, of("2.1.325")?);
    let said = case.said();
    for (version, own, other) in [("2.1.150", &middle, &newest), ("2.1.325", &newest, &middle)] {
        let missing: Vec<_> = other
            .difference(own)
            .filter(|it| said.contains(it))
            .collect();
        if !missing.is_empty() && !report.losses.iter().any(|loss| loss.reader == version) {
            return Some(format!("{version} does not send {missing:?}"));
        }
    }
    None
}

fn compare(trials: &[Trial], verdicts: &claude_trials::VerdictTable) {
    let (mut failures, mut count) = (Vec::new(), 0);
    for trial in trials {
        let Some(verdict) = verdicts.files.get(&trial.hash()) else {
            continue;
        };
        let case = Case::of(trial);
        let report = check(&case.session).unwrap();
        let found = verdict.iter().filter_map(|(version, outcome)| {
            count += 1;
            let why = wrong(&case, &report, version, outcome)?;
            Some(format!("{version} {why}"))
        });
        let found: Vec<String> = found
            .chain(unreported(&case, &report, verdict))
            .map(|why| format!("{} {}: {why}", trial.hash(), trial.name))
            .collect();
        failures.extend(found);
    }
    assert!(count > 0, "no verdicts");
    assert!(failures.is_empty(), "{count}: {failures:#?}");
}

#[test]
fn losses_of_damaged_files_are_those_of_recorded_runs() {
    for known in claude_trials::recorded("made") {
        let trials = claude_trials::trials(&claude_trials::made(), known.seed, known.count);
        compare(&trials, &known.table);
    }
}

#[test]
fn losses_of_damaged_captures_are_those_of_recorded_runs() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let origins = claude_trials::captured(&captures);
    for known in claude_trials::recorded("captured") {
        let trials = claude_trials::trials(&origins, known.seed, known.count);
        compare(&trials, &known.table);
    }
}

#[test]
fn losses_of_real_files_are_those_of_recorded_runs() {
    let folders = [corpus::CORPUS, corpus::CAPTURES].map(corpus::require_or_skip);
    let [Some(corpus), Some(captures)] = folders else {
        return;
    };
    let trials = claude_trials::real(&[&corpus, &captures]);
    for known in claude_trials::recorded("real") {
        compare(&trials, &known.table);
    }
}
