//! Options of `cargo xtask soak faults`.

use boswell_testkit::faults::{FaultKind, InjectedFault};

use crate::Outcome;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    /// Only cases whose name begins with this.
    pub(crate) command: Option<String>,
    /// Number of faults per case instead of all.
    pub(crate) sample: Option<usize>,
    /// Only this fault.
    pub(crate) fault: Option<InjectedFault>,
    pub(crate) workers: usize,
    /// Only list the cases.
    pub(crate) list: bool,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self {
            seed: 1,
            command: None,
            sample: None,
            fault: None,
            workers: 2,
            list: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || {
                rest.next()
                    .ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--seed" => options.seed = number(argument, value()?)?,
                "--command" => options.command = Some(value()?.clone()),
                "--sample" => options.sample = Some(number(argument, value()?)?),
                "--workers" => options.workers = number(argument, value()?)?,
                "--fault" => options.fault = Some(fault(value()?)?),
                "--list" => options.list = true,
                other => return Err(format!("soak faults has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Outcome<T> {
    text.parse()
        .map_err(|_| format!("{option} takes a number, found `{text}`").into())
}

/// Parses `eio@17`.
fn fault(text: &str) -> Outcome<InjectedFault> {
    let wrong = || format!("--fault takes KIND@CALL such as `eio@17`, found `{text}`");
    let (kind, at) = text.split_once('@').ok_or_else(wrong)?;
    Ok(InjectedFault {
        kind: FaultKind::named(kind).ok_or_else(wrong)?,
        at: at.parse().map_err(|_| wrong())?,
    })
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
    fn a_fault_is_named_by_kind_and_call() {
        let options = parse("--command rename --fault half-kill@17 --seed 9").expect("valid");
        assert_eq!(
            options.fault,
            Some(InjectedFault {
                kind: FaultKind::HalfKill,
                at: 17
            })
        );
        assert_eq!(
            (options.command.as_deref(), options.seed),
            (Some("rename"), 9)
        );
    }

    #[test]
    fn wrong_requests_are_refused() {
        for text in [
            "--fault eio",
            "--fault x@1",
            "--sample",
            "--sample x",
            "--bogus",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
