//! Which fixes of a round are applied together.

use boswell_dialect::{Fix, Splice};

/// Selects fixes whose splices do not overlap; the others wait for the next round.
pub(super) fn accept(fixes: &[Fix]) -> Vec<&Fix> {
    let mut accepted: Vec<&Fix> = Vec::new();
    let mut taken: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
    for fix in fixes {
        let clashes = |splice: &Splice| {
            // Insertions (`len == 0`) at the border of a replaced range do not overlap it.
            let before = taken.range(..splice.end().max(splice.at + 1)).next_back();
            match before {
                Some((at, end)) if splice.len == 0 => *at < splice.at && splice.at < *end,
                Some((at, end)) => *end > splice.at || (*at == splice.at && splice.len > 0),
                None => false,
            }
        };
        if fix.splices.iter().any(clashes) {
            continue;
        }
        taken.extend(
            fix.splices
                .iter()
                .filter(|splice| splice.len > 0)
                .map(|splice| (splice.at, splice.end())),
        );
        accepted.push(fix);
    }
    accepted
}

/// How many records these fixes change.
pub(super) fn changed(fixes: &[&Fix]) -> usize {
    fixes
        .iter()
        .flat_map(|fix| &fix.splices)
        .filter(|splice| splice.len > 0 && !splice.with.is_empty())
        .count()
}
