//! Phrases the next step of an error as a command or flag to copy.
//!
//! The libraries name the step ([`Advice`]); this is the only place that knows which command does
//! it. Each phrase is a clause without a full stop, so that several can be joined.

use boswell_model::{Advice, RequestInput, shell_option, shell_quote};

use super::as_called;

/// Phrases a next step.
pub(crate) fn phrase(advice: &Advice) -> String {
    as_called(&clause(advice))
}

fn clause(advice: &Advice) -> String {
    match advice {
        Advice::Plain(text) => text.clone().into_owned(),
        Advice::AnyOf(steps) => joined(steps, "or"),
        Advice::InOrder(steps) => joined(steps, "then"),
        Advice::AllOf(steps) => {
            let steps: Vec<String> = steps.iter().map(clause).collect();
            steps.join("; ")
        }
        step => simple(step)
            .or_else(|| of_input(step))
            .or_else(|| looking(step))
            .or_else(|| of_session(step))
            .or_else(|| of_file(step))
            .or_else(|| of_repair(step))
            .or_else(|| of_home(step))
            // A variant without words: the test below finds it.
            .unwrap_or_else(|| step.word().replace('_', " ")),
    }
}

/// The first command of a next step, without backticks.
pub(crate) fn command(advice: &Advice) -> Option<String> {
    phrase(advice).split('`').nth(1).map(str::to_owned)
}

/// Joins steps: `a, b, or c`.
fn joined(steps: &[Advice], word: &str) -> String {
    let mut phrases: Vec<String> = steps.iter().map(clause).collect();
    if let [_, .., last] = phrases.as_mut_slice() {
        *last = format!("{word} {last}");
    }
    phrases.join(", ")
}

/// Puts a session behind a command, if there is one: `boswell show` or `boswell show pi:7k3q`.
fn with(command: &str, session: Option<&String>) -> String {
    match session {
        Some(session) => format!("`{command} {}`", shell_quote(session)),
        None => format!("`{command}`"),
    }
}

fn simple(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::Retry => "try again",
        Advice::RetryLater => "try again when the other process has ended",
        Advice::WaitLonger => "wait with `--wait 10s`",
        Advice::CloseAgent => "end the agent first",
        Advice::ReopenSession => "open the session again and append there",
        Advice::ReadAgain => "read it again, then append with the revision or leaf that you found",
        Advice::Upgrade => "update boswell",
        Advice::AllowWriting => "leave out --read-only, and unset BOSWELL_READ_ONLY",
        Advice::UseListedId => "use an id as `boswell list --hidden` shows it",
        Advice::UseListedRevision => {
            "take it from `revision` of a receipt, or of `boswell list --json`"
        }
        Advice::GiveLongerOperationId => {
            "give more of its id; `boswell ops --json` prints whole ids"
        }
        Advice::ListSessionFiles => "see the files of sessions with `boswell list --json`",
        Advice::ListStores => "see the stores with `boswell stores`",
        Advice::SeeCapabilities => "see what each store supports with `boswell stores`",
        Advice::ListProjects => "see the folders that have sessions with `boswell projects`",
        Advice::ShowPrompts => "see the prompts with `boswell show --tools=off`",
        Advice::ShowTree => "see its entries with `boswell tree`",
        Advice::ShowFiles => "see which files the session touched with `boswell files`",
        Advice::ListOperations => "see what was done with `boswell ops`",
        Advice::ShowKept => "see what is kept with `boswell keep status`",
        Advice::ShowSettings => "see what can be set with `boswell config`",
        Advice::ShowMemory => "see its pages with `boswell memory`",
        Advice::NewSession => "create a session with `boswell new`",
        Advice::ChooseLeaf => "choose its branch with `boswell branch`",
        Advice::Rewind => "remove its end with `boswell rewind`",
        Advice::Rename => "give it a title with `boswell rename`",
        Advice::Tag => "give it tags with `boswell tag`",
        _ => return None,
    };
    Some(text.to_owned())
}

