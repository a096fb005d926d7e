//! `check`: what is wrong, and what that costs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use boswell_dialect::Located;
use boswell_model::json::Json;
use boswell_model::{Error, Problem, ProblemKind, Repair, Result};
use boswell_store::{Backend, BlobId, FsBackend, LateTable, LinkTable, Store, check, hurt, repair_of};
use clap::Args;

use super::check_store::{MEND_INDEX, StoreFindings};
use crate::fate::Fates;
use crate::machine::Machine;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, escape, one_line};

/// Report damage: exit code 0 clean, 1 damaged
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell check                 everything found on this machine
  boswell check ~/backup/*.jsonl")]
pub(crate) struct CheckArgs {
    /// Sessions, files or folders [default: everything found]
    sessions: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &CheckArgs) -> Result<ExitCode> {
    let mut out = Output::paged(machine);
    let mut tally = Tally::default();
    let targets = if args.sessions.is_empty() {
        everything(machine, &mut out, &mut tally)?
    } else {
        named(machine, &args.sessions)?
    };
    let links = machine.stores.link_table();
    let late = match &machine.home {
        Some(_) => machine.reading_runner()?.late_table()?,
        None => LateTable::default(),
    };
    let mut progress = Progress::new("checked", targets.len(), machine.quiet);
    let mut blobs = NamedBlobs::default();
    in_parallel(&targets, &|store, located| one(machine, &links, &late, store, located), |checked| {
        print(&checked, &mut out, &mut tally)?;
        blobs.take(&checked);
        progress.tick();
        Ok(!out.gone())
    })?;
    drop(progress);
    if args.sessions.is_empty() {
        for (_, store) in machine.stores.iter() {
            if let Some(named) = blobs.of(store) {
                tally.take(&StoreFindings::of_blobs(store, named), &mut out)?;
            }
        }
    }
    if !out.json {
        out.line(&tally.verdict())?;
    }
    out.finish()?;
    // Nothing that was asked for could be read: that is more than damage.
    if tally.unreadable == tally.sessions && tally.sessions > 0 && tally.problems == tally.unreadable {
        return Ok(ExitCode::from(4));
    }
    Ok(if tally.problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[derive(Default)]
struct Tally {
    sessions: usize,
    damaged: usize,
    problems: usize,
    unreadable: usize,
    /// Sessions that their agent deletes soon: no damage yet.
    lost_soon: usize,
}

impl Tally {
    fn verdict(&self) -> String {
        let soon = match self.lost_soon {
            0 => String::new(),
            count => format!("; {count} will be deleted by their agent soon"),
        };
        match (self.sessions, self.problems) {
            (sessions, 0) => format!("{sessions} checked, all clean{soon}"),
            (sessions, problems) => format!("{sessions} checked, {} damaged, {problems} problems{soon}", self.damaged),
        }
    }

    /// Counts and prints what was found about a store.
    fn take(&mut self, findings: &StoreFindings<'_>, out: &mut Output) -> Result<()> {
        let (damage, soon) = findings.counts();
        self.problems += damage;
        self.lost_soon += soon;
        findings.print(out)
    }
}

/// Blobs that sessions name, by dialect: agents may keep sessions in two places and their blobs in one.
#[derive(Default)]
struct NamedBlobs {
    by_dialect: BTreeMap<&'static str, BTreeSet<BlobId>>,
    /// Dialects of which a session could not be read: nobody knows what it names.
    unsure: BTreeSet<&'static str>,
}

impl NamedBlobs {
    fn take(&mut self, checked: &Checked) {
        match &checked.found {
            Ok(found) => self.by_dialect.entry(checked.dialect).or_default().extend(&found.blobs),
            Err(_) => drop(self.unsure.insert(checked.dialect)),
        }
    }

    fn of(&self, store: &Store) -> Option<&BTreeSet<BlobId>> {
        let dialect = store.dialect().name();
        self.by_dialect.get(dialect).filter(|_| !self.unsure.contains(dialect))
    }
}

fn everything(machine: &Machine, out: &mut Output, tally: &mut Tally) -> Result<Vec<(Store, Located)>> {
    let mut targets = Vec::new();
    let fates = Fates::read(machine)?;
    for (id, store) in machine.stores.iter() {
        if store.dialect().name() == "boswell" {
            tally.take(&StoreFindings::of_home(machine, store), out)?;
        }
        let listing = match store.list() {
            Ok(listing) => listing,
            Err(error) => {
                tally.problems += 1;
                unreadable(None, &store.root().display().to_string(), &error, out)?;
                continue;
            }
        };
        tally.take(&StoreFindings::of(machine, &fates, (id, store), &listing), out)?;
        let sessions = listing.sessions.into_iter().filter(|l| l.key.is_some() && l.hidden != Some("empty"));
        targets.extend(sessions.map(|located| (store.clone(), located)));
    }
    Ok(targets)
}

fn named(machine: &Machine, sessions: &[String]) -> Result<Vec<(Store, Located)>> {
    let mut targets = Vec::new();
    for name in sessions {
        let path = machine.env.cwd.join(name);
        // An empty name would be the working folder.
        if !name.is_empty() && path.is_dir() {
            for file in files_below(&path)? {
                targets.push(machine.stores.at_path(&file)?);
            }
        } else {
            let found = machine.resolve(name)?;
            targets.push((found.store, found.located));
        }
    }
    Ok(targets)
}

/// Every file below a folder that may hold records. Links to folders are not followed, so that it ends.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let backend = FsBackend::new(&folder);
        for info in backend.list("")? {
            let path = folder.join(&info.key);
            if info.is_folder() && !path.is_symlink() {
                open.push(path);
            } else if info.is_file() && (info.key.ends_with(".json") || info.key.contains(".jsonl")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What was found out about a session.
struct Checked {
    dialect: &'static str,
    reference: String,
    path: Option<String>,
    found: Result<Findings>,
}

struct Findings {
    problems: Vec<Finding>,
    /// Readers that lose something to any of them, the oldest first.
    hurt: Vec<&'static str>,
    blobs: BTreeSet<BlobId>,
    reachable: u64,
    total: u64,
}

struct Finding {
    problem: Problem,
    entry: Option<String>,
    repair: Repair,
    hurt: Vec<&'static str>,
}

impl Finding {
    /// The command that helps.
    fn next(&self, reference: &str) -> Option<String> {
        match (self.problem.kind, self.repair) {
            (ProblemKind::StaleIndex, _) => Some(MEND_INDEX.to_owned()),
            (_, Repair::None) => None,
            _ => Some(format!("boswell repair {reference}")),
        }
    }
}

/// Checks sessions on all cores and hands over what was found in the order of the list, until told to stop.
fn in_parallel(
    targets: &[(Store, Located)],
    look: &(dyn Fn(&Store, &Located) -> Checked + Sync),
    mut sink: impl FnMut(Checked) -> Result<bool>,
) -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(targets.len()).min(8);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Bounded, so that a slow reader of the output holds the workers back.
    let (sender, receiver) = mpsc::sync_channel::<(usize, Checked)>(workers * 4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((store, located)) = targets.get(number) else { break };
                    if sender.send((number, look(store, located))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: BTreeMap<usize, Checked> = BTreeMap::new();
        let mut due = 0;
        let mut result = Ok(());
        for (number, checked) in receiver {
            waiting.insert(number, checked);
            while let Some(checked) = waiting.remove(&due) {
                due += 1;
                match sink(checked) {
                    Ok(true) => {}
                    Ok(false) => stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        result = result.and(Err(error));
                    }
                }
            }
        }
        result
    })
}

fn one(machine: &Machine, links: &LinkTable, late: &LateTable, store: &Store, located: &Located) -> Checked {
    let found = store.read_to_check(located).and_then(|session| {
        let mut report = check(&session)?;
        report.problems.extend(machine.stores.check_links(links, &session, !machine.named_stores)?);
        report.problems.extend(late.problem(store, located, &session)?);
        let finding = |problem: Problem| Finding {
            entry: problem.slot.map(|slot| session.log().label(slot).into_owned()),
            repair: repair_of(&session, &problem),
            hurt: hurt(&session, &problem),
            problem,
        };
        let problems: Vec<Finding> = report.problems.into_iter().map(finding).collect();
        let readers = session.dialect().readers().iter().map(|reader| reader.name);
        let hurt = readers.filter(|name| problems.iter().any(|finding| finding.hurt.contains(name))).collect();
        let blobs = session.named_blobs()?;
        Ok(Findings { problems, hurt, blobs, reachable: report.reachable, total: report.total })
    });
    Checked {
        dialect: store.dialect().name(),
        reference: format!("{}:{}", store.dialect().name(), located.id),
        path: located.key.as_deref().map(|key| store.backend().describe(key)),
        found,
    }
}

fn print(checked: &Checked, out: &mut Output, tally: &mut Tally) -> Result<()> {
    tally.sessions += 1;
    let (reference, path) = (&checked.reference, checked.path.as_deref());
    let found = match &checked.found {
        Ok(found) => found,
        Err(error) => {
            tally.problems += 1;
            tally.damaged += 1;
            tally.unreadable += 1;
            return unreadable(Some(reference), path.unwrap_or_default(), error, out);
        }
    };
    if found.problems.is_empty() {
        return Ok(());
    }
    tally.damaged += 1;
    tally.problems += found.problems.len();
    if out.json {
        for finding in &found.problems {
            let shape = shape(Some(reference), path, &finding.problem, Some(finding), Some(found));
            out.object(&shape)?;
        }
        return Ok(());
    }
    out.line(&out.paint(Style::Strong, &escape(&format!("{reference}  {}", path.unwrap_or_default()))))?;
    for finding in &found.problems {
        text_line(&finding.problem, out)?;
    }
    if found.reachable < found.total {
        out.line(&format!("  its agent would see {} of {} entries", found.reachable, found.total))?;
    }
    if !found.hurt.is_empty() {
        out.line(&format!("  readers that lose something: {}", found.hurt.join(", ")))?;
    }
    let (indexes, others): (Vec<&Finding>, Vec<&Finding>) =
        found.problems.iter().partition(|finding| finding.problem.kind == ProblemKind::StaleIndex);
    if !indexes.is_empty() {
        // An index is of the whole store, and is mended from all of its sessions.
        out.line(&format!("  write the index anew with `{MEND_INDEX}`"))?;
    }
    if others.iter().any(|finding| finding.repair != Repair::None) {
        out.line(&format!("  mend it with `boswell repair {}`", escape(reference)))?;
    }
    out.line("")
}

fn unreadable(reference: Option<&str>, path: &str, error: &Error, out: &mut Output) -> Result<()> {
    let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
    let problem = Problem::of_file(ProblemKind::Unreadable, format!("{error}{cause}"));
    if out.json {
        return out.object(&shape(reference, Some(path), &problem, None, None));
    }
    out.line(&out.paint(Style::Strong, &escape(&format!("{}  {path}", reference.unwrap_or("store")))))?;
    text_line(&problem, out)
}

fn text_line(problem: &Problem, out: &mut Output) -> Result<()> {
    let place = problem.line.map_or_else(String::new, |line| format!("line {line}: "));
    let text = format!("  {place}{}: {}", out.paint(Style::Warning, problem.kind.word()), one_line(&problem.detail));
    out.line(&text)
}

fn shape(
    reference: Option<&str>,
    path: Option<&str>,
    problem: &Problem,
    finding: Option<&Finding>,
    found: Option<&Findings>,
) -> Json {
    let hurt = finding.map(|it| it.hurt.iter().map(|name| Json::from(*name)).collect::<Vec<_>>());
    Json::object()
        .with("v", 1)
        .with("type", "damage")
        .with("session", reference)
        .with("path", path)
        .with("line", problem.line)
        .with("entry", finding.and_then(|it| it.entry.as_deref()))
        .with("problem", problem.kind.word())
        .with("detail", &problem.detail)
        .with("reachable", found.map(|it| it.reachable))
        .with("total", found.map(|it| it.total))
        .with("repair", finding.map_or(problem.kind.repair(), |it| it.repair).word())
        .with("hurts", hurt)
        .with("next", finding.zip(reference).and_then(|(finding, reference)| finding.next(reference)))
}
