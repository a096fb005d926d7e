//! What the screen asks its workers, and what they answer. Plain data in both directions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use boswell_app::PlanToken;
use boswell_app::resume::{ResumePlan, ResumeWayKind};
use boswell_app::stats::By;
use crossterm::event::{KeyEvent, MouseEvent};

use boswell_model::Instant;

use crate::ScreenExit;
use crate::rows::{Row, TextHit};
use crate::rows_ask::{HitCount, RowsAsk};
use crate::transcript::Block;

/// Something that happened.
#[cfg_attr(
    not(unix),
    expect(dead_code, reason = "only Unix stops and continues processes")
)]
#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize(u16, u16),
    /// The time, before each other event.
    Tick(Instant),
    Answer(Answer),
    /// The process was asked to end: by the terminal, or by a signal with this number.
    Ended(Option<i32>),
    /// The process was asked to stop.
    Stopped,
    /// The process was stopped and runs again.
    Continued,
    /// Nothing happened for a while.
    Slow,
    /// A slow terminal has read the frame that was on its way.
    Drawn,
    /// A worker ended by an error in the program.
    Broken,
}

/// Something to be done outside of the state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    /// Which sessions are listed.
    Rows(RowsAsk),
    /// Frees rows that are not shown any more: for ten thousand that takes longer than a key may
    /// wait.
    Discard(Vec<Row>),
    /// Examine all files again.
    Refresh,
    /// Search in text; cancels the search before it.
    Find {
        generation: u64,
        query: String,
        rows: RowsAsk,
        hits: HitCount,
    },
    /// The search is not wanted any more.
    StopFinding,
    Preview {
        session: String,
        entry: Option<String>,
    },
    Page(PageAsk),
    Tree(String),
    Check(String),
    /// Who wrote each line of the file of a call.
    Blame {
        session: String,
        entry: String,
    },
    Stats {
        by: Grouping,
        since: Option<&'static str>,
    },
    PlanSame(String),
    /// A new session, which is resumed at once if that is wanted.
    Fork {
        session: String,
        at: Option<String>,
        resume: bool,
    },
    /// The ways to resume a session, and the same conversation in other stores.
    Ways {
        session: String,
        linked: Vec<String>,
    },
    /// Which other agents can go on with a session.
    Agents(String),
    /// What a session for another agent would lack.
    PlanConversion(Converting),
    /// Make a session for another agent, and resume it.
    Convert(Converting),
    PlanMove(Moved),
    Move(Moved),
    Archive(Vec<String>),
    Keep,
    Export {
        session: String,
        path: String,
    },
    Picture {
        session: String,
        entry: String,
        folder: String,
    },
    /// Find an entry among those that are not loaded.
    FindIn {
        page: PageAsk,
        sought: Sought,
    },
    Rename {
        session: String,
        title: String,
    },
    Tag {
        sessions: Vec<String>,
        add: Vec<String>,
        remove: Vec<String>,
    },
    Delete(Vec<String>),
    /// Repair a session with these steps; all that are certain if none is named.
    Repair {
        session: String,
        steps: Vec<usize>,
    },
    Undo,
    /// Put a text into the clipboard of the terminal.
    Copy(String),
    Mouse(bool),
    Repaint,
    /// Stop the process, with the terminal restored.
    Suspend,
    /// Take the terminal again: another program may have changed it.
    Retake,
    Leave(ScreenExit),
}

impl Ask {
    pub(crate) fn is_find(&self) -> bool {
        matches!(self, Ask::Find { .. })
    }

    pub(crate) fn is_preview(&self) -> bool {
        matches!(self, Ask::Preview { .. })
    }
}

/// A page of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageAsk {
    pub(crate) session: String,
    pub(crate) part: PagePart,
    /// The last entry of the branch that is read, if it is not the current one.
    pub(crate) branch: Option<String>,
    /// Whether the entries of subagents are read too.
    pub(crate) inline: bool,
}

/// A folder that was moved: where it was, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Moved {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// A session that is carried over to another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Converting {
    pub(crate) session: String,
    /// Name of the agent's dialect.
    pub(crate) agent: String,
    /// The plan that was shown.
    pub(crate) shown: Option<PlanToken>,
}

/// Which entries of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PagePart {
    /// The first ones.
    Start,
    /// The last ones.
    End,
    Around(String),
    Before(String),
    After(String),
}

/// What is sought in the rest of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sought {
    /// A text, in lower case.
    Text(String),
    /// A prompt of the user.
    Prompt,
    /// A call that failed.
    Failure,
}

/// The grouping of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Grouping {
    #[default]
    Day,
    Project,
    Model,
    Agent,
}

impl From<Grouping> for By {
    fn from(grouping: Grouping) -> By {
        match grouping {
            Grouping::Day => By::Day,
            Grouping::Project => By::Project,
            Grouping::Model => By::Model,
            Grouping::Agent => By::Agent,
        }
    }
}

