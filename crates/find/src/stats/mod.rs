//! Statistics: messages, tool calls, tokens and cost over sessions, each message counted once.
//!
//! A message that occurs in several sessions (a fork, a copy, a resumed session) counts for the
//! session that was created first. Usage of subagents that a session repeats counts only if the
//! subagents have no transcripts of their own. If a conversation exists in two stores, the side
//! that knows messages by id counts. A cost that the agent recorded takes precedence over a
//! computed cost.
//!
//! The sums are made from the catalog (`catalog/totals.rs`); no log is read here.

mod aggregate;
mod exact_sum;
mod grouping;
mod model_name;
mod price_list;
mod prices;
mod tally;
mod usage_sum;

use std::collections::BTreeMap;

use boswell_model::Usage;

pub(crate) use aggregate::Aggregate;
pub(crate) use exact_sum::ExactSum;
pub use grouping::Grouping;
pub(crate) use grouping::{Keys, Whose};
pub use price_list::PRICES_AS_OF;
pub use prices::{Price, Prices};
pub use tally::Tally;
pub(crate) use usage_sum::UsageSum;

/// The key that sums are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// One sum over everything.
    Total,
    /// The day of a message; a session counts on the day of its last activity.
    Day,
    /// The week of a message, likewise.
    Week,
    /// The month of a message, likewise.
    Month,
    /// The project folder of the session.
    Project,
    /// The agent that wrote the session.
    Agent,
    /// The model; only usage and the number of sessions are known by model.
    Model,
    /// The conversation, by the name of the session that lists show; subagents belong to the
    /// session that started them.
    Session,
}

/// The counts, tokens and cost under one key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    /// Number of conversations; subagents are part of the session that started them.
    pub sessions: u64,
    /// Number of user and assistant messages.
    pub messages: u64,
    /// Number of prompts.
    pub turns: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of records.
    pub entries: u64,
    /// Working time that the agents recorded, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Number of records by the type word of the agent.
    pub kinds: BTreeMap<String, u64>,
    /// Tokens, and the cost where it is recorded or can be computed.
    pub usage: Usage,
    /// Models without a known price: `usage.cost` does not include them.
    pub unpriced: Vec<String>,
    /// Whether sessions are missing because they could not be read as a whole.
    pub partial: bool,
}
