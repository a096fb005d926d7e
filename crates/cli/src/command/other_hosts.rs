//! Commands that read, on other hosts: the command runs there, and its answer is shown here.
//!
//! `list`, `search` and `stats --by host` join the answers of several machines, and do so
//! themselves.

use std::ffi::OsString;
use std::process::ExitCode;

use boswell_app::hosts::{Host, HostAnswerForm, HostCall, HostPiece, HostSelection};
use boswell_model::{Error, ErrorKind, Result};

use super::host_args::{HostArgs, words_there};
use crate::app::App;
use crate::args::Command;
use crate::error_report::{report, say, warn};
use crate::output::{LateOutput, Output};
use crate::terminal::Style;

/// What a command says about where it runs.
pub(crate) struct Elsewhere<'a> {
    /// The hosts that were named.
    pub(crate) hosts: &'a [String],
    /// The session that was named, if the command is about one.
    pub(crate) session: Option<&'a str>,
    /// The file that the answer goes to, byte for byte.
    pub(crate) exact: Option<Option<&'a std::path::Path>>,
    /// An option that was given and that only works on this machine.
    pub(crate) only_here: Option<&'static str>,
}

impl<'a> Elsewhere<'a> {
    /// A command about sessions.
    pub(crate) fn of(args: &'a HostArgs) -> Elsewhere<'a> {
        Elsewhere {
            hosts: &args.hosts,
            session: None,
            exact: None,
            only_here: None,
        }
    }

    /// A command about one session.
    pub(crate) fn about(args: &'a HostArgs, session: Option<&'a str>) -> Elsewhere<'a> {
        Elsewhere {
            session,
            ..Elsewhere::of(args)
        }
    }

    /// Names an option that only works on this machine, if it was given.
    pub(crate) fn without(self, option: &'static str, is_given: bool) -> Elsewhere<'a> {
        Elsewhere {
            only_here: is_given.then_some(option).or(self.only_here),
            ..self
        }
    }

    fn refuse_only_here(&self) -> Result<()> {
        let Some(option) = self.only_here else {
            return Ok(());
        };
        let what = format!("`{option}` works on sessions of this machine only");
        Err(Error::new(ErrorKind::Unsupported, what)
            .advising("copy the session here first with `boswell copy HOST:SESSION`"))
    }
}

/// Where a command is to run; `None` for commands that only this machine answers.
fn elsewhere(command: &Command) -> Option<Elsewhere<'_>> {
    Some(match command {
        Command::Show(args) => args.elsewhere(),
        Command::Tree(args) => args.elsewhere(),
        Command::Context(args) => args.elsewhere(),
        Command::Outline(args) => args.elsewhere(),
        Command::Prompts(args) => args.elsewhere(),
        Command::Today(args) => args.elsewhere(),
        Command::Stats(args) => return args.elsewhere(),
        Command::Check(args) => args.elsewhere(),
        Command::Attachments(args) => args.elsewhere(),
        Command::Files(args) => args.elsewhere(),
        Command::Export(args) => args.elsewhere(),
        Command::Secrets(args) => args.elsewhere(),
        Command::Stores(args) => args.elsewhere(),
        Command::Projects(args) => args.elsewhere(),
        _ => return None,
    })
}

/// Answers a command that runs on hosts; `None` if it runs here.
pub(crate) fn run(
    app: &App,
    command: Option<&Command>,
    line: &[OsString],
) -> Result<Option<ExitCode>> {
    let Some(asked) = command.and_then(elsewhere) else {
        return Ok(None);
    };
    if let Some((host, there)) = asked
        .session
        .and_then(|it| app.requests.session_on_host(it))
    {
        asked.refuse_only_here()?;
        refuse_two(&asked, &host)?;
        let words = words_there(line, asked.session.map(|typed| (typed, there.as_str())));
        return one(app, &host, &call(app, &asked, words), asked.exact).map(Some);
    }
    let machines = app.requests.host_selection(asked.hosts)?;
    if machines.is_here_only() {
        return Ok(None);
    }
    asked.refuse_only_here()?;
    let words = words_there(line, None);
    let call = call(app, &asked, words);
    match machines.hosts.as_slice() {
        [host] if !machines.here => one(app, host, &call, asked.exact).map(Some),
        _ => several(app, &asked, &machines, &call),
    }
}

