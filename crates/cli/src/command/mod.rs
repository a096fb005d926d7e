//! One file per verb.
//!
//! `boswell` without a command opens the screen on a terminal, and is `list` elsewhere. After each
//! command copies are made (`keep::afterwards`), and interrupted purges are reported.

pub(crate) mod append;
pub(crate) mod archive;
pub(crate) mod attachments;
pub(crate) mod blame;
pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod checkout;
pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod continue_last;
pub(crate) mod convert;
pub(crate) mod copy;
#[cfg(feature = "remote")]
pub(crate) mod db;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod export;
#[cfg(feature = "team")]
pub(crate) mod fetch;
pub(crate) mod files;
pub(crate) mod filter_args;
pub(crate) mod fork;
pub(crate) mod handoff;
pub(crate) mod host_args;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod index_native;
pub(crate) mod init;
pub(crate) mod keep;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod man;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod migrate;
pub(crate) mod move_project;
pub(crate) mod new;
pub(crate) mod ops;
pub(crate) mod other_hosts;
pub(crate) mod outline;
#[cfg(feature = "screen")]
pub(crate) mod pick;
pub(crate) mod projects;
pub(crate) mod prompts;
pub(crate) mod purge;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod resume;
pub(crate) mod rewind;
pub(crate) mod scrub;
pub(crate) mod search;
pub(crate) mod secrets;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "team")]
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod stores;
pub(crate) mod summarize;
pub(crate) mod tag;
#[cfg(feature = "team")]
pub(crate) mod team;
#[cfg(feature = "team")]
pub(crate) mod team_login;
pub(crate) mod today;
pub(crate) mod tree;
pub(crate) mod watch;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use boswell_model::Result;

use crate::app::{App, Stay};
use crate::args::{Args, Command};

/// Runs what was typed.
pub(crate) fn run(args: &Args, line: &[OsString]) -> Result<ExitCode> {
    let stay = match &args.command {
        None if std::io::stdout().is_terminal() => Stay::Long,
        #[cfg(feature = "screen")]
        Some(Command::Pick(_)) => Stay::Long,
        #[cfg(feature = "serve")]
        Some(Command::Web(_) | Command::Serve(_)) => Stay::Server,
        #[cfg(feature = "mcp")]
        Some(Command::Mcp(_)) => Stay::Server,
        _ => Stay::Short,
    };
    let app = App::new(&args.global, stay)?;
    if let Some(code) = other_hosts::run(&app, args.command.as_ref(), line)? {
        return Ok(code);
    }
    let done = dispatch(&app, args.command.as_ref(), line);
    // A status line is drawn after every message: it must cost next to nothing.
    if matches!(args.command, Some(Command::Statusline(_))) {
        return done;
    }
    if !matches!(args.command, Some(Command::Offer(_))) {
        app.show(app.requests.unfinished_purges());
    }
    // `config` may have excluded a project since the settings of this machine were read.
    let keeps_nothing = matches!(
        args.command,
        Some(
            Command::Keep(_)
                | Command::Offer(_)
                | Command::Demo(_)
                | Command::Doctor(_)
                | Command::Config(_)
        )
    );
    // The agent that started the server does not wait for copies when it ends.
    #[cfg(feature = "mcp")]
    let keeps_nothing = keeps_nothing || matches!(args.command, Some(Command::Mcp(_)));
    if done.is_ok() && !keeps_nothing {
        keep::afterwards(&app);
    }
    if !matches!(args.command, Some(Command::Check(_) | Command::Offer(_))) {
        app.show(app.requests.take_outside_links().into_iter().collect());
    }
    done
}

