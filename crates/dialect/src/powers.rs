//! Powers: the optional abilities of a dialect, one trait each.

mod append;
mod compose_log;
mod fold_log;
mod import_session;
mod inherit_history;
mod plan_edits;
mod refine;
mod repairer;
mod runtime;
mod shared_files;
mod side_files;

pub use append::Append;
pub use compose_log::{ComposeLog, composed_info};
pub(crate) use compose_log::{composed_location, push_line};
pub use fold_log::{FoldLog, LineSink, LineSource};
pub use import_session::{ImportSession, SessionToImport};
pub use inherit_history::{HistoryBase, InheritHistory};
pub use plan_edits::PlanEdits;
pub use refine::{ContextCoverage, ProviderMessage, Refine, tool_paths};
pub use repairer::Repairer;
pub use runtime::Runtime;
pub use shared_files::SharedFiles;
pub use side_files::SideFiles;

use crate::Capability;

/// The powers of a dialect; `None` if the dialect does not have it.
///
/// A struct of options instead of trait methods with defaults: an ability that an agent lacks is
/// absent, so that no default can be mistaken for an answer (`docs/adr/0012`).
#[derive(Debug, Clone, Copy)]
pub struct Powers<'d> {
    /// Appends entries to logs as lines.
    pub append: Option<&'d dyn Append>,
    /// Has sessions that are not one file of records.
    pub compose: Option<&'d dyn ComposeLog>,
    /// Has logs of operations, whose conversation is what the operations leave.
    pub fold: Option<&'d dyn FoldLog>,
    /// Takes new sessions through the agent's own program.
    pub import: Option<&'d dyn ImportSession>,
    /// Changes sessions and stores by plans.
    pub edits: Option<&'d dyn PlanEdits>,
    /// Knows files that contain data of several sessions.
    pub shared_files: Option<&'d dyn SharedFiles>,
    /// Knows problems specific to this agent, and fixes for them.
    pub repair: Option<&'d dyn Repairer>,
    /// Knows the files that belong to a session besides its log.
    pub side_files: Option<&'d dyn SideFiles>,
    /// Knows logs that continue another log without a copy of its lines.
    pub inherit_history: Option<&'d dyn InheritHistory>,
    /// Can start the agent, and knows what it does on its own.
    pub runtime: Option<&'d dyn Runtime>,
    /// Better or faster answers than the generic reader's. Never absent, because every default is
    /// correct.
    pub refine: &'d dyn Refine,
}

impl Default for Powers<'_> {
    fn default() -> Self {
        Powers {
            append: None,
            compose: None,
            fold: None,
            import: None,
            edits: None,
            shared_files: None,
            repair: None,
            side_files: None,
            inherit_history: None,
            runtime: None,
            refine: &refine::General,
        }
    }
}

impl Powers<'_> {
    /// Whether a capability is implemented by a plan.
    pub fn plans(&self, operation: Capability) -> bool {
        self.edits.is_some_and(|edits| edits.plans(operation))
    }
}
