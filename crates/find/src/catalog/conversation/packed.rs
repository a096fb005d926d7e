//! A conversation row in few bytes, with a checksum, and the columns that sort it.
//!
//! The columns repeat data of the bytes. A row whose columns differ is damaged: it would be shown
//! in the wrong place, or although it is hidden.

use boswell_model::{Instant, SessionRef};

use super::{ConversationRow, ConversationSide};
use crate::catalog::codec::{Out, time};
use crate::varint::{self, Reader};

/// Represents an unknown time or count: it sorts after all others.
pub(super) const UNKNOWN: i64 = i64::MIN;
/// How many characters of a name are in the index; the rest only breaks ties.
const NAME: usize = 48;

const OPEN_STATUS: u8 = 1;
const PINNED: u8 = 2;
const ARCHIVED: u8 = 4;

/// The columns that SQL sorts and filters by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) dialect: String,
    pub(super) session: String,
    pub(super) active: i64,
    pub(super) created: i64,
    pub(super) messages: i64,
    pub(super) size: i64,
    pub(super) name: String,
    pub(super) rest: String,
    pub(super) hidden: bool,
}

impl Columns {
    pub(super) fn of(row: &ConversationRow) -> Columns {
        let millis = |at: Option<Instant>| at.map_or(UNKNOWN, Instant::millis);
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let lower = row.name.to_lowercase();
        let cut = lower
            .char_indices()
            .nth(NAME)
            .map_or(lower.len(), |(at, _)| at);
        let (name, rest) = lower.split_at(cut);
        Columns {
            dialect: row.front.reference.dialect.clone(),
            session: row.front.reference.id.clone(),
            active: millis(row.last_active),
            created: millis(row.created),
            messages: row.messages.map_or(UNKNOWN, count),
            size: count(row.bytes),
            name: name.to_owned(),
            rest: rest.to_owned(),
            hidden: row.hidden.is_some(),
        }
    }
}

impl ConversationRow {
    pub(super) fn pack(&self) -> Vec<u8> {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let mut out = Out(vec![
            flag(self.open_status, OPEN_STATUS)
                | flag(self.pinned, PINNED)
                | flag(self.archived, ARCHIVED),
        ]);
        out.raw_text(&self.agents);
        out.raw_text(&self.name);
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
            agents: from.text()?.to_owned(),
            name: from.text()?.to_owned(),
            ..ConversationRow::default()
        };
        let mut sides = Vec::with_capacity(1);
        while let Some([letter]) = from.bytes(1) {
            match letter {
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
            name: "Ä name that is longer than what the index takes of it, and more".into(),
            title_source: Some("note".into()),
            open_status: true,
            pinned: true,
            archived: true,
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
        for row in [row(), ConversationRow::default()] {
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
    fn a_long_name_is_ordered_by_its_beginning_and_then_by_its_rest() {
        let columns = Columns::of(&row());
        assert_eq!(columns.name.chars().count(), NAME);
        assert_eq!(
            format!("{}{}", columns.name, columns.rest),
            row().name.to_lowercase()
        );
        assert!(columns.hidden && columns.messages == 0);
        let unknown = Columns::of(&ConversationRow::default());
        assert_eq!((unknown.active, unknown.messages), (UNKNOWN, UNKNOWN));
    }
}
