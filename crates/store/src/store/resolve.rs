//! Resolves what a user typed to a session: a ref `DIALECT:ID`, the start of an id (prefix), the
//! path of a session file, `@last` (the latest one, of this terminal, this folder or any) or
//! `@here` (the most recent one of the current folder). Several matches are an error that lists
//! their refs.
//!
//! A conversation in two stores has two sides; [`Side`] says which one is used: the fuller (more
//! complete) one, the front one, or the one that `--agent` names. Which request uses which side is
//! decided by the `resolve…` functions of the application's `request_context.rs`, which also looks
//! for the breadcrumb of the terminal. With a catalog, `@last` and `@here` are answered by
//! `sessions/newest.rs` of the application instead.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use boswell_dialect::{SessionLocation, by_name};
use boswell_model::{Advice, Error, ErrorDetails, ErrorKind, Instant, Result, SessionRef};

use crate::links::{Conversation, join};
use crate::store::{StoreId, StoredSession, Stores, Summary};
use crate::{Store, WritableStore};

/// A session as the user named it: the one place that knows the forms of a session argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `DIALECT:ID`, the id possibly a prefix.
    Ref(String, String),
    /// An id or the beginning of one.
    Prefix(String),
    /// A path of a session file.
    Path(PathBuf),
    /// `@last`: the session that `continue` would use.
    Last,
    /// `@here`: the most recent one of this project.
    Here,
}

