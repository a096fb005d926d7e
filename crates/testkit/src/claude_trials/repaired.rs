//! Damaged transcripts as `repair` leaves them, and what its plan promises of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Confidence, by_name};
use boswell_store::backend::FsBackend;
use boswell_store::disk::{Disk, MemoryDisk, durable};
use boswell_store::repair::{RepairPlan, RepairRequest, Repaired};
use boswell_store::{Home, Store};

use super::{Trial, TrialOrigin, VERSIONS, tags_in, trials};
use crate::ids::SeededIds;
use crate::scanner;

const ROOT: &str = "/claude";

/// A file that a repair wrote.
#[derive(Debug, Clone)]
pub struct RepairedTrial {
    /// The repaired file: the fork, or the session itself if only bytes were moved.
    pub trial: Trial,
    /// The messages in the damaged file.
    pub messages: BTreeSet<u32>,
    /// The messages that the plan names as not sent, by version.
    pub named: BTreeMap<&'static str, BTreeSet<u32>>,
}

/// Returns the first `count` files of a seed that a repair for all versions changes, as it leaves
/// them. The ids in them follow from the seed.
pub fn repaired(origins: &[TrialOrigin], seed: u64, count: usize) -> Vec<RepairedTrial> {
    // Some trials need no repair.
    let damaged = trials(origins, seed, count * 3).into_iter().enumerate();
    damaged
        .filter_map(|(number, trial)| repair(&trial, seed * 1_000_000 + number as u64))
        .take(count)
        .collect()
}

fn repair(trial: &Trial, seed: u64) -> Option<RepairedTrial> {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let key = format!("projects/-srv-demo/{}.jsonl", trial.session);
    let path = Path::new(ROOT).join(&key);
    durable::make_folders(disk.as_ref(), path.parent()?).expect("folders in memory");
    durable::create(disk.as_ref(), &path, &trial.bytes).expect("a file in memory");
    let home = Home::on(Arc::clone(&disk), Arc::new(SeededIds::new(seed)), "/home/b");
    let backend = Arc::new(FsBackend::on(Arc::clone(&disk), ROOT));
    let store = Store::on(by_name("claude")?, backend, ROOT);
    let location = store.find(&trial.session).ok()?;
    let request = RepairRequest {
        level: Confidence::Likely,
        goals: VERSIONS.map(str::to_owned).to_vec(),
        ..RepairRequest::default()
    };
    let plan = store.repair_plan(&location, &request).ok()?;
    if plan.is_empty() || plan.refused.is_some() {
        return None;
    }
    let done = home.runner();
    let done = done.repair(&home.writable(store), &location, &request);
    let done = done.expect("a plan that is not refused is carried out");
    Some(RepairedTrial {
        messages: messages(&trial.bytes),
        named: VERSIONS
            .map(|version| (version, named(trial, &plan, version)))
            .into(),
        trial: written(trial, &done, disk.as_ref(), &key),
    })
}

/// Returns the file that a repair wrote.
fn written(trial: &Trial, done: &Repaired, disk: &dyn Disk, original: &str) -> Trial {
    let (session, key) = match &done.fork {
        Some(fork) => (fork.clone(), format!("projects/-srv-demo/{fork}.jsonl")),
        None => (trial.session.clone(), original.to_owned()),
    };
    let bytes = durable::read(disk, &Path::new(ROOT).join(key)).expect("a file in memory");
    Trial {
        name: format!("{}+repaired", trial.name),
        session,
        bytes: bytes.expect("the repaired file is there"),
    }
}

/// Returns the tags of every message in the bytes, found without boswell's code.
fn messages(bytes: &[u8]) -> BTreeSet<u32> {
    let is_message = |record: &Vec<u8>| {
        let record: serde_json::Value = serde_json::from_slice(record).unwrap_or_default();
        matches!(record["type"].as_str(), Some("user" | "assistant"))
            && !record["message"].is_null()
    };
    let records = scanner::records(bytes, &scanner::is_claude).into_iter();
    records
        .filter(is_message)
        .flat_map(|record| tags_in(&String::from_utf8_lossy(&record)))
        .collect()
}

/// Returns the tags on the lines that a plan names for a version.
fn named(trial: &Trial, plan: &RepairPlan, version: &str) -> BTreeSet<u32> {
    let lines: Vec<&[u8]> = trial.bytes.split(|byte| *byte == b'\n').collect();
    let unsent = plan.unsent.iter();
    let unsent = unsent.filter(|it| it.readers.contains(&version));
    unsent
        .flat_map(|it| &it.records)
        .filter_map(|record| lines.get(usize::try_from(record.line).ok()?.checked_sub(1)?))
        .flat_map(|line| tags_in(&String::from_utf8_lossy(line)))
        .collect()
}
