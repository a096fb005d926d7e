//! Joins sessions of different stores that are one conversation: a conversation that is kept twice,
//! on a front side and in the transcript of the engine below it.
//!
//! MyAgents stores its own rows in addition to the transcript of the engine that it drives, and
//! clinvoker stores only a document about a transcript that its backend writes. A list shows such a
//! conversation once, with both places.

use std::collections::{HashMap, HashSet};

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Framing, Instant, Problem, ProblemKind, Result, SessionMeta};

use crate::Session;
use crate::store::{StoreId, Stores, Summary};

/// A conversation: the session that a list shows, and those that are the same
/// conversation elsewhere.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The session that is shown: the one whose program the user talks to.
    pub front: (StoreId, Summary),
    /// The same conversation in other stores.
    pub linked: Vec<(StoreId, Summary)>,
    /// Links whose other side does not exist: dialect and id.
    pub dangling: Vec<(&'static str, String)>,
}

impl Conversation {
    /// Iterates over the session that is shown, then the others.
    pub fn sides(&self) -> impl Iterator<Item = &Summary> {
        std::iter::once(&self.front)
            .chain(&self.linked)
            .map(|(_, summary)| summary)
    }

    /// Returns the time of the last activity in any of the stores.
    pub fn last_active(&self) -> Option<Instant> {
        self.sides().filter_map(Summary::last_active).max()
    }

    /// Returns the project folders that the sessions name.
    pub fn projects(&self) -> impl Iterator<Item = &str> {
        self.sides().filter_map(|side| side.meta.project.as_deref())
    }
}

/// A session elsewhere: dialect and id.
pub type LinkedElsewhere = (&'static str, String);

/// Joins summaries into conversations, each with the index of its front. The order stays; linked
/// sessions move to their front.
pub(crate) fn join(
    sessions: Vec<(StoreId, Summary)>,
    links: impl Fn(StoreId, &Summary) -> Vec<LinkedElsewhere>,
) -> Vec<(usize, Conversation)> {
    let links = sessions
        .iter()
        .enumerate()
        .map(|(place, (store, summary))| (place, links(*store, summary)));
    let ties = LinkGraph::of(
        links.filter(|(_, links)| !links.is_empty()).collect(),
        |name| {
            for (place, (_, summary)) in sessions.iter().enumerate() {
                name(
                    place,
                    &summary.reference.dialect,
                    &summary.reference.id,
                    summary.meta.id.as_deref(),
                );
            }
        },
    );
    let mut slots: Vec<Option<(StoreId, Summary)>> = sessions.into_iter().map(Some).collect();
    let mut conversations = Vec::with_capacity(slots.len());
    for place in 0..slots.len() {
        if ties.is_taken(place) {
            continue;
        }
        let (sides, dangling) = ties.of.get(&place).cloned().unwrap_or_default();
        let linked = sides
            .into_iter()
            .filter_map(|other| slots.get_mut(other)?.take())
            .collect();
        if let Some(front) = slots.get_mut(place).and_then(Option::take) {
            conversations.push((
                place,
                Conversation {
                    front,
                    linked,
                    dangling,
                },
            ));
        }
    }
    conversations
}

/// Which sessions of a list are one conversation, by index.
#[derive(Debug, Default)]
pub struct LinkGraph {
    /// For sessions that name others: those that no earlier session claimed, and those that are not
    /// in the list.
    of: HashMap<usize, (Vec<usize>, Vec<LinkedElsewhere>)>,
    taken: HashSet<usize>,
}

impl LinkGraph {
    /// Finds the sessions that others name: `links` has those that do, in the order of the list.
    /// `names` passes every session of the list: its index, dialect, id, and the id that its log
    /// contains.
    pub fn of(
        links: Vec<(usize, Vec<LinkedElsewhere>)>,
        names: impl FnOnce(&mut dyn FnMut(usize, &str, &str, Option<&str>)),
    ) -> LinkGraph {
        let mut ties = LinkGraph::default();
        if links.is_empty() {
            return ties;
        }
        let named = links
            .iter()
            .flat_map(|(_, links)| links)
            .map(|(_, id)| (id.clone(), Vec::new()));
        let mut found: HashMap<String, Vec<(usize, String)>> = named.collect();
        names(&mut |place, dialect, id, other| {
            for id in std::iter::once(id).chain(other.filter(|other| *other != id)) {
                if let Some(found) = found.get_mut(id) {
                    found.push((place, dialect.to_owned()));
                }
            }
        });
        for (place, elsewhere) in links {
            let (mut sides, mut dangling) = (Vec::new(), Vec::new());
            for (dialect, id) in elsewhere {
                let found = found.get(&id).into_iter().flatten();
                let mut others = found
                    .filter(|(other, of)| of == dialect && *other != place)
                    .peekable();
                if others.peek().is_none() {
                    dangling.push((dialect, id.clone()));
                }
                sides.extend(
                    others
                        .map(|(other, _)| *other)
                        .filter(|other| ties.taken.insert(*other)),
                );
            }
            ties.of.insert(place, (sides, dangling));
        }
        ties
    }

    /// Whether a session belongs to the conversation of another one that names it.
    pub fn is_taken(&self, place: usize) -> bool {
        self.taken.contains(&place)
    }

    /// Returns the other sides of the conversation that a session leads.
    pub fn sides(&self, place: usize) -> &[usize] {
        self.of.get(&place).map_or(&[], |(sides, _)| sides)
    }
}

/// Maximum difference between the last times of two sides: a front program records the end of a
/// run, its engine the last message.
const APART: i64 = 10 * 60 * 1000;

/// A property in which two sides of one conversation differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drift {
    /// Number of prompts.
    Turns(u64, u64),
    /// Time of the last activity.
    LastActive(Instant, Instant),
    /// Number of tokens that the model wrote.
    Tokens(u64, u64),
}

