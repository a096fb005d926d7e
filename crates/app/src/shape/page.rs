//! The last line of a list: how much was shown, and the cursor of the next page.

use boswell_model::Instant;

use super::{Maybe, shape};

shape! {
    /// Ends a list: how much was shown and how to go on.
    Page: "page" {
        /// how many lines came before this one
        shown: usize,
        /// how many there are in all pages; `null` if not all were counted
        total: Option<u64>,
        /// of `search`: how many sessions hold hits; `null` if not all were counted
        sessions: Maybe<Option<u64>>,
        /// what to ask with for the next page; `null` at the end
        cursor: Option<String>,
        /// whether everything was looked at
        complete: bool,
        /// of `search`: bytes that were read because the index does not cover them
        scanned_bytes: Maybe<u64>,
        /// when the list was made
        as_of: Instant,
    }
}
