//! `resume`: the agent's own command, in the right folder.

use std::process::ExitCode;

use boswell_dialect::{Permissions, ResumeCommand, StoreEnvironment};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef, shell_quote};
use clap::Args;

use boswell_app::resume::{command_of, env_shape, last_that_resumes};

use crate::app::App;
use crate::linked_transcript::{self, LinkedTranscript};
use crate::output::Output;

/// Take a conversation up again with the agent's own command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell resume                  the last conversation, in its own folder
  boswell resume 0b7e --print     only show the command")]
pub(crate) struct ResumeArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// Show the command instead of running it
    #[arg(long)]
    print: bool,
    /// Let the agent do without asking what it was last allowed in this session, even everything
    #[arg(long)]
    same_permissions: bool,
}

impl ResumeArgs {
    /// The last conversation.
    pub(crate) fn last(print: bool) -> ResumeArgs {
        ResumeArgs {
            session: "@last".to_owned(),
            print,
            same_permissions: false,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ResumeArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    app.refuse_archived(&found.store)?;
    let permissions = if args.same_permissions {
        Permissions::Same
    } else {
        Permissions::Asked
    };
    let (found, (command, env)) = match command_of(app, &found, permissions) {
        Err(error) if args.session == "@last" && error.kind() == ErrorKind::Unsupported => {
            let other = last_that_resumes(app).ok_or(error)?;
            let command = command_of(app, &other, permissions)?;
            if !app.quiet {
                let passed = SessionRef::new(found.store.dialect().name(), &found.location.id);
                crate::error_report::say(&format!(
                    "passed over {passed}, which no agent would take up"
                ));
            }
            (other, command)
        }
        command => (found, command?),
    };
    if let (LinkedTranscript::Gone(other), false) = (linked_transcript::of(app, &found)?, app.quiet)
    {
        crate::error_report::say(&linked_transcript::gone(&found.location.id, &other));
    }
    if app.json {
        let mut out = Output::paged(app);
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "resume")
                .with("argv", command.argv.clone())
                .with("cwd", command.cwd.as_deref())
                .with("env", env_shape(&env)),
        )?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.print {
        let words: Vec<String> = command.argv.iter().map(|word| shell_quote(word)).collect();
        let cd = command
            .cwd
            .as_deref()
            .map(change_folder)
            .unwrap_or_default();
        let mut out = Output::paged(app);
        out.line(&format!("{cd}{}{}", assignments(&env), words.join(" ")))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let cwd = command
        .cwd
        .as_deref()
        .map_or(app.env.cwd.as_path(), std::path::Path::new);
    app.note_terminal(&found, cwd);
    start(&command, &env)
}

/// What stands before the command in a POSIX shell.
fn assignments(env: &StoreEnvironment) -> String {
    let unset = env
        .iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| format!("-u {name} "));
    let unset: String = unset.collect();
    let set = env
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

/// The words that take a shell into a folder, whatever it is called.
fn change_folder(folder: &str) -> String {
    // `--` ends the options. `cd -` and CDPATH would still lead elsewhere: a path that is not
    // absolute begins with `./`.
    let here = if folder.starts_with('/') { "" } else { "./" };
    format!("cd -- {} && ", shell_quote(&format!("{here}{folder}")))
}

#[cfg(unix)]
fn start(command: &ResumeCommand, env: &StoreEnvironment) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let mut process = prepared(command, env)?;
    let error = process.exec();
    Err(not_started(command, error))
}

#[cfg(not(unix))]
fn start(command: &ResumeCommand, env: &StoreEnvironment) -> Result<ExitCode> {
    let status = prepared(command, env)?
        .status()
        .map_err(|error| not_started(command, error))?;
    Ok(ExitCode::from(
        u8::try_from(status.code().unwrap_or(70)).unwrap_or(70),
    ))
}

fn prepared(command: &ResumeCommand, env: &StoreEnvironment) -> Result<std::process::Command> {
    let Some((program, args)) = command.argv.split_first() else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the resume command is empty",
        ));
    };
    let mut process = std::process::Command::new(program);
    process.args(args);
    for (name, value) in env {
        match value {
            Some(folder) => process.env(name, folder),
            None => process.env_remove(name),
        };
    }
    if let Some(cwd) = &command.cwd {
        if !std::path::Path::new(cwd).is_dir() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the session's folder `{}` is gone", cwd.escape_debug()),
            )
            .hinting(format!(
                "if it was moved, say so with `boswell move {} NEW`; `--print` shows the command",
                shell_quote(cwd)
            )));
        }
        process.current_dir(cwd);
    }
    Ok(process)
}

fn not_started(command: &ResumeCommand, error: std::io::Error) -> Error {
    let program = command.argv.first().map_or("", String::as_str);
    Error::new(
        ErrorKind::Unavailable,
        format!("cannot start `{}`", program.escape_debug()),
    )
    .caused_by(error)
    .hinting("is the agent installed and on your PATH? `--print` shows the command")
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
