//! Sessions in the order of a list, of which only those that are shown are looked at closely.
//!
//! Order and number are known at a glance for most sessions. What else is to be said of one (its
//! notes, the files beside it, the conversation that it is part of) is asked for when it comes to
//! be shown, unless the list is chosen by such things.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use boswell_find::{CatalogRow, SortKeys};
use boswell_model::{Error, ErrorKind, Framing, Instant, Result, SessionRef};
use boswell_store::{Conversation, StoreId, Summaries, Summary};

use crate::command::list::{Sort, last_active, messages};
use crate::command::filter_args::Side;
use crate::deleted;
use crate::session_index::{Create, SessionIndex};
use crate::app::App;
use crate::notes_overlay::NotesOverlay;

/// How much has to be known of every session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// What orders them, and whether they are hidden.
    Glance,
    /// Everything that they can be chosen by.
    Close,
    /// The same, also of those that are gone.
    Ghosts,
}

/// A session, looked at more or less closely.
enum Row {
    Whole(Box<Conversation>),
    Glanced(usize),
}

/// What a list is ordered by; the smallest comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Time(Reverse<Option<Instant>>),
    Number(Reverse<Option<u64>>),
    Name(String),
}

/// The sessions of a list.
pub(crate) struct SessionList<'m> {
    machine: &'m App,
    library: Option<SessionIndex>,
    rows: Vec<Row>,
    rest: Summaries,
}

