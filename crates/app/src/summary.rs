//! Titles and summaries of sessions: a title of eight words, three sentences.
//!
//! The built-in summary is an extract: it contains only text of the session. An external program of
//! the user may write summaries instead.

mod external;
mod extract;
mod input;
mod sentence;
mod telling;

pub(crate) use external::ExternalProgram;
pub(crate) use extract::extract;
pub(crate) use input::SummaryInput;
pub(crate) use sentence::{at_most, is_cjk, sentences};
pub(crate) use telling::{decisions, open_ends, tokens_of};

/// Maximum number of words in a title.
const TITLE_WORDS: usize = 8;
/// Maximum number of sentences in a summary.
const SENTENCES: usize = 3;

/// Title and summary of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summed {
    /// At most eight words.
    pub(crate) title: String,
    /// At most three sentences.
    pub(crate) summary: String,
}
