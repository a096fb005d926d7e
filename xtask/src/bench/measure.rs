//! Measures child processes without unsafe code.
//!
//! CPU time is the kernel's "time of waited-for children" in `/proc/self/stat`; it counts in ticks,
//! so short jobs are run several times per sample. Peak memory comes from GNU time if it is
//! installed, because the kernel's own figure disappears with the process; otherwise the child's
//! `VmHWM` is polled, which may miss its last moments.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{Outcome, workspace};

/// A program with arguments, run repeatedly.
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
    /// A folder that is removed before every run, so that no stored data helps.
    pub(crate) forget: Option<PathBuf>,
    /// A file, and a text that is appended to it before every run.
    pub(crate) before: Option<(PathBuf, String)>,
    /// A file that is its standard input.
    pub(crate) input: Option<PathBuf>,
    /// Whether exit code 1 is accepted: nothing was found.
    pub(crate) may_find_nothing: bool,
}

impl Job {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        self.dress(&mut command);
        command
    }

    fn dress(&self, command: &mut Command) {
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
            .stdin(self.stdin())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
    }

    fn stdin(&self) -> Stdio {
        let input = self.input.as_ref();
        let input = input.and_then(|path| std::fs::File::open(path).ok());
        input.map_or_else(Stdio::null, Stdio::from)
    }

    fn reset(&self) -> Outcome {
        if let Some((file, text)) = &self.before {
            std::io::Write::write_all(
                &mut std::fs::OpenOptions::new().append(true).open(file)?,
                text.as_bytes(),
            )?;
        }
        match self.forget.as_deref().map(std::fs::remove_dir_all) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn is_fine(&self, status: std::process::ExitStatus) -> bool {
        status.success() || self.may_find_nothing && status.code() == Some(1)
    }

    /// Runs the command and returns its output.
    pub(crate) fn output(&self) -> Outcome<String> {
        self.reset()?;
        let output = self
            .command()
            .stdout(Stdio::piped())
            .output()
            .map_err(|error| self.failed(&error))?;
        if self.is_fine(output.status) {
            Ok(String::from_utf8(output.stdout)?)
        } else {
            Err(self.failed(&output.status))
        }
    }

    /// Runs once and counts the output: warms the page cache, and shows that there is something to
    /// measure.
    pub(crate) fn output_lines(&self) -> Outcome<usize> {
        self.reset()?;
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.failed(&error))?;
        let mut lines = 0;
        if let Some(mut stdout) = child.stdout.take() {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = std::io::Read::read(&mut stdout, &mut buffer)?;
                if count == 0 {
                    break;
                }
                lines += buffer[..count]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
            }
        }
        let status = child.wait()?;
        if self.is_fine(status) {
            Ok(lines)
        } else {
            Err(self.failed(&status))
        }
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> Box<dyn std::error::Error> {
        format!(
            "{} {}: {why}",
            self.program.display(),
            self.arguments.join(" ")
        )
        .into()
    }
}

/// Measures jobs on this machine.
pub(crate) struct Meter {
    ticks_per_second: f64,
    gnu_time: Option<PathBuf>,
    scratch: PathBuf,
}

impl Meter {
    pub(crate) fn new(folder: &Path) -> Outcome<Self> {
        let output = Command::new("getconf").arg("CLK_TCK").output();
        let ticks = output
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok());
        let scratch = folder.join("peak-memory");
        let gnu_time =
            workspace::on_path("time").filter(|program| peak_by_time(program, &scratch).is_ok());
        Ok(Self {
            ticks_per_second: ticks.unwrap_or(100.0),
            gnu_time,
            scratch,
        })
    }

    /// Returns the CPU seconds (user + system) of `times` runs, divided by `times`.
    pub(crate) fn cpu_seconds(&self, job: &Job, times: u32) -> Outcome<f64> {
        let mut ticks = 0;
        for _ in 0..times {
            job.reset()?;
            let before = children_ticks()?;
            let status = job.command().status().map_err(|error| job.failed(&error))?;
            if !job.is_fine(status) {
                return Err(job.failed(&status));
            }
            ticks += children_ticks()? - before;
        }
        Ok(ticks as f64 / self.ticks_per_second / f64::from(times))
    }

    /// Returns the CPU seconds (user + system) and the wall-clock seconds of one run.
    pub(crate) fn cpu_and_wall_seconds(&self, job: &Job) -> Outcome<(f64, f64)> {
        let start = std::time::Instant::now();
        let cpu = self.cpu_seconds(job, 1)?;
        Ok((cpu, start.elapsed().as_secs_f64()))
    }

    /// Returns the peak resident memory of the job in bytes.
    pub(crate) fn peak_memory(&self, job: &Job) -> Outcome<u64> {
        job.reset()?;
        let Some(time) = &self.gnu_time else {
            return polled_peak(
                job,
                job.command().spawn().map_err(|error| job.failed(&error))?,
            );
        };
        let mut command = timed(time, &self.scratch);
        command.arg(&job.program).args(&job.arguments);
        job.dress(&mut command);
        let status = command.status()?;
        if job.is_fine(status) {
            kilobytes_in(&self.scratch)
        } else {
            Err(job.failed(&status))
        }
    }
}

fn timed(time: &Path, report: &Path) -> Command {
    let mut command = Command::new(time);
    command.args(["-f", "%M", "-o"]).arg(report);
    command
}

/// Other programs are called `time` too; only one that supports the format is used.
fn peak_by_time(time: &Path, report: &Path) -> Outcome<u64> {
    workspace::must_succeed(timed(time, report).arg("true").stderr(Stdio::null()))?;
    kilobytes_in(report)
}

fn kilobytes_in(report: &Path) -> Outcome<u64> {
    let text = std::fs::read_to_string(report)?;
    let last = text.lines().last().unwrap_or_default();
    Ok(1024
        * last
            .trim()
            .parse::<u64>()
            .map_err(|_| format!("time reported `{last}` as peak memory"))?)
}

fn polled_peak(job: &Job, mut child: Child) -> Outcome<u64> {
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Ok(status) = std::fs::read_to_string(&status_file) {
            peak = peak.max(high_water_mark(&status).unwrap_or(0));
        }
        match child.try_wait()? {
            Some(status) if job.is_fine(status) => return Ok(peak),
            Some(status) => return Err(format!("the measured program ended with {status}").into()),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

fn children_ticks() -> Outcome<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("/proc/self/stat: {error} (the bench runs on Linux only)"))?;
    children_ticks_in(&stat).ok_or_else(|| "/proc/self/stat has no times of children".into())
}

/// Parses fields 16 and 17; the name in field 2 may contain spaces and parentheses, so counting
/// starts after the last one.
fn children_ticks_in(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_children_are_found_behind_a_strange_name() {
        let stat = "4853 (a) b (c) R 4847 4847 3439 0 -1 4194304 103 0 0 0 11 12 130 7 20 0 1 0 60391 2998272 402";
        assert_eq!(children_ticks_in(stat), Some(137));
        assert_eq!(children_ticks_in("no stat"), None);
    }

    #[test]
    fn high_water_mark_is_in_bytes() {
        assert_eq!(
            high_water_mark("Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t 4 kB\n"),
            Some(5 << 20)
        );
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }
}