impl<'m> SessionList<'m> {
    /// Every session.
    pub(crate) fn open(machine: &'m App, look: Look) -> Result<SessionList<'m>> {
        let mut library = SessionIndex::open(machine, Create::No)?;
        if let Some(here) = library.as_mut().filter(|_| look == Look::Glance) {
            let rows = from_sort_keys(machine, here)?;
            let rest = here.rest();
            return Ok(SessionList {
                machine,
                library,
                rows,
                rest,
            });
        }
        let (mut conversations, rest) = match &mut library {
            Some(library) => library.conversations(machine)?,
            None => machine.stores.conversations(),
        };
        machine.annotate(&mut conversations)?;
        if look == Look::Ghosts {
            let mut gone = deleted::all(machine, &conversations)?;
            conversations.append(&mut gone);
        }
        let rows = conversations
            .into_iter()
            .map(|it| Row::Whole(Box::new(it)))
            .collect();
        Ok(SessionList {
            machine,
            library,
            rows,
            rest,
        })
    }

    /// What could not be looked at.
    pub(crate) fn rest(&self) -> &Summaries {
        &self.rest
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Leaves out those that lists do not show unless asked.
    pub(crate) fn without_hidden(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| !self.is_hidden(row));
        self.rows = rows;
    }

    /// Leaves out what was last active at another time than asked for.
    pub(crate) fn active(&mut self, takes: impl Fn(Option<Instant>) -> bool) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| takes(self.last_active(row)));
        self.rows = rows;
    }

    /// Leaves out conversations that are not asked for; of what was only glanced at, what
    /// its log says has to do.
    pub(crate) fn retain(
        &mut self,
        takes: impl Fn(&Conversation) -> bool,
        takes_side: impl Fn(&Side<'_>) -> bool,
    ) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| match row {
            Row::Whole(conversation) => takes(conversation),
            Row::Glanced(index) => {
                let (dialect, _) = self.reference(row);
                let traits = self.entry(*index).and_then(CatalogRow::traits);
                traits.is_some_and(|traits| takes_side(&Side::alone(dialect, traits)))
            }
        });
        self.rows = rows;
    }

    /// Ends with the process.
    pub(crate) fn leave(self) {
        self.library.map(SessionIndex::leave).unwrap_or_default();
    }

    /// Puts them in order. Ids break ties, so that the order never depends on how a
    /// folder happens to be read.
    pub(crate) fn sort(&mut self, by: Sort) {
        let mut keyed: Vec<(Key, Row)> = std::mem::take(&mut self.rows)
            .into_iter()
            .map(|r| (self.key(&r, by), r))
            .collect();
        keyed.sort_by(|(a, one), (b, other)| {
            a.cmp(b)
                .then_with(|| self.reference(one).cmp(&self.reference(other)))
        });
        self.rows = keyed.into_iter().map(|(_, row)| row).collect();
    }

    /// Leaves out what an earlier page showed. A cursor holds what the order goes by beside the
    /// ref: a session that was appended to meanwhile has moved up, and what comes behind its old
    /// place must not begin there.
    pub(crate) fn skip_to(&mut self, by: Sort, cursor: &str) -> Result<()> {
        let place = match parse_cursor(by, cursor) {
            Some((session, key)) => {
                let at = (key, (session.dialect.as_str(), session.id.as_str()));
                Some(
                    self.rows
                        .iter()
                        .take_while(|row| (self.key(row, by), self.reference(row)) <= at)
                        .count(),
                )
            }
            None => {
                let is_named =
                    |(dialect, id): (&str, &str)| cursor.split_once(':') == Some((dialect, id));
                self.rows
                    .iter()
                    .position(|row| is_named(self.reference(row)))
                    .map(|at| at + 1)
            }
        };
        let Some(place) = place else {
            let what = format!(
                "the cursor `{}` fits no session of this list",
                cursor.escape_debug()
            );
            return Err(Error::new(ErrorKind::Invalid, what)
                .because("the session that it names is gone, or the filters are others than before")
                .hinting("start again without --cursor"));
        };
        self.rows.drain(..place);
        Ok(())
    }

    /// The conversations of a page.
    pub(crate) fn page(&mut self, offset: usize, limit: usize) -> Result<Vec<Conversation>> {
        let mut page = Vec::new();
        if let Some(library) = &mut self.library {
            library.load_many(self.rows.len().saturating_sub(offset).min(limit))?;
        }
        for row in std::mem::take(&mut self.rows)
            .into_iter()
            .skip(offset)
            .take(limit)
        {
            match (row, &mut self.library) {
                (Row::Whole(conversation), _) => page.push(*conversation),
                (Row::Glanced(index), Some(library)) => {
                    let Some(front) = library.summary(self.machine, index)? else {
                        continue;
                    };
                    let mut conversation = Conversation {
                        front,
                        linked: Vec::new(),
                        dangling: Vec::new(),
                    };
                    self.machine.add_status(&mut conversation);
                    page.push(conversation);
                }
                (Row::Glanced(..), None) => {}
            }
        }
        Ok(page)
    }

    fn entry(&self, index: usize) -> Option<&CatalogRow> {
        self.library.as_ref()?.entries.get(index)
    }

    fn glance(&self, index: usize) -> Option<(&CatalogRow, SortKeys)> {
        let entry = self.entry(index)?;
        Some((entry, entry.glance()?))
    }

    fn is_hidden(&self, row: &Row) -> bool {
        match row {
            Row::Whole(conversation) => conversation.front.1.hidden().is_some(),
            Row::Glanced(index) => {
                let Some((entry, glance)) = self.glance(*index) else {
                    return true;
                };
                is_hidden(self.reference(row).0, entry, &glance)
            }
        }
    }

    fn last_active(&self, row: &Row) -> Option<Instant> {
        match row {
            Row::Whole(conversation) => last_active(conversation),
            Row::Glanced(index) => self
                .glance(*index)
                .and_then(|(it, glance)| glance.last_active().or(it.located.modified)),
        }
    }

    fn reference<'r>(&'r self, row: &'r Row) -> (&'r str, &'r str) {
        match row {
            Row::Whole(conversation) => {
                let reference = &conversation.front.1.reference;
                (&reference.dialect, &reference.id)
            }
            Row::Glanced(index) => self.entry(*index).map_or(("", ""), |entry| {
                let dialect = self
                    .machine
                    .stores
                    .get(entry.store)
                    .map_or("", |store| store.dialect().name());
                (dialect, &entry.located.id)
            }),
        }
    }

    fn key(&self, row: &Row, by: Sort) -> Key {
        match row {
            Row::Whole(conversation) => key_of(conversation, by),
            Row::Glanced(index) => match by {
                Sort::Active => Key::Time(Reverse(self.last_active(row))),
                Sort::Created => Key::Time(Reverse(
                    self.glance(*index).and_then(|(_, glance)| glance.created()),
                )),
                Sort::Messages => {
                    Key::Number(Reverse(self.glance(*index).and_then(|(entry, glance)| {
                        let counts =
                            entry.is_current() && entry.located.framing != Framing::Document;
                        counts
                            .then(|| glance.messages())
                            .or(glance.stated_messages())
                    })))
                }
                Sort::Size => {
                    Key::Number(Reverse(self.entry(*index).map(|entry| entry.located.size)))
                }
                // A name is not known at a glance, and so such lists are looked at closely.
                Sort::Name => Key::Name(String::new()),
            },
        }
    }
}

fn key_of(conversation: &Conversation, by: Sort) -> Key {
    let front = &conversation.front.1;
    match by {
        Sort::Active => Key::Time(Reverse(last_active(conversation))),
        Sort::Created => Key::Time(Reverse(front.facts.created)),
        Sort::Messages => Key::Number(Reverse(messages(front))),
        Sort::Size => Key::Number(Reverse(Some(front.located.size))),
        Sort::Name => Key::Name(front.name().to_lowercase()),
    }
}

