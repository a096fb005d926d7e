//! `check`: what is wrong, and what that costs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::{FileKind, SessionLocation};
use boswell_model::json::Json;
use boswell_model::{Error, Problem, ProblemKind, Repair, Result, shell_quote};
use boswell_store::{Backend, BlobId, FsBackend, Store};
use clap::Args;

use super::check_session::{Checked, Finding, Findings, Looking, in_parallel};
use super::check_store::{REBUILD_INDEX, StoreFindings};
use crate::app::App;
use crate::expiry::Fates;
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
pub(crate) fn run(app: &App, args: &CheckArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    let mut tally = Tally::default();
    let targets = if args.sessions.is_empty() {
        everything(app, &mut out, &mut tally)?
    } else {
        named(app, &args.sessions, &mut out, &mut tally)?
    };
    let archived = if args.sessions.is_empty() {
        archived(app)?
    } else {
        Vec::new()
    };
    let looking = Looking::new(app)?;
    let mut progress = Progress::new("checked", targets.len() + archived.len(), app.quiet);
    let mut blobs = NamedBlobs::default();
    let mut take = |checked: Checked| {
        print(&checked, &mut out, &mut tally)?;
        blobs.take(&checked);
        progress.tick();
        Ok(!out.gone())
    };
    in_parallel(&targets, &looking, &mut take)?;
    // One after the other, each let go before the next: they are unpacked in memory.
    for store in archived {
        if !looking
            .at_archived(store)
            .into_iter()
            .try_fold(true, |go_on, it| Ok(go_on && take(it)?))?
        {
            break;
        }
    }
    drop(progress);
    links(app, &targets, &mut out, &mut tally)?;
    if args.sessions.is_empty() {
        for (_, store) in app.stores.iter() {
            // What an excluded session names is not known here.
            let sees_all = app.exclusion.is_none();
            if let Some(named) = blobs.of(store).filter(|_| sees_all) {
                tally.take(&StoreFindings::of_blobs(store, named), &mut out)?;
            }
        }
    }
    if !out.json {
        out.line(&tally.verdict())?;
    }
    out.finish()?;
    // Nothing that was asked for could be read: that is more than damage.
    if tally.unreadable == tally.sessions
        && tally.sessions > 0
        && tally.problems == tally.unreadable
    {
        return Ok(ExitCode::from(4));
    }
    Ok(if tally.problems == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
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
            (sessions, problems) => format!(
                "{sessions} checked, {} damaged, {problems} problems{soon}",
                self.damaged
            ),
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

/// Links that lead out of the stores of these sessions, and of all others that were looked at.
fn links(
    app: &App,
    targets: &[(Store, SessionLocation)],
    out: &mut Output,
    tally: &mut Tally,
) -> Result<()> {
    let mut told = BTreeSet::new();
    let stores = app
        .stores
        .iter()
        .map(|(_, store)| store)
        .chain(targets.iter().map(|(store, _)| store));
    for store in stores {
        if told.insert((store.dialect().name(), store.root())) {
            tally.take(&StoreFindings::of_links(store), out)?;
        }
    }
    Ok(())
}

/// Blobs that sessions name, by dialect: agents may keep sessions in two places
/// and their blobs in one.
#[derive(Default)]
struct NamedBlobs {
    by_dialect: BTreeMap<&'static str, BTreeSet<BlobId>>,
    /// Dialects of which a session could not be read: nobody knows what it names.
    unsure: BTreeSet<&'static str>,
}

impl NamedBlobs {
    fn take(&mut self, checked: &Checked) {
        match &checked.found {
            Ok(found) => self
                .by_dialect
                .entry(checked.dialect)
                .or_default()
                .extend(&found.blobs),
            Err(_) => drop(self.unsure.insert(checked.dialect)),
        }
    }

    fn of(&self, store: &Store) -> Option<&BTreeSet<BlobId>> {
        let dialect = store.dialect().name();
        self.by_dialect
            .get(dialect)
            .filter(|_| !self.unsure.contains(dialect))
    }
}

fn everything(
    app: &App,
    out: &mut Output,
    tally: &mut Tally,
) -> Result<Vec<(Store, SessionLocation)>> {
    let mut targets = Vec::new();
    let fates = Fates::read(app)?;
    for (id, store) in app.stores.iter() {
        if store.dialect().facts().is_own {
            tally.take(&StoreFindings::of_home(app, store), out)?;
        }
        let listing = match store.list() {
            Ok(listing) => listing,
            Err(error) => {
                tally.problems += 1;
                unreadable(None, &store.root().display().to_string(), &error, out)?;
                continue;
            }
        };
        tally.take(&StoreFindings::of(app, &fates, (id, store), &listing), out)?;
        let sessions = listing
            .sessions
            .into_iter()
            .filter(|l| l.key.is_some() && l.hidden != Some("empty"));
        targets.extend(sessions.map(|location| (store.clone(), location)));
    }
    Ok(targets)
}

/// Sessions of these stores that are archived, each with nothing unpacked yet.
fn archived(app: &App) -> Result<Vec<Store>> {
    let known: Vec<_> = app
        .stores
        .iter_with_archived()
        .filter(|(_, store)| store.archived().is_some())
        .collect();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let is_known = |it: &Store| {
        known
            .iter()
            .any(|(_, store)| store.archived() == it.archived() && store.root() == it.root())
    };
    let archived = app
        .reading_runner()?
        .archived()?
        .into_iter()
        .filter(is_known);
    Ok(archived
        .map(|store| store.excluding(app.exclusion.as_ref()))
        .collect())
}

fn named(
    app: &App,
    sessions: &[String],
    out: &mut Output,
    tally: &mut Tally,
) -> Result<Vec<(Store, SessionLocation)>> {
    let mut targets = Vec::new();
    for name in sessions {
        let path = app.env.cwd.join(name);
        // An empty name would be the working folder.
        if !name.is_empty() && path.is_dir() {
            let (files, links) = files_below(&path)?;
            for link in links {
                tally.problems += 1;
                outside(&link, out)?;
            }
            for file in files {
                // One file that cannot be opened must not keep the others from being checked.
                match app.stores.at_path(&file) {
                    Ok(target) => targets.push(target),
                    Err(error) => {
                        (tally.sessions, tally.damaged) = (tally.sessions + 1, tally.damaged + 1);
                        (tally.problems, tally.unreadable) =
                            (tally.problems + 1, tally.unreadable + 1);
                        unreadable(None, &file.display().to_string(), &error, out)?;
                    }
                }
            }
        } else {
            let found = app.resolve(name)?;
            targets.push((found.store, found.location));
        }
    }
    Ok(targets)
}

/// Every file below a folder that may hold records, and every link that leads out of it. Links to
/// folders are not followed, so that it ends.
fn files_below(root: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let backend = FsBackend::new(root);
    let (mut found, mut links) = (Vec::new(), Vec::new());
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for info in backend.list(&folder)? {
            let path = root.join(&info.key);
            if info.is_folder() && !path.is_symlink() {
                open.push(info.key);
            } else if info.kind == FileKind::Link {
                links.push(path);
            } else if info.is_file()
                && (info.name().ends_with(".json") || info.name().contains(".jsonl"))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok((found, links))
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
            let shape = shape(
                Some(reference),
                path,
                &finding.problem,
                Some((finding, checked)),
                Some(found),
            );
            out.object(&shape)?;
        }
        return Ok(());
    }
    out.line(&out.paint(
        Style::Strong,
        &escape(&format!("{reference}  {}", path.unwrap_or_default())),
    ))?;
    for finding in &found.problems {
        text_line(&finding.problem, out)?;
    }
    if found.reachable < found.total {
        out.line(&format!(
            "  its agent would see {} of {} entries",
            found.reachable, found.total
        ))?;
    }
    if !found.hurt.is_empty() {
        out.line(&format!(
            "  readers that lose something: {}",
            found.hurt.join(", ")
        ))?;
    }
    let (indexes, others): (Vec<&Finding>, Vec<&Finding>) = found
        .problems
        .iter()
        .partition(|finding| finding.problem.kind == ProblemKind::StaleIndex);
    if !indexes.is_empty() {
        // An index is of the whole store, and is mended from all of its sessions.
        out.line(&format!("  write the index anew with `{REBUILD_INDEX}`"))?;
    }
    if others.iter().any(|finding| finding.repair != Repair::None) {
        let reference = shell_quote(reference);
        out.line(&match checked.archived {
            true => format!(
                "  it is archived: put it back with `boswell restore {reference}`, then mend it"
            ),
            false => format!("  mend it with `boswell repair {reference}`"),
        })?;
    }
    out.line("")
}

fn unreadable(reference: Option<&str>, path: &str, error: &Error, out: &mut Output) -> Result<()> {
    at_path(reference, path, Problem::unreadable(error), out)
}

fn outside(link: &Path, out: &mut Output) -> Result<()> {
    let detail = "this symbolic link leads out of the folder, so it was not followed; name it to check what it leads to";
    at_path(
        None,
        &link.display().to_string(),
        Problem::of_file(ProblemKind::OutsideLink, detail),
        out,
    )
}

fn at_path(reference: Option<&str>, path: &str, problem: Problem, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&shape(reference, Some(path), &problem, None, None));
    }
    out.line(&out.paint(
        Style::Strong,
        &escape(&format!("{}  {path}", reference.unwrap_or("store"))),
    ))?;
    text_line(&problem, out)
}

fn text_line(problem: &Problem, out: &mut Output) -> Result<()> {
    let place = problem
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
    let text = format!(
        "  {place}{}: {}",
        out.paint(Style::Warning, problem.kind.word()),
        one_line(&problem.detail)
    );
    out.line(&text)
}

fn shape(
    reference: Option<&str>,
    path: Option<&str>,
    problem: &Problem,
    of: Option<(&Finding, &Checked)>,
    found: Option<&Findings>,
) -> Json {
    let finding = of.map(|(finding, _)| finding);
    let hurt = finding.map(|it| {
        it.hurt
            .iter()
            .map(|name| Json::from(*name))
            .collect::<Vec<_>>()
    });
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
        .with(
            "repair",
            finding.map_or(problem.kind.repair(), |it| it.repair).word(),
        )
        .with("hurts", hurt)
        .with_some(
            "archived",
            of.and_then(|(_, checked)| checked.archived.then_some(true)),
        )
        .with(
            "next",
            of.and_then(|(finding, checked)| finding.next(checked)),
        )
}
