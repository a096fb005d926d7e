//! Titles and summaries of sessions: a title of eight words, three sentences.
//!
//! Built in is an extract: nothing is added that the session does not contain. A program of the
//! user's may write them instead.

mod external;
mod extract;
mod input;
mod sentence;

pub(crate) use external::ExternalProgram;
pub(crate) use extract::extract;
pub(crate) use input::SummaryInput;

/// Most words of a title.
const TITLE_WORDS: usize = 8;
/// Most sentences of a summary.
const SENTENCES: usize = 3;

/// What a session was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summed {
    /// At most eight words.
    pub(crate) title: String,
    /// At most three sentences.
    pub(crate) summary: String,
}
