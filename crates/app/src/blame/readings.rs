//! Every shortest way to read the difference of two states of a file.
//!
//! A diff is one of several: of two equal lines either may be the new one, and an algorithm that
//! looks for unique lines first does not even find the shortest. What all of them agree on is
//! computed from the longest common subsequences of all beginnings and of all ends.

/// More pairs of lines are not compared: two tables of 32 bits for each would be too large.
const MOST_PAIRS: usize = 1 << 20;

/// The shortest ways from one list of lines to another. Lines are numbers: equal ones have the
/// same.
#[derive(Debug)]
pub(super) struct Readings {
    /// Length of a row: the new lines, and one.
    width: usize,
    /// The longest common subsequence of the lines before a pair.
    before: Vec<u32>,
    /// The longest common subsequence of the lines from a pair on.
    behind: Vec<u32>,
    /// How many old lines there are.
    old: usize,
}

impl Readings {
    /// Compares lines; `None` if there are too many.
    pub(super) fn of(old: &[usize], new: &[usize]) -> Option<Readings> {
        let width = new.len() + 1;
        let pairs = (old.len() + 1).checked_mul(width)?;
        if pairs > MOST_PAIRS {
            return None;
        }
        let mut readings = Readings {
            width,
            before: vec![0; pairs],
            behind: vec![0; pairs],
            old: old.len(),
        };
        for (i, was) in old.iter().enumerate() {
            for (j, is) in new.iter().enumerate() {
                let longest = match was == is {
                    true => readings.before(i, j) + 1,
                    false => readings.before(i, j + 1).max(readings.before(i + 1, j)),
                };
                if let Some(cell) = readings.before.get_mut((i + 1) * width + j + 1) {
                    *cell = longest;
                }
            }
        }
        for (i, was) in old.iter().enumerate().rev() {
            for (j, is) in new.iter().enumerate().rev() {
                let longest = match was == is {
                    true => readings.behind(i + 1, j + 1) + 1,
                    false => readings.behind(i, j + 1).max(readings.behind(i + 1, j)),
                };
                if let Some(cell) = readings.behind.get_mut(i * width + j) {
                    *cell = longest;
                }
            }
        }
        Some(readings)
    }

    /// Whether a shortest way keeps an old line as a new one, which is equal.
    pub(super) fn may_stay(&self, old: usize, new: usize) -> bool {
        self.before(old, new) + 1 + self.behind(old + 1, new + 1) == self.behind(0, 0)
    }

    /// Whether a shortest way adds a new line.
    pub(super) fn may_be_new(&self, new: usize) -> bool {
        let longest = self.behind(0, 0);
        let mut sums = (0..=self.old).map(|old| self.before(old, new) + self.behind(old, new + 1));
        sums.any(|sum| sum == longest)
    }

    fn before(&self, old: usize, new: usize) -> u32 {
        let cell = self.before.get(old * self.width + new);
        cell.copied().unwrap_or_default()
    }

    fn behind(&self, old: usize, new: usize) -> u32 {
        let cell = self.behind.get(old * self.width + new);
        cell.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_equal_lines_either_may_be_the_new_one() {
        let readings = Readings::of(&[1, 9], &[1, 9, 9, 2]).unwrap();
        let new: Vec<bool> = (0..4).map(|new| readings.may_be_new(new)).collect();
        assert_eq!(new, [false, true, true, true]);
        assert!(readings.may_stay(1, 1) && readings.may_stay(1, 2));
        assert!(readings.may_stay(0, 0));
    }

    #[test]
    fn lines_that_only_a_longer_way_keeps_do_not_stay() {
        // The 3 moved up; to keep it costs the two lines that it passed.
        let readings = Readings::of(&[1, 2, 3], &[3, 1, 2]).unwrap();
        assert!(!readings.may_stay(2, 0));
        assert!(readings.may_be_new(0) && !readings.may_be_new(1));
        assert!(Readings::of(&[0; 2_000], &[0; 2_000]).is_none());
    }
}
