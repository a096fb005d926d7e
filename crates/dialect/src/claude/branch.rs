//! Computes the entries of a branch in reading order, including those before a compaction, which
//! the model no longer sees.

use boswell_model::{Result, SessionView, Slot, Tip};

use super::chain::Chain;
use super::{parallel_calls, tip};

/// Returns the branch that leads to `tip`, through every compaction back to its first line.
///
/// The path follows the tree, which also contains records that the client ignores. At a missing
/// parent or a cycle it continues at the line before, also where the client does not.
pub(super) fn branch(view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
    let Some(at) = tip.slot() else {
        return Ok(Vec::new());
    };
    let plain = Chain::of(view.log, None);
    let mut path = trunk(view, &plain, at);
    // After a compaction the tip can be a message from before it, which the client
    // moved behind the summary.
    let current = tip::chain_of(view)?.path(at);
    let mut on_path = vec![false; view.log.heads.len()];
    path.iter().for_each(|slot| _ = mark(&mut on_path, *slot));
    let is_new = |slot: &Slot| !on_path.get(slot.index()).copied().unwrap_or(true);
    if current.first().is_some_and(is_new) && current.first() > path.last() {
        path.extend(current.into_iter().filter(is_new));
    }
    parallel_calls::put_back(view, &plain, &path)
}

fn trunk(view: &SessionView<'_>, chain: &Chain<'_>, at: Slot) -> Vec<Slot> {
    let mut seen = vec![false; view.log.heads.len()];
    let mut path = Vec::new();
    let mut next = Some(at);
    while let Some(slot) = next.filter(|slot| mark(&mut seen, *slot)) {
        path.push(slot);
        let is_cycle = || view.tree.cycles().contains(&slot);
        next = view.tree.parent(slot).or_else(|| {
            let named = view
                .log
                .head(slot)
                .is_some_and(|head| head.parent.is_some());
            if named {
                chain
                    .line_before(slot)
                    .filter(|_| is_cycle() || chain.is_alive(slot))
            } else {
                None
            }
        });
    }
    path.reverse();
    path
}

/// Marks an entry. Returns whether it was not marked before.
fn mark(marks: &mut [bool], slot: Slot) -> bool {
    let mark = marks.get_mut(slot.index());
    mark.is_some_and(|mark| !std::mem::replace(mark, true))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Bytes, assistant, base, file, line, read_bytes, text, user};
    use super::*;

    fn shown(lines: &[String]) -> Vec<String> {
        let bytes = file(lines);
        let read = read_bytes(&bytes);
        let payloads = Bytes(&bytes);
        let view = read.view(&payloads);
        let tip = tip::tip(&view).unwrap();
        branch(&view, tip)
            .unwrap()
            .into_iter()
            .map(|slot| read.log.label(slot).into_owned())
            .collect()
    }

    #[test]
    fn parallel_results_are_put_back() {
        assert_eq!(
            shown(&base()),
            ["u1", "a1", "u2", "a2", "a3", "r1", "r2", "a4", "u3", "a5"]
        );
    }

    #[test]
    fn a_missing_parent_does_not_end_the_branch() {
        let mut lines = base();
        lines.remove(1);
        assert_eq!(shown(&lines)[..3], ["u1", "u2", "a2"]);
    }

    #[test]
    fn records_that_the_client_loses_are_shown() {
        let mut lines = base();
        let glued = lines.remove(2);
        lines[1].push_str(&glued);
        assert_eq!(shown(&lines)[..4], ["u1", "a1", "u2", "a2"]);
    }

    #[test]
    fn a_branch_goes_back_through_compactions() {
        let keeps = r#""subtype":"compact_boundary","logicalParentUuid":"a5","compactMetadata":{"preservedMessages":{"anchorUuid":"k1","uuids":["u3","a5"]}}"#;
        let mut lines = base();
        lines.push(line("system", "b1", None, 11, keeps));
        lines.push(user("k1", Some("b1"), 12, "SUMMARY"));
        assert_eq!(shown(&lines)[8..], ["u3", "a5", "b1", "k1"]);
        lines.push(user("u4", Some("k1"), 13, "FOUR"));
        lines.push(assistant("a6", "u4", 14, "m9", &text("four done")));
        assert_eq!(shown(&lines)[8..], ["u3", "a5", "b1", "k1", "u4", "a6"]);
    }
}
