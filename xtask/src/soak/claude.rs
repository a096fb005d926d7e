//! `cargo xtask soak claude`: damaged transcripts, resumed by three versions of the real client.
//!
//! What each sent is recorded in `crates/testkit/verdicts`, as numbers. `cargo test` compares
//! every recorded verdict with what boswell predicts, without any client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::claude_trials::{self, ClientOutcome, Trial, VerdictTable};
use boswell_testkit::{corpus, disk};

use crate::{Outcome, clients};

/// Verdicts are saved after so many runs, so that an interrupted soak loses little.
const SAVE_EVERY: usize = 20;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    seed: u64,
    count: usize,
    workers: usize,
    /// Only this version.
    version: Option<String>,
    /// Whether the origins are captures instead of made transcripts.
    captured: bool,
    /// Runs this many recorded files again and compares; records nothing.
    again: Option<usize>,
    /// Decides which files are run again.
    pick: usize,
    /// Only writes the files to this folder, for a closer look.
    write: Option<PathBuf>,
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(arguments)?;
    let soak = Soak::prepare(&options)?;
    if let Some(folder) = &options.write {
        for trial in &soak.trials {
            println!("{} {} {}", trial.hash(), trial.session, trial.name);
            disk::write(
                &folder.join(format!("{}.jsonl", trial.hash())),
                &trial.bytes,
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(count) = options.again {
        return Ok(match soak.compare(count, options.pick)? {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        });
    }
    soak.record()?;
    Ok(ExitCode::SUCCESS)
}

/// Lets the real clients resume some recorded files again, chosen by the hash of the commit.
/// Returns how many runs differ from their record.
pub(crate) fn sample(count: usize) -> Outcome<usize> {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).output()?;
    let hash = String::from_utf8_lossy(&head.stdout).into_owned();
    let pick = usize::from_str_radix(hash.get(..8).unwrap_or("0"), 16)?;
    let mut differing = 0;
    for captured in [false, true] {
        let has_origins = !captured || corpus::captures_dir().is_some();
        let kind = if captured { "captured" } else { "made" };
        let Some(known) = claude_trials::recorded(kind)
            .into_iter()
            .next()
            .filter(|_| has_origins)
        else {
            continue;
        };
        let mut options = Options::parse(&[])?;
        (options.seed, options.count, options.captured) = (known.seed, known.count, captured);
        differing += Soak::prepare(&options)?.compare(count / 2, pick)?;
    }
    Ok(differing)
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut options = Options {
            seed: 1,
            count: 500,
            workers: 2,
            version: None,
            captured: false,
            again: None,
            pick: 0,
            write: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--seed" => options.seed = value()?.parse()?,
                "--count" => options.count = value()?.parse()?,
                "--workers" => options.workers = value()?.parse()?,
                "--version" => options.version = Some(value()?.clone()),
                "--again" => options.again = Some(value()?.parse()?),
                "--pick" => options.pick = value()?.parse()?,
                "--write" => options.write = Some(value()?.into()),
                "--captured" => options.captured = true,
                other => return Err(format!("soak claude has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// A run of one file with one version.
struct Run<'a> {
    trial: &'a Trial,
    version: &'static str,
    client: &'a ClaudeClient,
}

struct Soak {
    clients: BTreeMap<&'static str, ClaudeClient>,
    trials: Vec<Trial>,
    table: VerdictTable,
    file: PathBuf,
    workers: usize,
}

impl Soak {
    fn prepare(options: &Options) -> Outcome<Soak> {
        let known = clients::of_claude()?.into_iter();
        let clients = known
            .filter(|(version, _)| options.version.as_deref().is_none_or(|it| it == *version))
            .map(|(version, words)| (version, ClaudeClient::started_by(words)))
            .collect();
        let (origins, kind) = match options.captured {
            true => {
                let folder = corpus::captures_dir().ok_or("BOSWELL_CAPTURES is not set")?;
                (claude_trials::captured(&folder), "captured")
            }
            false => (claude_trials::made(), "made"),
        };
        let trials = claude_trials::trials(&origins, options.seed, options.count);
        let file = claude_trials::folder().join(format!("claude-{kind}-{}.txt", options.seed));
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let table = VerdictTable::parse(&known)
            .ok_or_else(|| format!("{} is not a table of verdicts", file.display()))?;
        println!("xtask: {} files of {} origins", trials.len(), origins.len());
        Ok(Soak {
            clients,
            trials,
            table,
            file,
            workers: options.workers,
        })
    }

    /// Runs what is not recorded yet.
    fn record(&self) -> Outcome {
        let is_known = |run: &Run<'_>| {
            let verdict = self.table.files.get(&run.trial.hash());
            verdict.is_some_and(|verdict| verdict.contains_key(run.version))
        };
        let mut runs = self.runs(&self.trials);
        runs.retain(|run| !is_known(run));
        let table = Mutex::new((self.table.clone(), 0));
        self.each(&runs, |run, outcome| {
            let Ok(mut table) = table.lock() else { return };
            let verdict = table.0.files.entry(run.trial.hash()).or_default();
            verdict.insert(run.version.to_owned(), outcome);
            table.1 += 1;
            if table.1 % SAVE_EVERY == 0 {
                println!("xtask: {} of {} runs", table.1, runs.len());
                self.save(&table.0);
            }
        });
        if let Ok(table) = table.lock() {
            self.save(&table.0);
        }
        Ok(())
    }

    fn save(&self, table: &VerdictTable) {
        let count = self.trials.len();
        let note = format!("# {count} trials; `cargo xtask soak claude` records them\n");
        disk::write(&self.file, (note + &table.text()).as_bytes());
    }

    /// Runs `count` recorded files again. Returns how many runs differ from their record.
    fn compare(&self, count: usize, pick: usize) -> Outcome<usize> {
        let is_recorded = |trial: &&Trial| self.table.files.contains_key(&trial.hash());
        let recorded: Vec<&Trial> = self.trials.iter().filter(is_recorded).collect();
        let step = (recorded.len() / count.max(1)).max(1);
        let picked = recorded.iter().skip(pick % step).step_by(step).take(count);
        let chosen: Vec<Trial> = picked.map(|trial| (*trial).clone()).collect();
        let runs = self.runs(&chosen);
        let differing = AtomicUsize::new(0);
        self.each(&runs, |run, outcome| {
            let verdict = self.table.files.get(&run.trial.hash());
            let recorded = verdict.and_then(|verdict| verdict.get(run.version));
            if recorded != Some(&outcome) {
                differing.fetch_add(1, Ordering::Relaxed);
                println!(
                    "xtask: {} sends {} of {} {}; recorded is {}",
                    run.version,
                    outcome.text(),
                    run.trial.hash(),
                    run.trial.name,
                    recorded.map_or("nothing".to_owned(), ClientOutcome::text)
                );
            }
        });
        let differing = differing.into_inner();
        println!("xtask: {} runs, {differing} differ", runs.len());
        Ok(differing)
    }

    fn runs<'a>(&'a self, trials: &'a [Trial]) -> Vec<Run<'a>> {
        let of = |trial: &'a Trial| {
            self.clients.iter().map(move |(version, client)| Run {
                trial,
                version,
                client,
            })
        };
        trials.iter().flat_map(of).collect()
    }

    /// Carries out the runs, some at a time.
    fn each(&self, runs: &[Run<'_>], sink: impl Fn(&Run<'_>, ClientOutcome) + Sync) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let (next, sink) = (&next, &sink);
                scope.spawn(move || {
                    let scratch = disk::scratch(&format!("soak-claude-{worker}"));
                    while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        sink(run, carry_out(run, &scratch));
                    }
                });
            }
        });
    }
}

/// Resumes a file. A failure is tried again: on a busy machine a client can be late.
fn carry_out(run: &Run<'_>, scratch: &Path) -> ClientOutcome {
    let resume = || claude_trials::resume(run.client, run.version, run.trial, scratch);
    match resume() {
        ClientOutcome::Failed => resume(),
        outcome => outcome,
    }
}
