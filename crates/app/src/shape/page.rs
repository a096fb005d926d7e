//! The last line of a list: how much was shown, and the cursor of the next page.

use boswell_model::Instant;

use super::{Maybe, shape};
use crate::show::ShownRange;

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

shape! {
    /// From the server: which entries of a session an answer has.
    EntryRange: "range" {
        /// the session whose entries they are
        session: String,
        /// opaque string: revision of the log
        revision: String,
        /// position of the first entry, from 0; `null` if there is none
        first: Option<usize>,
        /// position of the last entry
        last: Option<usize>,
        /// how many entries the view has
        total: usize,
    }
}

impl From<ShownRange> for EntryRange {
    fn from(shown: ShownRange) -> EntryRange {
        EntryRange {
            session: shown.session.to_string(),
            revision: shown.revision.to_string(),
            first: shown.range.map(|(first, _)| first),
            last: shown.range.map(|(_, last)| last),
            total: shown.total,
        }
    }
}