impl Drift {
    /// Returns the name of the property in output.
    pub fn word(self) -> &'static str {
        match self {
            Drift::Turns(..) => "turns",
            Drift::LastActive(..) => "last_active",
            Drift::Tokens(..) => "tokens",
        }
    }

    /// Returns a sentence in which the first side is the front and the other one is named by its
    /// ref.
    fn sentence(self, other: &str) -> String {
        match self {
            Drift::Turns(a, b) => format!("it knows of {a} turns, its transcript {other} of {b}"),
            Drift::LastActive(a, b) => {
                format!("it was last active at {a}, its transcript {other} at {b}")
            }
            Drift::Tokens(a, b) => {
                format!("it counted {a} tokens of output, its transcript {other} {b}")
            }
        }
    }
}

/// The compared properties of a side; unknown ones are not compared.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    turns: Option<u64>,
    last_active: Option<Instant>,
    output: Option<u64>,
}

impl Side {
    fn of(meta: &SessionMeta, location: &SessionLocation, whole: bool) -> Side {
        let counted = whole && location.key.is_some() && location.framing == Framing::Lines;
        Side {
            turns: counted.then_some(meta.turns).or(meta.stated.turns),
            last_active: meta.last_active,
            output: counted
                .then(|| meta.usage.total().output)
                .flatten()
                .or(meta.stated.usage.output),
        }
    }

    fn drift(self, other: Side) -> Vec<Drift> {
        let mut found = Vec::new();
        if let Some((a, b)) = self.turns.zip(other.turns).filter(|(a, b)| a != b) {
            found.push(Drift::Turns(a, b));
        }
        let apart = |a: Instant, b: Instant| (a.millis() - b.millis()).abs() > APART;
        if let Some((a, b)) = self
            .last_active
            .zip(other.last_active)
            .filter(|(a, b)| apart(*a, *b))
        {
            found.push(Drift::LastActive(a, b));
        }
        // Programs round and count a last message differently; one percent is not reported.
        if let Some((a, b)) = self
            .output
            .zip(other.output)
            .filter(|(a, b)| a.abs_diff(*b) * 100 > *a.max(b))
        {
            found.push(Drift::Tokens(a, b));
        }
        found
    }
}

