//! Token usage and cost of messages and sessions.
//!
//! [`UsageTally`] counts each API message once. Agents write one message as several lines, which
//! repeat its usage, and forks copy the lines of their parents.
//!
//! An unknown count is not zero: it is `None`, `null` in JSON and a dash in tables.

use std::collections::HashMap;

use crate::{CumulativeUsage, Instant, Symbol};

/// Tokens and cost. `None` means unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Input tokens.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache, for any duration.
    pub cache_write: Option<u64>,
    /// The part of `cache_write` that was written for one hour, which costs more; known only if the
    /// agent counts it separately.
    pub cache_write_1h: Option<u64>,
    /// Tokens spent on reasoning, if they are counted separately.
    pub reasoning: Option<u64>,
    /// Cost in dollars, if the agent recorded it.
    pub cost: Option<f64>,
    /// Requests, for plans that count requests instead of tokens. A request to some models counts
    /// as a fraction or as several.
    pub premium_requests: Option<f64>,
}

impl Usage {
    /// Whether no value is known.
    pub fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }

    /// Whether every known value is zero.
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

    /// Returns a copy in which every known value is zero.
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

    /// Returns what was added since `earlier`; `None` if any count became smaller. The cost is not
    /// compared.
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

    /// Adds another usage; unknown plus known is known.
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

/// Facts about an API message other than its usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// When the message was sent.
    pub at: Option<Instant>,
    /// The model of the message.
    pub model: Option<Symbol>,
    /// Id of the request that the message answers, if the agent records it.
    pub request: Option<Symbol>,
    /// Whether the message's id means the same message in every session, so that copies in forks
    /// can be recognised.
    pub everywhere: bool,
    /// Whether the line only repeats the usage of a subagent, which has a transcript of its own.
    pub relayed: bool,
    /// The session in which the running total started, for agents that record only a total, which
    /// continues in forks.
    pub lineage: Option<Symbol>,
    /// Whether the line was copied from the parent session, where the usage is counted.
    pub inherited: bool,
}

/// The usage of one API message.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageRecord {
    /// Tokens and cost of the message.
    pub usage: Usage,
    /// Other facts about the message.
    pub said: Said,
}

/// Sums up usage once per API message, regardless of how many lines repeat it.
#[derive(Debug, Default, Clone)]
pub struct UsageTally {
    by_message: HashMap<Symbol, UsageRecord>,
    unnamed: Vec<UsageRecord>,
    /// The counter for agents that record only a running total.
    pub running: CumulativeUsage,
}

const DAY: i64 = 86_400_000;

impl UsageTally {
    /// Records the usage that a line states. Lines of one message repeat its total, which grows
    /// while it streams: the last line counts.
    pub fn note(&mut self, message: Option<Symbol>, usage: Usage) {
        self.note_said(message, usage, Said::default());
    }

    /// As [`UsageTally::note`], with other facts about the message.
    pub fn note_said(&mut self, message: Option<Symbol>, usage: Usage, said: Said) {
        if let Some(name) = message {
            self.by_message.insert(name, UsageRecord { usage, said });
            return;
        }
        // Usage without a message id is summed by day and model, so that the tally of a long
        // session stays small.
        let day = |at: Option<Instant>| at.map(|at| at.millis().div_euclid(DAY));
        let alike = |noted: &&mut UsageRecord| {
            noted.said.model == said.model && day(noted.said.at) == day(said.at)
        };
        match self.unnamed.iter_mut().find(alike) {
            Some(noted) => noted.usage.add(&usage),
            None => self.unnamed.push(UsageRecord { usage, said }),
        }
    }

    /// Iterates over the usage by message; usage without a message id is summed by day and model.
    pub fn items(&self) -> impl Iterator<Item = (Option<Symbol>, &UsageRecord)> {
        // In a fixed order, so that floating-point sums are reproducible.
        let mut named: Vec<(Symbol, &UsageRecord)> = self
            .by_message
            .iter()
            .map(|(name, noted)| (*name, noted))
            .collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        let named = named.into_iter().map(|(name, noted)| (Some(name), noted));
        named.chain(self.unnamed.iter().map(|noted| (None, noted)))
    }

    /// Returns the sum over all messages that this session itself paid for.
    pub fn total(&self) -> Usage {
        let mut total = Usage::default();
        for (_, noted) in self.items() {
            // Inherited usage counts as a known zero, not as unknown.
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
