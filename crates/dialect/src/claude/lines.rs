//! Decides which lines of a file a version of the client takes into its chain.

use std::collections::{HashMap, HashSet};

use boswell_model::{Flags, Head, Log, Slot, SpanKind, Symbol};

use super::chain::is_chain_kind;
use super::client::Client;

/// Which lines count for a version of the client.
#[derive(Debug, Clone)]
pub(super) struct CountedLines {
    counts: Vec<bool>,
    skips_malformed: bool,
}

impl CountedLines {
    /// Returns the lines that count for the newest client.
    pub(super) fn of(log: &Log) -> Self {
        CountedLines::seen_by(Client::NEWEST, log, u64::MAX)
    }

    /// Returns the lines that count for a version which reads up to a line.
    pub(super) fn seen_by(client: Client, log: &Log, until: u64) -> Self {
        let shared = match client.reads_first_record() {
            true => HashSet::new(),
            false => shared_lines(log),
        };
        let skips_malformed = client.skips_malformed();
        let is_counted = |head: &Head| {
            is_first(head)
                && u64::from(head.line) < until
                && !shared.contains(&head.line)
                && !(skips_malformed && head.flags.has(Flags::MALFORMED))
        };
        CountedLines {
            counts: log.heads.iter().map(is_counted).collect(),
            skips_malformed,
        }
    }

    /// Whether the line counts.
    pub(super) fn counts(&self, slot: Slot) -> bool {
        self.counts.get(slot.index()).copied().unwrap_or(false)
    }

    /// Returns the parents of lines that the client skips.
    pub(super) fn skipped(&self, log: &Log) -> HashMap<Symbol, Option<Symbol>> {
        let malformed = log.heads.iter().filter(|head| {
            self.skips_malformed && is_first(head) && head.flags.has(Flags::MALFORMED)
        });
        malformed
            .filter_map(|head| Some((head.id?, head.parent)))
            .collect()
    }
}

/// Whether it is a record of the chain at the beginning of its line.
fn is_first(head: &Head) -> bool {
    is_chain_kind(head.kind) && head.nth == 0 && !head.flags.has(Flags::SALVAGED)
}

/// Returns the lines on which a record is not alone.
fn shared_lines(log: &Log) -> HashSet<u32> {
    let mut shared: HashSet<u32> = log
        .heads
        .iter()
        .filter(|head| head.nth > 0)
        .map(|head| head.line)
        .collect();
    let is_other = |kind: SpanKind| {
        matches!(
            kind,
            SpanKind::Gap(
                boswell_model::Gap::Garbage | boswell_model::Gap::Nul | boswell_model::Gap::Pending
            )
        )
    };
    for gap in log.gaps.iter().filter(|gap| is_other(gap.kind)) {
        shared.extend(u32::try_from(gap.line));
    }
    shared
}
