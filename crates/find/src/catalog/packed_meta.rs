//! What the catalog keeps of a session: its facts packed into few bytes, without what
//! stands in side files.
//!
//! Sums and filters unpack every session that there is, so unpacking must cost next to nothing.
//! Flags and the title come first and can be read alone; of all else only what is known is there,
//! each value behind a letter. A checksum ends it.

use std::collections::BTreeMap;

use boswell_model::SessionMeta;

use super::codec::{Out, time, usage};
use crate::varint::{self, Reader};

/// What was read of a session, as far as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedMeta {
    pub(super) facts: Box<SessionMeta>,
    pub(super) records: u64,
    pub(super) gaps: u64,
    /// Whether a message or something else of a conversation was seen.
    pub(super) conversation: bool,
    pub(super) leaf: Option<String>,
    /// Whether the whole log was read.
    pub(super) complete: bool,
}

/// The same in few bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed(Vec<u8>);

const COMPLETE: u8 = 1;
const CONVERSATION: u8 = 2;
const PINNED: u8 = 4;
const ARCHIVED: u8 = 8;
const TITLED: u8 = 16;

impl Packed {
    /// None for what [`Kept::pack`] did not write.
    pub(super) fn from_bytes(mut bytes: Vec<u8>) -> Option<Packed> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body).to_le_bytes() != *sum {
            return None;
        }
        bytes.truncate(bytes.len() - 4);
        Some(Packed(bytes))
    }

    /// Its bytes, to be written down.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes.extend_from_slice(&crc32fast::hash(&self.0).to_le_bytes());
        bytes
    }

    /// The title, without a look at the rest.
    pub(super) fn title(&self) -> Option<&str> {
        let (flags, rest) = self.0.split_first()?;
        if flags & TITLED == 0 {
            None
        } else {
            Reader::new(rest).text()
        }
    }

    /// Everything; as much as can be read of what an older version wrote.
    pub(super) fn unpack(&self) -> PackedMeta {
        let Some((flags, rest)) = self.0.split_first() else {
            return PackedMeta::default();
        };
        let mut kept = PackedMeta {
            complete: flags & COMPLETE != 0,
            conversation: flags & CONVERSATION != 0,
            ..PackedMeta::default()
        };
        (kept.facts.pinned, kept.facts.archived) = (flags & PINNED != 0, flags & ARCHIVED != 0);
        let mut reader = Reader::new(rest);
        if flags & TITLED != 0 {
            kept.facts.title = reader.text().map(str::to_owned);
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
        let facts = self.facts.as_ref();
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let mut out = Out(vec![
            flag(self.complete, COMPLETE)
                | flag(self.conversation, CONVERSATION)
                | flag(facts.pinned, PINNED)
                | flag(facts.archived, ARCHIVED)
                | flag(facts.title.is_some(), TITLED),
        ]);
        facts.title.iter().for_each(|title| out.raw_text(title));
        for (letter, text) in [
            (b'l', &self.leaf),
            (b'i', &facts.id),
            (b'T', &facts.title_source),
            (b's', &facts.summary),
            (b'f', &facts.first_prompt),
            (b'F', &facts.last_prompt),
            (b'p', &facts.project),
            (b'S', &facts.status),
            (b'e', &facts.error),
            (b'a', &facts.agent),
            (b'b', &facts.git_branch),
            (b'P', &facts.permission_mode),
            (b'v', &facts.agent_version),
            (b'^', &facts.parent),
        ] {
            out.text(letter, text.as_deref());
        }
        out.text(b'h', facts.hidden);
        facts.tags.iter().for_each(|tag| out.text(b't', Some(tag)));
        facts
            .models
            .iter()
            .for_each(|model| out.text(b'm', Some(model)));
        facts
            .metadata
            .iter()
            .for_each(|(key, value)| out.pair(b'M', key, value));
        facts
            .external_ids
            .iter()
            .for_each(|(key, value)| out.pair(b'x', key, value));
        out.time(b'c', facts.created);
        out.time(b'A', facts.last_active);
        let some = |count: u64| Some(count).filter(|count| *count > 0);
        for (letter, count) in [
            (b'r', some(self.records)),
            (b'g', some(self.gaps)),
            (b'V', facts.format_version),
            (b'n', some(facts.turns)),
            (b'N', some(facts.messages)),
            (b'C', some(facts.tool_calls)),
            (b'd', facts.duration_ms),
            (b'1', facts.stated.messages),
            (b'2', facts.stated.turns),
        ] {
            out.number(letter, count);
        }
        for (word, count) in &facts.kinds {
            out.text(b'k', Some(word));
            varint::put(&mut out.0, *count);
        }
        for (entry, label) in &facts.labels {
            out.text(if label.is_some() { b'L' } else { b'U' }, Some(entry));
            label.iter().for_each(|label| out.raw_text(label));
        }
        out.usage(b'u', &facts.usage.total());
        out.usage(b'w', &facts.stated.usage);
        Packed(out.0)
    }

    /// Takes the value behind a letter; none where it cannot be read.
    fn take(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        let facts = &mut self.facts;
        let place = match letter {
            b'l' => &mut self.leaf,
            b'i' => &mut facts.id,
            b'T' => &mut facts.title_source,
            b's' => &mut facts.summary,
            b'f' => &mut facts.first_prompt,
            b'F' => &mut facts.last_prompt,
            b'p' => &mut facts.project,
            b'S' => &mut facts.status,
            b'e' => &mut facts.error,
            b'a' => &mut facts.agent,
            b'b' => &mut facts.git_branch,
            b'P' => &mut facts.permission_mode,
            b'v' => &mut facts.agent_version,
            b'^' => &mut facts.parent,
            _ => return self.take_other(letter, from),
        };
        *place = Some(from.text()?.to_owned());
        Some(())
    }

    fn take_other(&mut self, letter: u8, from: &mut Reader<'_>) -> Option<()> {
        let facts = &mut self.facts;
        let pair = |into: &mut BTreeMap<String, String>, from: &mut Reader<'_>| {
            into.insert(from.text()?.to_owned(), from.text()?.to_owned());
            Some(())
        };
        match letter {
            b'h' => facts.hidden = Some(hidden_word(from.text()?)),
            b't' => facts.tags.push(from.text()?.to_owned()),
            b'm' => facts.models.push(from.text()?.to_owned()),
            b'M' => pair(&mut facts.metadata, from)?,
            b'x' => pair(&mut facts.external_ids, from)?,
            b'c' => facts.created = Some(time(from)?),
            b'A' => facts.last_active = Some(time(from)?),
            b'r' => self.records = from.number()?,
            b'g' => self.gaps = from.number()?,
            b'V' => facts.format_version = Some(from.number()?),
            b'n' => facts.turns = from.number()?,
            b'N' => facts.messages = from.number()?,
            b'C' => facts.tool_calls = from.number()?,
            b'd' => facts.duration_ms = Some(from.number()?),
            b'1' => facts.stated.messages = Some(from.number()?),
            b'2' => facts.stated.turns = Some(from.number()?),
            b'k' => {
                facts.kinds.insert(from.text()?.to_owned(), from.number()?);
            }
            b'L' => facts
                .labels
                .push((from.text()?.to_owned(), Some(from.text()?.to_owned()))),
            b'U' => facts.labels.push((from.text()?.to_owned(), None)),
            b'u' => facts.usage.note(None, usage(from)?),
            b'w' => facts.stated.usage = usage(from)?,
            _ => return None,
        }
        Some(())
    }
}

/// The words by which dialects say why a session is hidden.
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
        let facts = &mut kept.facts;
        facts.title = Some("会话\n".into());
        facts.created = Some(Instant::from_millis(-5));
        facts.kinds.insert("user".into(), 3);
        facts.labels = vec![("e".into(), None), ("f".into(), Some("here".into()))];
        facts.hidden = Some("subagent");
        facts.tags = vec!["a".into(), "b".into()];
        facts.external_ids.insert("sdk".into(), "1".into());
        facts.stated.usage.reasoning = Some(0);
        facts.archived = true;
        facts.usage.note(
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
        assert_eq!(back.facts.usage.total(), kept.facts.usage.total());
        // All facts have their letter: the two say the same in every field.
        back.facts.usage = kept.facts.usage.clone();
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
