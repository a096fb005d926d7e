//! A counter that an agent states as it grows, and that goes on in forks.
//!
//! Such an agent never says what a message cost: it says what everything cost so far, and a fork
//! begins with a copy of what its parent said. What each statement adds is the difference to the
//! one before it; what was copied belongs to the parent.

use crate::{Instant, Symbol, Usage};

/// How long a pause ends the copying, where turns do not tell when they began. A copy
/// is written in one go.
const PAUSE: i64 = 1_000;

/// Where the counter of a log stands.
#[derive(Debug, Default, Clone)]
pub struct CumulativeUsage {
    last: Option<Usage>,
    restarts: u32,
    born: Option<Instant>,
    /// Whether it has a parent at all; only then it can hold a copy.
    descends: bool,
    forked: bool,
    turn: Option<Instant>,
    copied_until: Option<Instant>,
    /// The session that the counter was begun in: this one, or the oldest that it descends from.
    pub root: Option<Symbol>,
    /// The model that is at work.
    pub model: Option<Symbol>,
}

impl CumulativeUsage {
    /// The session began, and its first line was written then.
    pub fn begin(&mut self, born: Option<Instant>, written: Option<Instant>) {
        (self.born, self.copied_until) = (born.or(written), written.max(born));
    }

    /// Another session began this one, and may have handed its history down.
    pub fn descends(&mut self) {
        self.descends = true;
    }

    /// The session is a fork: it goes on where another one stood.
    pub fn forks(&mut self) {
        (self.descends, self.forked) = (true, true);
    }

    /// A turn that began then goes on.
    pub fn turn(&mut self, began: Instant) {
        self.turn = Some(began);
    }

    /// Whether anything was counted yet.
    pub fn is_unused(&self) -> bool {
        self.last.is_none()
    }

    /// How often the counter began anew; with the sum it names a statement.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Whether what stands here was copied from the parent.
    pub fn is_copied(&mut self, at: Option<Instant>) -> bool {
        if let Some((born, turn)) = self.born.zip(self.turn).filter(|_| self.descends) {
            return turn < born;
        }
        // Versions without times in their turns: the copy has older times, or those of
        // the moment of the fork.
        let Some((at, until)) = at.zip(self.copied_until).filter(|_| self.forked) else {
            return false;
        };
        let copied = at.millis() <= until.millis().saturating_add(PAUSE);
        if copied {
            self.copied_until = Some(at.max(until));
        }
        copied
    }

    /// What the sum so far adds to the one before it; none if nothing. `newest` is what the agent
    /// itself says was added.
    pub fn adds(&mut self, total: Usage, newest: Option<Usage>) -> Option<Usage> {
        let added = match self.last {
            Some(last) => total.since(&last).or_else(|| {
                self.restarts += 1;
                newest.or(Some(total))
            }),
            // Without a beginning of its own the counter was brought along: what came before was
            // counted where it was spent.
            None if self.forked || self.born.is_none() => newest.or(Some(total)),
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
        assert_eq!(first(false, None), Some(output(7)));
        assert_eq!(
            first(false, at(0)),
            Some(output(900)),
            "lines before it were lost"
        );
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
