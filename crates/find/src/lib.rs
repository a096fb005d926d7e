//! Finds any sentence in any session of any agent.
//!
//! An [`Index`] says which words stand where in every [`Source`]; a [`Query`] is what a person
//! asks; a search takes candidates from the index, scans what the index does not cover yet, and
//! reads every hit again where it came from. Everything here is derived: the index can be deleted
//! at any time and no text is copied into it.
//!
//! It prints nothing, reads no clock and no environment; time limits come as closures.

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
mod stats;
mod store_sources;
mod tokenizer;
mod varint;

#[cfg(test)]
mod tests;

pub use catalog::{
    Catalog, CatalogRow, ConversationChanges, ConversationCursor, ConversationOrder,
    ConversationPage, ConversationQuery, ConversationRow, ConversationScope, ConversationSide,
    ConversationTouches, ConversationUpdate, DeletedSession, FilterKeys, NewConversation,
    NotesState, ReadLogs, Refreshed, SideName, SortKeys, WantedRows,
};
pub use extract::{Field, extract};
pub use index::{Backlog, Index, Progress, Size};
pub use prompt_history::{PromptHistory, Remembered, has_history, remember, remember_all};
pub use query::{Count, Counting, Effort, Filters, Hit, Order, Query, Results, Suggestions};
pub use scrub::{Removal, is_removed, is_text, removals, replaced};
pub use secrets::{Secret, SecretCount, Secrets};
pub use source::{About, Form, Source, SourceReader};
pub use stats::{By, PRICES_AS_OF, Price, Prices, Sum, Tally};
pub use store_sources::{MemorySource, Origin, StoreSources};
