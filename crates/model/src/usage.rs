//! What a conversation cost.

use std::collections::HashMap;

use crate::Name;

/// Tokens and money. What was not stated is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Tokens spent on reasoning, where they are counted apart.
    pub reasoning: Option<u64>,
    /// Dollars, where the agent recorded them.
    pub cost: Option<f64>,
}

impl Usage {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }

    /// Adds another; unknown plus known is known.
    pub fn add(&mut self, other: &Usage) {
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.reasoning, other.reasoning);
        if let Some(cost) = other.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// Adds up usage once for each API message, however many lines repeat it.
#[derive(Debug, Default, Clone)]
pub struct UsageTally {
    by_message: HashMap<Name, Usage>,
    unnamed: Usage,
}

impl UsageTally {
    /// Notes what a line states. Lines of one message state the same sum, growing while it streams: the last one counts.
    pub fn note(&mut self, message: Option<Name>, usage: Usage) {
        match message {
            Some(name) => {
                self.by_message.insert(name, usage);
            }
            None => self.unnamed.add(&usage),
        }
    }

    /// The sum over all messages.
    pub fn total(&self) -> Usage {
        let mut total = self.unnamed;
        for usage in self.by_message.values() {
            total.add(usage);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_of_one_message_count_once_and_unknown_is_not_zero() {
        let mut names = crate::Names::default();
        let (a, b) = (names.intern("a"), names.intern("b"));
        let said = |output| Usage { output: Some(output), ..Usage::default() };
        let mut tally = UsageTally::default();
        for (message, output) in [(a, 1), (a, 9), (b, 4), (None, 2), (None, 2)] {
            tally.note(message, said(output));
        }
        assert_eq!(tally.total().output, Some(17));
        assert_eq!(tally.total().input, None);
    }
}
