//! Sort keys: the columns that a list is ordered and paged by, read without the rest of the row.
//!
//! Most sessions of a long list are never shown; for those nothing else is decoded.

use std::sync::Arc;

use boswell_model::{Instant, SessionMeta};

use super::filter_keys::{FilterKeys, Shared};
use super::packed_meta::PackedMeta;

/// The columns of a session that are known without unpacking the rest of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SortKeys {
    /// Last activity, creation, counted messages and stated messages. There is one value per
    /// session of a long list, so an unknown number takes no extra space.
    parts: [i64; 4],
    flags: u8,
}

const COMPLETE: u8 = 1;
const CONVERSATION: u8 = 2;
const TITLED: u8 = 4;
const HIDDEN: u8 = 8;
const LINKED: u8 = 16;
const RECORDS: u8 = 32;
const RENAMED: u8 = 64;
const DAMAGED: u8 = 128;
/// Encoded length in bytes.
pub(super) const LEN: usize = 1 + 4 * 8;
/// Represents an unknown number; no stored number is near it.
const UNKNOWN: i64 = i64::MIN;

impl SortKeys {
    pub(super) fn of(kept: &PackedMeta, id: &str) -> SortKeys {
        let meta: &SessionMeta = &kept.meta;
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let millis = |time: Option<Instant>| time.map_or(UNKNOWN, Instant::millis);
        let count = |count: Option<u64>| {
            count
                .and_then(|count| i64::try_from(count).ok())
                .unwrap_or(UNKNOWN)
        };
        SortKeys {
            parts: [
                millis(meta.last_active),
                millis(meta.created),
                count(Some(meta.messages)),
                count(meta.stated.messages),
            ],
            flags: flag(kept.complete, COMPLETE)
                | flag(kept.conversation, CONVERSATION)
                | flag(meta.title.is_some(), TITLED)
                | flag(meta.hidden.is_some(), HIDDEN)
                | flag(!meta.external_ids.is_empty(), LINKED)
                | flag(kept.records > 0, RECORDS)
                | flag(meta.id.as_ref().is_some_and(|own| own != id), RENAMED)
                | flag(kept.gaps > 0, DAMAGED),
        }
    }

    fn part(&self, nth: usize) -> Option<i64> {
        self.parts.get(nth).copied().filter(|part| *part != UNKNOWN)
    }

    /// Returns the time of the last activity.
    pub fn last_active(&self) -> Option<Instant> {
        self.part(0).map(Instant::from_millis)
    }

    /// Returns the creation time.
    pub fn created(&self) -> Option<Instant> {
        self.part(1).map(Instant::from_millis)
    }

    /// Returns the number of user and assistant messages; complete only if the whole log was read.
    pub fn messages(&self) -> u64 {
        self.part(2).map_or(0, i64::cast_unsigned)
    }

    /// Returns the number of messages that the agent states.
    pub fn stated_messages(&self) -> Option<u64> {
        self.part(3).map(i64::cast_unsigned)
    }

    /// Whether the whole log was read.
    pub(super) fn is_complete(&self) -> bool {
        self.flags & COMPLETE != 0
    }

    /// Whether the log contains a message or another part of a conversation.
    pub fn is_conversation(&self) -> bool {
        self.flags & CONVERSATION != 0
    }

    /// Whether the log states a title.
    pub fn is_titled(&self) -> bool {
        self.flags & TITLED != 0
    }

    /// Whether lists hide the session because of its log.
    pub fn is_hidden(&self) -> bool {
        self.flags & HIDDEN != 0
    }

    /// Whether it names sessions of other programs, so that it may be one side of a conversation.
    pub fn is_linked(&self) -> bool {
        self.flags & LINKED != 0
    }

    /// Whether the log states another id than the session has, so that links may refer to it by
    /// that.
    pub fn is_renamed(&self) -> bool {
        self.flags & RENAMED != 0
    }

    /// Whether the log has any record besides its header.
    pub fn has_records(&self) -> bool {
        self.flags & RECORDS != 0
    }

    /// Whether a stretch of the log could not be read as records.
    pub fn is_damaged(&self) -> bool {
        self.flags & DAMAGED != 0
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.push(self.flags);
        self.parts
            .iter()
            .for_each(|part| out.extend_from_slice(&part.to_le_bytes()));
    }

    /// Decodes the bytes of [`SortKeys::put`].
    pub(super) fn take(bytes: &[u8; LEN]) -> SortKeys {
        let (flags, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let mut parts = [UNKNOWN; 4];
        for (part, bytes) in parts.iter_mut().zip(rest.as_chunks::<8>().0) {
            *part = i64::from_le_bytes(*bytes);
        }
        SortKeys {
            parts,
            flags: *flags,
        }
    }

    /// Encodes the sort keys, the filter keys and a checksum.
    pub(super) fn to_bytes(self, filter_keys: &FilterKeys) -> Vec<u8> {
        let mut out = Vec::with_capacity(LEN + 64);
        self.put(&mut out);
        out.extend_from_slice(&filter_keys.pack());
        out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// Decodes the bytes of [`SortKeys::to_bytes`]; `None` if they are not valid.
    pub(super) fn from_bytes(
        bytes: &[u8],
        shared: &mut Shared,
    ) -> Option<(SortKeys, Arc<FilterKeys>)> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body).to_le_bytes() != *sum {
            return None;
        }
        let (sort_keys, filter_keys) = body.split_first_chunk::<LEN>()?;
        Some((SortKeys::take(sort_keys), shared.unpack(filter_keys)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_read_back_and_a_changed_byte_is_noticed() {
        let mut kept = PackedMeta {
            complete: true,
            records: 2,
            ..PackedMeta::default()
        };
        kept.meta.last_active = Some(Instant::from_millis(-7));
        kept.meta.messages = 3;
        kept.meta.hidden = Some("subagent");
        let sort_keys = SortKeys::of(&kept, "x");
        let filter_keys = FilterKeys {
            project: Some("/p".into()),
            ..FilterKeys::default()
        };
        let bytes = sort_keys.to_bytes(&filter_keys);
        let mut shared = Shared::default();
        assert_eq!(
            SortKeys::from_bytes(&bytes, &mut shared),
            Some((sort_keys, Arc::new(filter_keys)))
        );
        assert_eq!(
            (sort_keys.last_active(), sort_keys.created()),
            (kept.meta.last_active, None)
        );
        assert_eq!(
            (sort_keys.messages(), sort_keys.stated_messages()),
            (3, None)
        );
        assert!(sort_keys.is_complete() && sort_keys.is_hidden() && sort_keys.has_records());
        assert!(!sort_keys.is_linked() && !sort_keys.is_titled() && !sort_keys.is_conversation());
        for at in 0..bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 1;
            assert_eq!(SortKeys::from_bytes(&hurt, &mut shared), None, "byte {at}");
        }
        assert_eq!(SortKeys::from_bytes(&bytes[1..], &mut shared), None);
    }
}
