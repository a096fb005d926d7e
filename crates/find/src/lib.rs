//! Full-text search, catalog, statistics, secret detection and prompt history over sessions of all
//! agents.
//!
//! * [`Index`] is an inverted index over [`Source`]s; a search for a [`Query`] takes candidates
//!   from the index, scans what the index does not cover yet, and verifies every hit in its source.
//! * [`Catalog`] is a SQLite database with one row per session, for lists and statistics.
//! * [`Secrets`] finds credentials in text.
//! * [`SqliteDatabases`] reads the databases of agents, and leaves no trace.
//!
//! Everything that this crate writes is derived and can be deleted at any time; the index contains
//! no text but its terms.
//!
//! It prints nothing, reads no clock and no environment; time limits are closures of the caller.

#[cfg(test)]
extern crate self as boswell_find;

mod catalog;
mod extract;
mod index;
mod normalize;
mod prompt_history;
mod query;
mod scrub;
mod secrets;
mod source;
mod sqlite_source;
mod stats;
mod store_sources;
mod time_zone;
mod tokenizer;
mod varint;

#[cfg(test)]
mod tests;

pub use catalog::{
    Catalog, CatalogRow, ConversationChanges, ConversationCursor, ConversationOrder,
    ConversationPage, ConversationQuery, ConversationRow, ConversationScope, ConversationSide,
    ConversationTouches, ConversationUpdate, DeletedSession, FilterKeys, GrowingLog, KnownDamage,
    KnownLog, NewConversation, NotesState, ReadLogs, RecentSpending, Refreshed, SideName, SortKeys,
    WantedRows, name_key,
};
pub use extract::{Field, extract};
pub use index::{Backlog, Index, Progress, Size};
pub use prompt_history::{PromptHistory, Remembered, has_history, remember, remember_all};
pub use query::{
    Count, Counting, Effort, Filters, Hit, Order, Query, Results, Suggestions, edit_distance,
};
pub use scrub::{Removal, is_removed, is_text, removals, replaced};
pub use secrets::{Secret, SecretCount, Secrets};
pub use source::{About, Form, Source, SourceReader};
pub use sqlite_source::SqliteDatabases;
pub use stats::{By, Grouping, PRICES_AS_OF, Price, Prices, Sum, Tally};
pub use store_sources::{MemorySource, Origin, StoreSources};
pub use time_zone::TimeZone;
