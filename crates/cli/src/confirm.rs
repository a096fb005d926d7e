//! Asks before something that cannot be undone.
//!
//! `delete --purge` and `secrets --scrub` print their plan and ask on a terminal; elsewhere they
//! need `--apply` (exit code 2 without).

#![expect(
    clippy::print_stderr,
    reason = "a question is not an answer, so it does not go to stdout"
)]

use std::io::BufRead;
use std::process::ExitCode;

use boswell_model::{Error, Result};

use crate::app::App;
use crate::plan_lines::NOT_APPLIED;

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Agreed {
    /// The user wants it.
    Yes,
    /// The user declined, or there was no terminal to ask on: the command ends with this code.
    No(ExitCode),
}

/// A plan that was shown, and that cannot be undone once it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Irreversible {
    /// Sessions are purged.
    Purge,
    /// Secrets are replaced.
    Scrub,
}

impl Irreversible {
    fn question(self) -> &'static str {
        match self {
            Irreversible::Purge => "purge? no copy is kept, and this cannot be undone",
            Irreversible::Scrub => "replace the secrets? this cannot be undone",
        }
    }
}

/// Whether the plan that was shown is to be carried out: `--apply` says so, on a
/// terminal the user is asked.
pub(crate) fn ask(app: &App, apply: bool, plan: Irreversible) -> Result<Agreed> {
    if apply {
        return Ok(Agreed::Yes);
    }
    if app.requests.environment().terminal.is_none() {
        crate::error_report::say(NOT_APPLIED);
        return Ok(Agreed::No(ExitCode::from(2)));
    }
    eprint!("{} [y/N] ", plan.question());
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Error::io("the terminal", "read", error))?;
    if matches!(answer.trim(), "y" | "Y" | "yes" | "Yes") {
        return Ok(Agreed::Yes);
    }
    crate::error_report::say("nothing was changed");
    Ok(Agreed::No(ExitCode::SUCCESS))
}