impl Selector {
    /// Parses a selector. Nothing is looked up.
    pub fn parse(text: &str) -> Result<Selector> {
        match text {
            "" => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    "a session is needed, and the one given is empty",
                )
                .advising(Advice::ListSessions {
                    dialect: None,
                    hidden: false,
                }));
            }
            "@last" => return Ok(Selector::Last),
            "@here" => return Ok(Selector::Here),
            _ => {}
        }
        if let Some((dialect, id)) = text.split_once(':')
            && by_name(dialect).is_some()
            && !id.is_empty()
        {
            return Ok(Selector::Ref(dialect.to_owned(), id.to_owned()));
        }
        if text.contains(['/', '\\'])
            || text.ends_with(".jsonl")
            || text.ends_with(".json")
            || text.contains(".jsonl.")
        {
            return Ok(Selector::Path(PathBuf::from(text)));
        }
        if text.starts_with('-') || text.contains('\0') || text.len() > 256 {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` cannot be the id of a session", text.escape_debug()),
            )
            .because("no agent's ids start with `-`, hold NUL, or are longer than 256 bytes")
            .advising(Advice::ListSessions {
                dialect: None,
                hidden: false,
            }));
        }
        Ok(Selector::Prefix(text.to_owned()))
    }

    /// Chooses the conversation for `@last` or `@here`: the most recently active one of `cwd`, and
    /// for `@last` of any folder if `cwd` has none.
    ///
    /// A candidate consists of the caller's own key for a conversation, the time of its last
    /// activity, and the folders of its sides: a front program may not know the folder that its
    /// engine ran in. The caller leaves out hidden ones. Among equal times the last candidate wins.
    /// Each candidate is examined once.
    pub fn most_recent<'p, K, F: IntoIterator<Item = &'p str>>(
        &self,
        cwd: &Path,
        candidates: impl IntoIterator<Item = (K, Option<Instant>, F)>,
    ) -> Result<K> {
        let mut folders = Folders {
            cwd,
            canonical: cwd.canonicalize().ok(),
            known: HashMap::new(),
        };
        let mut anywhere: Option<(K, Option<Instant>)> = None;
        let mut here: Option<(K, Option<Instant>)> = None;
        for (candidate, active, projects) in candidates {
            let is_newest = |best: &Option<(K, Option<Instant>)>| {
                best.as_ref().is_none_or(|(_, at)| *at <= active)
            };
            if is_newest(&here) && projects.into_iter().any(|project| folders.is_cwd(project)) {
                here = Some((candidate, active));
            } else if is_newest(&anywhere) {
                anywhere = Some((candidate, active));
            }
        }
        match (here, anywhere, self) {
            (Some((found, _)), ..) | (None, Some((found, _)), Selector::Last) => Ok(found),
            (None, None, Selector::Last) => {
                Err(Error::new(ErrorKind::NotFound, "there are no sessions")
                    .advising(Advice::ListStores))
            }
            _ => Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no session of the folder `{}`", cwd.display()),
            )
            .advising(Advice::ListProjects)),
        }
    }
}

/// Compares folders with the working folder, links resolved. Many sessions share a folder, so
/// results are cached.
struct Folders<'p, 'c> {
    cwd: &'c Path,
    canonical: Option<PathBuf>,
    known: HashMap<&'p str, bool>,
}

impl<'p> Folders<'p, '_> {
    fn is_cwd(&mut self, folder: &'p str) -> bool {
        let (cwd, canonical) = (self.cwd, self.canonical.as_deref());
        *self.known.entry(folder).or_insert_with(|| {
            let folder = Path::new(folder);
            folder == cwd
                || canonical
                    .is_some_and(|cwd| folder.canonicalize().is_ok_and(|folder| folder == cwd))
        })
    }
}

/// Which side of a conversation in two stores is meant, if the user named no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side<'a> {
    /// The side with more content: for reading, and for requests that name an entry that was read.
    Fuller,
    /// The side of the program that the user talks to: it has the facts about the conversation.
    Front,
    /// The side of this dialect.
    Of(&'a str),
}

/// A resolved session, with its store: a [`Store`], or a [`WritableStore`] once
/// it is to be written.
#[derive(Debug, Clone)]
pub struct Resolved<S = Store> {
    /// The store that contains the session.
    pub store: S,
    /// The location of the session in that store.
    pub location: SessionLocation,
}

impl Resolved<WritableStore> {
    /// The same session in a store that only reads.
    pub fn reading(&self) -> Resolved {
        Resolved {
            store: Store::clone(&self.store),
            location: self.location.clone(),
        }
    }
}

impl<S: AsRef<Store>> Resolved<S> {
    /// Which session it is.
    pub fn reference(&self) -> SessionRef {
        SessionRef::new(self.store.as_ref().dialect().name(), &self.location.id)
    }
}

impl Stores {
    /// Returns the conversations of all stores, with linked sessions joined.
    pub fn conversations(&self) -> (Vec<Conversation>, crate::store::Summaries) {
        let mut all = self.summaries();
        let sessions = std::mem::take(&mut all.sessions);
        (self.joined(sessions), all)
    }

    /// Joins linked sessions, whose summaries were already read, to conversations.
    pub fn joined(&self, sessions: Vec<(StoreId, Summary)>) -> Vec<Conversation> {
        self.joined_at(sessions)
            .into_iter()
            .map(|(_, conversation)| conversation)
            .collect()
    }

    /// As [`joined`](Stores::joined), each with the index of its front among the sessions.
    pub fn joined_at(&self, sessions: Vec<(StoreId, Summary)>) -> Vec<(usize, Conversation)> {
        join(sessions, |store, summary| self.links_of(store, summary))
    }

    fn links_of(&self, store: StoreId, summary: &Summary) -> Vec<(&'static str, String)> {
        let Some(store) = self.get(store) else {
            return Vec::new();
        };
        store
            .dialect()
            .linked_sessions(&summary.meta, &summary.reference.id)
            .into_iter()
            .map(|link| (link.dialect, link.id))
            .collect()
    }

    /// Resolves a selector; `side` decides among linked sessions.
    pub fn resolve(&self, selector: &Selector, cwd: &Path, side: Side<'_>) -> Result<Resolved> {
        match selector {
            Selector::Path(path) => self
                .at_path(path)
                .map(|(store, location)| Resolved { store, location }),
            Selector::Ref(dialect, id) => match self.by_prefix(id, Some(dialect), Side::Fuller) {
                // A complete reference may name a session of an excluded project, a prefix may not.
                Err(error) if error.is_not_found() => {
                    self.excluded_by_ref(dialect, id).ok_or(error)
                }
                found => found,
            },
            Selector::Prefix(id) => self.by_prefix(id, None, side),
            Selector::Here | Selector::Last => {
                let (conversations, _) = self.conversations();
                let shown = conversations
                    .into_iter()
                    .filter(|it| it.front.1.hidden().is_none())
                    .collect::<Vec<_>>();
                let candidates = shown.iter().map(|it| (it, it.last_active(), it.projects()));
                let newest = selector.most_recent(cwd, candidates)?.clone();
                self.side_of(newest, side, |dialect, id| self.held_by(dialect, id))
            }
        }
    }

    fn excluded_by_ref(&self, dialect: &str, id: &str) -> Option<Resolved> {
        let of_dialect = |held: &StoredSession| {
            self.get(held.store)
                .is_some_and(|store| store.dialect().name() == dialect)
        };
        let found = self
            .excluded()
            .into_iter()
            .find(|held| held.location.id == id && of_dialect(held))?;
        Some(Resolved {
            store: self.get(found.store)?.whole(),
            location: found.location,
        })
    }

    fn by_prefix(&self, prefix: &str, dialect: Option<&str>, side: Side<'_>) -> Result<Resolved> {
        let (mut candidates, mut errors) = self.candidates(dialect);
        let mut found = matching(&candidates, |location| location.id == prefix);
        if found.is_empty() {
            found = matching(&candidates, |location| starts_with(&location.id, prefix));
        }
        if found.is_empty() {
            // xcsh also accepts the beginning of a file's name, which starts with the time.
            found = matching(&candidates, |location| named(location, prefix));
        }
        if found.is_empty() {
            // A file name need not contain the id that the log contains.
            candidates.retain(|(store, location)| self.states_id(*store, location, prefix));
            found = candidates;
        }
        if found.is_empty()
            && let Some((_, error)) = errors.pop()
        {
            return Err(error);
        }
        self.one_of(found, prefix, side)
    }

    /// Returns the sessions of a dialect, or of all; and its stores that could not be listed.
    fn candidates(&self, dialect: Option<&str>) -> (Vec<Candidate>, Vec<(StoreId, Error)>) {
        let is_asked = |store: StoreId| match (dialect, self.get(store)) {
            (None, _) => true,
            (Some(dialect), Some(store)) => store.dialect().name() == dialect,
            (Some(_), None) => false,
        };
        let (held, mut errors) = self.held();
        errors.retain(|(store, _)| is_asked(*store));
        let asked = held.into_iter().filter(|held| is_asked(held.store));
        let candidates = asked.map(|held| (held.store, held.location)).collect();
        (candidates, errors)
    }

    fn states_id(&self, store: StoreId, location: &SessionLocation, prefix: &str) -> bool {
        let summary = self.get(store).and_then(|s| s.summary(location).ok());
        summary
            .and_then(|s| s.meta.id)
            .is_some_and(|id| starts_with(&id, prefix))
    }

    fn one_of(
        &self,
        found: Vec<(StoreId, SessionLocation)>,
        asked: &str,
        side: Side<'_>,
    ) -> Result<Resolved> {
        if let [(store, location)] = found.as_slice()
            && !matches!(side, Side::Of(_))
        {
            return self.resolved(*store, location.clone());
        }
        let mut summaries = Vec::new();
        for (store, location) in &found {
            if let Some(summary) = self.get(*store).map(|s| s.summary(location)) {
                summaries.push((*store, summary?));
            }
        }
        let mut conversations = self.joined(summaries);
        // Lists show the ids of sessions that are not hidden: a subagent or an empty session whose
        // id begins alike must not make a listed id ambiguous.
        let is_shown = |it: &Conversation| it.front.1.hidden().is_none();
        if conversations.len() > 1 && conversations.iter().any(is_shown) {
            conversations.retain(is_shown);
        }
        match conversations.len() {
            0 => Err(Error::new(
                ErrorKind::NotFound,
                format!("no session is called `{}`", asked.escape_debug()),
            )
            .because("no id in any store begins with it")
            .advising(Advice::list_all().or(Advice::ListStores))),
            1 => self.side_of(conversations.remove(0), side, |dialect, id| {
                self.held_by(dialect, id)
            }),
            _ => Err(ambiguous(asked, &conversations)),
        }
    }

    /// Returns the side of a conversation that is meant. `find` looks up a session by dialect and
    /// id.
    pub fn side_of(
        &self,
        conversation: Conversation,
        side: Side<'_>,
        find: impl Fn(&str, &str) -> Option<(StoreId, SessionLocation)>,
    ) -> Result<Resolved> {
        let Conversation { front, linked, .. } = conversation;
        if side == Side::Front {
            return self.resolved(front.0, front.1.location);
        }
        let mut sides: Vec<(StoreId, Summary)> = std::iter::once(front).chain(linked).collect();
        // One prefix may have found both sides or only one of them; then the other is looked up by
        // its link.
        let missing: Vec<_> = sides
            .iter()
            .flat_map(|(store, summary)| self.links_of(*store, summary))
            .collect();
        for (dialect, id) in missing {
            if !sides.iter().any(|(_, s)| s.reference.dialect == dialect) {
                let found = find(dialect, &id);
                sides.extend(found.and_then(|(store, location)| {
                    Some((store, self.get(store)?.summary(&location).ok()?))
                }));
            }
        }
        if let Side::Of(side) = side {
            sides.retain(|(_, summary)| summary.reference.dialect == side);
        }
        let fullest = sides.into_iter().max_by_key(|(_, s)| {
            if s.complete {
                (s.records, s.location.size)
            } else {
                (u64::MAX, s.location.size)
            }
        });
        match fullest {
            Some((store, summary)) => self.resolved(store, summary.location),
            None => Err(Error::new(
                ErrorKind::NotFound,
                match side {
                    Side::Of(side) => format!("the session has no side in the dialect `{side}`"),
                    Side::Fuller | Side::Front => "the session has no side".to_owned(),
                },
            )
            .advising(Advice::ListSessionFiles)),
        }
    }

    fn held_by(&self, dialect: &str, id: &str) -> Option<(StoreId, SessionLocation)> {
        let is_it = |h: &StoredSession| {
            h.location.id == id
                && self
                    .get(h.store)
                    .is_some_and(|store| store.dialect().name() == dialect)
        };
        self.held()
            .0
            .into_iter()
            .find(is_it)
            .map(|held| (held.store, held.location))
    }

    fn resolved(&self, store: StoreId, location: SessionLocation) -> Result<Resolved> {
        match self.get(store) {
            Some(store) => Ok(Resolved {
                store: store.clone(),
                location,
            }),
            None => Err(Error::new(
                ErrorKind::Internal,
                "a store is missing from its own set",
            )),
        }
    }
}

/// A session that matches the typed text.
type Candidate = (StoreId, SessionLocation);

fn matching(candidates: &[Candidate], is_it: impl Fn(&SessionLocation) -> bool) -> Vec<Candidate> {
    let found = candidates.iter().filter(|(_, location)| is_it(location));
    found.cloned().collect()
}

/// Returns whether an id begins with the typed text, ignoring case: agents write ids in lower case,
/// users paste them in any case.
fn starts_with(id: &str, prefix: &str) -> bool {
    id.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns whether the name of a session's file, or the part after its last underscore, begins with
/// the typed text.
fn named(location: &SessionLocation, prefix: &str) -> bool {
    let name = location
        .key
        .as_deref()
        .and_then(|key| key.rsplit('/').next())
        .unwrap_or_default();
    starts_with(name, prefix)
        || name
            .rsplit_once('_')
            .is_some_and(|(_, id)| starts_with(id, prefix))
}

/// Returns whether two paths are the same folder, with links resolved where they exist.
pub(crate) fn same_folder(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The error for a name that fits several conversations; it lists the first ten.
fn ambiguous(asked: &str, conversations: &[Conversation]) -> Error {
    let fronts = || conversations.iter().take(10).map(|it| &it.front.1);
    let rows: Vec<String> = fronts()
        .map(|summary| {
            let path = summary.path.as_deref().unwrap_or("only in an index");
            format!("{} ({path})", summary.reference)
        })
        .collect();
    let count = conversations.len();
    let what = format!("`{}` fits {count} sessions", asked.escape_debug());
    Error::new(ErrorKind::Invalid, what)
        .because(rows.join("\n          "))
        .detailing(ErrorDetails::Ambiguous {
            candidates: fronts().map(|it| it.reference.to_string()).collect(),
        })
        .advising("give more of the id, its ref `DIALECT:ID`, or the path of its file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_told_apart_without_looking() {
        for (typed, selector) in [
            ("@last", Selector::Last),
            ("0b7e", Selector::Prefix("0b7e".into())),
            ("unknown:x", Selector::Ref("unknown".into(), "x".into())),
            ("./a", Selector::Path("./a".into())),
            ("x.jsonl", Selector::Path("x.jsonl".into())),
        ] {
            assert_eq!(Selector::parse(typed).unwrap(), selector);
        }
        for bad in ["", "-rf", "--help", "a\0b"] {
            assert_eq!(
                Selector::parse(bad).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{bad}"
            );
        }
    }
}