/// Returns the properties in which two sides of a conversation differ, as far as a listing shows
/// them.
pub fn drift(front: &Summary, other: &Summary) -> Vec<Drift> {
    let side = |it: &Summary| Side::of(&it.meta, &it.location, it.complete);
    side(front).drift(side(other))
}

/// A table of all sessions by dialect and id, for looking up many links.
#[derive(Debug)]
pub struct LinkTable {
    by_ref: HashMap<(String, String), (StoreId, SessionLocation)>,
}

impl Stores {
    /// Creates a table of all sessions.
    pub fn link_table(&self) -> LinkTable {
        let mut by_ref = HashMap::new();
        // A transcript of an excluded project exists too.
        for held in self.whole().held().0 {
            if let Some(store) = self.get(held.store) {
                let name = (store.dialect().name().to_owned(), held.location.id.clone());
                by_ref.entry(name).or_insert((held.store, held.location));
            }
        }
        LinkTable { by_ref }
    }

    /// Compares a session with its transcript in another store, and reports a missing transcript. A
    /// transcript of a dialect that has no store in the set is not reported, unless `whole` is set:
    /// then there is no other store.
    pub fn check_links(
        &self,
        table: &LinkTable,
        session: &Session,
        whole: bool,
    ) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        for link in session
            .dialect()
            .linked_sessions(session.meta(), &session.location().id)
        {
            let name = format!("{}:{}", link.dialect, link.id.escape_debug());
            let Some((store, location)) = table
                .by_ref
                .get(&(link.dialect.to_owned(), link.id.clone()))
            else {
                if whole
                    || self
                        .iter()
                        .any(|(_, store)| store.dialect().name() == link.dialect)
                {
                    let detail =
                        format!("its transcript {name} is not there: resume will start empty");
                    problems.push(Problem::of_file(ProblemKind::MissingFile, detail));
                }
                continue;
            };
            let other = self.session(*store, location, Depth::Facts)?;
            let side = |it: &Session| Side::of(it.meta(), it.location(), true);
            let drifted = side(session).drift(side(&other));
            problems.extend(
                drifted
                    .into_iter()
                    .map(|it| Problem::of_file(ProblemKind::Drift, it.sentence(&name))),
            );
        }
        Ok(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(turns: u64, minutes: i64, output: u64) -> Side {
        let at = Instant::from_millis(1_800_000_000_000 + minutes * 60_000);
        Side {
            turns: Some(turns),
            last_active: Some(at),
            output: Some(output),
        }
    }

    #[test]
    fn sides_that_agree_have_no_drift_and_unknown_is_not_compared() {
        assert_eq!(side(3, 0, 1000).drift(side(3, 10, 1010)), []);
        assert_eq!(side(3, 0, 1000).drift(Side::default()), []);
        assert_eq!(Side::default().drift(side(3, 0, 1000)), []);
    }

    #[test]
    fn turns_times_and_tokens_that_differ_are_each_said() {
        let words = |drift: Vec<Drift>| drift.into_iter().map(Drift::word).collect::<Vec<_>>();
        assert_eq!(words(side(3, 0, 1000).drift(side(4, 0, 1000))), ["turns"]);
        assert_eq!(
            words(side(3, 0, 1000).drift(side(3, -11, 1000))),
            ["last_active"]
        );
        assert_eq!(words(side(3, 0, 1000).drift(side(3, 0, 1011))), ["tokens"]);
        assert_eq!(
            words(side(3, 0, 0).drift(side(2, 60, 5))),
            ["turns", "last_active", "tokens"]
        );
        assert_eq!(words(side(3, 0, 0).drift(side(3, 0, 0))), [] as [&str; 0]);
    }
}
