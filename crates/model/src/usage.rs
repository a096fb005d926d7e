//! What a conversation cost.

use std::collections::HashMap;

use crate::{CumulativeUsage, Instant, Symbol};

/// Tokens and money. What was not stated is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache, for however long.
    pub cache_write: Option<u64>,
    /// Those of them that were written for an hour, which cost more; known only where
    /// they are told apart.
    pub cache_write_1h: Option<u64>,
    /// Tokens spent on reasoning, where they are counted apart.
    pub reasoning: Option<u64>,
    /// Dollars, where the agent recorded them.
    pub cost: Option<f64>,
    /// Requests that a plan counts instead of tokens; some models count as a part
    /// of one or as several.
    pub premium_requests: Option<f64>,
}

impl Usage {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }

    /// Whether nothing was spent, or nothing is known.
    pub fn is_nothing(&self) -> bool {
        let counts = [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.cache_write_1h,
            self.reasoning,
        ];
        let parts = [self.cost, self.premium_requests];
        counts.iter().all(|count| count.unwrap_or(0) == 0)
            && parts.iter().all(|part| part.unwrap_or(0.0) == 0.0)
    }

    /// Zero wherever something is known.
    fn zeroed(&self) -> Usage {
        let zero = |count: Option<u64>| count.map(|_| 0);
        Usage {
            input: zero(self.input),
            output: zero(self.output),
            cache_read: zero(self.cache_read),
            cache_write: zero(self.cache_write),
            cache_write_1h: zero(self.cache_write_1h),
            reasoning: zero(self.reasoning),
            cost: self.cost.map(|_| 0.0),
            premium_requests: self.premium_requests.map(|_| 0.0),
        }
    }

    /// What was added to an earlier sum; none if this one is smaller. Money is not compared.
    pub fn since(&self, earlier: &Usage) -> Option<Usage> {
        let less = |now: Option<u64>, then: Option<u64>| match now {
            Some(now) => now.checked_sub(then.unwrap_or(0)).map(Some),
            None => Some(None),
        };
        Some(Usage {
            input: less(self.input, earlier.input)?,
            output: less(self.output, earlier.output)?,
            cache_read: less(self.cache_read, earlier.cache_read)?,
            cache_write: less(self.cache_write, earlier.cache_write)?,
            cache_write_1h: less(self.cache_write_1h, earlier.cache_write_1h)?,
            reasoning: less(self.reasoning, earlier.reasoning)?,
            cost: None,
            premium_requests: None,
        })
    }

    /// Adds another; unknown plus known is known.
    pub fn add(&mut self, other: &Usage) {
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.cache_write_1h, other.cache_write_1h);
        add(&mut self.reasoning, other.reasoning);
        add_part(&mut self.cost, other.cost);
        add_part(&mut self.premium_requests, other.premium_requests);
    }
}

fn add_part(sum: &mut Option<f64>, more: Option<f64>) {
    if let Some(more) = more {
        *sum.get_or_insert(0.0) += more;
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// What is known of an API message beside what it cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// When it was said.
    pub at: Option<Instant>,
    /// The model that said it.
    pub model: Option<Symbol>,
    /// The request that it answers, where the agent writes that down.
    pub request: Option<Symbol>,
    /// Whether the message's id means the same message in every session: copies and
    /// forks repeat it then.
    pub everywhere: bool,
    /// Whether the line only repeats what a subagent used, which has a transcript of its own.
    pub relayed: bool,
    /// The session that the counter was begun in, where an agent states only a sum
    /// that goes on in forks.
    pub lineage: Option<Symbol>,
    /// Whether it was copied from the session that this one was forked from, which spent it.
    pub inherited: bool,
}

/// What one API message cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageRecord {
    /// Tokens and money.
    pub usage: Usage,
    /// What else is known.
    pub said: Said,
}

/// Adds up usage once for each API message, however many lines repeat it.
#[derive(Debug, Default, Clone)]
pub struct UsageTally {
    by_message: HashMap<Symbol, UsageRecord>,
    unnamed: Vec<UsageRecord>,
    /// The counter of agents that state only a sum so far.
    pub running: CumulativeUsage,
}

const DAY: i64 = 86_400_000;

impl UsageTally {
    /// Notes what a line states. Lines of one message state the same sum, growing while it streams:
    /// the last one counts.
    pub fn note(&mut self, message: Option<Symbol>, usage: Usage) {
        self.note_said(message, usage, Said::default());
    }

    /// The same, with what else is known of the message.
    pub fn note_said(&mut self, message: Option<Symbol>, usage: Usage, said: Said) {
        if let Some(name) = message {
            self.by_message.insert(name, UsageRecord { usage, said });
            return;
        }
        // What has no name is kept by day and model, so that a long session stays small.
        let day = |at: Option<Instant>| at.map(|at| at.millis().div_euclid(DAY));
        let alike = |noted: &&mut UsageRecord| {
            noted.said.model == said.model && day(noted.said.at) == day(said.at)
        };
        match self.unnamed.iter_mut().find(alike) {
            Some(noted) => noted.usage.add(&usage),
            None => self.unnamed.push(UsageRecord { usage, said }),
        }
    }

    /// What was noted, message by message; what has no name comes summed up by day and model.
    pub fn items(&self) -> impl Iterator<Item = (Option<Symbol>, &UsageRecord)> {
        // In one order, so that sums of money are the same every time.
        let mut named: Vec<(Symbol, &UsageRecord)> = self
            .by_message
            .iter()
            .map(|(name, noted)| (*name, noted))
            .collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        let named = named.into_iter().map(|(name, noted)| (Some(name), noted));
        named.chain(self.unnamed.iter().map(|noted| (None, noted)))
    }

    /// The sum over all messages that the session paid for itself.
    pub fn total(&self) -> Usage {
        let mut total = Usage::default();
        for (_, noted) in self.items() {
            // What was inherited is known to have cost nothing here.
            total.add(&if noted.said.inherited {
                noted.usage.zeroed()
            } else {
                noted.usage
            });
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_of_one_message_count_once_and_unknown_is_not_zero() {
        let mut names = crate::Interner::default();
        let (a, b) = (names.intern("a"), names.intern("b"));
        let said = |output| Usage {
            output: Some(output),
            ..Usage::default()
        };
        let mut tally = UsageTally::default();
        for (message, output) in [(a, 1), (a, 9), (b, 4), (None, 2), (None, 2)] {
            tally.note(message, said(output));
        }
        assert_eq!(tally.total().output, Some(17));
        assert_eq!(tally.total().input, None);
    }
}
