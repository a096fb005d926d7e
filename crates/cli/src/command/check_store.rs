//! What `check` finds out about stores as a whole: indexes, leftovers, locks, sessions that
//! their agent will delete.

use std::collections::{BTreeMap, BTreeSet};

use boswell_dialect::SessionLocation;
use boswell_model::json::Json;
use boswell_model::{Error, Problem, ProblemKind, Result};
use boswell_store::{BlobId, Leftovers, Listing, Store, StoreId};

use crate::app::App;
use crate::expiry::Fates;
use crate::output::Output;
use crate::terminal::{Style, escape, one_line};

/// How many sessions that are lost soon are named, where a person reads.
const NAMED: usize = 5;

/// The command that mends an index of an agent's own.
pub(super) const REBUILD_INDEX: &str = "boswell index --native --apply";
const LINK: &str =
    "replace the link by what it leads to, or name the folder that it leads to with `--store`";
const KEEP: &str = "keep copies of them with `boswell keep on`";

/// What was found about one store.
pub(super) struct StoreFindings<'s> {
    store: &'s Store,
    found: Vec<Finding>,
}

struct Finding {
    /// The session, where it is about one.
    session: Option<String>,
    path: String,
    problem: Problem,
    next: Option<String>,
}

impl<'s> StoreFindings<'s> {
    /// What listing a store tells about it.
    pub(super) fn of(
        app: &App,
        fates: &Fates,
        (id, store): (StoreId, &'s Store),
        listing: &Listing,
    ) -> StoreFindings<'s> {
        let mut findings = StoreFindings {
            store,
            found: Vec::new(),
        };
        for (key, problem) in &listing.problems {
            let next = (problem.kind == ProblemKind::StaleIndex)
                .then(|| format!("write the index anew with `{REBUILD_INDEX}`"));
            findings.add(key, problem.clone(), next);
        }
        match store.leftovers() {
            Ok(leftovers) => findings.leftovers(&leftovers),
            Err(error) => findings.unreadable(&error),
        }
        for location in fates.lost_soon(id, store, &listing.sessions, app.now) {
            findings.lost_soon(app, fates, id, location);
        }
        findings
    }

