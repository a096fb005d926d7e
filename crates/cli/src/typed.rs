//! Reads what was typed.
//!
//! Describing every command and its options takes longer than many a command itself, so one whose name comes first is read
//! with the description of that command alone. Whatever does not fit, help included, is left to the whole description: it
//! knows what to suggest.

use std::ffi::{OsStr, OsString};

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Subcommand as _};

use crate::args::{Args, Command, Global};

/// The whole description: every command with all its options.
pub(crate) fn description() -> clap::Command {
    let mut whole = Args::command();
    // Commands are described when they are asked for.
    whole.build();
    whole
}

/// Reads a command line whose first word is the program.
pub(crate) fn read(words: &[OsString]) -> Result<Args, clap::Error> {
    if let Some(args) = read_alone(words) {
        return Ok(args);
    }
    let mut whole = description();
    let matches = whole.try_get_matches_from_mut(words)?;
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut whole))
}

/// Reads it as the command that is named first; none if none is, or something does not fit.
fn read_alone(words: &[OsString]) -> Option<Args> {
    let alone = match words.get(1) {
        Some(verb) => described_alone(verb)?,
        None => Global::augment_args(clap::Command::new("boswell")),
    };
    Args::from_arg_matches(&alone.try_get_matches_from(words).ok()?).ok()
}

/// The program as if it had that command only.
fn described_alone(verb: &OsStr) -> Option<clap::Command> {
    let verbs = Command::augment_subcommands(clap::Command::new("verbs"));
    let verb = verbs.find_subcommand(verb)?.clone();
    Some(Global::augment_args(clap::Command::new("boswell")).subcommand(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn every_command_is_described_alone_as_it_is_among_the_others() {
        let mut seen = 0;
        for among in description().get_subcommands() {
            let mut alone = described_alone(OsStr::new(among.get_name())).expect("every command has a name");
            alone.build();
            let alone = alone.find_subcommand(among.get_name()).expect("it was just added");
            let options = |of: &clap::Command| of.get_arguments().map(|it| format!("{it:?}")).collect::<Vec<_>>();
            assert_eq!(options(alone), options(among), "{}", among.get_name());
            seen += 1;
        }
        assert!(seen > 40, "{seen}");
    }

    #[test]
    fn a_command_is_read_alone_as_the_whole_description_reads_it() {
        for line in [
            "boswell context 0b7e --json --leaf a1",
            "boswell context --store pi=/x --store omp=/y 0b7e --home /h --sent",
            "boswell list --limit 5 --color never",
            "boswell show -q -- -odd",
            "boswell stores",
            "boswell",
        ] {
            let words = words(line);
            let alone = read_alone(&words).expect(line);
            let whole = description().try_get_matches_from(&words).and_then(|it| Args::from_arg_matches(&it));
            assert_eq!(format!("{alone:?}"), format!("{:?}", whole.expect(line)), "{line}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_whole_description() {
        for line in ["boswell --json context x", "boswell contxt x", "boswell context", "boswell context -h"] {
            let words = words(line);
            assert!(read_alone(&words).is_none(), "{line}");
        }
        let error = read(&words("boswell contxt x")).expect_err("there is no such command").to_string();
        assert!(error.contains("context"), "{error}");
        let help = read(&words("boswell -h")).expect_err("help is no command").to_string();
        assert!(help.contains("Show the messages that a model would be sent"), "{help}");
    }
}
