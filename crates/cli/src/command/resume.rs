//! `resume`: the agent's own command, in the right folder.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::resume_decision::Probe;
use boswell_dialect::{
    Depth, Permissions, ResumeCommand, SessionLink, SessionLocation, StoreEnvironment,
    store_environment,
};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Problem, Result, SessionRef, shell_quote};
use boswell_store::{Conversation, Resolved, Selector, Session, Side, Store};
use clap::Args;

use super::list::last_active;
use crate::app::App;
use crate::linked_transcript::{self, LinkedTranscript};
use crate::output::Output;

/// A command, and what has to be in its environment.
pub(crate) type Starting = (ResumeCommand, StoreEnvironment);

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

/// What the agent of a session has to find in its environment to use the store
/// that the session is in.
pub(crate) fn environment_of(
    app: &App,
    store: &Store,
    location: &SessionLocation,
) -> StoreEnvironment {
    let same = |a: &Path, b: &Path| {
        a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    store_environment(
        store.dialect(),
        &app.env,
        (store.root(), location.key.as_deref()),
        &same,
    )
}

/// As an object; `null` is for a variable that must not be set.
pub(crate) fn env_shape(env: &StoreEnvironment) -> Json {
    let value =
        |value: &Option<PathBuf>| Json::from(value.as_ref().map(|path| path.display().to_string()));
    Json::Object(
        env.iter()
            .map(|(name, path)| ((*name).to_owned(), value(path)))
            .collect(),
    )
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

/// The command with which the agent itself takes a session up again.
fn resume_command(session: &Session, permissions: Permissions) -> Option<ResumeCommand> {
    let runtime = session.dialect().powers().runtime?;
    runtime.resume(session.meta(), session.location(), permissions)
}

fn command_of(app: &App, found: &Resolved, permissions: Permissions) -> Result<Starting> {
    let session = found.store.read(&found.location, Depth::Facts)?;
    if let Some(command) = resume_command(&session, permissions) {
        return Ok((command, environment_of(app, &found.store, &found.location)));
    }
    // The command is the engine's, so the store that counts is the one in which the engine's
    // transcript was found.
    let engine = RefCell::new(StoreEnvironment::new());
    let look = |link: &SessionLink| {
        let (found, env) = probe(app, link);
        *engine.borrow_mut() = env;
        found
    };
    if let Some(runtime) = session.dialect().powers().runtime
        && let Some(command) = runtime.resume_by(session.location(), &look)?
    {
        return Ok((command, engine.take()));
    }
    // A front program may leave it to the engine that keeps the transcript.
    for link in session
        .dialect()
        .linked_sessions(session.meta(), &found.location.id)
    {
        let other = app.stores.resolve(
            &Selector::Ref(link.dialect.to_owned(), link.id),
            &app.env.cwd,
            Side::Fuller,
        );
        let Ok(other) = other else { continue };
        let session = other.store.read(&other.location, Depth::Facts)?;
        if let Some(command) = resume_command(&session, permissions) {
            return Ok((command, environment_of(app, &other.store, &other.location)));
        }
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        format!(
            "session {} cannot be resumed from a command line",
            session.reference()
        ),
    )
    .because(format!(
        "{} has no command for it, or the session lacks what it needs",
        session.dialect().facts().title
    ))
    .hinting(format!(
        "see what it lacks with `boswell check {0}`; read it with `boswell show {0}`",
        session.reference().to_argument()
    )))
}

/// Whether an engine's store holds a session, and what leads the engine there. A store that is
/// not there holds none.
fn probe(app: &App, link: &SessionLink) -> (Probe, StoreEnvironment) {
    let selector = Selector::Ref(link.dialect.to_owned(), link.id.clone());
    match app.stores.resolve(&selector, &app.env.cwd, Side::Fuller) {
        Ok(other) if other.location.size > 0 => (
            Probe::Found,
            environment_of(app, &other.store, &other.location),
        ),
        Ok(_) => (Probe::Absent, StoreEnvironment::new()),
        Err(error) if error.is_not_found() => (Probe::Absent, StoreEnvironment::new()),
        Err(error) => (
            Probe::Failed(Problem::unreadable(&error).detail),
            StoreEnvironment::new(),
        ),
    }
}

/// The last conversation that an agent would take up: of this project, else of any.
fn last_that_resumes(app: &App) -> Option<Resolved> {
    let cwd = app.env.cwd.canonicalize().ok();
    let here = |conversation: &Conversation| {
        let project = conversation
            .front
            .1
            .meta
            .project
            .as_deref()
            .map(std::path::Path::new);
        cwd.is_some() && project.and_then(|project| project.canonicalize().ok()) == cwd
    };
    let (conversations, _) = app.stores.conversations();
    let newest = conversations
        .into_iter()
        .filter(|it| it.front.1.hidden().is_none() && command_for(app, it).is_some())
        .max_by_key(|it| (here(it), last_active(it)))?;
    let (store, summary) = newest.front;
    Some(Resolved {
        store: app.stores.get(store)?.clone(),
        location: summary.location,
    })
}

/// The command for a conversation of a list: of its first side that has one.
pub(crate) fn command_for(app: &App, conversation: &Conversation) -> Option<Starting> {
    std::iter::once(&conversation.front)
        .chain(&conversation.linked)
        .filter_map(|(store, summary)| {
            Some((
                app.stores
                    .get(*store)
                    .filter(|it| it.archived().is_none())?,
                summary,
            ))
        })
        .find_map(|(store, summary)| {
            let runtime = store.dialect().powers().runtime?;
            let command = runtime.resume(&summary.meta, &summary.location, Permissions::Asked)?;
            Some((command, environment_of(app, store, &summary.location)))
        })
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
