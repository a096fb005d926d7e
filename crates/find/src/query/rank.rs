//! Ranking of hits.
//!
//! A rank depends only on the entry and the query, not on the rest of the index and not on the
//! current time, so that a later page continues where the previous one ended. An entry with twice
//! the score is worth as much as one that is two weeks younger.

use super::Order;
use super::clause::Tally;
use crate::extract::{Field, Weight};

/// Matches beyond this number do not increase the rank.
pub(crate) const MOST_COUNT: u32 = 4;
const HALVED_IN: f64 = 14.0 * 86_400_000.0;

fn goodness(tallies: impl Iterator<Item = Tally>) -> f64 {
    let one = |tally: Tally| {
        1.0 + f64::from(tally.count.min(MOST_COUNT)) / 16.0 + f64::from(u8::from(tally.whole))
    };
    tallies.map(one).sum::<f64>().max(1.0)
}

/// Returns the rank of an entry; greater is better.
pub(crate) fn rank(
    order: Order,
    tallies: impl Iterator<Item = Tally>,
    field: Field,
    millis: i64,
) -> f64 {
    match order {
        Order::Newest => millis as f64,
        Order::Relevance => {
            (goodness(tallies) * field.weight().factor()).log2() + millis as f64 / HALVED_IN
        }
    }
}

/// Returns an upper bound of the rank of an entry with at most these tallies, at most this weight,
/// and at most this time. It must use the same formula as [`rank`], or `search` would stop too
/// early.
pub(crate) fn bound(
    order: Order,
    tallies: impl Iterator<Item = Tally>,
    weight: Weight,
    millis: i64,
) -> f64 {
    match order {
        Order::Newest => millis as f64,
        Order::Relevance => {
            (goodness(tallies) * weight.factor()).log2() + millis as f64 / HALVED_IN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_more_places_and_younger_entries_are_better() {
        let rank = |count, whole, field, at| {
            rank(
                Order::Relevance,
                std::iter::once(Tally { count, whole }),
                field,
                at,
            )
        };
        assert!(rank(1, true, Field::Answer, 0) > rank(4, false, Field::Answer, 0));
        assert!(rank(2, true, Field::Answer, 0) > rank(1, true, Field::Answer, 0));
        assert!(rank(1, true, Field::Title, 0) > rank(1, true, Field::Answer, 0));
        assert!(rank(1, true, Field::Answer, 1000) > rank(1, true, Field::Answer, 0));
        assert!(rank(1, false, Field::Answer, 60 * 86_400_000) > rank(4, true, Field::Title, 0));
    }
}
