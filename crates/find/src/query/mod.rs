//! Queries: the query language, and the search that answers a [`Query`].
//!
//! `parse` turns text into clauses (`clause`); each clause knows which terms a block must contain
//! to match it (`required_terms`, for regular expressions `literals`). The index returns candidate
//! blocks with an upper bound of their rank (`candidates`, `rank`). `search` reads the candidates
//! from their sources, best bound first, and checks every entry (`scan`, `entry`), until no
//! remaining candidate can be better than the hits of the page. Text that the index does not cover
//! is scanned with the same check, so the index changes the speed of an answer and never its
//! content.

mod candidates;
mod clause;
mod cursor;
mod entry;
mod filter;
mod literals;
mod parallel;
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
pub use suggestions::{Suggestions, edit_distance};

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Best first: whole words, many occurrences and recent entries rank higher.
    #[default]
    Relevance,
    /// Newest entries first.
    Newest,
}

/// How exactly the number of sessions with hits is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// Checks every candidate until the number is exact.
    #[default]
    Exact,
    /// Ends the search when the page is full; the number may be a lower bound, and [`Count::exact`]
    /// is false then.
    Quick,
}

/// A parsed query.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) clauses: Vec<Clause>,
    /// Conditions on sessions and entries other than their text.
    pub filters: Filters,
    /// Fields in which the text must occur; empty means any field.
    pub fields: Vec<Field>,
    /// The order of the hits.
    pub order: Order,
    /// How exactly the sessions with hits are counted.
    pub counting: Counting,
    /// Maximum number of hits on a page.
    pub limit: usize,
    /// End of the previous page, as returned in [`Results::cursor`].
    pub cursor: Option<String>,
}

impl Query {
    /// Parses the query language: words, `"phrases"`, `prefix*`, `!not`, and filters such as
    /// `agent:claude`.
    ///
    /// `now` is the time that relative dates such as `since:7d` refer to, in the zone of the user.
    pub fn parse(
        text: &str,
        now: Option<(boswell_model::Instant, &crate::TimeZone)>,
    ) -> Result<Query> {
        parse::query(text, now)
    }

    /// A query for a literal substring; case and width of letters are ignored.
    pub fn substring(text: &str) -> Result<Query> {
        parse::substring(text)
    }

    /// A query for a regular expression, matched against the original text (not folded).
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
