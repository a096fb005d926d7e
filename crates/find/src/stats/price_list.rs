//! List prices of models in dollars per million tokens, as of [`PRICES_AS_OF`].
//!
//! Entered from the price tables of two published packages (pi-ai 0.73.1 and oh-my-pi's catalog
//! 18.2.3). Where both state a price they agree except for rounding and the cache price of one
//! model; where one of them is older or has no price, the newer one is used. A price that is not
//! charged separately (writing to or reading from a cache) is entered as the input price. One hour
//! in the cache is priced as oh-my-pi and Claude Code themselves do it.

use super::prices::{Price, claude, price};

/// The date of the prices in the bundled table.
pub const PRICES_AS_OF: &str = "2026-09-20";

pub(super) const TABLE: &[(&str, Price)] = &[
    ("claude-3-5-haiku", claude(0.8, 4.0, 0.08, 1.0)),
    ("claude-3-5-sonnet", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-3-7-sonnet", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-3-haiku", claude(0.25, 1.25, 0.03, 0.3)),
    ("claude-3-opus", claude(15.0, 75.0, 1.5, 18.75)),
    ("claude-fable-5", claude(10.0, 50.0, 1.0, 12.5)),
    ("claude-fable-5-1", claude(10.0, 50.0, 0.25, 12.5)),
    ("claude-haiku-4-5", claude(1.0, 5.0, 0.1, 1.25)),
    ("claude-opus-4", claude(15.0, 75.0, 1.5, 18.75)),
    ("claude-opus-4-0", claude(15.0, 75.0, 1.5, 18.75)),
    ("claude-opus-4-1", claude(15.0, 75.0, 1.5, 18.75)),
    ("claude-opus-4-5", claude(5.0, 25.0, 0.5, 6.25)),
    ("claude-opus-4-6", claude(5.0, 25.0, 0.5, 6.25)),
    ("claude-opus-4-7", claude(5.0, 25.0, 0.5, 6.25)),
    ("claude-opus-4-8", claude(5.0, 25.0, 0.5, 6.25)),
    ("claude-opus-5", claude(5.0, 25.0, 0.5, 6.25)),
    ("claude-sonnet-4", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-sonnet-4-0", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-sonnet-4-5", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-sonnet-4-6", claude(3.0, 15.0, 0.3, 3.75)),
    ("claude-sonnet-5", claude(2.0, 10.0, 0.2, 2.5)),
    ("gpt-4.1", price(2.0, 8.0, 0.5, 2.0)),
    ("gpt-4.1-mini", price(0.4, 1.6, 0.1, 0.4)),
    ("gpt-4.1-nano", price(0.1, 0.4, 0.025, 0.1)),
    ("gpt-4o", price(2.5, 10.0, 1.25, 2.5)),
    ("gpt-4o-mini", price(0.15, 0.6, 0.075, 0.15)),
    ("gpt-5", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5-chat-latest", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5-codex", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5-mini", price(0.25, 2.0, 0.025, 0.25)),
    ("gpt-5-nano", price(0.05, 0.4, 0.005, 0.05)),
    ("gpt-5-pro", price(15.0, 120.0, 15.0, 15.0)),
    ("gpt-5.1", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5.1-chat-latest", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5.1-codex", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5.1-codex-max", price(1.25, 10.0, 0.125, 1.25)),
    ("gpt-5.1-codex-mini", price(0.25, 2.0, 0.025, 0.25)),
    ("gpt-5.2", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.2-chat-latest", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.2-codex", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.2-pro", price(21.0, 168.0, 21.0, 21.0)),
    ("gpt-5.3-chat-latest", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.3-codex", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.3-codex-spark", price(1.75, 14.0, 0.175, 1.75)),
    ("gpt-5.4", price(2.5, 15.0, 0.25, 2.5)),
    ("gpt-5.4-mini", price(0.75, 4.5, 0.075, 0.75)),
    ("gpt-5.4-nano", price(0.2, 1.25, 0.02, 0.2)),
    ("gpt-5.4-pro", price(30.0, 180.0, 30.0, 30.0)),
    ("gpt-5.5", price(5.0, 30.0, 0.5, 5.0)),
    ("gpt-5.5-pro", price(30.0, 180.0, 30.0, 30.0)),
    ("gpt-5.6", price(4.0, 20.0, 0.4, 5.0)),
    ("gpt-5.6-luna", price(0.2, 1.2, 0.02, 0.25)),
    ("gpt-5.6-sol", price(4.0, 20.0, 0.4, 5.0)),
    ("gpt-5.6-terra", price(2.0, 12.0, 0.2, 2.5)),
    ("o1", price(15.0, 60.0, 7.5, 15.0)),
    ("o3", price(2.0, 8.0, 0.5, 2.0)),
    ("o3-mini", price(1.1, 4.4, 0.55, 1.1)),
    ("o3-pro", price(20.0, 80.0, 20.0, 20.0)),
    ("o4-mini", price(1.1, 4.4, 0.275, 1.1)),
    ("gemini-2.5-flash", price(0.3, 2.5, 0.03, 0.3)),
    ("gemini-2.5-flash-lite", price(0.1, 0.4, 0.01, 0.1)),
    ("gemini-2.5-pro", price(1.25, 10.0, 0.125, 1.25)),
    ("gemini-3-flash-preview", price(0.5, 3.0, 0.05, 0.5)),
    ("gemini-3-pro-preview", price(2.0, 12.0, 0.2, 2.0)),
    ("gemini-3.1-flash-lite", price(0.25, 1.5, 0.025, 0.25)),
    ("gemini-3.1-pro-preview", price(2.0, 12.0, 0.2, 2.0)),
    ("gemini-3.5-flash", price(1.5, 9.0, 0.15, 1.5)),
    ("gemini-3.5-flash-lite", price(0.3, 2.5, 0.03, 0.3)),
    ("gemini-3.6-flash", price(0.75, 3.75, 0.075, 0.75)),
    ("gemini-3.7-flash", price(0.75, 3.75, 0.075, 0.75)),
    ("gemini-3.8-flash", price(0.75, 3.75, 0.075, 0.75)),
    ("grok-4", price(3.0, 15.0, 0.75, 3.0)),
    ("grok-4-fast", price(0.2, 0.5, 0.05, 0.2)),
    ("grok-4.3", price(1.25, 2.5, 0.2, 1.25)),
    ("grok-4.5", price(2.0, 6.0, 0.3, 2.0)),
    ("grok-4.6", price(2.0, 6.0, 0.5, 2.0)),
    ("grok-build-0.1", price(1.0, 2.0, 0.2, 1.0)),
    ("grok-code-fast-1", price(0.2, 1.5, 0.02, 0.2)),
    ("kimi-k2-thinking", price(0.6, 2.5, 0.15, 0.6)),
    ("kimi-k2.5", price(0.6, 3.0, 0.1, 0.6)),
    ("kimi-k2.6", price(0.95, 4.0, 0.16, 0.95)),
    ("kimi-k2.7-code", price(0.95, 4.0, 0.19, 0.95)),
    ("kimi-k3", price(3.0, 15.0, 0.3, 3.0)),
    ("glm-4.5", price(0.6, 2.2, 0.11, 0.6)),
    ("glm-4.5-air", price(0.2, 1.1, 0.03, 0.2)),
    ("glm-4.6", price(0.6, 2.2, 0.11, 0.6)),
    ("glm-4.7", price(0.6, 2.2, 0.11, 0.6)),
    ("glm-5", price(1.0, 3.2, 0.2, 1.0)),
    ("glm-5-turbo", price(1.2, 4.0, 0.24, 1.2)),
    ("glm-5.1", price(1.4, 4.4, 0.26, 1.4)),
    ("glm-5.2", price(1.4, 4.4, 0.26, 1.4)),
    ("MiniMax-M2", price(0.3, 1.2, 0.3, 0.3)),
    ("MiniMax-M2.1", price(0.3, 1.2, 0.03, 0.375)),
    ("MiniMax-M2.5", price(0.3, 1.2, 0.03, 0.375)),
    ("MiniMax-M2.7", price(0.3, 1.2, 0.06, 0.375)),
    ("MiniMax-M3", price(0.3, 1.2, 0.06, 0.3)),
    ("devstral-2512", price(0.4, 2.0, 0.4, 0.4)),
    ("devstral-latest", price(0.4, 2.0, 0.4, 0.4)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_stands_once_and_costs_something() {
        for (index, (name, price)) in TABLE.iter().enumerate() {
            assert!(
                TABLE.iter().skip(index + 1).all(|(other, _)| other != name),
                "{name} stands twice"
            );
            assert!(
                price.input > 0.0 && price.output > price.input && price.cache_read <= price.input,
                "{name}"
            );
        }
    }
}
