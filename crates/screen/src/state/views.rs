//! The state of the views beside the finder.

use std::collections::BTreeSet;

use crate::ask::{BlameFacts, Grouping, HealthFacts, Node, PageAsk, RepairStepLine, Stat};
use crate::transcript::{Block, Detail, Folds, TextLine};

/// The reader.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(crate) session: String,
    pub(crate) title: String,
    pub(crate) agent: String,
    /// The project folder, which paths of calls are below.
    pub(crate) project: Option<String>,
    pub(crate) blocks: Vec<Block>,
    /// First and last entry that are loaded.
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) more_above: bool,
    pub(crate) more_below: bool,
    pub(crate) detail: Detail,
    pub(crate) folds: Folds,
    /// The last entry of the branch that is shown, if it is not the current one.
    pub(crate) branch: Option<String>,
    /// Whether the entries of subagents are shown too.
    pub(crate) inline: bool,
    /// Whether only a first look at the end is shown.
    pub(crate) is_first_look: bool,
    /// The lines of `blocks`, and the width that they were made for.
    pub(crate) lines: Vec<TextLine>,
    pub(crate) width: usize,
    pub(crate) top: usize,
    /// The line that keys are about.
    pub(crate) at: usize,
    /// The page that was asked for.
    pub(crate) loading: Option<PageAsk>,
    pub(crate) error: Option<String>,
    pub(crate) find: Option<String>,
    pub(crate) following: bool,
    /// The entry to go to once it is loaded.
    pub(crate) target: Option<String>,
}

/// The tree view.
#[derive(Debug, Default)]
pub(crate) struct TreeState {
    pub(crate) session: String,
    pub(crate) nodes: Option<Result<Vec<Node>, String>>,
    pub(crate) selected: usize,
}

/// The health view.
#[derive(Debug, Default)]
pub(crate) struct HealthState {
    pub(crate) session: String,
    pub(crate) facts: Option<Result<HealthFacts, String>>,
    /// The step that keys are about.
    pub(crate) selected: usize,
    /// Steps whose bytes are shown.
    pub(crate) open: BTreeSet<usize>,
    /// Steps that the user chose or left out.
    pub(crate) toggled: BTreeSet<usize>,
    /// First visible line; `None` shows the selected step.
    pub(crate) top: Option<usize>,
}

impl HealthState {
    /// Whether a step is to be taken.
    pub(crate) fn is_taken(&self, step: &RepairStepLine) -> bool {
        step.taken != self.toggled.contains(&step.number)
    }
}

/// The blame view.
#[derive(Debug, Default)]
pub(crate) struct BlameState {
    /// The session and the entry with the call that names the file.
    pub(crate) session: String,
    pub(crate) entry: String,
    pub(crate) facts: Option<Result<BlameFacts, String>>,
    pub(crate) selected: usize,
}

impl BlameState {
    /// Returns the sessions that wrote lines.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &String> {
        let facts = self.facts.iter().flatten();
        let lines = facts.flat_map(|it| &it.lines);
        lines.filter_map(|it| it.author.as_ref().map(|author| &author.session))
    }
}

/// The costs view.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    pub(crate) by: Grouping,
    pub(crate) span: CostSpan,
    pub(crate) stats: Option<Result<Vec<Stat>, String>>,
    pub(crate) top: usize,
}

/// The time that costs are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CostSpan {
    #[default]
    Week,
    Month,
    All,
}

impl CostSpan {
    pub(crate) fn since(self) -> Option<&'static str> {
        match self {
            CostSpan::Week => Some("7d"),
            CostSpan::Month => Some("30d"),
            CostSpan::All => None,
        }
    }
}