/// What a worker answers.
#[derive(Debug)]
pub(crate) enum Answer {
    Rows {
        ask: RowsAsk,
        rows: Vec<Row>,
        /// Whether these are all sessions, not only the first ones.
        complete: bool,
    },
    /// Many sessions are read for the first time: the newest ones so far, and how many of all.
    Reading {
        ask: RowsAsk,
        rows: Vec<Row>,
        read: usize,
        total: usize,
        since: Duration,
    },
    /// Nothing was found: the folders that were examined, by dialect, and whether they exist.
    LookedAt(Vec<(String, String, bool)>),
    /// Every file was examined; whether the catalog could be written.
    Refreshed {
        at: Instant,
        kept: bool,
    },
    /// What sessions cost in dollars.
    Costs(HashMap<String, f64>),
    Marks {
        live: BTreeMap<String, Vec<u32>>,
        lost_soon: BTreeSet<String>,
    },
    /// Sessions whose logs changed.
    Changed(Vec<String>),
    /// Sessions that do not exist any more.
    Gone(Vec<String>),
    Found {
        generation: u64,
        found: Result<FoundText, String>,
    },
    Preview(Preview),
    Page {
        ask: PageAsk,
        page: Result<Page, String>,
    },
    Tree {
        session: String,
        nodes: Result<Vec<Node>, String>,
    },
    Health {
        session: String,
        health: Result<HealthFacts, String>,
    },
    Blame {
        session: String,
        entry: String,
        blame: Result<BlameFacts, String>,
    },
    Stats {
        by: Grouping,
        since: Option<&'static str>,
        stats: Result<Vec<Stat>, String>,
    },
    /// The plan that was asked for.
    Planned(Result<Arc<ResumePlan>, String>),
    /// The ways to resume a session.
    Ways {
        session: String,
        ways: Result<Vec<Way>, String>,
    },
    /// The other agents that can go on with a session: names of dialects, and names for display.
    Agents {
        session: String,
        agents: Result<Vec<(String, String)>, String>,
    },
    /// What a session for another agent would lack, after the name of the agent.
    ConversionPlanned {
        converting: Converting,
        lacks: Result<(String, Vec<String>), String>,
    },
    /// What moving a folder would change.
    MovePlanned {
        moved: Moved,
        steps: Result<Vec<String>, String>,
    },
    /// The entry that was sought, if there is one.
    FoundIn {
        page: PageAsk,
        sought: Sought,
        entry: Option<String>,
    },
    /// A change was made: a message for the user, and the session to select.
    Done {
        message: String,
        select: Option<String>,
    },
    Failed(String),
    /// Something could not be read.
    Warning(String),
}

/// The hits of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FoundText {
    pub(crate) hits: Vec<TextHit>,
    pub(crate) sessions: u64,
    pub(crate) exact: bool,
    pub(crate) scanned: Option<u64>,
    pub(crate) millis: u128,
    /// Words that do not occur, with similar ones.
    pub(crate) nearest: Vec<(String, String)>,
}

/// The end of a session or the surroundings of a hit, and how it is resumed.
#[derive(Debug, Clone)]
pub(crate) struct Preview {
    pub(crate) session: String,
    pub(crate) entry: Option<String>,
    pub(crate) blocks: Result<Vec<Block>, String>,
    pub(crate) resume: Option<Result<Resumable, String>>,
}

/// How a session is resumed.
#[derive(Debug, Clone)]
pub(crate) struct Resumable {
    pub(crate) plan: Arc<ResumePlan>,
    pub(crate) folder_exists: bool,
}

/// A way to resume a session: its command, or why there is none.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) kind: ResumeWayKind,
    pub(crate) session: String,
    pub(crate) plan: Result<Arc<ResumePlan>, String>,
}

/// A page of a transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Page {
    pub(crate) blocks: Vec<Block>,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    /// Whether there may be entries before the first and after the last.
    pub(crate) more_above: bool,
    pub(crate) more_below: bool,
    /// The last entry of the branch that it is on, if it is not the one that was asked for.
    pub(crate) branch: Option<String>,
    /// Whether it is a first look at the end of a long log; the page itself follows.
    pub(crate) is_first_look: bool,
}

/// A node of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    pub(crate) entry: String,
    pub(crate) depth: usize,
    pub(crate) between: usize,
    pub(crate) role: String,
    pub(crate) text: String,
    pub(crate) label: Option<String>,
    pub(crate) leaf: bool,
    pub(crate) on_branch: bool,
    pub(crate) compaction: bool,
}

/// The problems of a session, and its repair.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HealthFacts {
    pub(crate) findings: Vec<String>,
    pub(crate) steps: Vec<RepairStepLine>,
    /// Entries that the agent reaches now, in all, and after the repair.
    pub(crate) reach: Option<(u64, u64, u64)>,
}

/// A step of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepairStepLine {
    /// Its number in the plan.
    pub(crate) number: usize,
    pub(crate) taken: bool,
    pub(crate) text: String,
    /// The bytes before and after it.
    pub(crate) changes: Vec<(String, String)>,
}

/// A file, and who wrote its lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BlameFacts {
    pub(crate) file: String,
    pub(crate) lines: Vec<BlameLine>,
    /// Lines that no session explains.
    pub(crate) unexplained: usize,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BlameLine {
    pub(crate) text: String,
    /// The session and the entry that wrote it, its agent, and the prompt before.
    pub(crate) author: Option<LineAuthor>,
}

/// What wrote a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LineAuthor {
    pub(crate) session: String,
    pub(crate) entry: Option<String>,
    pub(crate) agent: String,
    pub(crate) prompt: String,
}

/// A row of the costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Stat {
    pub(crate) key: String,
    pub(crate) sessions: u64,
    pub(crate) messages: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cost: Option<f64>,
    /// Whether the cost of a model is unknown.
    pub(crate) unpriced: bool,
    pub(crate) prices_as_of: String,
}
