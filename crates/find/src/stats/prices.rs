//! What models cost, as their makers stated it on one day.

use boswell_model::Usage;

/// The day on which the prices below were looked up.
pub const PRICES_AS_OF: &str = "2025-12-01";

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received; reasoning is part of them.
    pub output: f64,
    /// Tokens read from the cache.
    pub cache_read: f64,
    /// Tokens written to the cache, for five minutes.
    pub cache_write: f64,
}

const fn price(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price { input, output, cache_read, cache_write }
}

const TABLE: &[(&str, Price)] = &[
    ("claude-opus-4-5", price(5.0, 25.0, 0.5, 6.25)),
    ("claude-opus-4-1", price(15.0, 75.0, 1.5, 18.75)),
    ("claude-opus-4", price(15.0, 75.0, 1.5, 18.75)),
    ("claude-sonnet-4-5", price(3.0, 15.0, 0.3, 3.75)),
    ("claude-sonnet-4", price(3.0, 15.0, 0.3, 3.75)),
    ("claude-3-7-sonnet", price(3.0, 15.0, 0.3, 3.75)),
    ("claude-3-5-sonnet", price(3.0, 15.0, 0.3, 3.75)),
    ("claude-haiku-4-5", price(1.0, 5.0, 0.1, 1.25)),
    ("claude-3-5-haiku", price(0.8, 4.0, 0.08, 1.0)),
    ("gpt-5", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5-codex", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5-mini", price(0.25, 2.0, 0.025, 0.25)),
    ("gpt-4.1", price(2.0, 8.0, 0.5, 2.0)),
    ("gemini-2.5-pro", price(1.25, 10.0, 0.125, 1.25)),
    ("gemini-2.5-flash", price(0.3, 2.5, 0.03, 0.3)),
];

/// The price of a model; none for one that is not in the table. A date behind its name does not matter, a provider before it neither.
pub fn price_of(model: &str) -> Option<Price> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split(['@', ':', '[']).next().unwrap_or(name);
    let dated = |rest: &str| {
        rest.is_empty()
            || rest == "-latest"
            || rest
                .strip_prefix('-')
                .is_some_and(|date| date.len() >= 8 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
    };
    TABLE.iter().find(|(known, _)| name.strip_prefix(known).is_some_and(dated)).map(|(_, price)| *price)
}

impl Price {
    /// What so many tokens cost.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let part = |count: Option<u64>, price: f64| count.unwrap_or(0) as f64 * price / 1e6;
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(usage.cache_write, self.cache_write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_name_and_never_by_likeness() {
        assert_eq!(price_of("claude-sonnet-4-5-20250929").unwrap().output, 15.0);
        assert_eq!(price_of("anthropic/claude-opus-4-5").unwrap().input, 5.0);
        assert_eq!(price_of("claude-opus-4-20250514").unwrap().input, 15.0);
        assert_eq!(price_of("claude-opus-4-9"), None);
        assert_eq!(price_of("gpt-5-nano"), None);
        assert_eq!(price_of(""), None);
    }
}
