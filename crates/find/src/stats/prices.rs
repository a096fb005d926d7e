//! Prices of models: a bundled table of list prices of one date, and overrides from the user.
//!
//! Nothing is fetched, so the table becomes outdated. Contracts, discounts, batch prices and
//! surcharges for long contexts are not included.

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result, Usage};

use super::price_list::TABLE;

/// The price of one model in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens, which include reasoning tokens.
    pub output: f64,
    /// Price of tokens read from the prompt cache.
    pub cache_read: f64,
    /// Price of tokens written to the prompt cache for five minutes.
    pub cache_write: f64,
    /// Price of tokens written to the prompt cache for one hour.
    pub cache_write_1h: f64,
}

pub(super) const fn price(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price {
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h: cache_write,
    }
}

/// As [`price`], for Claude models: one hour in the cache costs twice the input price, for every
/// model.
pub(super) const fn claude(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price {
        cache_write_1h: 2.0 * input,
        ..price(input, output, cache_read, cache_write)
    }
}

/// Prices of models: the overrides of the user, then the bundled table.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    own: Vec<(String, Price)>,
}

impl Prices {
    /// Parses `{"model": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}`, in
    /// dollars per million tokens. A missing cache price defaults to the input price, and a missing
    /// `cache_write_1h` to the price of `cache_write`.
    pub fn parse(json: &[u8]) -> Result<Prices> {
        let bad = |why: String| {
            Error::new(ErrorKind::Invalid, "the prices cannot be read").because(why).hinting(
                "give each model an `input`, an `output`, and if they differ from input a `cache_read`, a `cache_write` and a `cache_write_1h`, in dollars for a million tokens",
            )
        };
        let raw = Raw::parse(json).map_err(|_| bad("they are not JSON".to_owned()))?;
        let mut own = Vec::new();
        for (name, value) in raw.members() {
            let name = name.to_text().into_owned();
            let part = |key: &str| {
                value
                    .get(key)
                    .map(|n| n.f64().filter(|n| n.is_finite() && *n >= 0.0))
            };
            let number = |key: &str, otherwise: Option<f64>| match part(key) {
                Some(Some(number)) => Ok(number),
                None if otherwise.is_some() => Ok(otherwise.unwrap_or_default()),
                _ => Err(bad(format!("`{}` has no fit `{key}`", name.escape_debug()))),
            };
            let (input, output) = (number("input", None)?, number("output", None)?);
            let (read, write) = (
                number("cache_read", Some(input))?,
                number("cache_write", Some(input))?,
            );
            let hour = number("cache_write_1h", Some(write))?;
            own.push((
                name.clone(),
                Price {
                    cache_write_1h: hour,
                    ..price(input, output, read, write)
                },
            ));
        }
        // `of` takes the first match, so the longest name must come first.
        own.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Ok(Prices { own })
    }

    /// Returns whether only the bundled table is used, without overrides of the user.
    pub fn is_bundled(&self) -> bool {
        self.own.is_empty()
    }

    /// Returns the price of `model`, or `None` for an unknown model. A date after the name and a
    /// provider before it are ignored (`anthropic/claude-opus-4-5-20251101`); a name that is merely
    /// similar does not match.
    pub fn of(&self, model: &str) -> Option<Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let bare = bare.split(['@', ':', '[']).next().unwrap_or(bare);
        let fits = |known: &str| model == known || bare.strip_prefix(known).is_some_and(is_date);
        let own = self
            .own
            .iter()
            .find(|(known, _)| fits(known))
            .map(|(_, price)| *price);
        own.or_else(|| {
            TABLE
                .iter()
                .find(|(known, _)| fits(known))
                .map(|(_, price)| *price)
        })
    }
}

fn is_date(rest: &str) -> bool {
    let date =
        |date: &str| date.len() >= 8 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    rest.is_empty() || rest == "-latest" || rest.strip_prefix('-').is_some_and(date)
}

impl Price {
    /// Returns the cost of `usage` in dollars; unknown counts are taken as zero.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let part = |count: Option<u64>, price: f64| count.unwrap_or(0) as f64 * price / 1e6;
        // One-hour cache writes are part of all cache writes; a log that states more must not make
        // the difference underflow.
        let hour = usage
            .cache_write_1h
            .map(|hour| hour.min(usage.cache_write.unwrap_or(0)));
        let rest = usage.cache_write.map(|written| written - hour.unwrap_or(0));
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(rest, self.cache_write)
            + part(hour, self.cache_write_1h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_name_and_never_by_likeness() {
        let prices = Prices::default();
        assert_eq!(
            prices.of("claude-sonnet-4-5-20250929").unwrap().output,
            15.0
        );
        assert_eq!(prices.of("anthropic/claude-opus-4-5").unwrap().input, 5.0);
        assert_eq!(prices.of("claude-opus-4-20250514").unwrap().input, 15.0);
        assert_eq!(prices.of("claude-opus-4-9"), None);
        assert_eq!(prices.of("gpt-5-nano-turbo"), None);
        assert_eq!(prices.of(""), None);
    }

    #[test]
    fn an_hour_in_the_cache_costs_twice_what_is_sent_and_the_rest_as_before() {
        let million = |cache_write, cache_write_1h| Usage {
            cache_write,
            cache_write_1h,
            ..Usage::default()
        };
        let price = Prices::default().of("claude-opus-4-5").unwrap();
        assert_eq!(price.cost(&million(Some(4_000_000), None)), 25.0);
        assert_eq!(
            price.cost(&million(Some(4_000_000), Some(1_000_000))),
            3.0 * 6.25 + 10.0
        );
        assert_eq!(
            price.cost(&million(Some(1_000_000), Some(9_000_000))),
            10.0,
            "no more than was written"
        );
        let own = Prices::parse(
            br#"{"m":{"input":1,"output":2,"cache_write":3},"n":{"input":1,"output":2,"cache_write_1h":5}}"#,
        )
        .unwrap();
        assert_eq!(
            own.of("m")
                .unwrap()
                .cost(&million(Some(1_000_000), Some(1_000_000))),
            3.0
        );
        assert_eq!(
            own.of("n")
                .unwrap()
                .cost(&million(Some(2_000_000), Some(1_000_000))),
            1.0 + 5.0
        );
    }

    #[test]
    fn what_the_user_says_comes_first_and_what_is_not_said_costs_as_input() {
        let prices =
            Prices::parse(br#"{"gpt-5-wide":{"input":1,"output":2},"gpt-5":{"input":7,"output":8,"cache_read":0}}"#);
        let prices = prices.unwrap();
        assert_eq!(prices.of("gpt-5-wide"), Some(price(1.0, 2.0, 1.0, 1.0)));
        assert_eq!(
            prices.of("openai/gpt-5-2026-01-01"),
            Some(price(7.0, 8.0, 0.0, 7.0))
        );
        assert_eq!(prices.of("gpt-5-mini"), Prices::default().of("gpt-5-mini"));
        for bad in [
            "",
            "[",
            r#"{"m":{}}"#,
            r#"{"m":{"input":-1,"output":1}}"#,
            r#"{"m":{"input":"1","output":1}}"#,
        ] {
            assert_eq!(
                Prices::parse(bad.as_bytes()).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{bad}"
            );
        }
    }
}