    /// What is wrong with boswell's own folder: changes that were begun and neither
    /// finished nor taken back.
    pub(super) fn of_home(app: &App, store: &'s Store) -> StoreFindings<'s> {
        let mut findings = StoreFindings {
            store,
            found: Vec::new(),
        };
        match app.reading_runner().and_then(|runner| runner.interrupted()) {
            Ok(interrupted) => {
                for operation in interrupted {
                    let detail = format!("operation {operation} stopped in the middle");
                    let next = "any command that writes finishes it or takes it back; see it with `boswell ops`";
                    findings.add(
                        "",
                        Problem::of_file(ProblemKind::PendingChange, detail),
                        Some(next.to_owned()),
                    );
                }
            }
            Err(error) => findings.unreadable(&error),
        }
        for purging in app
            .reading_runner()
            .and_then(|runner| runner.purges())
            .unwrap_or_default()
        {
            let detail = format!("the purge of {} stopped in the middle", purging.session());
            let next = "any command that writes finishes it";
            findings.add(
                "",
                Problem::of_file(ProblemKind::PendingChange, detail),
                Some(next.to_owned()),
            );
        }
        findings
    }

    /// Blobs of the store's agent that no session names, if all sessions could be read.
    pub(super) fn of_blobs(store: &'s Store, named: &BTreeSet<BlobId>) -> StoreFindings<'s> {
        let mut findings = StoreFindings {
            store,
            found: Vec::new(),
        };
        match store.unnamed_blobs(named) {
            Ok(unnamed) if unnamed.is_empty() => {}
            Ok(unnamed) => {
                let bytes: u64 = unnamed.iter().map(|(_, len)| len).sum();
                let detail = format!(
                    "{} blobs ({bytes} bytes) are named by no session that is there",
                    unnamed.len()
                );
                findings.add(
                    "blobs",
                    Problem::of_file(ProblemKind::OrphanedFile, detail),
                    None,
                );
            }
            Err(error) => findings.unreadable(&error),
        }
        findings
    }

    /// Links of a store that were met while it was checked, and not followed.
    pub(super) fn of_links(store: &'s Store) -> StoreFindings<'s> {
        let mut findings = StoreFindings {
            store,
            found: Vec::new(),
        };
        for key in store.backend().outside_links() {
            let detail = "this symbolic link leads out of the store, so it was not followed";
            findings.add(
                &key,
                Problem::of_file(ProblemKind::OutsideLink, detail),
                Some(LINK.to_owned()),
            );
        }
        findings
    }

    fn leftovers(&mut self, leftovers: &Leftovers) {
        let left_alone: BTreeSet<&str> = leftovers
            .left_alone
            .iter()
            .map(|(it, _)| it.key.as_str())
            .collect();
        let dialect = self.store.dialect().name();
        let clear = format!(
            "move them into the vault with `boswell clean --leftovers --dialect {dialect}`"
        );
        for (key, problem) in leftovers.problems() {
            let next = (!left_alone.contains(key.as_str())).then(|| clear.clone());
            self.add(&key, problem, next);
        }
    }

    /// A part of the store cannot be looked at; the rest is told all the same.
    fn unreadable(&mut self, error: &Error) {
        self.add(
            "",
            Problem::of_file(ProblemKind::Unreadable, error.to_string()),
            None,
        );
    }

    fn add(&mut self, key: &str, problem: Problem, next: Option<String>) {
        self.found.push(Finding {
            session: None,
            path: self.store.backend().describe(key),
            problem,
            next,
        });
    }

    fn lost_soon(&mut self, app: &App, fates: &Fates, id: StoreId, location: &SessionLocation) {
        let days = fates.days_left(id, location, app.now).unwrap_or_default();
        let when = match days {
            ..=0 => "any time now".to_owned(),
            1 => "within a day".to_owned(),
            days => format!("in {days} days"),
        };
        let detail = format!(
            "{} deletes it {when}, and no copy is kept",
            self.store.dialect().facts().title
        );
        self.found.push(Finding {
            session: Some(format!("{}:{}", self.store.dialect().name(), location.id)),
            path: location
                .key
                .as_deref()
                .map(|key| self.store.backend().describe(key))
                .unwrap_or_default(),
            problem: Problem::of_file(ProblemKind::LostSoon, detail),
            next: Some(KEEP.to_owned()),
        });
    }

    /// How many of them are damage, and how many only warnings.
    pub(super) fn counts(&self) -> (usize, usize) {
        let warnings = self.found.iter().filter(|it| it.is_warning()).count();
        (self.found.len() - warnings, warnings)
    }

    /// Prints them: each as a line of JSON, or below the place of the store with
    /// what helps at the end.
    pub(super) fn print(&self, out: &mut Output) -> Result<()> {
        if out.json {
            return self
                .found
                .iter()
                .try_for_each(|finding| out.object(&finding.shape()));
        }
        if self.found.is_empty() {
            return Ok(());
        }
        let root = self.store.root().display().to_string();
        out.line(&out.paint(
            Style::Strong,
            &escape(&format!("{}  {root}", self.store.dialect().name())),
        ))?;
        let (warnings, damage): (Vec<&Finding>, Vec<&Finding>) =
            self.found.iter().partition(|it| it.is_warning());
        for finding in damage.iter().chain(warnings.iter().take(NAMED)) {
            let name = finding.session.as_ref().unwrap_or(&finding.path);
            let kind = out.paint(Style::Warning, finding.problem.kind.word());
            out.line(&format!(
                "  {}: {kind}: {}",
                one_line(name),
                one_line(&finding.problem.detail)
            ))?;
        }
        if let Some(more) = warnings.len().checked_sub(NAMED).filter(|more| *more > 0) {
            out.line(&format!("  and {more} more that are lost soon"))?;
        }
        // Each way out once, however often it helps.
        let ways: BTreeMap<&str, ()> = self
            .found
            .iter()
            .filter_map(|it| Some((it.next.as_deref()?, ())))
            .collect();
        ways.keys()
            .try_for_each(|way| out.line(&format!("  {way}")))?;
        out.line("")
    }
}

impl Finding {
    /// Nothing is wrong yet.
    fn is_warning(&self) -> bool {
        self.problem.kind == ProblemKind::LostSoon
    }

    fn shape(&self) -> Json {
        Json::object()
            .with("v", 1)
            .with(
                "type",
                if self.is_warning() {
                    "warning"
                } else {
                    "damage"
                },
            )
            .with("session", self.session.as_deref())
            .with("path", self.path.as_str())
            .with("line", Json::Null)
            .with("entry", Json::Null)
            .with("problem", self.problem.kind.word())
            .with("detail", &self.problem.detail)
            .with("reachable", Json::Null)
            .with("total", Json::Null)
            .with("repair", self.problem.kind.repair().word())
            .with("hurts", Json::Null)
            .with("next", self.next.as_deref().and_then(command_in))
    }
}

/// The command that stands in a sentence.
fn command_in(sentence: &str) -> Option<&str> {
    sentence.split('`').nth(1)
}
