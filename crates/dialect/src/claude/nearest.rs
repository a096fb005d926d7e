//! What the nearest of a line and its ancestors says, for all lines at once.

use boswell_model::Slot;

/// Returns for each line what `says` says of the nearest line of which it says something, among the
/// line itself and its ancestors.
///
/// Each line is passed once: a walk ends at one that is known already. A walk for each line would
/// be quadratic in long chains without an answer.
pub(super) fn nearest<T: Copy>(
    count: usize,
    parent: impl Fn(Slot) -> Option<Slot>,
    says: impl Fn(Slot) -> Option<T>,
) -> Vec<Option<T>> {
    let mut known: Vec<Option<Option<T>>> = vec![None; count];
    let mut walked: Vec<Slot> = Vec::new();
    for start in 0..u32::try_from(count).unwrap_or(u32::MAX) {
        let (mut next, mut found) = (Some(Slot(start)), None);
        while let Some(slot) = next {
            let Some(place) = known.get_mut(slot.index()) else {
                break;
            };
            if let Some(answer) = *place {
                found = answer;
                break;
            }
            found = says(slot);
            // Known from now on, so that a walk around a cycle ends.
            *place = Some(found);
            walked.push(slot);
            next = parent(slot).filter(|_| found.is_none());
        }
        for slot in walked.drain(..) {
            if let Some(place) = known.get_mut(slot.index()) {
                *place = Some(found);
            }
        }
    }
    known.into_iter().map(Option::flatten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parents by place; a line that is its own parent is a root.
    fn answers(parents: &[u32], marked: &[u32]) -> Vec<Option<u32>> {
        let parent = |slot: Slot| {
            let above = parents.get(slot.index()).copied()?;
            (above != slot.0).then_some(Slot(above))
        };
        let says = |slot: Slot| marked.contains(&slot.0).then_some(slot.0);
        nearest(parents.len(), parent, says)
    }

    #[test]
    fn a_line_has_the_answer_of_the_nearest_marked_ancestor() {
        assert_eq!(
            answers(&[0, 0, 1, 2, 0, 5], &[1, 3]),
            [None, Some(1), Some(1), Some(3), None, None]
        );
    }

    #[test]
    fn cycles_end_and_have_what_is_in_them() {
        // 0 → 1 → 2 → 0 with a mark at 2; 3 → 4 → 3 without one; 5 hangs below 3, 6 names nothing.
        assert_eq!(
            answers(&[1, 2, 0, 4, 3, 3, 9], &[2]),
            [Some(2), Some(2), Some(2), None, None, None, None]
        );
    }

    #[test]
    fn each_line_is_asked_once() {
        let asked = std::cell::Cell::new(0);
        let says = |_: Slot| -> Option<()> {
            asked.set(asked.get() + 1);
            None
        };
        let _ = nearest(10_000, |slot| slot.0.checked_sub(1).map(Slot), says);
        assert_eq!(asked.get(), 10_000);
    }
}
