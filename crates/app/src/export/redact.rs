//! Redacts credentials that an agent stores in its own log, unless the request keeps them.
//!
//! This is for `jsonl` and `json`. Pages have their secrets removed by `without_secrets` in
//! `transcript.rs`. `--no-redact` turns both off.

use boswell_find::SecretCount;
use boswell_model::{EntryKind, Result};
use boswell_store::Session;

/// A range of a log that must be redacted, and its replacement.
#[derive(Debug)]
struct Stretch {
    at: u64,
    len: u64,
    shown: Vec<u8>,
}

/// The ranges that a dialect redacts: in headers, in records that may be headers, and in torn ones.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    stretches: Vec<Stretch>,
}

impl Redactor {
    /// Finds the ranges.
    pub(crate) fn of(session: &Session) -> Result<Redactor> {
        let suspicious = |kind| matches!(kind, EntryKind::Header | EntryKind::Unknown);
        let heads = session
            .log()
            .heads
            .iter()
            .filter(|head| suspicious(head.kind))
            .map(|head| (head.at, head.len));
        let mut places: Vec<(u64, u64)> = heads
            .chain(session.log().gaps.iter().map(|gap| (gap.at, gap.len)))
            .collect();
        places.sort_unstable();
        let mut stretches = Vec::new();
        for (at, len) in places {
            let bytes = session.view().payloads.payload(at, len)?;
            let shown = session.dialect().powers().refine.redact(&bytes);
            if *shown != *bytes {
                stretches.push(Stretch {
                    at,
                    len,
                    shown: shown.into_owned(),
                });
            }
        }
        Ok(Redactor { stretches })
    }

    /// Returns them with their replacements, as places in the log.
    pub(crate) fn ranges(self) -> Vec<(std::ops::Range<usize>, Vec<u8>)> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let range = |it: Stretch| (place(it.at)..place(it.at + it.len), it.shown);
        self.stretches.into_iter().map(range).collect()
    }

    /// Counts them; the credentials of a header count as one.
    pub(super) fn count(&self) -> SecretCount {
        let mut count = SecretCount::default();
        self.stretches
            .iter()
            .for_each(|it| count.add("agent-key", &it.at.to_le_bytes()));
        count
    }

    /// Passes the log to the sink in pieces, with redacted ranges replaced.
    pub(super) fn export(
        &self,
        session: &Session,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        session.export(&mut |piece| {
            let done = self.without(piece, at, sink);
            at += piece.len() as u64;
            done
        })
    }

    fn without(
        &self,
        piece: &[u8],
        at: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let end = at + piece.len() as u64;
        let place = |of: u64| usize::try_from(of.clamp(at, end) - at).unwrap_or(piece.len());
        let mut from = 0;
        for it in self
            .stretches
            .iter()
            .filter(|it| it.at < end && it.at + it.len > at)
        {
            sink(piece.get(from..place(it.at)).unwrap_or_default())?;
            if it.at >= at {
                sink(&it.shown)?;
            }
            from = place(it.at + it.len);
        }
        sink(piece.get(from..).unwrap_or_default())
    }
}
