//! The pagination cursor: the position of the last hit of a page as text.
//!
//! It contains a rank and not an offset, so the next page continues correctly even if sessions were
//! added or removed in between.

use std::cmp::Ordering;

use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result, SessionRef};

use super::Query;

/// A position in the order of hits: higher rank first, then by reference and slot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cursor {
    pub(crate) rank: f64,
    pub(crate) reference: SessionRef,
    pub(crate) slot: u32,
}

/// Compares two hits in the order in which they are shown.
pub(crate) fn order(a: (f64, &SessionRef, u32), b: (f64, &SessionRef, u32)) -> Ordering {
    b.0.total_cmp(&a.0)
        .then_with(|| a.1.cmp(b.1))
        .then_with(|| a.2.cmp(&b.2))
}

impl Cursor {
    pub(crate) fn key(&self) -> (f64, &SessionRef, u32) {
        (self.rank, &self.reference, self.slot)
    }

    pub(crate) fn encode(&self, query: &Query) -> String {
        format!(
            "{:08x}.{:016x}.{}.{}",
            fingerprint(query),
            self.rank.to_bits(),
            self.slot,
            self.reference
        )
    }

    /// Parses a cursor; an error if it belongs to another query.
    pub(crate) fn decode(text: &str, query: &Query) -> Result<Cursor> {
        let bad = |why: &str| {
            Error::new(ErrorKind::Invalid, format!("the cursor {why}"))
                .advising(Advice::Omit(RequestInput::PageCursor))
        };
        let mut parts = text.splitn(4, '.');
        let mut hex = |len: usize| {
            let part = parts.next().filter(|part| part.len() == len)?;
            u64::from_str_radix(part, 16).ok()
        };
        let (print, rank) = hex(8)
            .zip(hex(16))
            .ok_or_else(|| bad("is not one that a search gave"))?;
        let slot = parts.next().and_then(|part| part.parse().ok());
        let reference = parts.next().and_then(|part| part.split_once(':'));
        let (slot, (dialect, id)) = slot
            .zip(reference)
            .ok_or_else(|| bad("is not one that a search gave"))?;
        if print != u64::from(fingerprint(query)) {
            return Err(bad("belongs to another query"));
        }
        Ok(Cursor {
            rank: f64::from_bits(rank),
            reference: SessionRef::new(dialect, id),
            slot,
        })
    }
}

/// Returns a checksum of everything that determines the order and the set of hits.
fn fingerprint(query: &Query) -> u32 {
    let clauses: Vec<String> = query.clauses.iter().map(ToString::to_string).collect();
    crc32fast::hash(
        format!(
            "{clauses:?} {:?} {:?} {:?}",
            query.filters, query.fields, query.order
        )
        .as_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_belong_to_their_query() {
        let query = Query::parse("deadlock", None).unwrap();
        let cursor = Cursor {
            rank: -1.5,
            reference: SessionRef::new("claude", "a.b:c"),
            slot: 7,
        };
        assert_eq!(
            Cursor::decode(&cursor.encode(&query), &query).unwrap(),
            cursor
        );
        let other = Query::parse("livelock", None).unwrap();
        assert_eq!(
            Cursor::decode(&cursor.encode(&query), &other)
                .unwrap_err()
                .kind(),
            ErrorKind::Invalid
        );
        for bad in [
            "",
            "x",
            "00000000.0000000000000000.1",
            "zz.1.2.a:b",
            "会.会.会.会",
        ] {
            assert!(Cursor::decode(bad, &query).is_err(), "{bad}");
        }
    }
}
