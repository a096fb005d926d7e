//! What people ask, and how it is answered.
//!
//! A [`Query`] is parsed into clauses (`clause`), each of which knows what terms a text must hold
//! to match it (`need`). The index gives candidates (`candidates`); every one of them is read again
//! and checked (`entry`), best ones first (`rank`), until no better one can follow (`search`). What
//! the index does not cover is checked the same way.

mod candidates;
mod clause;
mod cursor;
mod entry;
mod filter;
mod literals;
mod parse;
mod prefilter;
mod rank;
mod required_terms;
mod scan;
mod search;
mod snippet;
mod suggestions;

use boswell_model::Result;

use crate::extract::Field;

pub(crate) use clause::Clause;
pub use filter::Filters;
pub use search::{Count, Effort, Hit, Results};
pub use suggestions::Suggestions;

/// In which order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Best first: whole words, many of them, recent ones.
    #[default]
    Relevance,
    /// Newest first.
    Newest,
}

/// How much is done for the number of sessions that hold a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// Every candidate is checked until the number is exact.
    #[default]
    Exact,
    /// The search ends once the page is full; the number may be a lower bound, and says so.
    Quick,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) clauses: Vec<Clause>,
    /// What sessions and entries must be, beside what they say.
    pub filters: Filters,
    /// Where the text must stand; empty means anywhere.
    pub fields: Vec<Field>,
    /// In which order hits come.
    pub order: Order,
    /// How exactly sessions are counted.
    pub counting: Counting,
    /// How many hits are wanted.
    pub limit: usize,
    /// Where the page before ended, as [`Results::cursor`] gave it.
    pub cursor: Option<String>,
}

impl Query {
    /// Reads the query language: words, `"phrases"`, `prefix*`, `!not`, and filters
    /// such as `agent:claude`.
    ///
    /// `now` is what dates such as `since:7d` count back from.
    pub fn parse(text: &str, now: Option<boswell_model::Instant>) -> Result<Query> {
        parse::query(text, now)
    }

    /// Any stretch of text, taken as it is; case and width of letters do not count.
    pub fn substring(text: &str) -> Result<Query> {
        parse::substring(text)
    }

    /// A regular expression, matched against the text as it is written.
    pub fn regex(pattern: &str) -> Result<Query> {
        Ok(Query::of(vec![Clause::regex(pattern)?], Filters::default()))
    }

    fn of(clauses: Vec<Clause>, filters: Filters) -> Query {
        Query {
            clauses,
            filters,
            fields: Vec::new(),
            order: Order::default(),
            counting: Counting::default(),
            limit: 20,
            cursor: None,
        }
    }
}
