//! The one rule for what deletes or rewrites something that exists: the plan is printed; `--apply`
//! or a yes on the terminal carries it out.
//!
//! Where there is no terminal to ask on, or the answer is JSON, the plan and a hint are all,
//! and the exit code is 2.

#![expect(
    clippy::print_stderr,
    reason = "a question is not an answer, so it does not go to stdout"
)]

use std::io::BufRead;
use std::process::ExitCode;

use boswell_model::{Error, Result};

use crate::app::App;
use crate::plan_lines::NOT_APPLIED;
use crate::words::as_called;

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Agreed {
    /// The user wants it.
    Yes,
    /// The user declined, or there was no terminal to ask on: the command ends with this code.
    No(ExitCode),
}

/// A plan that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planned {
    /// Sessions are purged.
    Purge,
    /// Secrets are replaced.
    Scrub,
    /// Sessions go into the vault.
    Delete,
    /// Sessions go into the vault, and stay readable.
    Archive,
    /// Copies are dropped from the vault.
    DropCopies,
    /// Files of sessions that no longer exist go into the vault, and locks are removed.
    ClearLeftovers,
    /// Files of agents are rewritten.
    Rewrite,
    /// Files of a project are restored.
    RestoreFiles,
    /// A memory page is removed.
    RemovePage,
    /// A session of another agent is written.
    Convert,
    /// A session of a host or of the team is written.
    Copy,
    /// A hook is added to the settings of an agent, or a timer is created.
    Install,
}

impl Planned {
    fn question(self) -> &'static str {
        match self {
            Planned::Purge => "purge? no copy is kept, and this cannot be undone",
            Planned::Scrub => "replace the secrets? this cannot be undone",
            Planned::Delete => "delete? the vault keeps a copy",
            Planned::Archive => "archive?",
            Planned::DropCopies => "drop these copies? this cannot be undone",
            Planned::ClearLeftovers => "clear them away?",
            Planned::Rewrite => "change these files? `boswell undo` reverts it",
            Planned::RestoreFiles => "restore these files?",
            Planned::RemovePage => "remove the page? `boswell undo` brings it back",
            Planned::Convert => "write it? `boswell undo` removes it",
            Planned::Copy => "copy it? `boswell undo` removes it",
            Planned::Install => "install this? `boswell keep off` removes it",
        }
    }
}

/// Whether there is a person to ask.
pub(crate) fn can_ask(app: &App) -> bool {
    !app.json && app.requests.environment().terminal.is_some()
}

/// Whether the plan that was shown is to be carried out: `--apply` says so, on a
/// terminal the user is asked.
pub(crate) fn ask(app: &App, apply: bool, plan: Planned) -> Result<Agreed> {
    if apply {
        return Ok(Agreed::Yes);
    }
    if !can_ask(app) {
        crate::error_report::say(NOT_APPLIED);
        return Ok(Agreed::No(ExitCode::from(2)));
    }
    eprint!("{} [y/N] ", as_called(plan.question()));
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
