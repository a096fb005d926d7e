//! `--host`, and the words of a command for another machine.

use std::ffi::OsString;

use clap::Args;

/// Whose sessions.
#[derive(Debug, Args, Default)]
pub(crate) struct HostArgs {
    /// Sessions of this host: a host of the settings, an ssh destination, `all` or `local`
    /// (repeatable)
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
}

/// Options of this machine, which a host does not get; each with a value.
const OWN_WITH_VALUE: [&str; 5] = ["--host", "--home", "--store", "--called-as", "--color"];
/// The same, without values.
const OWN_FLAGS: [&str; 4] = ["--json", "--no-pager", "--read-only", "--refresh"];

/// Returns the words of a command line for a host: without the options of this machine, and with
/// `named`, the session as it was typed, replaced by its name there.
pub(crate) fn words_there(line: &[OsString], named: Option<(&str, &str)>) -> Vec<String> {
    let mut words = Vec::new();
    let mut named = named;
    let mut rest = line.iter().skip(1).map(|word| word.to_string_lossy());
    let mut is_verbatim = false;
    while let Some(word) = rest.next() {
        is_verbatim |= word == "--";
        let option = word.split_once('=').map_or(word.as_ref(), |(name, _)| name);
        if !is_verbatim && OWN_WITH_VALUE.contains(&option) {
            if option == word {
                let _ = rest.next();
            }
            continue;
        }
        if !is_verbatim && OWN_FLAGS.contains(&word.as_ref()) {
            continue;
        }
        match named {
            Some((typed, there)) if typed == word => {
                words.push(there.to_owned());
                named = None;
            }
            _ => words.push(word.into_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str], named: Option<(&str, &str)>) -> Vec<String> {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        words_there(&line, named)
    }

    #[test]
    fn a_host_gets_the_command_without_options_of_this_machine() {
        let line = [
            "boswell",
            "--home",
            "/h",
            "search",
            "--host=box",
            "--json",
            "--store",
            "a=b",
            "--limit",
            "3",
            "-q",
            "a b",
            "--",
            "--json",
            "--host",
        ];
        assert_eq!(
            words(&line, None),
            [
                "search", "--limit", "3", "-q", "a b", "--", "--json", "--host"
            ]
        );
    }

    #[test]
    fn a_session_gets_its_name_there() {
        let line = ["boswell", "show", "box:claude:1", "--entry", "box:claude:1"];
        assert_eq!(
            words(&line, Some(("box:claude:1", "claude:1"))),
            ["show", "claude:1", "--entry", "box:claude:1"]
        );
    }
}