/// What to leave out of a request, or to add to it.
fn of_input(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::Omit(RequestInput::SessionId) => "leave --id out, and an id is generated",
        Advice::Omit(RequestInput::ForkStyle) => "leave out --style",
        Advice::Omit(RequestInput::ForkScope) => "leave out --whole",
        Advice::Omit(RequestInput::Project) => "leave out --project",
        Advice::Omit(RequestInput::BranchSummary) => "leave out --summary",
        Advice::Omit(RequestInput::PageCursor) => "start again without --cursor",
        Advice::Omit(RequestInput::TargetReader) => "leave out --for",
        Advice::Give(RequestInput::Project) => "name its folder with `--project DIR`",
        Advice::Give(RequestInput::Backend) => {
            "name provider and model with `--backend openai/gpt-4o`"
        }
        Advice::Give(RequestInput::Home) => "name one with `--home DIR` or BOSWELL_HOME",
        Advice::Give(RequestInput::SearchScope { known }) => {
            return Some(format!("write --in with any of {}", known.join(", ")));
        }
        Advice::NameStore {
            dialect: Some(dialect),
        } => return Some(format!("name its folder with `--store {dialect}=PATH`")),
        Advice::NameStore { dialect: None } => "name the folder with `--store DIALECT=PATH`",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Steps that only read.
fn looking(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::ListSessions { dialect, hidden } => listing(dialect.as_deref(), *hidden),
        Advice::FindSessions { matching } => format!(
            "see them with `boswell list --hidden {}`",
            shell_option("--match", matching)
        ),
        Advice::ShowSession { session } => {
            format!("read it with {}", with("boswell show", session.as_ref()))
        }
        Advice::ShowRecords { session, around } => {
            let session = session.as_deref().map_or("SESSION".into(), shell_quote);
            match around {
                Some(entry) => format!(
                    "see the records around it with `boswell show {session} {} --records`",
                    shell_option("--around", entry)
                ),
                None => format!("see its records with `boswell show {session} --records`"),
            }
        }
        Advice::ShowBranch { session, leaf } => format!(
            "read the longer branch with `boswell show {} {}`",
            shell_quote(session),
            shell_option("--leaf", leaf)
        ),
        Advice::Check { session } => format!(
            "see what is wrong with {}",
            with("boswell check", session.as_ref())
        ),
        Advice::Handoff { session } => format!(
            "give the agent a digest with {}",
            with("boswell handoff", Some(session))
        ),
        Advice::Convert { session } => format!(
            "carry it over to another agent with {}",
            with("boswell convert --to AGENT", Some(session))
        ),
        Advice::ShowSecrets { session } => {
            format!("see them with {}", with("boswell secrets", Some(session)))
        }
        Advice::ShowOperation { operation } => format!(
            "see what the operation changed with `boswell ops --json`; its id is {operation}"
        ),
        _ => return None,
    })
}

fn listing(dialect: Option<&str>, hidden: bool) -> String {
    let dialect = dialect.map(|it| shell_option("--agent", it));
    let hidden = hidden.then(|| "--hidden".to_owned());
    let options = dialect.into_iter().chain(hidden);
    let words = std::iter::once("boswell list".to_owned()).chain(options);
    let words: Vec<String> = words.collect();
    format!("see the sessions with `{}`", words.join(" "))
}

/// Steps that change a session.
fn of_session(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::AppendTo { session } => {
            format!(
                "append to it with {}",
                with("boswell append", session.as_ref())
            )
        }
        Advice::Fork { session, at } => {
            let at = at.as_deref().map(|at| shell_option(" --at", at));
            let session = session.as_deref().map(|it| format!(" {}", shell_quote(it)));
            format!(
                "branch off with `boswell fork{}{}`",
                session.unwrap_or_default(),
                at.unwrap_or_default()
            )
        }
        Advice::Unpin { session } => format!(
            "unpin it first with `boswell untag {} {}`",
            shell_quote(session),
            boswell_model::PINNED
        ),
        Advice::CompleteSession { session } => {
            format!("end it first with {}", with("boswell close", Some(session)))
        }
        Advice::Restore { session } => format!(
            "restore it first with {}",
            with("boswell restore", session.as_ref())
        ),
        Advice::Delete { session } => {
            format!("delete it with {}", with("boswell delete", Some(session)))
        }
        Advice::Purge { session } => format!(
            "start it again with {}",
            with("boswell delete --purge", Some(session))
        ),
        Advice::ReplaceSecrets { session: None } => {
            "replace them everywhere with `boswell secrets --scrub --all`".to_owned()
        }
        Advice::ReplaceSecrets {
            session: Some(session),
        } => format!(
            "finish that with `boswell secrets --scrub {} --apply`",
            shell_quote(session)
        ),
        _ => return None,
    })
}

