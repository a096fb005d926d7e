//! A conversation row in few bytes, with a checksum, and the columns that sort it.
//!
//! The columns repeat data of the bytes. A row whose columns differ is damaged: it would be shown
//! in the wrong place, or although it is hidden.

use boswell_model::{Instant, SessionRef};
use boswell_store::store::Summary;

use super::{ConversationRow, ConversationSide};
use crate::catalog::codec::{Out, time};
use crate::varint::{self, Reader};

/// The key of a time or a count that is not known: it comes after all others.
pub(super) const UNKNOWN: i64 = i64::MAX;

const OPEN_STATUS: u8 = 1;
const PINNED: u8 = 2;
const ARCHIVED: u8 = 4;
const DAMAGED: u8 = 8;
/// How many characters of a name count for the order by name: a list shows fewer, and a name can be
/// a prompt of several hundred.
const NAME_KEY: usize = 64;

/// What a row is ordered and filtered by in SQL. The smallest key comes first in every order, so
/// that what follows a row is one range of an index: newest and largest have the smallest keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) dialect: String,
    pub(super) session: String,
    pub(super) active: i64,
    pub(super) created: i64,
    pub(super) messages: i64,
    pub(super) size: i64,
    pub(super) name: String,
    pub(super) hidden: bool,
}

/// The key of a time or a count: the latest and the largest come first.
pub(super) fn descending(number: i64) -> i64 {
    number.saturating_neg()
}

impl Columns {
    pub(super) fn of(row: &ConversationRow) -> Columns {
        let millis = |at: Option<Instant>| at.map_or(UNKNOWN, |at| descending(at.millis()));
        let count = |count: u64| descending(i64::try_from(count).unwrap_or(i64::MAX));
        Columns {
            dialect: row.front.reference.dialect.clone(),
            session: row.front.reference.id.clone(),
            active: millis(row.last_active),
            created: millis(row.created),
            messages: row.messages.map_or(UNKNOWN, count),
            size: count(row.bytes),
            name: name_key(&row.name),
            hidden: row.hidden.is_some(),
        }
    }
}

/// What the order by name goes by; refs decide between names that begin alike.
pub fn name_key(name: &str) -> String {
    let start = name.chars().take(NAME_KEY);
    start.flat_map(char::to_lowercase).collect()
}

impl ConversationRow {
    /// The name that follows from what the front says of itself.
    fn usual_name(&self) -> String {
        let front = &self.front;
        let texts = [&front.title, &front.summary, &front.first_prompt];
        Summary::name_from(texts, &front.reference.id)
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let mut out = Out(vec![
            flag(self.open_status, OPEN_STATUS)
                | flag(self.pinned, PINNED)
                | flag(self.archived, ARCHIVED)
                | flag(self.damaged, DAMAGED),
        ]);
        out.raw_text(&self.agents);
        // It repeats a text of the front but for a session that is called by another one.
        out.text(
            b'n',
            Some(&*self.name).filter(|name| *name != self.usual_name()),
        );
        out.text(b'T', self.title_source.as_deref());
        out.text(b'h', self.hidden.as_deref());
        out.text(b'R', self.revision.as_deref());
        out.time(b'c', self.created);
        out.time(b'A', self.last_active);
        out.time(b'B', self.front_active);
        out.number(b'N', self.messages);
        out.number(b'z', Some(self.bytes));
        if let Some(cost) = self.cost {
            out.0.push(b'$');
            out.0.extend_from_slice(&cost.to_le_bytes());
        }
        for side in self.sides() {
            let inner = side.pack();
            out.0.push(b'+');
            varint::put(&mut out.0, inner.len() as u64);
            out.0.extend_from_slice(&inner);
        }
        out.sealed()
    }

    /// Decodes the bytes of [`ConversationRow::pack`]; `None` if they are not valid.
    pub(super) fn unpack(bytes: &[u8]) -> Option<ConversationRow> {
        let mut from = Reader::sealed(bytes)?;
        let flags = *from.bytes(1)?.first()?;
        let mut row = ConversationRow {
            open_status: flags & OPEN_STATUS != 0,
            pinned: flags & PINNED != 0,
            archived: flags & ARCHIVED != 0,
            damaged: flags & DAMAGED != 0,
            agents: from.text()?.to_owned(),
            ..ConversationRow::default()
        };
        let mut name = None;
        let mut sides = Vec::with_capacity(1);
        while let Some([letter]) = from.bytes(1) {
            match letter {
                b'n' => name = Some(from.text()?.to_owned()),
                b'T' => row.title_source = Some(from.text()?.to_owned()),
                b'h' => row.hidden = Some(from.text()?.to_owned()),
                b'R' => row.revision = Some(from.text()?.to_owned()),
                b'c' => row.created = Some(time(&mut from)?),
                b'A' => row.last_active = Some(time(&mut from)?),
                b'B' => row.front_active = Some(time(&mut from)?),
                b'N' => row.messages = Some(from.number()?),
                b'z' => row.bytes = from.number()?,
                b'$' => row.cost = Some(f64::from_le_bytes(from.bytes(8)?.try_into().ok()?)),
                b'+' => {
                    let len = usize::try_from(from.number()?).ok()?;
                    sides.push(ConversationSide::unpack(from.bytes(len)?)?);
                }
                _ => return None,
            }
        }
        let mut sides = sides.into_iter();
        row.front = sides.next()?;
        row.linked = sides.collect();
        row.name = name.unwrap_or_else(|| row.usual_name());
        Some(row)
    }
}

