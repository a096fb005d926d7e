//! Group commit: many threads append durably through one writer, and share its syncs.

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
        let (mut ours, mut alone, mut undisturbed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..lab.repeats {
            let (time, done) = timed(|| together(&bed, &writer));
            done?;
            ours.push((THREADS * APPENDS_PER_THREAD) as f64 / time.as_secs_f64());
            let mut times = lone_times(&bed, &writer)?;
            alone.push(times.len() as f64 / times.iter().sum::<f64>());
            undisturbed.push(1.0 / median(&mut times));
        }
        let row = |case: &str, theirs: &mut [f64], target| {
            let mut ratios: Vec<f64> = ours
                .iter()
                .zip(theirs.iter())
                .map(|(mine, theirs)| mine / theirs)
                .collect();
            Row {
                case: case.to_owned(),
                ours: format!("{:.0}/s", median(&mut ours.clone())),
                baseline: format!("{:.0}/s", median(theirs)),
                ratio: median(&mut ratios),
                target,
            }
        };
        // On a busy machine a single writer mostly waits for a core, which makes a shared sync look
        // better than it is. The median time of an append does not have this bias.
        Ok(vec![
            row(
                "64 threads, one writer",
                &mut alone,
                Some(Target::AtLeast(6.0)),
            ),
            row(
                "against one over the lone append's median",
                &mut undisturbed,
                None,
            ),
        ])
    }
}

fn lone_times(bed: &Bed, writer: &SessionWriter) -> Outcome<Vec<f64>> {
    let mut times = Vec::with_capacity(APPENDS_ALONE);
    for _ in 0..APPENDS_ALONE {
        let (time, done) = timed(|| commit(bed, writer, 1));
        done?;
        times.push(time.as_secs_f64());
    }
    Ok(times)
}

fn together(bed: &Bed, writer: &SessionWriter) -> boswell_store::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| commit(bed, writer, APPENDS_PER_THREAD)))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| {
                Err(boswell_store::Error::new(
                    boswell_store::ErrorKind::Internal,
                    "an appending thread panicked",
                ))
            })
        })
    })
}

fn commit(bed: &Bed, writer: &SessionWriter, count: usize) -> boswell_store::Result<()> {
    (0..count).try_for_each(|_| writer.submit(bed.draft.clone())?.wait().map(drop))
}
