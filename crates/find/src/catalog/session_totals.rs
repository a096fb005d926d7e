//! The totals of one session (columns `head` and `sums` of table `account`), packed into few bytes:
//! every aggregation reads them for all sessions, and they are computed only when the session
//! changed.
//!
//! Messages that occur in this session alone are summed by quarter of an hour and model
//! ([`Group`]). Messages that other sessions contain too are stored one by one in table `shared`
//! (see `totals.rs`), because their owner depends on which sessions are selected.

use std::collections::BTreeMap;

use boswell_dialect::{Dialect, SessionLocation};
use boswell_model::{Instant, SessionMeta, Usage};

use super::codec::{Out, time, usage};
use super::message_usage::Item;
use super::packed_meta::PackedMeta;
use crate::stats::{ExactSum, UsageSum};
use crate::varint::{self, Reader};

const QUARTER: i64 = 900_000;

/// The part of the totals that decides whether and for which conversation a session counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Head {
    pub(crate) created: Option<Instant>,
    pub(crate) last_active: Option<Instant>,
    pub(crate) project: String,
    pub(crate) agent: String,
    /// The id that the log states, if it differs from the id of its location.
    pub(crate) other_id: Option<String>,
    /// The session that this one was forked from; only set with [`Marks::FAMILY`], where it decides
    /// the owner of copied usage.
    pub(crate) parent: Option<String>,
    /// Dialect and id of sessions in other stores that are the same conversation.
    pub(crate) links: Vec<(String, String)>,
    pub(crate) messages: u64,
    pub(crate) records: u64,
    pub(crate) marks: Marks,
}

impl Head {
    fn of(
        dialect: &dyn Dialect,
        location: &SessionLocation,
        kept: &PackedMeta,
        marks: Marks,
    ) -> Head {
        let meta = &kept.meta;
        let links = dialect.linked_sessions(meta, &location.id);
        let links = links.into_iter().map(|it| (it.dialect.to_owned(), it.id));
        let agent = meta.agent.as_deref().unwrap_or(dialect.facts().agent);
        Head {
            created: meta.created,
            last_active: meta.last_active.or(location.modified),
            project: meta.project.clone().unwrap_or_default(),
            agent: agent.to_owned(),
            // Only differences are stored: most logs state the id of their file name, and the head
            // is read for every session.
            other_id: meta.id.clone().filter(|id| *id != location.id),
            parent: meta.parent.clone().filter(|_| marks.has(Marks::FAMILY)),
            links: links.collect(),
            messages: meta.messages,
            records: kept.records,
            marks,
        }
    }
}

/// A bit set of facts about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// The session is a subagent of another session.
    pub(crate) const SUBAGENT: Marks = Marks(1);
    /// `Sums::groups` contains usage that is not relayed.
    pub(crate) const SPENT: Marks = Marks(2);
    /// Some messages of [`Marks::SPENT`] have a key.
    pub(crate) const NAMED: Marks = Marks(4);
    /// `Sums::groups` contains usage that only repeats that of a subagent (relayed).
    pub(crate) const RELAYS: Marks = Marks(8);
    /// Some messages of [`Marks::RELAYS`] have a key.
    pub(crate) const RELAYS_NAMED: Marks = Marks(16);
    /// Some messages have a lineage: the log continues the counters of its parent (see
    /// `fork_families`).
    pub(crate) const FAMILY: Marks = Marks(32);
    /// An index or a last line states the usage of the session as a whole.
    pub(crate) const STATES: Marks = Marks(64);

    fn of(
        location: &SessionLocation,
        meta: &SessionMeta,
        alone: &[Item],
        shared: &[Item],
    ) -> Marks {
        let mut marks = Marks::default();
        let hidden = location.hidden.or(meta.hidden);
        marks.set_if(hidden == Some("subagent"), Marks::SUBAGENT);
        marks.set_if(!meta.stated.usage.is_unknown(), Marks::STATES);
        let mut all = alone.iter().chain(shared);
        marks.set_if(all.any(|item| item.lineage.is_some()), Marks::FAMILY);
        for item in alone {
            let (any, named) = if item.relayed {
                (Marks::RELAYS, Marks::RELAYS_NAMED)
            } else {
                (Marks::SPENT, Marks::NAMED)
            };
            marks.set_if(true, any);
            marks.set_if(item.key.is_some(), named);
        }
        marks
    }

    pub(crate) fn has(self, one: Marks) -> bool {
        self.0 & one.0 != 0
    }

    fn set_if(&mut self, is: bool, one: Marks) {
        self.0 |= if is { one.0 } else { 0 };
    }
}

