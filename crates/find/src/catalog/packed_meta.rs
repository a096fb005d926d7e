//! The facts of a session that table `kept` stores, packed into few bytes, without what side files
//! contain.
//!
//! Filters and totals may unpack every session of a store, so unpacking must be cheap. Flags and
//! the title come first and can be read alone ([`Packed::title`]). Each other value follows a
//! letter that names its field, and unknown values are omitted. A CRC-32 ends the bytes.

use std::collections::BTreeMap;

use boswell_model::SessionMeta;

use super::codec::{Out, time, usage};
use crate::varint::{self, Reader};

/// The facts of a session as far as its log was read.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedMeta {
    pub(super) meta: Box<SessionMeta>,
    pub(super) records: u64,
    pub(super) gaps: u64,
    /// Whether the log contains a message or another entry of a conversation.
    pub(super) conversation: bool,
    pub(super) leaf: Option<String>,
    /// Whether the whole log was read, not only its ends.
    pub(super) complete: bool,
}

/// A [`PackedMeta`] as bytes whose checksum was verified, without the checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed(Vec<u8>);

const COMPLETE: u8 = 1;
const CONVERSATION: u8 = 2;
const PINNED: u8 = 4;
const ARCHIVED: u8 = 8;
const TITLED: u8 = 16;

impl Packed {
    /// Verifies the checksum of what [`Packed::to_bytes`] wrote; `None` if it does not match.
    pub(super) fn from_bytes(mut bytes: Vec<u8>) -> Option<Packed> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body).to_le_bytes() != *sum {
            return None;
        }
        bytes.truncate(bytes.len() - 4);
        Some(Packed(bytes))
    }

    /// Returns the bytes for the database, with a checksum.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes.extend_from_slice(&crc32fast::hash(&self.0).to_le_bytes());
        bytes
    }

    /// Returns the title without unpacking the rest.
    pub(super) fn title(&self) -> Option<&str> {
        let (flags, rest) = self.0.split_first()?;
        if flags & TITLED == 0 {
            None
        } else {
            Reader::new(rest).text()
        }
    }

    /// Unpacks all fields. Stops at the first value that cannot be read and returns the fields
    /// before it.
    pub(super) fn unpack(&self) -> PackedMeta {
        let Some((flags, rest)) = self.0.split_first() else {
            return PackedMeta::default();
        };
        let mut kept = PackedMeta {
            complete: flags & COMPLETE != 0,
            conversation: flags & CONVERSATION != 0,
            ..PackedMeta::default()
        };
        (kept.meta.pinned, kept.meta.archived) = (flags & PINNED != 0, flags & ARCHIVED != 0);
        let mut reader = Reader::new(rest);
        if flags & TITLED != 0 {
            kept.meta.title = reader.text().map(str::to_owned);
        }
        while let Some([letter]) = reader.bytes(1) {
            if kept.take(*letter, &mut reader).is_none() {
                break;
            }
        }
        kept
    }
}

impl PackedMeta {
    pub(super) fn pack(&self) -> Packed {
        let meta = self.meta.as_ref();
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let mut out = Out(vec![
            flag(self.complete, COMPLETE)
                | flag(self.conversation, CONVERSATION)
                | flag(meta.pinned, PINNED)
                | flag(meta.archived, ARCHIVED)
                | flag(meta.title.is_some(), TITLED),
        ]);
        if let Some(title) = &meta.title {
            out.raw_text(title);
        }
        self.pack_texts(&mut out);
        self.pack_lists(&mut out);
        out.time(b'c', meta.created);
        out.time(b'A', meta.last_active);
        self.pack_numbers(&mut out);
        for (word, count) in &meta.kinds {
            out.text(b'k', Some(word));
            varint::put(&mut out.0, *count);
        }
        for (entry, label) in &meta.labels {
            out.text(if label.is_some() { b'L' } else { b'U' }, Some(entry));
            label.iter().for_each(|label| out.raw_text(label));
        }
        out.usage(b'u', &meta.usage.total());
        out.usage(b'w', &meta.stated.usage);
        Packed(out.0)
    }

    fn pack_texts(&self, out: &mut Out) {
        let meta = self.meta.as_ref();
        for (letter, text) in [
            (b'l', &self.leaf),
            (b'i', &meta.id),
            (b'T', &meta.title_source),
            (b's', &meta.summary),
            (b'f', &meta.first_prompt),
            (b'F', &meta.last_prompt),
            (b'p', &meta.project),
            (b'S', &meta.status),
            (b'e', &meta.error),
            (b'a', &meta.agent),
            (b'b', &meta.git_branch),
            (b'P', &meta.permission_mode),
            (b'v', &meta.agent_version),
            (b'^', &meta.parent),
        ] {
            out.text(letter, text.as_deref());
        }
        out.text(b'h', meta.hidden);
    }

    fn pack_lists(&self, out: &mut Out) {
        let meta = self.meta.as_ref();
        for tag in &meta.tags {
            out.text(b't', Some(tag));
        }
        for model in &meta.models {
            out.text(b'm', Some(model));
        }
        for (key, value) in &meta.metadata {
            out.pair(b'M', key, value);
        }
        for (key, value) in &meta.external_ids {
            out.pair(b'x', key, value);
        }
    }

    /// Counts of zero are left out.
    fn pack_numbers(&self, out: &mut Out) {
        let meta = self.meta.as_ref();
        let some = |count: u64| Some(count).filter(|count| *count > 0);
        for (letter, count) in [
            (b'r', some(self.records)),
            (b'g', some(self.gaps)),
            (b'V', meta.format_version),
            (b'n', some(meta.turns)),
            (b'N', some(meta.messages)),
            (b'C', some(meta.tool_calls)),
            (b'd', meta.duration_ms),
            (b'1', meta.stated.messages),
            (b'2', meta.stated.turns),
        ] {
            out.number(letter, count);
        }
    }

