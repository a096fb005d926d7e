//! Compares the losses that `check` reports for versions of Claude Code with recorded runs of them.
//! The runs are recorded by `cargo xtask soak claude`.

use std::collections::BTreeSet;

use boswell_dialect::claude::Claude;
use boswell_dialect::{Repairer, UnsentReason, by_name};
use boswell_model::{Flags, ProblemKind, Slot};
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

/// Returns a version whose recorded run lacks a message that the report counts as lost, or that
/// sends nothing of a conversation.
fn confirmed(case: &Case, report: &Report, verdict: &Verdict) -> Option<String> {
    let lacks = |(version, outcome): (&String, &ClientOutcome)| {
        let Some(sent) = sent(outcome) else {
            return !case.said().is_empty();
        };
        let losses = report.losses.iter().filter(|it| it.reader == version);
        let mut lost = losses.flat_map(|it| &it.entries);
        lost.any(|slot| !case.tags(*slot).is_subset(&sent))
    };
    let found = verdict.iter().find(|run| lacks(*run));
    found.map(|(version, _)| version.clone())
}

/// Returns a version whose recorded run lacks a message for a reason that a sound file does not
/// give.
fn silent(case: &Case, report: &Report, verdict: &Verdict) -> Option<String> {
    let is_open = |slot: Slot| {
        let mut problems = report.problems.iter();
        problems.any(|it| it.slot == Some(slot) && it.kind == ProblemKind::MissingResult)
    };
    for (version, outcome) in verdict {
        let sent = sent(outcome).unwrap_or_default();
        let unsent = Claude.unsent_records(&case.session.view(), version);
        for (slot, reason) in unsent.unwrap().unwrap_or_default() {
            // Old versions follow one of several calls also in sound files: the results of the
            // others are in the file, and are not found.
            let is_usual = match reason {
                UnsentReason::ParallelCall => true,
                UnsentReason::NoResult => version == "2.1.50" && !is_open(slot),
                reason => reason.is_intended(),
            };
            let tags = case.tags(slot);
            if !is_usual && !tags.is_empty() && !tags.is_subset(&sent) {
                let reason = reason.word();
                return Some(format!("{version} does not send {tags:?}: {reason}"));
            }
        }
    }
    None
}

/// The exit codes of `check` that the command line's tests pin, by file.
fn pinned_codes() -> Vec<(String, bool)> {
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../cli/tests/golden/damage.txt"
    );
    let text = String::from_utf8(disk::read(std::path::Path::new(golden))).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let (name, rest) = line.split_once('\t').unwrap();
        (name.to_owned(), rest.contains("exit 1"))
    })
    .collect()
}

/// Every Claude Code file of corpus and captures: that `check` ends with 1 is confirmed by a real
/// run, and where it ends with 0 no run lost anything.
#[test]
fn check_ends_with_1_exactly_where_a_client_lost_something() {
    let folders = [corpus::CORPUS, corpus::CAPTURES].map(corpus::require_or_skip);
    let [Some(corpus), Some(captures)] = folders else {
        return;
    };
    let codes = pinned_codes();
    let verdicts = claude_trials::recorded("real").swap_remove(0).table;
    let (mut wrong, mut damaged) = (Vec::new(), 0);
    for trial in claude_trials::real(&[&corpus, &captures]) {
        let Some(verdict) = verdicts.files.get(&trial.hash()) else {
            wrong.push(format!("{}: no client resumed it", trial.name));
            continue;
        };
        let case = Case::of(&trial);
        let report = check(&case.session).unwrap();
        // That of the file as it is: tags make copies of a record differ.
        let Some((_, ends_with_1)) = codes.iter().find(|(name, _)| name.ends_with(&trial.name))
        else {
            wrong.push(format!("{}: no exit code is pinned", trial.name));
            continue;
        };
        damaged += usize::from(*ends_with_1);
        match (*ends_with_1, confirmed(&case, &report, verdict)) {
            (true, None) => wrong.push(format!("{}: no client lost anything", trial.name)),
            (false, Some(version)) => wrong.push(format!("{}: {version} lost it", trial.name)),
            (false, None) => {
                let why = silent(&case, &report, verdict);
                wrong.extend(why.map(|why| format!("{}: {why}", trial.name)));
            }
            (true, Some(_)) => {}
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(damaged > 0, "no real file is damaged");
}
