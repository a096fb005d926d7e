//! Many threads that append durably through one writer, and share its syncs.

use std::time::Duration;

use boswell_store::SessionWriter;

use super::super::group::Group;
use super::super::in_turn::timed;
use super::super::lab::{Lab, median};
use super::super::table::{Row, Target};
use super::bed::Bed;
use crate::Outcome;

const THREADS: usize = 64;
const APPENDS_PER_THREAD: usize = 25;
const APPENDS_ALONE: usize = 200;

pub(crate) struct AppendShared;

impl Group for AppendShared {
    fn name(&self) -> &'static str {
        "append-shared"
    }

    fn about(&self) -> &'static str {
        "durable 1 KB commits per second of 64 threads that submit to one writer and wait, against one thread that appends"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (bed, writer) = Bed::make(lab, "shared")?;
        let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..lab.repeats {
            let mine = rate(THREADS * APPENDS_PER_THREAD, || together(&bed, &writer))?;
            let alone = rate(APPENDS_ALONE, || commit(&bed, &writer, APPENDS_ALONE))?;
            ours.push(mine);
            theirs.push(alone);
            ratios.push(mine / alone);
        }
        Ok(vec![Row {
            case: "64 threads, one writer".to_owned(),
            ours: format!("{:.0}/s", median(&mut ours)),
            baseline: format!("{:.0}/s", median(&mut theirs)),
            ratio: median(&mut ratios),
            target: Some(Target::AtLeast(8.0)),
        }])
    }
}

fn rate(commits: usize, work: impl FnOnce() -> boswell_store::Result<()>) -> Outcome<f64> {
    let (time, done): (Duration, _) = timed(work);
    done?;
    Ok(commits as f64 / time.as_secs_f64())
}

fn together(bed: &Bed, writer: &SessionWriter) -> boswell_store::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| commit(bed, writer, APPENDS_PER_THREAD))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| {
                Err(boswell_store::Error::new(boswell_store::ErrorKind::Internal, "an appending thread panicked"))
            })
        })
    })
}

fn commit(bed: &Bed, writer: &SessionWriter, count: usize) -> boswell_store::Result<()> {
    (0..count).try_for_each(|_| writer.submit(bed.draft.clone())?.wait().map(drop))
}
