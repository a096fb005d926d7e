//! The environment of groups: release builds, a data folder, and the comparison of two jobs.

use std::path::{Path, PathBuf};

use super::machine;
use super::measure::{Job, Meter};
use super::table::{self, Row, Target};
use crate::{Outcome, baseline, workspace};

/// A sample should be long compared to the kernel's tick of (usually) 10 ms.
const SAMPLE_SECONDS: f64 = 0.3;
const MOST_RUNS_PER_SAMPLE: f64 = 200.0;

/// Memory that a reader may use beyond the longest requested line.
const MEMORY_ALLOWANCE: u64 = 64 << 20;

pub(crate) struct Lab {
    /// Folder of generated data: `target/bench`.
    pub(crate) data: PathBuf,
    release: PathBuf,
    meter: Meter,
    pub(crate) repeats: usize,
    pub(crate) scale: Scale,
}

/// How much data a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// That of the published figures.
    Full,
    /// A hundredth of it, with a debug build: shows that a group works, and no figure.
    Small,
}

impl Scale {
    /// Returns the folder of its builds.
    fn profile(self) -> &'static str {
        match self {
            Scale::Full => "release",
            Scale::Small => "debug",
        }
    }
}

impl Lab {
    /// Builds the measured program and the baseline in release mode: a debug baseline would make
    /// boswell look better. Returns the release build of this program.
    pub(crate) fn build(scale: Scale) -> Outcome<PathBuf> {
        let packages = ["-p", "boswell", "-p", "xtask"];
        let mut cargo = workspace::cargo();
        cargo.arg("build").args(packages);
        if scale == Scale::Full {
            println!("bench: building boswell and the baseline in release mode");
            cargo.arg("--release");
        }
        workspace::must_succeed(&mut cargo)?;
        Ok(workspace::target()?.join(scale.profile()).join("xtask"))
    }

    /// Creates the environment after the build.
    pub(crate) fn set_up(repeats: usize, scale: Scale) -> Outcome<Self> {
        let target = workspace::target()?;
        let data = target.join("bench");
        std::fs::create_dir_all(&data)?;
        let meter = Meter::new(&data)?;
        Ok(Self {
            release: target.join(scale.profile()),
            scale,
            data,
            meter,
            repeats,
        })
    }

    /// Returns the folder of the release builds.
    pub(crate) fn release(&self) -> &Path {
        &self.release
    }

    /// Returns a run of boswell in an empty home; nothing stored helps the next run.
    pub(crate) fn boswell(&self, arguments: &[&str]) -> Job {
        let home = self.data.join("home");
        Job {
            program: self.release.join("boswell"),
            arguments: arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
            environment: vec![
                ("BOSWELL_HOME", home.join("boswell")),
                ("HOME", home.clone()),
            ],
            forget: Some(home),
            before: None,
            input: None,
            may_find_nothing: false,
        }
    }

    /// Returns a run of boswell in a home that stays.
    pub(crate) fn boswell_at(&self, home: &Path, arguments: &[&str]) -> Job {
        let environment = vec![("BOSWELL_HOME", home.to_owned()), ("HOME", home.to_owned())];
        Job {
            environment,
            forget: None,
            ..self.boswell(arguments)
        }
    }

    /// Returns a job that reads everything below a path and splits it at newlines.
    pub(crate) fn split(&self, path: &Path) -> Job {
        Job {
            program: self.release.join("xtask"),
            arguments: vec![
                "baseline".to_owned(),
                "split".to_owned(),
                path.display().to_string(),
            ],
            environment: Vec::new(),
            forget: None,
            before: None,
            input: None,
            may_find_nothing: false,
        }
    }

    /// Returns a job of this program.
    pub(crate) fn chore(&self, arguments: &[&str]) -> Job {
        let mut job = self.split(Path::new(""));
        job.arguments = arguments.iter().map(|&it| it.to_owned()).collect();
        job
    }

    /// Returns a job that reads a file and scans every line as JSON.
    pub(crate) fn parse(&self, path: &Path) -> Job {
        let mut job = self.split(path);
        job.arguments[1] = "parse".to_owned();
        job
    }

    /// Returns a job with a system program on a file.
    pub(crate) fn program(&self, name: &str, arguments: &[&str]) -> Outcome<Job> {
        Ok(Job {
            program: workspace::on_path(name).ok_or_else(|| format!("the bench needs `{name}`"))?,
            arguments: arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
            environment: Vec::new(),
            forget: None,
            before: None,
            input: None,
            may_find_nothing: false,
        })
    }

    /// Compares the CPU time of `ours` and `against`, run alternately.
    pub(crate) fn compare(
        &self,
        case: &str,
        ours: &Job,
        against: &Job,
        target: Option<Target>,
    ) -> Outcome<Row> {
        let (our_runs, their_runs) = (self.runs_per_sample(ours)?, self.runs_per_sample(against)?);
        let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.repeats {
            let mine = self.meter.cpu_seconds(ours, our_runs)?;
            let theirs = self.meter.cpu_seconds(against, their_runs)?;
            our_times.push(mine);
            their_times.push(theirs);
            ratios.push(mine / theirs.max(f64::MIN_POSITIVE));
        }
        Ok(Row {
            case: case.to_owned(),
            ours: table::seconds(median(&mut our_times)),
            baseline: table::seconds(median(&mut their_times)),
            ratio: median(&mut ratios),
            target,
        })
    }

