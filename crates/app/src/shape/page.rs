//! The last line of a list: how much was shown, and the cursor of the next page.

use boswell_model::Instant;

use super::{Maybe, shape};

shape! {
    /// The last line of a list: counts, and the cursor of the next page.
    Page: "page" {
        /// how many lines came before this one
        shown: usize,
        /// how many there are in all pages; `null` if not all were counted
        total: Option<u64>,
        /// for `search`: how many sessions have hits; `null` if not all were counted
        sessions: Maybe<Option<u64>>,
        /// value of `--cursor` for the next page; `null` on the last page
        cursor: Option<String>,
        /// whether everything was searched
        complete: bool,
        /// for `search`: bytes that were scanned because they are not indexed yet
        scanned_bytes: Maybe<u64>,
        /// when the list was made
        as_of: Instant,
    }
}