fn dispatch(app: &App, command: Option<&Command>, line: &[OsString]) -> Result<ExitCode> {
    match command {
        None => bare(app),
        #[cfg(feature = "screen")]
        Some(Command::Pick(args)) => pick::run(app, args),
        #[cfg(feature = "serve")]
        Some(Command::Web(args)) => serve::web(app, args),
        #[cfg(feature = "serve")]
        Some(Command::Serve(args)) => serve::run(app, args),
        #[cfg(feature = "mcp")]
        Some(Command::Mcp(args)) => mcp::run(app, args),
        #[cfg(feature = "remote")]
        Some(Command::Db(args)) => db::run(app, args),
        #[cfg(feature = "team")]
        Some(Command::Share(args)) => share::run(app, args),
        #[cfg(feature = "team")]
        Some(Command::Fetch(args)) => fetch::run(app, args),
        #[cfg(feature = "team")]
        Some(Command::Team(args)) => team::run(app, args),
        Some(Command::Init(args)) => init::run(app, args),
        Some(Command::Stores(args)) => stores::run(app, args),
        Some(Command::Projects(args)) => projects::run(app, args),
        Some(Command::List(args)) => list::run(app, args),
        Some(Command::Show(args)) => show::run(app, args),
        Some(Command::Tree(args)) => tree::run(app, args),
        Some(Command::Context(args)) => context::run(app, args),
        Some(Command::Check(args)) => check::run(app, args),
        Some(Command::Attachments(args)) => attachments::run(app, args),
        Some(Command::Files(args)) => files::run(app, args),
        Some(Command::Memory(args)) => memory::run(app, args),
        Some(Command::Export(args)) => export::run(app, args),
        Some(Command::Resume(args)) => resume::run(app, args),
        Some(Command::New(args)) => new::run(app, args),
        Some(Command::Append(args)) => append::run(app, args),
        Some(Command::Branch(args)) => branch::run(app, args),
        Some(Command::Rewind(args)) => rewind::run(app, args),
        Some(Command::Fork(args)) => fork::run(app, args),
        Some(Command::Convert(args)) => convert::run(app, args),
        Some(Command::Copy(args)) => copy::run(app, args),
        Some(Command::Handoff(args)) => handoff::run(app, args),
        Some(Command::Outline(args)) => outline::run(app, args),
        Some(Command::Today(args)) => today::run(app, args),
        Some(Command::Blame(args)) => blame::run(app, args),
        Some(Command::Migrate(args)) => migrate::run(app, args),
        Some(Command::Rename(args)) => rename::run(app, args),
        Some(Command::Tag(args)) => tag::tag(app, args),
        Some(Command::Untag(args)) => tag::untag(app, args),
        Some(Command::Label(args)) => label::run(app, args),
        Some(Command::Status(args)) => status::run(app, args),
        Some(Command::Close(args)) => status::close(app, args),
        Some(Command::Checkout(args)) => checkout::run(app, args),
        Some(Command::Delete(args)) => delete::run(app, args),
        Some(Command::Restore(args)) => delete::restore(app, args),
        Some(Command::Archive(args)) => archive::run(app, args),
        Some(Command::Import(args)) => import::run(app, args),
        Some(Command::Clean(args)) => clean::run(app, args),
        Some(Command::Repair(args)) => repair::run(app, args),
        Some(Command::Ops(args)) => ops::run(app, args),
        Some(Command::Search(args)) => search::run(app, args, line),
        Some(Command::Secrets(args)) => secrets::run(app, args),
        Some(Command::Index(args)) => index::run(app, args),
        Some(Command::Stats(args)) => stats::run(app, args, line),
        Some(Command::Statusline(args)) => statusline::run(app, args),
        Some(Command::Prompts(args)) => prompts::run(app, args),
        Some(Command::Watch(args)) => watch::run(app, args),
        Some(Command::Continue(args)) => continue_last::run(app, args),
        Some(Command::Summarize(args)) => summarize::run(app, args),
        Some(Command::Doctor(args)) => doctor::run(app, args),
        Some(Command::Demo(args)) => demo::run(app, args),
        Some(Command::Man(args)) => man::run(app, args),
        Some(Command::Config(args)) => config::run(app, args),
        Some(Command::Completions(args)) => completions::run(app, args),
        Some(Command::Offer(args)) => completions::offer(app, args),
        Some(Command::Undo(args)) => ops::undo(app, args),
        Some(Command::Move(args)) => move_project::run(app, args),
        Some(Command::Keep(args)) => keep::run(app, args),
    }
}

/// `boswell` without a command.
fn bare(app: &App) -> Result<ExitCode> {
    #[cfg(feature = "screen")]
    if pick::is_wanted(app) {
        return pick::open(app);
    }
    list::run(app, &list::ListArgs::default())
}
