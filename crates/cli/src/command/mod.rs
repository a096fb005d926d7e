//! One file per verb.

pub(crate) mod append;
pub(crate) mod archive;
pub(crate) mod attachments;
pub(crate) mod branch;
pub(crate) mod planned_change;
pub(crate) mod check;
mod check_store;
mod check_session;
pub(crate) mod checkout;
pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod agent_file_history;
pub(crate) mod files;
pub(crate) mod fork;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod keep;
pub(crate) mod label;
mod clean_leftovers;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod memory;
pub(crate) mod memory_change;
pub(crate) mod memory_check;
pub(crate) mod migrate;
pub(crate) mod move_project;
pub(crate) mod filter_args;
pub(crate) mod index_native;
pub(crate) mod new;
pub(crate) mod note;
pub(crate) mod ops;
pub(crate) mod projects;
pub(crate) mod prompts;
pub(crate) mod purge;
pub(crate) mod receipt;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod resume;
pub(crate) mod continue_last;
pub(crate) mod rewind;
pub(crate) mod scrub;
mod scrub_plan;
pub(crate) mod search;
pub(crate) mod secrets;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod stores;
pub(crate) mod summarize;
pub(crate) mod tag;
pub(crate) mod tree;
pub(crate) mod watch;
pub(crate) mod store_change;

use std::process::ExitCode;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::StoreId;

use crate::args::{Args, Command};
use crate::app::App;

/// Runs what was typed.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let machine = App::new(&args.global)?;
    let done = match &args.command {
        None => list::run(&machine, &list::ListArgs::default()),
        Some(Command::Stores(args)) => stores::run(&machine, args),
        Some(Command::Projects(args)) => projects::run(&machine, args),
        Some(Command::List(args)) => list::run(&machine, args),
        Some(Command::Show(args)) => show::run(&machine, args),
        Some(Command::Tree(args)) => tree::run(&machine, args),
        Some(Command::Context(args)) => context::run(&machine, args),
        Some(Command::Check(args)) => check::run(&machine, args),
        Some(Command::Attachments(args)) => attachments::run(&machine, args),
        Some(Command::Files(args)) => files::run(&machine, args),
        Some(Command::Memory(args)) => memory::run(&machine, args),
        Some(Command::Export(args)) => export::run(&machine, args),
        Some(Command::Resume(args)) => resume::run(&machine, args),
        Some(Command::New(args)) => new::run(&machine, args),
        Some(Command::Append(args)) => append::run(&machine, args),
        Some(Command::Branch(args)) => branch::run(&machine, args),
        Some(Command::Rewind(args)) => rewind::run(&machine, args),
        Some(Command::Fork(args)) => fork::run(&machine, args),
        Some(Command::Migrate(args)) => migrate::run(&machine, args),
        Some(Command::Rename(args)) => rename::run(&machine, args),
        Some(Command::Tag(args)) => tag::tag(&machine, args),
        Some(Command::Untag(args)) => tag::untag(&machine, args),
        Some(Command::Label(args)) => label::run(&machine, args),
        Some(Command::Status(args)) => status::run(&machine, args),
        Some(Command::Close(args)) => status::close(&machine, args),
        Some(Command::Checkout(args)) => checkout::run(&machine, args),
        Some(Command::Delete(args)) => delete::run(&machine, args),
        Some(Command::Restore(args)) => delete::restore(&machine, args),
        Some(Command::Archive(args)) => archive::run(&machine, args),
        Some(Command::Import(args)) => import::run(&machine, args),
        Some(Command::Clean(args)) => clean::run(&machine, args),
        Some(Command::Repair(args)) => repair::run(&machine, args),
        Some(Command::Ops(args)) => ops::run(&machine, args),
        Some(Command::Search(args)) => search::run(&machine, args),
        Some(Command::Secrets(args)) => secrets::run(&machine, args),
        Some(Command::Index(args)) => index::run(&machine, args),
        Some(Command::Stats(args)) => stats::run(&machine, args),
        Some(Command::Prompts(args)) => prompts::run(&machine, args),
        Some(Command::Watch(args)) => watch::run(&machine, args),
        Some(Command::Continue(args)) => continue_last::run(&machine, args),
        Some(Command::Summarize(args)) => summarize::run(&machine, args),
        Some(Command::Doctor(args)) => doctor::run(&machine, args),
        Some(Command::Demo(args)) => demo::run(&machine, args),
        Some(Command::Man(args)) => man::run(&machine, args),
        Some(Command::Config(args)) => config::run(&machine, args),
        Some(Command::Completions(args)) => completions::run(&machine, args),
        Some(Command::Offer(_)) => completions::offer(&machine),
        Some(Command::Undo(args)) => ops::undo(&machine, args),
        Some(Command::Move(args)) => move_project::run(&machine, args),
        Some(Command::Keep(args)) => keep::run(&machine, args),
    };
    if !matches!(args.command, Some(Command::Offer(_))) {
        crate::purge_copies::tell(&machine);
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
    if done.is_ok() && !keeps_nothing {
        keep::afterwards(&machine);
    }
    if !machine.quiet && !matches!(args.command, Some(Command::Check(_) | Command::Offer(_))) {
        warn_of_links(&machine);
    }
    done
}

/// Says once which links of the stores were met and not followed: what is behind them is
/// missing from the answer.
fn warn_of_links(machine: &App) {
    let links = machine.stores.outside_links();
    let named =
        |(id, key): &(StoreId, String)| Some(machine.stores.get(*id)?.backend().describe(key));
    let Some(first) = links.first().and_then(named) else {
        return;
    };
    let what = match links.len() {
        1 => format!("`{first}` was not followed"),
        count => format!(
            "`{first}` and {} other symbolic links were not followed",
            count - 1
        ),
    };
    let because = "a link that leads out of a store could put any file into a session";
    crate::error_report::warn(
        &Error::new(ErrorKind::Denied, what)
            .because(because)
            .hinting("`boswell check` names them all"),
    );
}