/// Counts and usage of a session, without the messages that it shares with other sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sums<'a> {
    pub(crate) messages: u64,
    pub(crate) turns: u64,
    pub(crate) tool_calls: u64,
    pub(crate) entries: u64,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) kinds: Vec<(&'a str, u64)>,
    pub(crate) models: Vec<&'a str>,
    /// The usage that an index or a last line states for the whole session.
    pub(crate) stated: Usage,
    pub(crate) groups: Vec<Group<'a>>,
}

/// The usage of one model in a quarter of an hour: the offsets of all time zones are multiples of
/// it, so that any zone's days can be summed from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Group<'a> {
    /// Start of the quarter; `None` if neither the message nor the session has a time.
    pub(crate) at: Option<Instant>,
    pub(crate) model: &'a str,
    pub(crate) relayed: bool,
    pub(crate) spent: UsageSum,
}

/// Returns the start of the quarter of an hour that contains `at`.
pub(crate) fn quarter_of(at: Instant) -> Instant {
    Instant::from_millis(at.millis().div_euclid(QUARTER) * QUARTER)
}

/// The model name of messages that do not name a model.
pub(crate) const NO_MODEL: &str = "unknown";

/// The packed totals of a session, as written to table `account`.
#[derive(Debug)]
pub(super) struct SessionTotals {
    pub(super) head: Vec<u8>,
    pub(super) sums: Vec<u8>,
}

impl SessionTotals {
    /// Computes the totals from the facts of the log (`kept`) and from its messages: those that no
    /// other session contains (`alone`) and the others (`shared`).
    pub(super) fn of(
        dialect: &dyn Dialect,
        location: &SessionLocation,
        kept: &PackedMeta,
        alone: &[Item],
        shared: &[Item],
    ) -> SessionTotals {
        let meta = &kept.meta;
        let last_active = meta.last_active.or(location.modified);
        let marks = Marks::of(location, meta, alone, shared);
        let head = Head::of(dialect, location, kept, marks);
        let kinds = meta.kinds.iter();
        let sums = Sums {
            // The log and the index may disagree; the larger count is used.
            messages: meta.messages.max(meta.stated.messages.unwrap_or(0)),
            turns: meta.turns.max(meta.stated.turns.unwrap_or(0)),
            tool_calls: meta.tool_calls,
            entries: kept.records,
            duration_ms: meta.duration_ms,
            kinds: kinds.map(|(word, count)| (word.as_str(), *count)).collect(),
            models: meta.models.iter().map(String::as_str).collect(),
            stated: meta.stated.usage,
            groups: groups(alone, last_active),
        };
        SessionTotals {
            head: head.pack(),
            sums: sums.pack(),
        }
    }
}

fn groups(items: &[Item], last_active: Option<Instant>) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(Option<Instant>, &str, bool, bool), UsageSum> = BTreeMap::new();
    for item in items {
        let at = item.at.or(last_active).map(quarter_of);
        let which = (
            at,
            item.model.as_deref().unwrap_or(NO_MODEL),
            item.relayed,
            // Usage with and without a recorded cost must not be added: `Tally::spend` decides by
            // the cost of the whole group.
            item.usage.cost.is_some(),
        );
        groups
            .entry(which)
            .or_default()
            .add(&UsageSum::of(&item.usage));
    }
    groups
        .into_iter()
        .map(|((at, model, relayed, _), spent)| Group {
            at,
            model,
            relayed,
            spent,
        })
        .collect()
}

impl Head {
    fn pack(&self) -> Vec<u8> {
        let mut out = Out(vec![self.marks.0]);
        out.raw_text(&self.project);
        out.raw_text(&self.agent);
        varint::put(&mut out.0, self.messages);
        varint::put(&mut out.0, self.records);
        out.time(b'c', self.created);
        out.time(b'a', self.last_active);
        out.text(b'i', self.other_id.as_deref());
        out.text(b'^', self.parent.as_deref());
        self.links
            .iter()
            .for_each(|(dialect, id)| out.pair(b'x', dialect, id));
        out.sealed()
    }

    /// Reads what [`Head::pack`] wrote; `None` if the checksum or a letter is not valid.
    pub(super) fn unpack(bytes: &[u8]) -> Option<Head> {
        let mut reader = Reader::sealed(bytes)?;
        let marks = Marks(*reader.bytes(1)?.first()?);
        let (project, agent) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        let (messages, records) = (reader.number()?, reader.number()?);
        let mut head = Head {
            project,
            agent,
            messages,
            records,
            marks,
            ..Head::default()
        };
        while !reader.is_empty() {
            match reader.bytes(1)? {
                b"c" => head.created = Some(time(&mut reader)?),
                b"a" => head.last_active = Some(time(&mut reader)?),
                b"i" => head.other_id = Some(reader.text()?.to_owned()),
                b"^" => head.parent = Some(reader.text()?.to_owned()),
                b"x" => head
                    .links
                    .push((reader.text()?.to_owned(), reader.text()?.to_owned())),
                _ => return None,
            }
        }
        Some(head)
    }
}

