//! Full-text search over the sessions of a folder.
//!
//! It is the search of the program: the same index in the same place, which is kept current a
//! little with every call, and read text that the index does not cover yet.

use boswell_model::Result;
use boswell_model::json::Json;

use crate::BindingStore;

/// A search.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words, phrases and filters, as `boswell search` takes them.
    pub query: String,
    /// Only this session.
    pub session: Option<String>,
    /// Maximum number of hits.
    pub limit: usize,
}

/// A hit of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The id of the session.
    pub session: String,
    /// The entry.
    pub entry: Option<String>,
    /// Role: `user`, `assistant` and others.
    pub role: Option<String>,
    /// The text around the match.
    pub snippet: String,
    /// Relevance, higher is better.
    pub score: f64,
    /// The title of the session, or how else it is named.
    pub name: String,
}

impl SearchHit {
    /// Describes it.
    pub fn to_json(&self) -> Json {
        Json::object()
            .with("session", self.session.as_str())
            .with_some("entry", self.entry.as_deref())
            .with_some("role", self.role.as_deref())
            .with("snippet", self.snippet.as_str())
            .with("score", self.score)
            .with("name", self.name.as_str())
    }
}

#[cfg(feature = "search")]
mod with_app {
    use boswell_app::purge::PurgeRequest;
    use boswell_app::search::SearchRequest;
    use boswell_app::{App, AppConfig, Cancel};
    use boswell_dialect::Environment;
    use boswell_model::{Error, ErrorKind};

    use super::*;

    impl BindingStore {
        /// The application over this folder alone: no store of any agent on the machine is read.
        fn app(&self) -> Result<App> {
            let Some(folder) = self.folder() else {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "only sessions in a folder can be searched",
                )
                .advising("read them with `session.entries()`"));
            };
            let mut config = AppConfig::new(Environment::default(), Some(folder.to_owned()));
            config.stores = vec![("boswell".to_owned(), folder.to_owned())];
            App::open(config)
        }

        /// Searches text in the sessions of a folder.
        ///
        /// # Errors
        ///
        /// `Invalid` for a query that is not valid, `Unsupported` for a store in memory or in a
        /// database.
        pub fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>> {
            let request = SearchRequest {
                query: query.query.clone(),
                session: query.session.as_ref().map(|id| format!("boswell:{id}")),
                limit: query.limit,
                ..SearchRequest::default()
            };
            let found = self.app()?.search(&request, &Cancel::new());
            let mut found = found.map_err(|refusal| refusal.error)?.value;
            let hits = std::mem::take(&mut found.hits).into_iter();
            let hits = hits.map(|hit| SearchHit {
                session: hit
                    .session
                    .strip_prefix("boswell:")
                    .unwrap_or(&hit.session)
                    .to_owned(),
                entry: hit.entry,
                role: hit.role.map(str::to_owned),
                snippet: hit.snippet,
                score: hit.score,
                name: hit.name,
            });
            let hits = hits.collect();
            found.index_a_little();
            Ok(hits)
        }

        /// Removes words of erased sessions from the index: the first request that writes does it.
        pub(crate) fn finish_erasing(&self) -> Result<()> {
            let nothing_more = PurgeRequest::default();
            let done = self.app()?.purge(&nothing_more, &mut |_| Ok(()));
            done.map(|_| ()).map_err(|refusal| refusal.error)
        }
    }
}

#[cfg(not(feature = "search"))]
impl BindingStore {
    /// As the other one, in a build that has it.
    ///
    /// # Errors
    ///
    /// `Unsupported`, always.
    pub fn search(&self, _query: &SearchQuery) -> Result<Vec<SearchHit>> {
        use boswell_model::{Error, ErrorKind};
        let what = "this build cannot search";
        Err(Error::new(ErrorKind::Unsupported, what)
            .advising("install a package that was built with the feature `search`"))
    }
}
