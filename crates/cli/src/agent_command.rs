//! The agent's own command for a session: shown, or run in place of this process.
//!
//! `--print` prints it quoted for a shell, with its variables; `--json` starts nothing.

use std::process::ExitCode;

use boswell_app::resume::{ResumePlan, ResumeRequest};
use boswell_app::shape::Shape as _;
use boswell_model::{Advice, Error, ErrorKind, Result};

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
            out.line(&plan.command_line())?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    hand_over(app, &plan)
}

/// Runs the command in place of this process.
pub(crate) fn hand_over(app: &App, plan: &ResumePlan) -> Result<ExitCode> {
    app.shown(app.requests.keep_before_resume(plan))?;
    app.requests.note_terminal(plan);
    start(plan)
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
