//! How good a hit is.
//!
//! A rank depends on the entry and the query alone, not on what else is indexed and not on the
//! present: pages that are asked for later continue where the one before ended. An entry that is
//! twice as good counts as much as one two weeks younger.

use super::Order;
use super::clause::Tally;
use crate::extract::{Field, Weight};

/// More places than these do not make a hit better.
pub(crate) const MOST_COUNT: u32 = 4;
const HALVED_IN: f64 = 14.0 * 86_400_000.0;

fn goodness(tallies: impl Iterator<Item = Tally>) -> f64 {
    let one = |tally: Tally| {
        1.0 + f64::from(tally.count.min(MOST_COUNT)) / 16.0 + f64::from(u8::from(tally.whole))
    };
    tallies.map(one).sum::<f64>().max(1.0)
}

/// The rank of an entry; greater is better.
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

/// No entry with these tallies or less, in no better places and no younger than this,
/// can have a better rank.
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