impl ConversationSide {
    fn pack(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.raw_text(&self.reference.dialect);
        out.raw_text(&self.reference.id);
        for (letter, text) in [
            (b'a', &self.agent),
            (b'p', &self.project),
            (b'S', &self.status),
            (b'b', &self.git_branch),
            (b'i', &self.title),
            (b's', &self.summary),
            (b'f', &self.first_prompt),
            (b'F', &self.last_prompt),
        ] {
            out.text(letter, text.as_deref());
        }
        self.tags.iter().for_each(|tag| out.text(b't', Some(tag)));
        self.models
            .iter()
            .for_each(|model| out.text(b'm', Some(model)));
        out.0
    }

    fn unpack(bytes: &[u8]) -> Option<ConversationSide> {
        let mut from = Reader::new(bytes);
        let mut side = ConversationSide {
            reference: SessionRef::new(from.text()?, from.text()?),
            ..ConversationSide::default()
        };
        while let Some([letter]) = from.bytes(1) {
            let text = from.text()?.to_owned();
            match letter {
                b'a' => side.agent = Some(text),
                b'p' => side.project = Some(text),
                b'S' => side.status = Some(text),
                b'b' => side.git_branch = Some(text),
                b'i' => side.title = Some(text),
                b's' => side.summary = Some(text),
                b'f' => side.first_prompt = Some(text),
                b'F' => side.last_prompt = Some(text),
                b't' => side.tags.push(text),
                b'm' => side.models.push(text),
                _ => return None,
            }
        }
        Some(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> ConversationRow {
        let side = ConversationSide {
            reference: SessionRef::new("myagents", "会"),
            agent: Some("claude".into()),
            project: Some("/p".into()),
            status: Some("paused".into()),
            git_branch: Some("main".into()),
            tags: vec!["a".into(), "b".into()],
            models: vec!["m".into()],
            title: Some("t".into()),
            summary: Some(String::new()),
            first_prompt: Some("first".into()),
            last_prompt: Some("last".into()),
        };
        ConversationRow {
            linked: vec![ConversationSide::default(), side.clone()],
            front: side,
            agents: "myagents+claude@work".into(),
            name: "Ä name".into(),
            title_source: Some("note".into()),
            open_status: true,
            pinned: true,
            archived: true,
            damaged: true,
            hidden: Some("archived".into()),
            created: Some(Instant::from_millis(-5)),
            last_active: Some(Instant::from_millis(7)),
            front_active: Some(Instant::from_millis(6)),
            messages: Some(0),
            bytes: 300,
            cost: Some(0.25),
            revision: Some("300-1".into()),
        }
    }

    #[test]
    fn a_row_reads_back_and_a_changed_byte_is_noticed() {
        let named_by_title = ConversationRow {
            name: "t".into(),
            ..row()
        };
        for row in [row(), named_by_title, ConversationRow::default()] {
            let bytes = row.pack();
            assert_eq!(ConversationRow::unpack(&bytes), Some(row));
            for at in 0..bytes.len() {
                let mut hurt = bytes.clone();
                hurt[at] ^= 1;
                assert_eq!(ConversationRow::unpack(&hurt), None, "byte {at}");
            }
            assert_eq!(ConversationRow::unpack(&bytes[1..]), None);
        }
    }

    #[test]
    fn the_latest_and_the_largest_come_first_and_what_is_unknown_last() {
        let columns = Columns::of(&row());
        assert_eq!((columns.name.as_str(), columns.hidden), ("ä name", true));
        let later = ConversationRow {
            last_active: Some(Instant::from_millis(8)),
            messages: Some(u64::MAX),
            ..row()
        };
        let later = Columns::of(&later);
        assert!(later.active < columns.active && later.messages < columns.messages);
        let unknown = Columns::of(&ConversationRow::default());
        assert!(unknown.active > columns.active && unknown.messages > columns.messages);
    }
}