impl<'a> Sums<'a> {
    fn pack(&self) -> Vec<u8> {
        let mut out = Out::default();
        for count in [self.messages, self.turns, self.tool_calls, self.entries] {
            varint::put(&mut out.0, count);
        }
        out.number(b'd', self.duration_ms);
        for (word, count) in &self.kinds {
            out.text(b'k', Some(word));
            varint::put(&mut out.0, *count);
        }
        self.models
            .iter()
            .for_each(|model| out.text(b'm', Some(model)));
        out.usage(b'w', &self.stated);
        for group in &self.groups {
            out.text(if group.relayed { b'R' } else { b'G' }, Some(group.model));
            out.time(b'a', group.at);
            for (letter, part) in [(b'$', group.spent.cost), (b'#', group.spent.requests)] {
                if let Some(part) = part {
                    out.0.push(letter);
                    out.0.extend_from_slice(&part.to_bytes());
                }
            }
            out.usage(b'u', &group.spent.tokens);
        }
        out.sealed()
    }

    /// Reads what [`Sums::pack`] wrote; `None` if the checksum or a letter is not valid.
    pub(super) fn unpack(bytes: &'a [u8]) -> Option<Sums<'a>> {
        let mut reader = Reader::sealed(bytes)?;
        let (messages, turns) = (reader.number()?, reader.number()?);
        let (tool_calls, entries) = (reader.number()?, reader.number()?);
        let mut sums = Sums {
            messages,
            turns,
            tool_calls,
            entries,
            ..Sums::default()
        };
        while !reader.is_empty() {
            match reader.bytes(1)? {
                b"d" => sums.duration_ms = Some(reader.number()?),
                b"k" => sums.kinds.push((reader.text()?, reader.number()?)),
                b"m" => sums.models.push(reader.text()?),
                b"w" => sums.stated = usage(&mut reader)?,
                letter @ (b"G" | b"R") => {
                    let (model, relayed) = (reader.text()?, letter == b"R");
                    sums.groups.push(Group {
                        at: None,
                        model,
                        relayed,
                        spent: UsageSum::default(),
                    });
                }
                // A group begins with `G` or `R`; the letters after it belong to that group until
                // the next one.
                letter => sums
                    .groups
                    .last_mut()?
                    .take(*letter.first()?, &mut reader)?,
            }
        }
        Some(sums)
    }
}

impl Group<'_> {
    fn take(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        match letter {
            b'a' => self.at = Some(time(from)?),
            b'$' => self.spent.cost = Some(ExactSum::from_bytes(from.bytes(16)?.try_into().ok()?)),
            b'#' => {
                self.spent.requests = Some(ExactSum::from_bytes(from.bytes(16)?.try_into().ok()?))
            }
            b'u' => self.spent.tokens = usage(from)?,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noticed<T: PartialEq>(bytes: &[u8], unpack: impl Fn(&[u8]) -> Option<T>) -> bool {
        (0..bytes.len()).all(|at| {
            let mut hurt = bytes.to_vec();
            hurt[at] ^= 4;
            unpack(&hurt).is_none()
        })
    }

    #[test]
    fn an_account_reads_back_and_a_changed_byte_is_noticed() {
        let at = Some(Instant::from_millis(-QUARTER));
        let head = Head {
            created: at,
            project: "/会".into(),
            agent: "claude".into(),
            other_id: Some("o".into()),
            parent: Some("p".into()),
            links: vec![("codex".into(), "1".into())],
            records: 300,
            marks: Marks::STATES,
            ..Head::default()
        };
        assert_eq!(Head::unpack(&head.pack()), Some(head.clone()));
        assert!(noticed(&head.pack(), Head::unpack));
        let usage = Usage {
            output: Some(1 << 40),
            cost: Some(0.5),
            ..Usage::default()
        };
        let group = |at, relayed, usage: Usage| Group {
            at,
            model: "m",
            relayed,
            spent: UsageSum::of(&usage),
        };
        let sums = Sums {
            turns: 7,
            duration_ms: Some(0),
            kinds: vec![("", 1), ("user", 300)],
            models: vec!["m", "n"],
            stated: usage,
            groups: vec![group(at, true, usage), group(None, false, Usage::default())],
            ..Sums::default()
        };
        assert_eq!(Sums::unpack(&sums.pack()), Some(sums.clone()));
        assert!(noticed(&sums.pack(), |bytes| Sums::unpack(bytes).map(|_| ())));
    }
}