/// `--host a b:S` would name two hosts.
fn refuse_two(asked: &Elsewhere<'_>, host: &Host) -> Result<()> {
    if asked.hosts.iter().all(|name| *name == host.name) {
        return Ok(());
    }
    let what = format!(
        "the session is on {}, and `--host` names another",
        host.name
    );
    Err(Error::new(ErrorKind::Invalid, what).advising("leave out `--host`"))
}

fn call(app: &App, asked: &Elsewhere<'_>, words: Vec<String>) -> HostCall {
    let form = match (asked.exact.is_some(), app.json, app.color) {
        (true, ..) => HostAnswerForm::Exact,
        (_, true, _) => HostAnswerForm::Json,
        (_, _, true) => HostAnswerForm::Colored,
        _ => HostAnswerForm::Text,
    };
    HostCall {
        words: without_output(words, asked.exact),
        form,
        columns: app.width,
    }
}

/// The file of an export is here, not there.
fn without_output(mut words: Vec<String>, exact: Option<Option<&std::path::Path>>) -> Vec<String> {
    if exact.flatten().is_none() {
        return words;
    }
    let is_option = |word: &String| {
        word == "-o" || word.starts_with("--output") || {
            word.starts_with("-o") && !word.starts_with("--")
        }
    };
    if let Some(at) = words.iter().position(is_option) {
        let word = words.remove(at);
        if (word == "-o" || word == "--output") && at < words.len() {
            words.remove(at);
        }
    }
    words
}

/// Shows the answer of one host.
fn one(
    app: &App,
    host: &Host,
    call: &HostCall,
    exact: Option<Option<&std::path::Path>>,
) -> Result<ExitCode> {
    let mut out = LateOutput::to(app, exact.flatten());
    let relayed = app
        .requests
        .relay(host, call, &mut |piece| put(out.open()?, piece))?;
    out.close()?;
    for line in &relayed.errors {
        if !app.quiet || relayed.code > 1 {
            say(&format!("{}: {line}", host.name));
        }
    }
    Ok(ExitCode::from(relayed.code))
}

fn put(out: &mut Output, piece: HostPiece<'_>) -> Result<bool> {
    match piece {
        HostPiece::Line(line) => out.written(|to| to.extend_from_slice(line))?,
        HostPiece::Text(text) => out.line(text)?,
        HostPiece::Exact(bytes) => out.bytes(bytes)?,
    }
    Ok(!out.gone())
}

/// Shows the answers of several machines, one after the other; `None` if this one is the last.
fn several(
    app: &App,
    asked: &Elsewhere<'_>,
    machines: &HostSelection,
    call: &HostCall,
) -> Result<Option<ExitCode>> {
    if asked.session.is_some() || asked.exact.is_some() {
        let what = "a session is on one machine, and `--host` names several";
        return Err(Error::new(ErrorKind::Invalid, what).advising("name one host"));
    }
    let mut codes: Vec<u8> = Vec::new();
    let mut failed = Vec::new();
    for host in &machines.hosts {
        heading(app, &host.name)?;
        let mut out = Output::plain(app);
        match app
            .requests
            .relay(host, call, &mut |piece| put(&mut out, piece))
        {
            Ok(relayed) => {
                codes.push(relayed.code);
                let errors = relayed.errors.iter().filter(|_| !app.quiet);
                errors.for_each(|line| say(&format!("{}: {line}", host.name)));
            }
            Err(error) => failed.push(error),
        }
        out.finish()?;
    }
    if machines.here {
        failed.iter().for_each(warn);
        heading(app, "local")?;
        return Ok(None);
    }
    let last = failed.pop();
    failed.iter().for_each(warn);
    Ok(Some(match last {
        Some(last) if codes.is_empty() => report(&last, app.json),
        last => {
            last.iter().for_each(warn);
            ExitCode::from(codes.into_iter().max().unwrap_or(0))
        }
    }))
}

/// Prints which machine the following lines are of; in JSON each line says it.
fn heading(app: &App, name: &str) -> Result<()> {
    let mut out = Output::plain(app);
    if !out.json {
        let heading = out.paint(Style::Strong, &format!("{name}:"));
        out.line(&heading)?;
    }
    out.finish()
}
