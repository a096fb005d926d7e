//! Compares what real clients sent of repaired files with what the plans of the repairs promised.
//! The runs are recorded by `cargo xtask soak claude --repaired`.

use std::collections::BTreeSet;

use boswell_dialect::claude::Claude;
use boswell_dialect::{Reading, Repairer, by_name};
use boswell_store::Store;
use boswell_testkit::claude_trials::{
    self, ClientOutcome, RepairedTrial, Trial, Verdict, compact, tags_in,
};
use boswell_testkit::disk;

/// The least number of files that must be compared.
const AT_LEAST: usize = 60;

fn text(tags: &BTreeSet<u32>) -> String {
    compact(&tags.iter().copied().collect::<Vec<_>>())
}

/// Returns the tags that a version is predicted to send.
fn predicted(trial: &Trial, version: &str) -> BTreeSet<u32> {
    let folder = tempfile::tempdir().unwrap();
    let log = format!("projects/-w/{}.jsonl", trial.session);
    disk::write(&folder.path().join(log), &trial.bytes);
    let store = Store::in_folder(by_name("claude").unwrap(), folder.path());
    let listed = store.list().unwrap().sessions;
    let session = store.read_to_check(&listed[0]).unwrap();
    let view = session.view();
    match Claude.reading(&view, version).unwrap() {
        Some(Reading::Sent(slots)) => slots
            .into_iter()
            .flat_map(|slot| tags_in(&String::from_utf8_lossy(&view.payload(slot).unwrap())))
            .collect(),
        _ => BTreeSet::new(),
    }
}

/// Returns the tags of the messages that more than one record of a file has.
fn repeated(trial: &Trial) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    let lines = trial.bytes.split(|byte| *byte == b'\n');
    let tags = lines.flat_map(|line| {
        let tags = tags_in(&String::from_utf8_lossy(line));
        BTreeSet::from_iter(tags)
    });
    tags.filter(|tag| !seen.insert(*tag)).collect()
}

/// Returns how a recorded run differs from what the plan promised and from the prediction.
fn broken_promises(file: &RepairedTrial, version: &str, outcome: &ClientOutcome) -> Vec<String> {
    let sent: BTreeSet<u32> = match outcome {
        ClientOutcome::Sent(tags) => tags.iter().copied().collect(),
        ClientOutcome::Refused | ClientOutcome::Failed => BTreeSet::new(),
    };
    let named = &file.named[version];
    let promised: BTreeSet<u32> = file.messages.difference(named).copied().collect();
    let repeated = repeated(&file.trial);
    let missing = promised.difference(&sent).copied().collect();
    let only = named
        .difference(&repeated)
        .copied()
        .collect::<BTreeSet<u32>>();
    let surplus = only.intersection(&sent).copied().collect();
    let ours = predicted(&file.trial, version);
    let mut broken = Vec::new();
    let mut say = |what: &str, tags: BTreeSet<u32>| {
        if !tags.is_empty() {
            broken.push(format!("{what} {}", text(&tags)));
        }
    };
    say("does not send", missing);
    say("sends, though it is named as not sent,", surplus);
    say(
        "is predicted to send",
        ours.difference(&sent).copied().collect(),
    );
    say(
        "is not predicted to send",
        sent.difference(&ours).copied().collect(),
    );
    broken
}

#[test]
fn clients_sent_of_repaired_files_what_the_plans_promised() {
    let (mut wrong, mut files) = (Vec::new(), 0);
    for known in claude_trials::recorded("repaired") {
        for file in claude_trials::repaired(&claude_trials::made(), known.seed, known.count) {
            let (name, hash) = (&file.trial.name, file.trial.hash());
            // A repair that writes something else than before is resumed and recorded again.
            let verdict = known.table.files.get(&hash);
            let is_whole = |it: &&Verdict| it.len() == claude_trials::VERSIONS.len();
            let Some(verdict) = verdict.filter(is_whole) else {
                wrong.push(format!("{name}: {hash} is not recorded"));
                continue;
            };
            files += 1;
            for (version, outcome) in verdict {
                let broken = broken_promises(&file, version, outcome).into_iter();
                wrong.extend(broken.map(|why| format!("{name} {hash}: {version} {why}")));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}, in {files} files; `cargo xtask soak claude --repaired` records:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(files >= AT_LEAST, "{files} repaired files were resumed");
}
