//! Prices of models: a bundled table of list prices of one date, and overrides from the user.
//!
//! Nothing is fetched, so the table becomes outdated. Contracts, discounts, batch prices and
//! surcharges for long contexts are not included.

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result, Usage};

use super::model_name::names;
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
            Error::new(ErrorKind::Invalid, "the prices cannot be read").because(why).advising(
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
        Ok(Prices { own })
    }

    /// Returns whether only the bundled table is used, without overrides of the user.
    pub fn is_bundled(&self) -> bool {
        self.own.is_empty()
    }

    /// The price of a model; none where neither list has it. Of the names that it may be
    /// listed under (see `model_name::names`) the longest counts; prices of the user come
    /// before those of the table.
    pub fn of(&self, model: &str) -> Option<Price> {
        let names = names(model);
        let own = |name: &&str| {
            let mut own = self.own.iter();
            own.find(|(known, _)| known == name)
                .map(|(_, price)| *price)
        };
        let listed = |name: &&str| {
            let mut table = TABLE.iter();
            table
                .find(|(known, _)| known == name)
                .map(|(_, price)| *price)
        };
        let of_user = names.iter().find_map(own);
        of_user.or_else(|| names.iter().find_map(listed))
    }
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

    /// Prefixes and suffixes that providers add to the name of a model.
    const FORMS: [(&str, &str); 20] = [
        ("", ""),
        ("", "-20251101"),
        ("", "-2025-11-01"),
        ("", "-latest"),
        ("", "@20251101"),
        ("", "@default"),
        ("", "[1m]"),
        ("", "-20251101[1m]"),
        ("", ":high"),
        ("anthropic/", ""),
        ("openrouter/anthropic/", "-20251101"),
        ("anthropic.", "-v1:0"),
        ("anthropic.", "-20251101-v1:0"),
        ("us.anthropic.", "-20251101-v1:0"),
        ("eu.anthropic.", "-v1"),
        ("apac.anthropic.", "-20251101-v2:0"),
        ("global.anthropic.", "-20251101-v1:0[1m]"),
        ("us.", "-20251101"),
        ("bedrock/us.anthropic.", "-20251101-v1:0"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.",
            "-v1:0",
        ),
    ];

    #[test]
    fn every_listed_model_is_priced_as_itself_in_every_form() {
        // A different price for each, so that no two models can be confused.
        let list = TABLE.iter().enumerate().map(|(at, (name, _))| {
            let at = at + 1;
            format!(r#""{name}":{{"input":{at},"output":{at}}}"#)
        });
        let list = format!("{{{}}}", list.collect::<Vec<_>>().join(","));
        let apart = Prices::parse(list.as_bytes()).unwrap();
        for (at, (name, listed)) in TABLE.iter().enumerate() {
            for (before, behind) in FORMS {
                let model = format!("{before}{name}{behind}");
                // `gpt-5-chat` has no price and `gpt-5-chat-latest` has one: `-latest` is part of
                // the name here.
                if TABLE
                    .iter()
                    .any(|(other, _)| *other == model && other != name)
                {
                    continue;
                }
                let input = apart.of(&model).map(|price| price.input);
                assert_eq!(input, Some((at + 1) as f64), "{model}");
                assert_eq!(Prices::default().of(&model), Some(*listed), "{model}");
            }
        }
    }

    #[test]
    fn a_version_before_a_date_is_part_of_the_name() {
        let prices = Prices::default();
        let input = |model: &str| prices.of(model).map(|price| price.input);
        assert_eq!(input("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input("claude-opus-4-1-20250805"), Some(15.0));
        assert_eq!(
            input("claude-opus-4-9-20270101"),
            None,
            "a model that is not listed"
        );
        assert_eq!(
            input("kimi-k2.5:free"),
            None,
            "another price than that of the list"
        );
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