    /// Reads the value after `letter` into its field; `None` if it cannot be read.
    fn take(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        let meta = &mut self.meta;
        let place = match letter {
            b'l' => &mut self.leaf,
            b'i' => &mut meta.id,
            b'T' => &mut meta.title_source,
            b's' => &mut meta.summary,
            b'f' => &mut meta.first_prompt,
            b'F' => &mut meta.last_prompt,
            b'p' => &mut meta.project,
            b'S' => &mut meta.status,
            b'e' => &mut meta.error,
            b'a' => &mut meta.agent,
            b'b' => &mut meta.git_branch,
            b'P' => &mut meta.permission_mode,
            b'v' => &mut meta.agent_version,
            b'^' => &mut meta.parent,
            _ => return self.take_other(letter, from),
        };
        *place = Some(from.text()?.to_owned());
        Some(())
    }

    /// As [`PackedMeta::take`], for the fields that are not a single text.
    fn take_other(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        let meta = &mut self.meta;
        let pair = |into: &mut BTreeMap<String, String>, from: &mut Reader<'_>| {
            into.insert(from.text()?.to_owned(), from.text()?.to_owned());
            Some(())
        };
        match letter {
            b'h' => meta.hidden = Some(hidden_word(from.text()?)),
            b't' => meta.tags.push(from.text()?.to_owned()),
            b'm' => meta.models.push(from.text()?.to_owned()),
            b'M' => pair(&mut meta.metadata, from)?,
            b'x' => pair(&mut meta.external_ids, from)?,
            b'c' => meta.created = Some(time(from)?),
            b'A' => meta.last_active = Some(time(from)?),
            b'k' => {
                meta.kinds.insert(from.text()?.to_owned(), from.number()?);
            }
            b'L' => meta
                .labels
                .push((from.text()?.to_owned(), Some(from.text()?.to_owned()))),
            b'U' => meta.labels.push((from.text()?.to_owned(), None)),
            // Only the total is stored here; usage by message is in table `usage`.
            b'u' => meta.usage.note(None, usage(from)?),
            b'w' => meta.stated.usage = usage(from)?,
            _ => return self.take_number(letter, from),
        }
        Some(())
    }

    /// As [`PackedMeta::take`], for single numbers.
    fn take_number(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        let meta = &mut self.meta;
        match letter {
            b'r' => self.records = from.number()?,
            b'g' => self.gaps = from.number()?,
            b'V' => meta.format_version = Some(from.number()?),
            b'n' => meta.turns = from.number()?,
            b'N' => meta.messages = from.number()?,
            b'C' => meta.tool_calls = from.number()?,
            b'd' => meta.duration_ms = Some(from.number()?),
            b'1' => meta.stated.messages = Some(from.number()?),
            b'2' => meta.stated.turns = Some(from.number()?),
            _ => return None,
        }
        Some(())
    }
}

/// Returns the static word for the reason why a session is hidden; an unknown word becomes
/// `hidden`.
fn hidden_word(word: &str) -> &'static str {
    let known = [
        "subagent",
        "empty",
        "prepared",
        "archived",
        "maintenance",
        "ghost",
    ];
    known
        .into_iter()
        .find(|known| *known == word)
        .unwrap_or("hidden")
}

#[cfg(test)]
mod tests {
    use boswell_model::{Instant, Usage};

    use super::*;

    fn some() -> PackedMeta {
        let mut kept = PackedMeta {
            records: 7,
            leaf: Some("x\"y".into()),
            complete: true,
            ..PackedMeta::default()
        };
        let meta = &mut kept.meta;
        meta.title = Some("会话\n".into());
        meta.created = Some(Instant::from_millis(-5));
        meta.kinds.insert("user".into(), 3);
        meta.labels = vec![("e".into(), None), ("f".into(), Some("here".into()))];
        meta.hidden = Some("subagent");
        meta.tags = vec!["a".into(), "b".into()];
        meta.external_ids.insert("sdk".into(), "1".into());
        meta.stated.usage.reasoning = Some(0);
        meta.archived = true;
        meta.usage.note(
            None,
            Usage {
                output: Some(9),
                cost: Some(0.25),
                ..Usage::default()
            },
        );
        kept
    }

    #[test]
    fn what_is_kept_reads_back() {
        let kept = some();
        let packed = Packed::from_bytes(kept.pack().to_bytes()).unwrap();
        let mut back = packed.unpack();
        assert_eq!(back.pack(), kept.pack());
        assert_eq!(back.meta.usage.total(), kept.meta.usage.total());
        // Every field of the metadata has a letter, so all fields are equal.
        back.meta.usage = kept.meta.usage.clone();
        assert_eq!(format!("{back:?}"), format!("{kept:?}"));
        assert_eq!(packed.title(), Some("会话\n"));
        assert!(back.complete);
    }

    #[test]
    fn unknown_stays_unknown() {
        let back = PackedMeta::default().pack().unpack();
        assert_eq!(format!("{back:?}"), format!("{:?}", PackedMeta::default()));
        assert_eq!(PackedMeta::default().pack().title(), None);
    }

    #[test]
    fn a_changed_byte_is_noticed_and_any_bytes_can_be_unpacked() {
        let bytes = some().pack().to_bytes();
        for at in 0..bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 1;
            assert_eq!(Packed::from_bytes(hurt.clone()), None, "byte {at}");
            Packed(hurt).unpack();
        }
        assert_eq!(Packed::from_bytes(b"abc".to_vec()), None);
    }
}