/// What to ask with for what comes after a conversation.
pub(crate) fn cursor_of(conversation: &Conversation, by: Sort) -> String {
    let reference = &conversation.front.1.reference;
    match key_of(conversation, by) {
        Key::Time(Reverse(Some(time))) => format!("{reference}@{}", time.to_rfc3339()),
        Key::Number(Reverse(Some(number))) => format!("{reference}@{number}"),
        // Names do not move when something is appended.
        Key::Time(Reverse(None)) | Key::Number(Reverse(None)) | Key::Name(_) => {
            reference.to_string()
        }
    }
}

fn parse_cursor(by: Sort, cursor: &str) -> Option<(SessionRef, Key)> {
    let (session, at) = cursor.rsplit_once('@')?;
    let (dialect, id) = session.split_once(':')?;
    let key = match by {
        Sort::Active | Sort::Created => Key::Time(Reverse(Some(Instant::parse(at)?))),
        Sort::Messages | Sort::Size => Key::Number(Reverse(Some(at.parse().ok()?))),
        Sort::Name => return None,
    };
    Some((SessionRef::new(dialect, id), key))
}

/// Every session, at a glance where that will do.
fn from_sort_keys(machine: &App, library: &mut SessionIndex) -> Result<Vec<Row>> {
    library.read_for_list(machine)?;
    let Sorted { far, near } = Sorted::of(machine, library, &NotesOverlay::read(machine)?)?;
    let mut joined = machine.stores.joined(near.into_values().collect());
    machine.annotate(&mut joined)?;
    let whole = joined.into_iter().map(|it| Row::Whole(Box::new(it)));
    Ok(far.into_iter().map(Row::Glanced).chain(whole).collect())
}

/// Sessions by how closely they must be looked at, by their places among the entries.
pub(crate) struct Sorted {
    /// Of these a glance will do.
    pub(crate) far: Vec<usize>,
    /// Sides of conversations that are kept in several places, because only a summary can join
    /// them, and what notes or side files speak of. Those that cannot be read are left out.
    pub(crate) near: BTreeMap<usize, (StoreId, Summary)>,
}

impl Sorted {
    pub(crate) fn of(machine: &App, library: &mut SessionIndex, noted: &NotesOverlay) -> Result<Sorted> {
        let dialect = |entry: &CatalogRow| {
            machine
                .stores
                .get(entry.store)
                .map_or("", |store| store.dialect().name())
        };
        let (mut far, mut close): (Vec<usize>, Vec<usize>) =
            (0..library.entries.len()).partition(|index| {
                let is_far = |entry: &CatalogRow| {
                    entry.glance().is_some_and(|glance| !glance.is_linked())
                        && !noted.speaks_of(dialect(entry), &entry.located.id)
                };
                library.entries.get(*index).is_some_and(is_far)
            });
        let mut near = read_rows(machine, library, &close)?;
        let links: HashSet<(&str, String)> = (near.values())
            .filter_map(|(store, summary)| Some((machine.stores.get(*store)?, summary)))
            .flat_map(|(store, summary)| store.dialect().links(&summary.facts, &summary.located.id))
            .map(|link| (link.dialect, link.id))
            .collect();
        if !links.is_empty() {
            let is_side = |entry: &CatalogRow| {
                entry.glance().is_some_and(|glance| glance.is_renamed())
                    || links.contains(&(dialect(entry), entry.located.id.clone()))
            };
            (close, far) = far
                .into_iter()
                .partition(|index| library.entries.get(*index).is_some_and(is_side));
            near.append(&mut read_rows(machine, library, &close)?);
        }
        Ok(Sorted { far, near })
    }
}

/// Whether lists leave out a session that was only glanced at.
pub(crate) fn is_hidden(dialect: &str, entry: &CatalogRow, glance: &SortKeys) -> bool {
    let located = &entry.located;
    let is_empty = || {
        let (records, talk) = (
            glance.has_records(),
            glance.is_conversation() || glance.is_titled(),
        );
        Summary::holds_nothing(dialect, located.framing, records, talk)
    };
    located.hidden.is_some() || glance.is_hidden() || (entry.is_current() && is_empty())
}

/// Everything that is known of some sessions, in their order; those that cannot
/// be read are left out.
fn read_rows(
    machine: &App,
    library: &mut SessionIndex,
    indexes: &[usize],
) -> Result<BTreeMap<usize, (StoreId, Summary)>> {
    library.load_many(indexes.len())?;
    let mut seen = BTreeMap::new();
    for index in indexes {
        if let Some(session) = library.summary(machine, *index)? {
            seen.insert(*index, session);
        }
    }
    Ok(seen)
}
