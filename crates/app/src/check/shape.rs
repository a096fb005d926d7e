//! The JSON output of a check.

use boswell_model::json::Json;
use boswell_model::{Advice, Problem};

use super::{CheckedSession, CheckedStore, Finding, StoreFinding, UncheckedPlace};
use crate::shape::{Maybe, Shape as _, shape};

/// How a face phrases a next step as a command; `None` if there is no single one.
pub type AdviceCommand = fn(&Advice) -> Option<String>;

shape! {
    /// A problem of a session or a store.
    DamageShape: "damage" {
        /// the session, where it is about one
        session: Option<String>,
        /// the file or folder
        path: Option<String>,
        /// line of the log
        line: Option<u64>,
        /// the entry, where it is about one
        entry: Option<String>,
        /// kind of problem, such as `torn_tail`
        problem: &'static str,
        /// `damage` if a known reader loses or refuses something because of it, else `info`
        severity: &'static str,
        /// details, in one sentence
        detail: String,
        /// entries of the conversation that the agent would load
        reachable: Option<u64>,
        /// all entries of the conversation
        total: Option<u64>,
        /// how it can be repaired: `append`, `rewrite`, `fork`, `none`
        repair: &'static str,
        /// known readers that lose or refuse something because of it
        hurts: Option<Vec<&'static str>>,
        /// true for an archived session
        archived: Maybe<bool>,
        /// the command to run next
        next: Option<String>,
    }

    /// From `check`: a session that its agent will delete soon and that has no copy.
    WarningShape: "warning" {
        /// the session, where it is about one
        session: Option<String>,
        /// the file or folder
        path: Option<String>,
        /// always `null`
        line: Option<u64>,
        /// always `null`
        entry: Option<String>,
        /// kind of problem: `lost_soon`
        problem: &'static str,
        /// details, in one sentence
        detail: String,
        /// always `null`
        reachable: Option<u64>,
        /// always `null`
        total: Option<u64>,
        /// how it can be repaired: `append`, `rewrite`, `fork`, `none`
        repair: &'static str,
        /// always `null`
        hurts: Option<Vec<&'static str>>,
        /// the command to run next
        next: Option<String>,
    }
}

/// The JSON shape of a finding about a store.
#[derive(Debug, Clone)]
pub enum FindingShape {
    /// A problem.
    Damage(DamageShape),
    /// Not a problem yet.
    Warning(WarningShape),
}

impl FindingShape {
    /// Returns the object for a line of `--json`.
    pub fn object(self) -> Json {
        match self {
            FindingShape::Damage(shape) => shape.object(),
            FindingShape::Warning(shape) => shape.object(),
        }
    }
}

fn severity(is_info: bool) -> &'static str {
    match is_info {
        true => "info",
        false => "damage",
    }
}

/// Returns the members that depend on the problem alone.
fn damage(session: Option<&str>, path: Option<&str>, problem: &Problem) -> DamageShape {
    DamageShape {
        session: session.map(str::to_owned),
        path: path.map(str::to_owned),
        line: problem.line,
        entry: None,
        problem: problem.kind.word(),
        severity: severity(false),
        detail: problem.detail.clone(),
        reachable: None,
        total: None,
        repair: problem.kind.repair().word(),
        hurts: None,
        archived: Maybe::Absent,
        next: None,
    }
}

impl UncheckedPlace {
    /// Returns the JSON shape.
    pub fn shape(&self) -> DamageShape {
        damage(self.session.as_deref(), Some(&self.path), &self.problem)
    }
}

impl CheckedSession {
    /// Iterates over the JSON shapes of the findings.
    ///
    /// `command` phrases a next step as a command.
    pub fn shapes(&self, command: AdviceCommand) -> impl Iterator<Item = DamageShape> {
        let shape = move |finding: &Finding| DamageShape {
            entry: finding.entry.clone(),
            severity: severity(finding.is_info()),
            reachable: Some(self.reachable),
            total: Some(self.total),
            repair: finding.repair.word(),
            hurts: Some(finding.hurts.clone()),
            archived: self.archived.then_some(true).into(),
            next: finding.next.as_ref().and_then(command),
            ..damage(
                Some(&self.reference),
                self.path.as_deref(),
                &finding.problem,
            )
        };
        self.findings.iter().map(shape)
    }
}

impl CheckedStore {
    /// Iterates over the JSON shapes of the findings.
    ///
    /// `command` phrases a next step as a command.
    pub fn shapes(&self, command: AdviceCommand) -> impl Iterator<Item = FindingShape> {
        let shape = move |finding: &StoreFinding| finding.shape(command);
        self.findings.iter().map(shape)
    }
}

impl StoreFinding {
    fn shape(&self, command: AdviceCommand) -> FindingShape {
        let shape = DamageShape {
            line: None,
            severity: severity(self.is_info()),
            next: self.advice.as_ref().and_then(command),
            ..damage(self.session.as_deref(), Some(&self.path), &self.problem)
        };
        if !self.is_warning() {
            return FindingShape::Damage(shape);
        }
        FindingShape::Warning(WarningShape {
            session: shape.session,
            path: shape.path,
            line: shape.line,
            entry: shape.entry,
            problem: shape.problem,
            detail: shape.detail,
            reachable: shape.reachable,
            total: shape.total,
            repair: shape.repair,
            hurts: shape.hurts,
            next: shape.next,
        })
    }
}
