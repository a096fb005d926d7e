//! Finds the entries from before a compaction that stay in the context.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Gap, Log, Slot, SpanKind};

use super::link_scheme::Shape;

/// Returns the index on `path` (the entries before the compaction) of the first preserved entry;
/// `None` if nothing is preserved.
pub(super) fn first_kept(log: &Log, path: &[Slot], compaction: &Object<'_>) -> Option<usize> {
    if Shape::of(log) == Shape::Line {
        return kept_by_index(log, path, compaction);
    }
    let kept = compaction.get("firstKeptEntryId")?.text()?;
    let kept = log.names.find(&kept)?;
    path.iter()
        .position(|s| log.head(*s).is_some_and(|h| h.id == Some(kept)))
}

/// As [`first_kept`], from the index that version 1 stores. `path` is every entry before the
/// compaction.
pub(super) fn kept_by_index(log: &Log, path: &[Slot], compaction: &Object<'_>) -> Option<usize> {
    let slot = slot_at(log, array_index(compaction)?)?;
    path.iter().position(|s| *s >= slot)
}

/// Returns the index of version 1, which counts the values of the file from the header (0).
pub(super) fn array_index(compaction: &Object<'_>) -> Option<usize> {
    let index = compaction
        .get("firstKeptEntryIndex")
        .as_ref()
        .and_then(Raw::f64)?;
    (index >= 0.0 && index.fract() == 0.0 && index < 4e9).then_some(index as usize)
}

/// Returns the entry at an index of version 1.
///
/// pi counts the lines that it can parse, so a damaged line shifts every later index. The line was
/// an entry when the index was written, so it is counted here; an index that points to it means the
/// next entry.
fn slot_at(log: &Log, place: usize) -> Option<Slot> {
    if place == 0 {
        return None; // The header, even where it is damaged.
    }
    let lost = lost_lines(log);
    let mut lost = lost.iter().copied().peekable();
    let mut at = 0usize;
    for (slot, head) in log.entries() {
        while lost.next_if(|line| *line < u64::from(head.line)).is_some() {
            at += 1;
        }
        if at >= place {
            return (head.kind != EntryKind::Header).then_some(slot);
        }
        at += 1;
    }
    None
}

/// Returns the lines that contain bytes but no record, in order: each was an entry once.
pub(super) fn lost_lines(log: &Log) -> Vec<u64> {
    let damaged = |kind| matches!(kind, SpanKind::Gap(Gap::Garbage | Gap::Nul));
    let mut lines: Vec<u64> = log
        .gaps
        .iter()
        .filter(|g| damaged(g.kind))
        .map(|g| g.line)
        .collect();
    lines.dedup();
    let mut heads = log.heads.iter().map(|h| u64::from(h.line)).peekable();
    lines.retain(|line| {
        while heads.next_if(|l| l < line).is_some() {}
        heads.peek() != Some(line)
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::texts;

    fn v1(lines: &[&str], kept: &str) -> String {
        let mut out = String::from(
            "{\"type\":\"session\",\"id\":\"S\",\"timestamp\":\"2025-01-01T00:00:00Z\"}\n",
        );
        for line in lines {
            out += &match *line {
                "C" => format!(
                    "{{\"type\":\"compaction\",\"summary\":\"sum\",\"firstKeptEntryIndex\":{kept}}}\n"
                ),
                "!" => "{\"type\":\"mess\n".to_owned(),
                text => format!(
                    "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
                ),
            };
        }
        out
    }

    #[test]
    fn the_index_of_version_1_counts_the_header() {
        assert_eq!(
            texts(Pi::PI, &v1(&["a", "b", "c", "C", "d"], "2"), None),
            ["sum", "b", "c", "d"]
        );
        assert_eq!(
            texts(Pi::PI, &v1(&["a", "b", "c", "C", "d"], "1"), None),
            ["sum", "a", "b", "c", "d"]
        );
    }

    #[test]
    fn an_index_at_the_header_or_past_the_compaction_keeps_nothing() {
        for index in ["0", "4", "5", "99", "-1", "1.5", "\"2\"", "null", "1e300"] {
            assert_eq!(
                texts(Pi::PI, &v1(&["a", "b", "c", "C", "d"], index), None),
                ["sum", "d"],
                "{index}"
            );
        }
    }

    #[test]
    fn a_damaged_line_keeps_its_place_in_the_count() {
        assert_eq!(
            texts(Pi::PI, &v1(&["a", "!", "b", "c", "C", "d"], "3"), None),
            ["sum", "b", "c", "d"]
        );
        assert_eq!(
            texts(Pi::PI, &v1(&["a", "!", "b", "c", "C", "d"], "2"), None),
            ["sum", "b", "c", "d"]
        );
        assert_eq!(
            texts(Pi::PI, &v1(&["!", "!", "b", "c", "C", "d"], "4"), None),
            ["sum", "c", "d"]
        );
    }
}
