//! Converts an agent's running total of tokens into the usage of each message.
//!
//! Such an agent never records the usage of a single message: it records the total so far, and a
//! fork starts with a copy of its parent's records and total. The usage of a message is the
//! difference to the previous total. Copied records belong to the parent and must not be counted
//! again, so the counter must recognise where the copy ends: by the start times of turns, or, in
//! old versions without them, by a pause in the records' times.

use crate::{Instant, Symbol, Usage};

/// A pause of this many milliseconds ends the copied part, where turns have no start time. A copy
/// is written without pauses.
const PAUSE: i64 = 1_000;

/// The state of the counter while a log is read.
#[derive(Debug, Default, Clone)]
pub struct CumulativeUsage {
    /// The latest total.
    last: Option<Usage>,
    /// How often the total became smaller.
    restarts: u32,
    /// When the session began.
    born: Option<Instant>,
    /// Whether the session has a parent; only then can it contain copied records.
    /// Whether the session is a fork, which continues the parent's total.
    descends: bool,
    /// When the current turn began.
    forked: bool,
    /// Time of the latest record that counts as copied.
    turn: Option<Instant>,
    copied_until: Option<Instant>,
    /// The session in which the total started: this session, or its oldest ancestor.
    pub root: Option<Symbol>,
    /// The model in use.
    pub model: Option<Symbol>,
}

impl CumulativeUsage {
    /// Records when the session began and when its first line was written.
    pub fn begin(&mut self, born: Option<Instant>, written: Option<Instant>) {
        (self.born, self.copied_until) = (born.or(written), written.max(born));
    }

    /// Records that another session started this one and may have copied its history into it.
    pub fn descends(&mut self) {
        self.descends = true;
    }

    /// Records that the session is a fork, which continues the conversation of another one.
    pub fn forks(&mut self) {
        (self.descends, self.forked) = (true, true);
    }

    /// Records that the following records belong to a turn that began at `began`.
    pub fn turn(&mut self, began: Instant) {
        self.turn = Some(began);
    }

    /// Whether no total was read yet.
    pub fn is_unused(&self) -> bool {
        self.last.is_none()
    }

    /// How often the total restarted. Together with the total it identifies a statement.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Whether a record with the time `at` was copied from the parent.
    pub fn is_copied(&mut self, at: Option<Instant>) -> bool {
        if let Some((born, turn)) = self.born.zip(self.turn).filter(|_| self.descends) {
            return turn < born;
        }
        // Old versions have no times in their turns: copied records are older than the fork, or as
        // old as the fork itself.
        let Some((at, until)) = at.zip(self.copied_until).filter(|_| self.forked) else {
            return false;
        };
        let copied = at.millis() <= until.millis().saturating_add(PAUSE);
        if copied {
            self.copied_until = Some(at.max(until));
        }
        copied
    }

    /// Records that `usage` was counted otherwise, and the total after it if it is known.
    pub fn counted(&mut self, usage: Usage, total: Option<Usage>) {
        let mut sum = self.last.unwrap_or_default();
        sum.add(&usage);
        self.last = Some(total.unwrap_or(sum));
    }

    /// Returns what `total` adds to the previous total; `None` if nothing. `newest` is the agent's
    /// own figure for the last message, used where there is no previous total to subtract.
    pub fn adds(&mut self, total: Usage, newest: Option<Usage>) -> Option<Usage> {
        let added = match self.last {
            Some(last) => total.since(&last).or_else(|| {
                self.restarts += 1;
                newest.or(Some(total))
            }),
            // A session that did not start at zero inherited its total: the part before was counted
            // in the parent.
            None if self.forked => newest.or(Some(total)),
            None => Some(total),
        };
        self.last = Some(total);
        added.filter(|added| !added.is_nothing())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(count: u64) -> Usage {
        Usage {
            output: Some(count),
            ..Usage::default()
        }
    }

    fn at(millis: i64) -> Option<Instant> {
        Some(Instant::from_millis(millis))
    }

    #[test]
    fn a_sum_adds_what_it_grew_by_and_a_smaller_one_starts_over() {
        let mut running = CumulativeUsage::default();
        running.begin(at(0), None);
        let added: Vec<_> = [5, 5, 9, 2]
            .map(|sum| running.adds(output(sum), None))
            .into();
        assert_eq!(
            added,
            [Some(output(5)), None, Some(output(4)), Some(output(2))]
        );
        assert_eq!(running.restarts(), 1);
    }

    #[test]
    fn a_counter_that_was_brought_along_adds_only_its_newest() {
        let first = |forked, born| {
            let mut running = CumulativeUsage::default();
            running.begin(born, None);
            if forked {
                running.forks();
            }
            running.adds(output(900), Some(output(7)))
        };
        assert_eq!(first(true, at(0)), Some(output(7)));
        for born in [at(0), None] {
            assert_eq!(
                first(false, born),
                Some(output(900)),
                "lines before it were lost, the header perhaps among them"
            );
        }
    }

    #[test]
    fn turns_tell_what_was_copied_and_pauses_where_they_do_not() {
        let mut running = CumulativeUsage::default();
        running.begin(at(9_000), at(10_000));
        running.descends();
        assert!(!running.is_copied(at(10_001)), "nothing was forked");
        running.forks();
        assert!(running.is_copied(at(400)), "older than the session");
        assert!(
            running.is_copied(at(10_900)) && running.is_copied(at(11_800)),
            "a long copy"
        );
        assert!(!running.is_copied(at(13_000)));
        running.turn(Instant::from_millis(8_000));
        assert!(running.is_copied(at(13_000)));
        running.turn(Instant::from_millis(9_000));
        assert!(!running.is_copied(at(10_000)));
        let mut alone = CumulativeUsage::default();
        alone.begin(at(9_000), None);
        alone.turn(Instant::from_millis(8_000));
        assert!(
            !alone.is_copied(at(9_000)),
            "a session without a parent copies nothing"
        );
    }
}
