//! What the Python and Node packages share: everything but the classes of their languages.
//!
//! * [`BindingStore`] is a folder, memory or a database with sessions, behind the calls that both
//!   packages offer.
//! * [`Waiter`] is the one thread of a store that appends for event loops, so that appends which
//!   are awaited together share one `fsync`.
//! * [`ErrorReport`] is an error by kind, with its next step phrased for a [`Language`].
//! * Messages cross the border as JSON ([`message_body`], [`messages_text`]), which both languages
//!   parse faster than Rust could build their objects.
//!
//! It knows neither an interpreter nor a framework, so its tests need nothing but Rust.

mod append_rules;
mod draft_place;
mod entry_facts;
mod entry_range;
mod error_report;
mod language;
mod listed_facts;
mod message;
mod pairing;
mod search;
mod store;
mod waiter;

pub use append_rules::{AppendRules, expected_revision};
pub use draft_place::DraftPlace;
pub use entry_facts::{EntryFacts, WholeRecord, poll_all};
pub use entry_range::{EntryRange, context_json};
pub use error_report::{ErrorReport, refused};
pub use language::Language;
pub use listed_facts::ListedFacts;
pub use message::{message_body, messages_text};
pub use pairing::{HandedMessage, handed_messages};
pub use search::{SearchHit, SearchQuery};
pub use store::{BindingStore, WantedSession, blob_id};
pub use waiter::{CallReply, CallValue, Waiter, WaiterCall};
