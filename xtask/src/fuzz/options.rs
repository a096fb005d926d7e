//! Options of `cargo xtask fuzz`.

use std::path::PathBuf;

use crate::Outcome;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) target: Option<String>,
    /// Run this one input and nothing else.
    pub(crate) input: Option<PathBuf>,
    /// Set for the child process that does the work.
    pub(crate) worker: bool,
    /// Where the worker writes each input before it runs it.
    pub(crate) trace: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self {
            seconds: 5,
            seed: 1,
            target: None,
            input: None,
            worker: false,
            trace: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || {
                rest.next()
                    .ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--seconds" => options.seconds = number(argument, value()?)?,
                "--seed" => options.seed = number(argument, value()?)?,
                "--input" => options.input = Some(PathBuf::from(value()?)),
                "--trace" => options.trace = Some(PathBuf::from(value()?)),
                "--worker" => options.worker = true,
                flag if flag.starts_with('-') => {
                    return Err(format!("fuzz has no option {flag}").into());
                }
                name if options.target.is_none() => options.target = Some(name.to_owned()),
                extra => return Err(format!("fuzz takes one target; what is `{extra}`?").into()),
            }
        }
        Ok(options)
    }
}

fn number(option: &str, text: &str) -> Outcome<u64> {
    text.parse()
        .map_err(|_| format!("{option} takes a number, found `{text}`").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Outcome<Options> {
        Options::parse(
            &text
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn options_and_target_may_come_in_any_order() {
        let options = parse("claude --seconds 3 --seed 9").expect("valid");
        assert_eq!(
            (options.seconds, options.seed, options.target.as_deref()),
            (3, 9, Some("claude"))
        );
        assert_eq!(parse("").expect("valid").seconds, 5);
    }

    #[test]
    fn wrong_requests_are_refused() {
        for text in ["--seconds", "--seconds x", "--bogus", "one two"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
