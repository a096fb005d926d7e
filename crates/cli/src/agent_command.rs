//! The agent's own command for a session: shown, or run in place of this process.
//!
//! `--print` prints it quoted for a shell, with its variables; `--json` starts nothing.

use std::process::ExitCode;

use boswell_app::resume::{ResumePlan, ResumeRequest};
use boswell_app::shape::Shape as _;
use boswell_model::{Advice, Error, ErrorKind, Result, shell_quote};

use crate::app::App;
use crate::output::Output;

/// Resumes a conversation; with `print` or `--json` only shows the command.
pub(crate) fn run(app: &App, request: &ResumeRequest, print: bool) -> Result<ExitCode> {
    let plan = app.shown(app.requests.resume(request))?;
    if app.json || print {
        let mut out = Output::plain(app);
        if out.json {
            out.object(&plan.shape().object())?;
        } else {
            out.line(&command_line(&plan))?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    app.requests.note_terminal(&plan);
    start(&plan)
}

/// The command as it can be pasted into a shell.
fn command_line(plan: &ResumePlan) -> String {
    let words: Vec<String> = plan.argv.iter().map(|word| shell_quote(word)).collect();
    let cd = plan.cwd.as_deref().map(change_folder).unwrap_or_default();
    format!("{cd}{}{}", assignments(plan), words.join(" "))
}

/// What is written before the command in a POSIX shell.
fn assignments(plan: &ResumePlan) -> String {
    let unset = plan
        .env
        .iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| format!("-u {name} "));
    let unset: String = unset.collect();
    let set = plan
        .env
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let set: String = set
        .map(|(name, path)| format!("{name}={} ", shell_quote(&path.display().to_string())))
        .collect();
    if unset.is_empty() {
        set
    } else {
        format!("env {unset}{set}")
    }
}

/// The shell command that changes into a folder, with its name quoted.
fn change_folder(folder: &str) -> String {
    // `--` ends the options. `cd -` and CDPATH would still lead elsewhere: a path that is not
    // absolute begins with `./`.
    let here = if folder.starts_with('/') { "" } else { "./" };
    format!("cd -- {} && ", shell_quote(&format!("{here}{folder}")))
}

#[cfg(unix)]
fn start(plan: &ResumePlan) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let mut process = prepared(plan)?;
    let error = process.exec();
    Err(not_started(plan, error))
}

#[cfg(not(unix))]
fn start(plan: &ResumePlan) -> Result<ExitCode> {
    let status = prepared(plan)?
        .status()
        .map_err(|error| not_started(plan, error))?;
    Ok(ExitCode::from(
        u8::try_from(status.code().unwrap_or(70)).unwrap_or(70),
    ))
}

fn prepared(plan: &ResumePlan) -> Result<std::process::Command> {
    let Some((program, args)) = plan.argv.split_first() else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the resume command is empty",
        ));
    };
    let mut process = std::process::Command::new(program);
    process.args(args);
    for (name, value) in &plan.env {
        match value {
            Some(folder) => process.env(name, folder),
            None => process.env_remove(name),
        };
    }
    if let Some(cwd) = &plan.cwd {
        if !std::path::Path::new(cwd).is_dir() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!(
                    "the session's folder `{}` does not exist",
                    cwd.escape_debug()
                ),
            )
            .advising(
                Advice::MoveProject {
                    from: Some(cwd.clone()),
                }
                .also("see the command with `--print`"),
            ));
        }
        process.current_dir(cwd);
    }
    Ok(process)
}

fn not_started(plan: &ResumePlan, error: std::io::Error) -> Error {
    let program = plan.argv.first().map_or("", String::as_str);
    Error::new(
        ErrorKind::Unavailable,
        format!("cannot start `{}`", program.escape_debug()),
    )
    .caused_by(error)
    .advising("is the agent installed and on your PATH? `--print` shows the command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_never_taken_for_an_option() {
        assert_eq!(change_folder("/w/a b"), "cd -- '/w/a b' && ");
        assert_eq!(change_folder("-rf"), "cd -- ./-rf && ");
        assert_eq!(change_folder("-"), "cd -- ./- && ");
        assert_eq!(
            change_folder("/w/\u{61c}x\n"),
            "cd -- $'/w/\\xd8\\x9cx\\x0a' && "
        );
    }
}
