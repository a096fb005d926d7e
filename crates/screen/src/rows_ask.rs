//! Which sessions the finder lists and searches, and the requests for them.

use boswell_app::list::SessionFilter;
use boswell_app::search::{Counting, Order, SearchRequest};

/// Which sessions are listed and searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RowsAsk {
    pub(crate) scope: Scope,
    pub(crate) agent: Option<String>,
    pub(crate) hidden: bool,
}

/// Whose sessions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    #[default]
    Everywhere,
    Here,
    Repository,
}

impl RowsAsk {
    /// Returns the request for hits of these sessions.
    pub(crate) fn search(&self, query: &str, hits: HitCount, cwd: &str) -> SearchRequest {
        let is_short = is_beginning(query, 3);
        let request = SearchRequest {
            filter: self.filter(cwd),
            limit: hits.limit(query),
            // How well an entry fits a word of which three letters are known says nothing, and
            // ranking reads ten times as much text as the newest entries take.
            order: if is_short {
                Order::Newest
            } else {
                Order::Relevance
            },
            ..SearchRequest::default()
        };
        if is_beginning(query, 2) {
            // Two letters inside of words are in nearly every entry, and reading their posting
            // lists takes longer than typing the third letter. Words that begin with them are what
            // is being typed; the sessions that contain them are too many to be counted.
            return SearchRequest {
                query: format!("{query}*"),
                counting: Counting::Quick,
                ..request
            };
        }
        SearchRequest {
            query: query.to_owned(),
            ..request
        }
    }

    /// Returns the filter for these sessions.
    pub(crate) fn filter(&self, cwd: &str) -> SessionFilter {
        SessionFilter {
            agent: self.agent.clone(),
            here: self.scope == Scope::Here,
            project: (self.scope == Scope::Repository).then(|| cwd.to_owned()),
            ..SessionFilter::default()
        }
    }
}

/// How many hits are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum HitCount {
    /// With every keystroke: about as many as a screen shows. Each takes time, because it is read
    /// in its log.
    #[default]
    First,
    /// Once the user goes down the list.
    Many,
}

impl HitCount {
    pub(crate) fn limit(self, query: &str) -> usize {
        match self {
            // Many names contain two or three letters too, and the next letter follows soon.
            HitCount::First if is_beginning(query, 3) => 16,
            HitCount::First => 40,
            HitCount::Many => 200,
        }
    }
}

/// Whether a query is two letters or digits of ASCII or more, at most `most`: the beginning of a
/// first word.
fn is_beginning(query: &str, most: usize) -> bool {
    (2..=most).contains(&query.len()) && query.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_letters_ask_for_the_beginnings_of_words_and_all_else_is_asked_as_typed() {
        let asked = |query: &str| {
            let request = RowsAsk::default().search(query, HitCount::First, "/w");
            (request.query, request.counting == Counting::Quick)
        };
        assert_eq!(asked("we"), ("we*".to_owned(), true));
        for query in ["web", "会话", "é1", "a b", "w", "->", "we "] {
            assert_eq!(asked(query), (query.to_owned(), false), "{query}");
        }
    }

    #[test]
    fn the_beginning_of_a_word_asks_for_the_newest_entries_and_a_word_for_the_best() {
        let asked = |query: &str| {
            let request = RowsAsk::default().search(query, HitCount::First, "/w");
            (request.order == Order::Newest, request.limit)
        };
        for query in ["we", "web", "k8s"] {
            assert_eq!(asked(query), (true, 16), "{query}");
        }
        for query in ["webs", "会话", "a b", "->x"] {
            assert_eq!(asked(query), (false, 40), "{query}");
        }
    }
}