/// Steps that move sessions between formats, files and folders.
fn of_file(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::Migrate => {
            "migrate it to version 3 with `boswell migrate SESSION --apply`".to_owned()
        }
        Advice::ImportAgain => "import it again with `--again`".to_owned(),
        Advice::ExportDocument => {
            "export it again with `boswell export SESSION --format json`".to_owned()
        }
        Advice::CopySession { session } => {
            format!("copy it here with `boswell copy {}`", shell_quote(session))
        }
        Advice::ExportText { session } => format!(
            "share the text of `boswell export {} --format md`",
            shell_quote(session)
        ),
        Advice::ExportEveryByte { session } => format!(
            "write every byte with `boswell export {} --no-redact`",
            shell_quote(session)
        ),
        Advice::MoveProject { from } => format!(
            "if it was moved, move its sessions with `boswell move {} NEW`",
            from.as_deref().map_or("OLD".into(), shell_quote)
        ),
        Advice::MoveProjectBack { folders } => {
            let folders = folders.as_ref().map_or_else(
                || "NEW OLD".to_owned(),
                |(from, to)| format!("{} {}", shell_quote(from), shell_quote(to)),
            );
            format!("move the project back instead with `boswell move {folders} --apply`")
        }
        _ => return None,
    })
}

fn of_repair(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::ShowRepair { session, likely } => {
            let session = session.as_deref().map_or("SESSION".into(), shell_quote);
            let likely = if *likely { " --likely" } else { "" };
            return Some(format!(
                "see its steps with `boswell repair {session}{likely}`"
            ));
        }
        Advice::Repair { session } => {
            let session = shell_quote(session);
            return Some(format!("first run `boswell repair {session} --apply`"));
        }
        Advice::ChangeProvider { session } => {
            let session = shell_quote(session);
            return Some(format!(
                "make a fork for the current provider with \
                 `boswell repair {session} --provider --apply`"
            ));
        }
        Advice::RepairByStep => "choose single steps with `--step N`",
        Advice::RepairInPlace => {
            "change it in place, one step at a time: `--step N --in-place --apply`"
        }
        Advice::RepairIntoFork => "leave out --in-place, and a repaired fork is written",
        Advice::RepairLikely => "include the likely steps with `--likely`",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Steps about indexes, operations, copies and settings.
fn of_home(advice: &Advice) -> Option<String> {
    let text = match advice {
        Advice::RebuildAgentIndex => "rebuild the index with `boswell index --native --apply`",
        Advice::RebuildSearchIndex => "rebuild it with `boswell index --rebuild`",
        Advice::SearchSubstring => "search for the exact text with `--substring`",
        Advice::SearchWord => "give a word, as in `boswell search deadlock`",
        Advice::Undo { operation: None } => "undo it with `boswell undo`",
        Advice::Undo {
            operation: Some(operation),
        } => return Some(format!("undo it with `boswell undo {operation}`")),
        Advice::UndoKeepingNew { operation } => {
            return Some(format!(
                "keep what was written since with `boswell undo {operation} --keep-new`"
            ));
        }
        Advice::UndoEarlier { operation, title } => {
            return Some(format!(
                "undo the one before it, \"{title}\", with `boswell undo {operation}`"
            ));
        }
        Advice::ForceRestore => {
            "look at the difference without `--apply`, then restore them with `--force --apply`"
        }
        Advice::KeepCopies => "keep copies of them with `boswell keep on`",
        Advice::KeepByTimer => "keep copies by a timer instead with `boswell keep on --timer`",
        Advice::KeepNow => "copy them now with `boswell keep run`",
        Advice::CleanLeftovers { dialect } => {
            return Some(format!(
                "move them into the vault with `boswell clean --leftovers --agent {dialect}`"
            ));
        }
        Advice::NameConfig => "name a file with BOSWELL_CONFIG",
        Advice::IgnoreConfig => "ignore it with `BOSWELL_CONFIG=/dev/null`",
        Advice::EditConfig => "remove it from the file that `boswell config --path` prints",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
