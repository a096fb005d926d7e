//! Statistics: what was said, done and paid for, each message counted once.
//!
//! A message that stands in several sessions (a fork, a copy, a resumed session) counts for the one
//! that was begun first. What a session repeats of its subagents counts only where they have no
//! transcripts of their own. Of a conversation that is kept in two places, the place that knows
//! messages by name counts. A cost that the agent recorded wins over one that is computed.

mod aggregate;
mod exact_sum;
mod model_name;
mod price_list;
mod prices;
mod tally;
mod usage_sum;

use std::collections::BTreeMap;

use boswell_model::Usage;

pub(crate) use aggregate::Aggregate;
pub(crate) use exact_sum::ExactSum;
pub use price_list::PRICES_AS_OF;
pub use prices::{Price, Prices};
pub use tally::Tally;
pub(crate) use usage_sum::UsageSum;

/// What sums are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// All in one.
    Total,
    /// The day, UTC, on which a message was said; sessions count on their last one.
    Day,
    /// The folder.
    Project,
    /// The agent.
    Agent,
    /// The model. Only usage and sessions are known by model.
    Model,
}

/// A sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    /// Conversations; subagents are part of those that started them.
    pub sessions: u64,
    /// User and assistant messages.
    pub messages: u64,
    /// Prompts.
    pub turns: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Records.
    pub entries: u64,
    /// Time that agents recorded.
    pub duration_ms: Option<u64>,
    /// Records by their own type word.
    pub kinds: BTreeMap<String, u64>,
    /// Tokens, and the cost as far as it is known.
    pub usage: Usage,
    /// Models whose price is not known: the cost leaves them out.
    pub unpriced: Vec<String>,
    /// Whether sessions are missing because they could not be read as a whole.
    pub partial: bool,
}