    /// Compares the wall-clock time and the CPU time of two long jobs, run alternately; each goes
    /// first equally often. The target is that of the wall-clock time.
    pub(crate) fn compare_wall(
        &self,
        case: &str,
        (ours, against): (&Job, &Job),
        target: Target,
    ) -> Outcome<Vec<Row>> {
        let mut taken: [Vec<f64>; 6] = Default::default();
        for round in 0..self.repeats {
            let first = match round % 2 {
                0 => Some(self.meter.cpu_and_wall_seconds(ours)?),
                _ => None,
            };
            let theirs = self.meter.cpu_and_wall_seconds(against)?;
            let mine = match first {
                Some(mine) => mine,
                None => self.meter.cpu_and_wall_seconds(ours)?,
            };
            let samples = [mine.1, theirs.1, mine.0, theirs.0];
            let ratios = [mine.1 / theirs.1, mine.0 / theirs.0];
            for (all, sample) in taken.iter_mut().zip(samples.into_iter().chain(ratios)) {
                all.push(sample);
            }
        }
        let [wall, their_wall, cpu, their_cpu, walls, cpus] = taken.each_mut().map(|it| median(it));
        let row = |what: &str, (mine, theirs, ratio): (f64, f64, f64), target| Row {
            case: format!("{case}, {what}"),
            ours: table::seconds(mine),
            baseline: table::seconds(theirs),
            ratio,
            target,
        };
        Ok(vec![
            row("wall clock", (wall, their_wall, walls), Some(target)),
            row("CPU", (cpu, their_cpu, cpus), None),
        ])
    }

    /// Returns the median CPU seconds of a job.
    pub(crate) fn cpu(&self, job: &Job) -> Outcome<f64> {
        let runs = self.runs_per_sample(job)?;
        let mut times = (0..self.repeats)
            .map(|_| self.meter.cpu_seconds(job, runs))
            .collect::<Outcome<Vec<_>>>()?;
        Ok(median(&mut times))
    }

    /// Compares the CPU time of a job with a given figure.
    pub(crate) fn allowed(
        &self,
        case: &str,
        ours: &Job,
        allowed: f64,
        target: Target,
    ) -> Outcome<Row> {
        let spent = self.cpu(ours)?;
        Ok(Row {
            case: case.to_owned(),
            ours: table::seconds(spent),
            baseline: format!("allowed {}", table::seconds(allowed)),
            ratio: spent / allowed,
            target: Some(target),
        })
    }

    /// Compares the peak memory of a job with a limit.
    pub(crate) fn peak(&self, case: &str, ours: &Job, limit: u64) -> Outcome<Row> {
        let peak = self.meter.peak_memory(ours)?;
        Ok(Row {
            case: case.to_owned(),
            ours: table::mebibytes(peak),
            baseline: format!("allowed {}", table::mebibytes(limit)),
            ratio: peak as f64 / limit as f64,
            target: Some(Target::AtMost(1.0)),
        })
    }

    fn runs_per_sample(&self, job: &Job) -> Outcome<u32> {
        let once = self.meter.cpu_seconds(job, 1)?;
        Ok((SAMPLE_SECONDS / once.max(0.001))
            .ceil()
            .clamp(1.0, MOST_RUNS_PER_SAMPLE) as u32)
    }

    /// Compares the peak memory of a job with the limit for a reader of `file`: 64 MiB and its
    /// longest line.
    pub(crate) fn memory(&self, case: &str, ours: &Job, file: &Path) -> Outcome<Row> {
        self.memory_within(case, ours, file, MEMORY_ALLOWANCE)
    }

    /// As above, with another allowance.
    pub(crate) fn memory_within(
        &self,
        case: &str,
        ours: &Job,
        file: &Path,
        allowance: u64,
    ) -> Outcome<Row> {
        let mut seen = baseline::Split::default();
        baseline::split(file, &mut seen)?;
        let allowed = allowance + seen.longest;
        // The maximum of all runs, not the median: a limit must hold in every run.
        let mut peak = 0;
        for _ in 0..self.repeats {
            peak = peak.max(self.meter.peak_memory(ours)?);
        }
        Ok(Row {
            case: case.to_owned(),
            ours: table::mebibytes(peak),
            baseline: format!(
                "{} MiB + line {}",
                allowance >> 20,
                table::mebibytes(seen.longest)
            ),
            ratio: peak as f64 / allowed as f64,
            target: Some(Target::AtMost(1.0)),
        })
    }

    /// Returns one line about the machine.
    pub(crate) fn machine(&self) -> String {
        format!(
            "{}, warm page cache, {} repeats.",
            machine::describe(&self.data),
            self.repeats
        )
    }
}

/// Returns the median; for an even number of values, the mean of the two in the middle.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values {
        [] => f64::NAN,
        _ if values.len() % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert!((median(&mut [3.0, 1.0, 9.0]) - 3.0).abs() < f64::EPSILON);
        assert!((median(&mut [4.0, 1.0, 2.0, 9.0]) - 3.0).abs() < f64::EPSILON);
        assert!(median(&mut []).is_nan());
    }
}
