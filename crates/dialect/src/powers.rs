//! What a dialect can do besides being read.

mod append;
mod plan_edits;
mod refine;
mod repairer;
mod runtime;
mod shared_files;
mod side_files;

pub use append::Append;
pub use plan_edits::PlanEdits;
pub use refine::{ContextCoverage, ProviderMessage, Refine, tool_paths};
pub use repairer::Repairer;
pub use runtime::Runtime;
pub use shared_files::SharedFiles;
pub use side_files::SideFiles;

use crate::Capability;

/// The powers of a dialect, each none where it has not got it.
///
/// A struct of options instead of methods with defaults: what an agent cannot do is absent, so
/// that no default can be mistaken for an answer (docs/adr/0012).
#[derive(Debug, Clone, Copy)]
pub struct Powers<'d> {
    /// Entries are appended to its logs as lines.
    pub append: Option<&'d dyn Append>,
    /// Sessions and stores are changed by plans.
    pub edits: Option<&'d dyn PlanEdits>,
    /// Some files speak of several sessions.
    pub shared_files: Option<&'d dyn SharedFiles>,
    /// It has problems of its own, and fixes for them.
    pub repair: Option<&'d dyn Repairer>,
    /// Sessions have files besides their logs.
    pub side_files: Option<&'d dyn SideFiles>,
    /// The agent can be started, or does something by itself.
    pub runtime: Option<&'d dyn Runtime>,
    /// What it knows better than the general way of reading.
    pub refine: &'d dyn Refine,
}

impl Default for Powers<'_> {
    fn default() -> Self {
        Powers {
            append: None,
            edits: None,
            shared_files: None,
            repair: None,
            side_files: None,
            runtime: None,
            refine: &refine::General,
        }
    }
}

impl Powers<'_> {
    /// Whether an operation is carried out by a plan.
    pub fn plans(&self, operation: Capability) -> bool {
        self.edits.is_some_and(|edits| edits.plans(operation))
    }
}
