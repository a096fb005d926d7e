//! `cargo xtask soak claude`: damaged transcripts, resumed by three versions of the real client.
//!
//! What each sent is recorded in `crates/testkit/verdicts`, as numbers. `cargo test` compares
//! every recorded verdict with what boswell predicts, without any client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::claude_trials::{self, ClientOutcome, Trial, VerdictTable};
use boswell_testkit::{corpus, disk};

use crate::{Outcome, clients};

/// Verdicts are saved after so many runs, so that an interrupted soak loses little.
const SAVE_EVERY: usize = 20;
/// How many characters of what a failing client prints are shown.
const PRINTED: usize = 160;

/// Where the files of a soak come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Made transcripts, damaged.
    Made,
    /// Captures of real clients, damaged.
    Captured,
    /// Made transcripts, damaged and repaired.
    Repaired,
    /// The files of corpus and captures as they are.
    Real,
}

impl Kind {
    /// Returns the word in the names of recorded verdicts.
    fn word(self) -> &'static str {
        match self {
            Kind::Made => "made",
            Kind::Captured => "captured",
            Kind::Repaired => "repaired",
            Kind::Real => "real",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Options {
    seed: u64,
    count: usize,
    workers: usize,
    /// Only this version.
    version: Option<String>,
    kind: Kind,
    /// Runs this many recorded files again and compares; records nothing.
    again: Option<usize>,
    /// Decides which files are run again.
    pick: usize,
    /// Only writes the files to this folder, for a closer look.
    write: Option<PathBuf>,
    /// Starts no run after this many seconds; the next soak goes on there.
    seconds: Option<u64>,
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
    let mut soaks = Vec::new();
    for kind in [Kind::Made, Kind::Captured, Kind::Repaired] {
        if kind == Kind::Captured && corpus::captures_dir().is_none() {
            continue;
        }
        for known in claude_trials::recorded(kind.word()) {
            let mut options = Options::parse(&[])?;
            (options.seed, options.count, options.kind) = (known.seed, known.count, kind);
            soaks.push(Soak::prepare(&options)?);
        }
    }
    let files = |soak: &Soak| soak.table.files.len();
    let all: usize = soaks.iter().map(files).sum();
    let mut differing = 0;
    for soak in &soaks {
        differing += soak.compare((count * files(soak)).div_ceil(all), pick)?;
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
            kind: Kind::Made,
            again: None,
            pick: 0,
            write: None,
            seconds: None,
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
                "--seconds" => options.seconds = Some(value()?.parse()?),
                "--captured" => options.kind = Kind::Captured,
                "--repaired" => options.kind = Kind::Repaired,
                "--corpus" => (options.kind, options.seed) = (Kind::Real, 0),
                other => return Err(format!("soak claude has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

impl Options {
    /// Returns the files.
    fn trials(&self) -> Outcome<Vec<Trial>> {
        let captures = || corpus::captures_dir().ok_or("BOSWELL_CAPTURES is not set");
        let damaged = |origins| claude_trials::trials(origins, self.seed, self.count);
        Ok(match self.kind {
            Kind::Made => damaged(&claude_trials::made()),
            Kind::Captured => damaged(&claude_trials::captured(&captures()?)),
            Kind::Repaired => {
                let files = claude_trials::repaired(&claude_trials::made(), self.seed, self.count);
                files.into_iter().map(|file| file.trial).collect()
            }
            Kind::Real => {
                let corpus = corpus::corpus_dir().ok_or("BOSWELL_CORPUS is not set")?;
                claude_trials::real(&[&corpus, &captures()?])
            }
        })
    }
}

/// A run of one file with one version.
struct Run<'a> {
    trial: &'a Trial,
    version: &'static str,
    client: &'a ClaudeClient,
}

impl Run<'_> {
    fn outcome(&self, scratch: &Path) -> Option<ClientOutcome> {
        let (version, name) = (self.version, &self.trial.name);
        claude_trials::outcome(self.client, version, self.trial, scratch, &|printed| {
            let printed: String = printed.chars().take(PRINTED).collect();
            println!("xtask: {version} {name}: {}", printed.replace('\n', " "));
        })
    }
}

struct Soak {
    clients: BTreeMap<&'static str, ClaudeClient>,
    trials: Vec<Trial>,
    table: VerdictTable,
    file: PathBuf,
    workers: usize,
    /// No run is started after this time.
    until: Option<Instant>,
}

impl Soak {
    fn prepare(options: &Options) -> Outcome<Soak> {
        let known = clients::of_claude()?.into_iter();
        let clients = known
            .filter(|(version, _)| options.version.as_deref().is_none_or(|it| it == *version))
            .map(|(version, words)| (version, ClaudeClient::started_by(words)))
            .collect();
        let (kind, trials) = (options.kind.word(), options.trials()?);
        let file = claude_trials::folder().join(format!("claude-{kind}-{}.txt", options.seed));
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let table = VerdictTable::parse(&known)
            .ok_or_else(|| format!("{} is not a table of verdicts", file.display()))?;
        println!("xtask: {} {kind} files", trials.len());
        Ok(Soak {
            clients,
            trials,
            table,
            file,
            workers: options.workers,
            until: options.seconds.map(after),
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
        let undecided = self.each(&runs, |run, outcome| {
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
        match undecided {
            0 => Ok(()),
            number => Err(format!("{number} runs had no outcome; record again").into()),
        }
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
        let undecided = self.each(&runs, |run, outcome| {
            let verdict = self.table.files.get(&run.trial.hash());
            let recorded = verdict.and_then(|verdict| verdict.get(run.version));
            // Verdicts that an interrupted soak did not reach are not recorded.
            if recorded.is_some_and(|recorded| *recorded != outcome) {
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
        let count = runs.len();
        println!("xtask: {count} runs, {differing} differ, {undecided} without an outcome");
        Ok(differing + undecided)
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

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Carries out the runs, some at a time. Returns how many had no outcome.
    fn each(&self, runs: &[Run<'_>], sink: impl Fn(&Run<'_>, ClientOutcome) + Sync) -> usize {
        let (next, undecided) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let (next, undecided, sink) = (&next, &undecided, &sink);
                scope.spawn(move || {
                    let scratch = disk::scratch(&format!("soak-claude-{worker}"));
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(run) = runs.get(number).filter(|_| !self.is_over()) else {
                            break;
                        };
                        match run.outcome(&scratch.join(number.to_string())) {
                            Some(outcome) => sink(run, outcome),
                            None => drop(undecided.fetch_add(1, Ordering::Relaxed)),
                        }
                    }
                });
            }
        });
        undecided.into_inner()
    }
}

fn after(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}
