//! Runs all cases on several workers, each with its own folder.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::case::Case;
use super::lab::FaultLab;
use super::plan::{InjectedFault, sample};
use super::shim::Shim;
use super::tally::{FaultTally, Violation};
use super::trial::{Prepared, Start};

/// Which faults of each case are tried.
#[derive(Debug, Clone, Copy)]
pub enum WantedFaults {
    /// Every fault that can make a difference; a sample if a case has more than `most`.
    Every {
        /// Maximum number per case.
        most: usize,
    },
    /// This many per case.
    Sample(usize),
    /// This one.
    One(InjectedFault),
}

/// A soak, ready to run.
#[derive(Debug)]
pub struct Soak<'s> {
    /// The program.
    pub program: &'s Path,
    /// The shim.
    pub shim: &'s Shim,
    /// An empty folder for the workers.
    pub folder: PathBuf,
    /// Number of concurrent workers.
    pub workers: usize,
    /// Seed of the sample.
    pub seed: u64,
    /// The faults to try.
    pub wanted: WantedFaults,
}

impl Soak<'_> {
    /// Runs the cases; `progress` gets one line per case.
    pub fn run(
        &self,
        cases: &[Case],
        progress: &(dyn Fn(String) + Sync),
    ) -> Result<FaultTally, String> {
        let (turn, tally) = (AtomicUsize::new(0), Mutex::new(FaultTally::default()));
        let failures: Mutex<Vec<String>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for worker in 0..self.workers.max(1) {
                let (turn, tally, failures) = (&turn, &tally, &failures);
                scope.spawn(move || {
                    let done = self.work(worker, cases, turn, progress);
                    match done {
                        Ok(found) => tally.lock().expect("no worker panics").merge(found),
                        Err(error) => failures.lock().expect("no worker panics").push(error),
                    }
                });
            }
        });
        let failures = failures.into_inner().expect("no worker panics");
        let _ = std::fs::remove_dir(&self.folder);
        if failures.is_empty() {
            Ok(tally.into_inner().expect("no worker panics"))
        } else {
            Err(failures.join("\n"))
        }
    }

    fn work(
        &self,
        worker: usize,
        cases: &[Case],
        turn: &AtomicUsize,
        progress: &(dyn Fn(String) + Sync),
    ) -> Result<FaultTally, String> {
        // No digits after a dash: a key made of the path must not look like an id.
        let place = FaultLab::build(
            self.program,
            self.shim,
            &self.folder.join(format!("w{worker}")),
        )?;
        let (mut tally, mut plain) = (FaultTally::default(), None);
        while let Some(case) = cases.get(turn.fetch_add(1, Ordering::Relaxed)) {
            match self.one_case(&place, case, &mut plain) {
                Ok(found) => {
                    progress(found.of_case(case.name));
                    tally.merge(found);
                }
                Err(error) => {
                    let (name, wrong) = (case.name, format!("the case cannot be run: {error}"));
                    progress(format!("{name}: {wrong}"));
                    let call = "-".to_owned();
                    tally.violations.push(Violation {
                        case: name,
                        fault: None,
                        call,
                        wrong,
                    });
                }
            }
        }
        Ok(tally)
    }

    fn one_case(
        &self,
        place: &FaultLab,
        case: &Case,
        plain: &mut Option<Start>,
    ) -> Result<FaultTally, String> {
        let mut tally = FaultTally::default();
        let (prepared, wrong) = Prepared::new(place, case, plain)?;
        tally.violations.extend(wrong);
        tally.calls.insert(case.name, prepared.calls);
        let part = crate::Rng::for_part(self.seed, case.name).next_u64();
        let faults = match self.wanted {
            WantedFaults::Every { most } => sample(prepared.faults.clone(), most, part),
            WantedFaults::Sample(size) => sample(prepared.faults.clone(), size, part),
            WantedFaults::One(fault) => vec![fault],
        };
        for fault in faults {
            let found = prepared.try_fault(fault)?;
            tally
                .rows
                .entry((case.name, fault.kind.word()))
                .or_default()
                .add(found.row);
            tally.violations.extend(found.violation);
        }
        Ok(tally)
    }
}
