//! `Array.prototype.sort` of V8, also where the comparison is inconsistent.
//!
//! Clients sort by times, and the difference of a time and a word is not a number, which counts as
//! equal. So a word is equal to times that differ, and what comes first depends on the algorithm, a
//! TimSort: its steps are followed here. With a consistent comparison the result is that of any
//! stable sort.

use std::cmp::Ordering;

/// Sorts values as V8 does.
pub(super) fn sort<T: Copy>(values: &mut Vec<T>, compare: &dyn Fn(T, T) -> Ordering) {
    let mut sort = TimSort {
        work: std::mem::take(values),
        compare,
        runs: Vec::new(),
        min_gallop: MIN_GALLOP,
    };
    sort.run();
    *values = sort.work;
}

/// How often one side must win in a row before larger steps are tried.
const MIN_GALLOP: usize = 7;

struct TimSort<'c, T> {
    work: Vec<T>,
    compare: &'c dyn Fn(T, T) -> Ordering,
    /// Start and length of runs that are sorted and not merged yet.
    runs: Vec<(usize, usize)>,
    min_gallop: usize,
}

/// The two runs of a merge: how many values each has left.
struct Left {
    a: usize,
    b: usize,
}

impl Left {
    fn ends_low(&self) -> bool {
        self.b == 0 || self.a == 1
    }

    fn ends_high(&self) -> bool {
        self.a == 0 || self.b == 1
    }
}

/// The state of a merge: what was copied away, where each run goes on and the result, and how
/// often each run won in a row. From the ends, these are ends.
struct Merge<T> {
    kept: Vec<T>,
    a: usize,
    b: usize,
    to: usize,
    left: Left,
    wins: (usize, usize),
}

