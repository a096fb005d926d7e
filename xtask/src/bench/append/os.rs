//! An append that must survive only its process.

use std::io::Write;
use std::time::Duration;

use boswell_store::{Durability, Expect};

use super::super::group::Group;
use super::super::in_turn::{compare, thread_cpu, timed};
use super::super::lab::{Lab, median};
use super::super::table::{self, Row, Target};
use super::bed::Bed;
use crate::Outcome;

const APPENDS: usize = 2_000;
const BATCH: usize = 64;
const CPU_ALLOWED: Duration = Duration::from_micros(30);

pub(crate) struct AppendOs;

impl Group for AppendOs {
    fn name(&self) -> &'static str {
        "append-os"
    }

    fn about(&self) -> &'static str {
        "an append of 1 KB with `Durability::Os`, alone or as one of a batch, against `write` of the same bytes, and its CPU against \
         30 µs"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (bed, writer) = Bed::make(lab, "os")?;
        let mut raw = bed.open_raw()?;
        let mut ours = || {
            let draft = bed.draft.clone();
            let (time, receipt) = timed(|| writer.append_with(draft, Expect::Any, Durability::Os));
            receipt?;
            Ok(time)
        };
        let mut theirs = || {
            let (time, done) = timed(|| raw.write_all(&bed.line));
            done?;
            Ok(time)
        };
        // Each append takes and releases the append lock, and checks the path and the failed-sync
        // marker.
        let single = Some(Target::AtMost(8.0));
        let times = compare(
            "append, one by one",
            (lab.repeats, APPENDS),
            &mut ours,
            &mut theirs,
            single,
        )?;
        let mut in_batches = || {
            let drafts = vec![bed.draft.clone(); BATCH];
            let (time, receipts) = timed(|| writer.append_all(drafts, Expect::Any, Durability::Os));
            receipts?;
            Ok(time / BATCH as u32)
        };
        let size = (lab.repeats, APPENDS / BATCH);
        let batches = compare(
            "each of a batch of 64",
            size,
            &mut in_batches,
            &mut theirs,
            Some(Target::AtMost(2.0)),
        )?;
        let cpu = cpu_of_one(lab.repeats, &mut ours)?;
        Ok(vec![times, batches, cpu])
    }
}

/// The CPU time of this thread for one `append`, against what is allowed.
fn cpu_of_one(repeats: usize, append: &mut dyn FnMut() -> Outcome<Duration>) -> Outcome<Row> {
    let mut spent = Vec::new();
    for _ in 0..repeats {
        let before = thread_cpu()?;
        for _ in 0..APPENDS {
            append()?;
        }
        spent.push((thread_cpu()? - before).as_secs_f64() / APPENDS as f64);
    }
    let spent = median(&mut spent);
    Ok(Row {
        case: "append, CPU".to_owned(),
        ours: table::seconds(spent),
        baseline: format!("allowed {}", table::seconds(CPU_ALLOWED.as_secs_f64())),
        ratio: spent / CPU_ALLOWED.as_secs_f64(),
        target: Some(Target::AtMost(1.0)),
    })
}
