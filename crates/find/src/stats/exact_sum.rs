//! Fixed-point sums of fractions, so that the result does not depend on the order of addition.
//!
//! Totals of one session are stored and added to those of others in the order of database rows;
//! with `f64` the last digits of a sum would depend on that order.

/// A sum of dollars or of premium requests as a fixed-point number: adding never rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExactSum(i128);

/// Steps per unit (2^60): the smallest cost that a log states is many steps.
const WHOLE: f64 = (1_u64 << 60) as f64;

impl ExactSum {
    pub(crate) fn of(value: f64) -> ExactSum {
        ExactSum((value * WHOLE).round() as i128)
    }

    pub(crate) fn add(&mut self, more: ExactSum) {
        self.0 = self.0.saturating_add(more.0);
    }

    pub(crate) fn value(self) -> f64 {
        self.0 as f64 / WHOLE
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> ExactSum {
        ExactSum(i128::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_order_gives_one_sum_and_one_value_stays_itself(values in proptest::collection::vec(0.01_f64..9e9, 1..40)) {
            let sum = |values: &mut dyn Iterator<Item = &f64>| {
                let mut sum = ExactSum::default();
                values.for_each(|value| sum.add(ExactSum::of(*value)));
                sum
            };
            prop_assert_eq!(sum(&mut values.iter()), sum(&mut values.iter().rev()));
            prop_assert_eq!(ExactSum::of(values[0]).value(), values[0]);
            prop_assert_eq!(ExactSum::from_bytes(ExactSum::of(values[0]).to_bytes()), ExactSum::of(values[0]));
        }
    }

    #[test]
    fn what_is_no_amount_does_no_harm() {
        let mut sum = ExactSum::of(f64::MAX);
        sum.add(ExactSum::of(f64::INFINITY));
        sum.add(ExactSum::of(f64::NAN));
        assert!(sum.value() > 1e19);
        assert_eq!(ExactSum::of(0.1).value(), 0.1);
    }
}