impl<T: Copy> TimSort<'_, T> {
    fn is_less(&self, a: T, b: T) -> bool {
        (self.compare)(a, b).is_lt()
    }

    fn run(&mut self) {
        let mut rest = self.work.len();
        if rest < 2 {
            return;
        }
        let (mut low, least) = (0, min_run(rest));
        while rest > 0 {
            let mut len = self.count_run(low, low + rest);
            if len < least {
                let forced = least.min(rest);
                self.insert(low, low + len, low + forced);
                len = forced;
            }
            self.runs.push((low, len));
            self.collapse();
            low += len;
            rest -= len;
        }
        while self.runs.len() > 1 {
            let mut at = self.runs.len() - 2;
            if at > 0 && self.len(at - 1) < self.len(at + 1) {
                at -= 1;
            }
            self.merge_at(at);
        }
    }

    /// Returns the length of the run at `low`; one that descends is turned.
    fn count_run(&mut self, low: usize, high: usize) -> usize {
        if low + 1 == high {
            return 1;
        }
        let descends = self.is_less(self.work[low + 1], self.work[low]);
        let mut len = 2;
        for at in low + 2..high {
            let (here, before) = (self.work[at], self.work[at - 1]);
            if self.is_less(here, before) != descends {
                break;
            }
            len += 1;
        }
        if descends {
            self.work[low..low + len].reverse();
        }
        len
    }

    /// Inserts the values from `start` on into the sorted ones before, by bisection.
    fn insert(&mut self, low: usize, start: usize, high: usize) {
        for at in start.max(low + 1)..high {
            let pivot = self.work[at];
            let (mut left, mut right) = (low, at);
            while left < right {
                let middle = left + ((right - left) >> 1);
                match self.is_less(pivot, self.work[middle]) {
                    true => right = middle,
                    false => left = middle + 1,
                }
            }
            self.work[left..=at].rotate_right(1);
        }
    }

    fn len(&self, run: usize) -> usize {
        self.runs[run].1
    }

    /// Merges runs until the lengths of those that are left fall fast enough.
    fn collapse(&mut self) {
        while self.runs.len() > 1 {
            let mut at = self.runs.len() - 2;
            let is_established =
                |run: usize| run < 2 || self.len(run - 2) > self.len(run - 1) + self.len(run);
            if !is_established(at + 1) || !is_established(at) {
                if self.len(at - 1) < self.len(at + 1) {
                    at -= 1;
                }
            } else if self.len(at) > self.len(at + 1) {
                return;
            }
            self.merge_at(at);
        }
    }

    fn merge_at(&mut self, at: usize) {
        let ((mut base_a, mut len_a), (base_b, mut len_b)) = (self.runs[at], self.runs[at + 1]);
        self.runs[at].1 = len_a + len_b;
        self.runs.remove(at + 1);
        let skipped = self.gallop_right(&self.work, self.work[base_b], (base_a, len_a), 0);
        base_a += skipped;
        len_a -= skipped;
        if len_a == 0 {
            return;
        }
        let last = self.work[base_a + len_a - 1];
        len_b = self.gallop_left(&self.work, last, (base_b, len_b), len_b - 1);
        if len_b == 0 {
            return;
        }
        match len_a <= len_b {
            true => self.merge_low(base_a, base_b, Left { a: len_a, b: len_b }),
            false => self.merge_high(base_a, base_b, Left { a: len_a, b: len_b }),
        }
    }

    /// Returns how many values of a range are before the place of a key, which is put before equal
    /// ones.
    fn gallop_left(&self, all: &[T], key: T, (base, len): (usize, usize), hint: usize) -> usize {
        let (mut last, mut offset) = (0, 1);
        let (from, to) = if self.is_less(all[base + hint], key) {
            let most = len - hint;
            while offset < most && self.is_less(all[base + hint + offset], key) {
                (last, offset) = (offset, (offset << 1) + 1);
            }
            (last + hint + 1, offset.min(most) + hint)
        } else {
            let most = hint + 1;
            while offset < most && !self.is_less(all[base + hint - offset], key) {
                (last, offset) = (offset, (offset << 1) + 1);
            }
            (hint + 1 - offset.min(most), hint - last)
        };
        self.bisect((from, to), |at| self.is_less(all[base + at], key))
    }

    /// As above, for a key that is put behind equal values.
    fn gallop_right(&self, all: &[T], key: T, (base, len): (usize, usize), hint: usize) -> usize {
        let (mut last, mut offset) = (0, 1);
        let (from, to) = if self.is_less(key, all[base + hint]) {
            let most = hint + 1;
            while offset < most && self.is_less(key, all[base + hint - offset]) {
                (last, offset) = (offset, (offset << 1) + 1);
            }
            (hint + 1 - offset.min(most), hint - last)
        } else {
            let most = len - hint;
            while offset < most && !self.is_less(key, all[base + hint + offset]) {
                (last, offset) = (offset, (offset << 1) + 1);
            }
            (last + hint + 1, offset.min(most) + hint)
        };
        self.bisect((from, to), |at| !self.is_less(key, all[base + at]))
    }

    /// Returns the first place in a range that is not before a key.
    fn bisect(&self, (from, to): (usize, usize), is_before: impl Fn(usize) -> bool) -> usize {
        let (mut from, mut to) = (from, to);
        while from < to {
            let middle = from + ((to - from) >> 1);
            match is_before(middle) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        to
    }

    /// Merges two runs from their beginnings; the first one is copied away.
    fn merge_low(&mut self, base_a: usize, base_b: usize, left: Left) {
        let mut merge = Merge {
            kept: self.work[base_a..base_a + left.a].to_vec(),
            a: 0,
            b: base_b,
            to: base_a,
            left,
            wins: (0, 0),
        };
        self.take_low_b(&mut merge, 1);
        while !merge.left.ends_low() {
            if self.compare_low(&mut merge) || self.gallop_low(&mut merge) {
                break;
            }
        }
        let Merge { a, b, to, left, .. } = merge;
        if left.b > 0 && left.a == 1 {
            // The last value of the first run belongs behind the second one.
            self.work.copy_within(b..b + left.b, to);
            self.work[to + left.b] = merge.kept[a];
        } else {
            self.work[to..to + left.a].copy_from_slice(&merge.kept[a..a + left.a]);
        }
    }

    /// Takes one value after the other, until one run wins often; returns whether the merge ends.
    fn compare_low(&mut self, merge: &mut Merge<T>) -> bool {
        merge.wins = (0, 0);
        while merge.wins.0 < self.min_gallop && merge.wins.1 < self.min_gallop {
            if self.is_less(self.work[merge.b], merge.kept[merge.a]) {
                self.take_low_b(merge, 1);
                merge.wins = (0, merge.wins.1 + 1);
            } else {
                self.take_low_a(merge, 1);
                merge.wins = (merge.wins.0 + 1, 0);
            }
            if merge.left.ends_low() {
                return true;
            }
        }
        self.min_gallop += 1;
        false
    }

    /// Takes as many values at once as win, while they are many; returns whether the merge ends.
    fn gallop_low(&mut self, merge: &mut Merge<T>) -> bool {
        loop {
            self.min_gallop = self.min_gallop.saturating_sub(1).max(1);
            let range = (merge.a, merge.left.a);
            let wins_a = self.gallop_right(&merge.kept, self.work[merge.b], range, 0);
            self.take_low_a(merge, wins_a);
            if wins_a > 0 && merge.left.a <= 1 {
                return true;
            }
            self.take_low_b(merge, 1);
            if merge.left.b == 0 {
                return true;
            }
            let range = (merge.b, merge.left.b);
            let wins_b = self.gallop_left(&self.work, merge.kept[merge.a], range, 0);
            self.take_low_b(merge, wins_b);
            if merge.left.b == 0 {
                return true;
            }
            self.take_low_a(merge, 1);
            if merge.left.a == 1 {
                return true;
            }
            if wins_a < MIN_GALLOP && wins_b < MIN_GALLOP {
                self.min_gallop += 1;
                return false;
            }
        }
    }

    fn take_low_a(&mut self, merge: &mut Merge<T>, count: usize) {
        let taken = &merge.kept[merge.a..merge.a + count];
        self.work[merge.to..merge.to + count].copy_from_slice(taken);
        (merge.a, merge.to) = (merge.a + count, merge.to + count);
        merge.left.a -= count;
    }

    fn take_low_b(&mut self, merge: &mut Merge<T>, count: usize) {
        self.work.copy_within(merge.b..merge.b + count, merge.to);
        (merge.b, merge.to) = (merge.b + count, merge.to + count);
        merge.left.b -= count;
    }

    /// Merges two runs from their ends; the second one is copied away.
    fn merge_high(&mut self, base_a: usize, base_b: usize, left: Left) {
        let mut merge = Merge {
            kept: self.work[base_b..base_b + left.b].to_vec(),
            a: base_a + left.a,
            b: left.b,
            to: base_b + left.b,
            left,
            wins: (0, 0),
        };
        self.take_high_a(&mut merge, 1);
        while !merge.left.ends_high() {
            if self.compare_high(&mut merge) || self.gallop_high(&mut merge, base_a) {
                break;
            }
        }
        let Merge { a, b, to, left, .. } = merge;
        if left.a > 0 && left.b == 1 {
            // The first value of the second run belongs before the first one.
            self.work.copy_within(a - left.a..a, to - left.a);
            self.work[to - left.a - 1] = merge.kept[b - 1];
        } else {
            self.work[to - left.b..to].copy_from_slice(&merge.kept[b - left.b..b]);
        }
    }

    /// As [`TimSort::compare_low`].
    fn compare_high(&mut self, merge: &mut Merge<T>) -> bool {
        merge.wins = (0, 0);
        while merge.wins.0 < self.min_gallop && merge.wins.1 < self.min_gallop {
            if self.is_less(merge.kept[merge.b - 1], self.work[merge.a - 1]) {
                self.take_high_a(merge, 1);
                merge.wins = (merge.wins.0 + 1, 0);
            } else {
                self.take_high_b(merge, 1);
                merge.wins = (0, merge.wins.1 + 1);
            }
            if merge.left.ends_high() {
                return true;
            }
        }
        self.min_gallop += 1;
        false
    }

    /// As [`TimSort::gallop_low`].
    fn gallop_high(&mut self, merge: &mut Merge<T>, base_a: usize) -> bool {
        loop {
            self.min_gallop = self.min_gallop.saturating_sub(1).max(1);
            let (range, key) = ((base_a, merge.left.a), merge.kept[merge.b - 1]);
            let wins_a = range.1 - self.gallop_right(&self.work, key, range, range.1 - 1);
            self.take_high_a(merge, wins_a);
            if merge.left.a == 0 {
                return true;
            }
            self.take_high_b(merge, 1);
            if merge.left.b == 1 {
                return true;
            }
            let (range, key) = ((0, merge.left.b), self.work[merge.a - 1]);
            let wins_b = range.1 - self.gallop_left(&merge.kept, key, range, range.1 - 1);
            self.take_high_b(merge, wins_b);
            if wins_b > 0 && merge.left.b <= 1 {
                return true;
            }
            self.take_high_a(merge, 1);
            if merge.left.a == 0 {
                return true;
            }
            if wins_a < MIN_GALLOP && wins_b < MIN_GALLOP {
                self.min_gallop += 1;
                return false;
            }
        }
    }

    fn take_high_a(&mut self, merge: &mut Merge<T>, count: usize) {
        (merge.a, merge.to) = (merge.a - count, merge.to - count);
        self.work.copy_within(merge.a..merge.a + count, merge.to);
        merge.left.a -= count;
    }

    fn take_high_b(&mut self, merge: &mut Merge<T>, count: usize) {
        (merge.b, merge.to) = (merge.b - count, merge.to - count);
        let taken = &merge.kept[merge.b..merge.b + count];
        self.work[merge.to..merge.to + count].copy_from_slice(taken);
        merge.left.b -= count;
    }
}

/// Returns the least length of a run.
fn min_run(count: usize) -> usize {
    let (mut count, mut odd) = (count, 0);
    while count >= 64 {
        odd |= count & 1;
        count >>= 1;
    }
    count + odd
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that a few lines of JavaScript have, too.
    struct Random(u32);

    impl Random {
        fn next(&mut self, below: u32) -> u32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 8) % below
        }
    }

    /// Returns what is sorted: numbers, of which some are none. They rise, fall and jump in turn,
    /// so that there are runs of all kinds.
    fn list(random: &mut Random) -> Vec<Option<i64>> {
        let count = 2 + random.next(400);
        let words = random.next(30);
        let (mut value, mut kind) = (0_i64, 0);
        let mut number = |random: &mut Random| {
            if random.next(40) == 0 {
                kind = random.next(3);
            }
            value = match kind {
                0 => value + i64::from(random.next(4)),
                1 => value - i64::from(random.next(4)),
                _ => i64::from(random.next(100)),
            };
            (random.next(100) >= words).then_some(value)
        };
        (0..count).map(|_| number(random)).collect()
    }

    fn falling(values: &[Option<i64>]) -> impl Fn(usize, usize) -> Ordering {
        |a, b| match (values[a], values[b]) {
            (Some(a), Some(b)) => b.cmp(&a),
            _ => Ordering::Equal,
        }
    }

    /// The sum was printed by node 20 and 24 with this script.
    ///
    /// ```js
    /// let s = 1; const next = (below) => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0, (s >>> 8) % below);
    /// let sum = 0;
    /// for (let turn = 0; turn < 2000; turn++) {
    ///   const count = 2 + next(400), words = next(30); let value = 0, kind = 0; const values = [];
    ///   for (let i = 0; i < count; i++) {
    ///     if (next(40) === 0) kind = next(3);
    ///     value = kind === 0 ? value + next(4) : kind === 1 ? value - next(4) : next(100);
    ///     values.push(next(100) >= words ? value : NaN);
    ///   }
    ///   const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
    ///   for (const place of order) sum = (Math.imul(sum, 31) + place) >>> 0;
    /// }
    /// console.log(sum);
    /// ```
    #[test]
    fn sorts_as_v8_does_also_what_is_no_number() {
        let (mut random, mut sum) = (Random(1), 0_u32);
        for _ in 0..2000 {
            let values = list(&mut random);
            let mut order: Vec<usize> = (0..values.len()).collect();
            sort(&mut order, &falling(&values));
            for place in order {
                sum = sum.wrapping_mul(31).wrapping_add(place as u32);
            }
        }
        assert_eq!(sum, 2_289_934_478);
    }

    #[test]
    fn a_consistent_comparison_sorts_stably() {
        let mut random = Random(7);
        for _ in 0..300 {
            let values: Vec<Option<i64>> = (0..random.next(300))
                .map(|_| Some(i64::from(random.next(50))))
                .collect();
            let mut order: Vec<usize> = (0..values.len()).collect();
            let mut stable = order.clone();
            sort(&mut order, &falling(&values));
            stable.sort_by_key(|place| std::cmp::Reverse(values[*place]));
            assert_eq!(order, stable);
        }
    }
}
