//! The command-line arguments. Doc comments here are the help texts.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::command;

/// Find, search, resume, repair and back up the sessions of your coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "boswell",
    version,
    disable_help_subcommand = true,
    max_term_width = 80
)]
#[command(after_help = "Examples:
  boswell                    find and resume a session; in a pipe, list them
  boswell search deadlock    find text in any session of any agent
  boswell show @last         read the last session
  boswell demo               create sample sessions to try boswell on

No network unless you run share, fetch, team, serve, web or copy, or name a
host; no telemetry.
Reading commands never write to an agent's folder.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options that every command takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Global {
    /// Boswell's own folder [default: `boswell` in the data directory]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        env = "BOSWELL_HOME",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) home: Option<std::path::PathBuf>,
    /// Use only this store, such as `claude=/home/me/.claude` (repeatable)
    #[arg(
        long = "store",
        global = true,
        help_heading = "Global options",
        value_name = "DIALECT=PATH"
    )]
    pub(crate) stores: Vec<String>,
    /// What hints call the program: a script that names stores
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        hide = true,
        value_name = "NAME"
    )]
    pub(crate) called_as: Option<String>,
    /// Write nothing outside boswell's own folder
    #[arg(long, global = true, help_heading = "Global options", env = "BOSWELL_READ_ONLY", hide_env_values = true, value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) read_only: bool,
    /// Print JSON Lines on stdout
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// When to color the output
    #[arg(long, global = true, help_heading = "Global options", value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Show and read times in UTC instead of local time
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) utc: bool,
    /// Never start a pager; otherwise long answers on a terminal go through $PAGER or less
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_pager: bool,
    /// Print fewer messages on stderr
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Only sessions of this agent or dialect; for a conversation in two stores, its side there
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "AGENT"
    )]
    pub(crate) agent: Option<String>,
}

impl Global {
    /// Whether the place of boswell's folder is that of the variable.
    #[expect(
        clippy::disallowed_methods,
        reason = "clap reads the variable and does not say where a value is from"
    )]
    pub(crate) fn home_is_of_environment(&self) -> bool {
        let variable = std::env::var_os("BOSWELL_HOME").map(std::path::PathBuf::from);
        variable.is_some() && variable == self.home
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

// Each is built when it is called: see `parse.rs`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Stores(command::stores::StoresArgs),
    Projects(command::projects::ProjectsArgs),
    #[command(alias = "ls")]
    List(command::list::ListArgs),
    #[cfg(feature = "screen")]
    Pick(command::pick::PickArgs),
    #[cfg(feature = "serve")]
    Web(command::serve::WebArgs),
    #[cfg(feature = "serve")]
    Serve(command::serve::ServeArgs),
    #[cfg(feature = "mcp")]
    Mcp(command::mcp::McpArgs),
    #[cfg(feature = "remote")]
    Db(command::db::DbArgs),
    #[cfg(feature = "team")]
    Share(command::share::ShareArgs),
    #[cfg(feature = "team")]
    Fetch(command::fetch::FetchArgs),
    #[cfg(feature = "team")]
    Team(command::team::TeamArgs),
    #[command(alias = "cat")]
    Show(command::show::ShowArgs),
    Tree(command::tree::TreeArgs),
    Context(command::context::ContextArgs),
    #[command(alias = "find")]
    Search(command::search::SearchArgs),
    Outline(command::outline::OutlineArgs),
    Prompts(command::prompts::PromptsArgs),
    Today(command::today::TodayArgs),
    Blame(command::blame::BlameArgs),
    #[command(alias = "usage")]
    Stats(command::stats::StatsArgs),
    Statusline(command::statusline::StatuslineArgs),
    Watch(command::watch::WatchArgs),
    Check(command::check::CheckArgs),
    Attachments(command::attachments::AttachmentsArgs),
    Files(command::files::FilesArgs),
    Memory(command::memory::MemoryArgs),
    Export(command::export::ExportArgs),
    Import(command::import::ImportArgs),
    Secrets(command::secrets::SecretsArgs),
    Resume(command::resume::ResumeArgs),
    Continue(command::continue_last::ContinueArgs),
    New(command::new::NewArgs),
    Append(command::append::AppendArgs),
    Branch(command::branch::BranchArgs),
    Rewind(command::rewind::RewindArgs),
    Fork(command::fork::ForkArgs),
    Convert(command::convert::ConvertArgs),
    Copy(command::copy::CopyArgs),
    Handoff(command::handoff::HandoffArgs),
    Migrate(command::migrate::MigrateArgs),
    Rename(command::rename::RenameArgs),
    Tag(command::tag::TagArgs),
    Untag(command::tag::UntagArgs),
    Label(command::label::LabelArgs),
    Status(command::status::StatusArgs),
    Close(command::status::CloseArgs),
    Checkout(command::checkout::CheckoutArgs),
    #[command(alias = "rm")]
    Delete(command::delete::DeleteArgs),
    Restore(command::delete::RestoreArgs),
    Archive(command::archive::ArchiveArgs),
    Clean(command::clean::CleanArgs),
    Repair(command::repair::RepairArgs),
    Ops(command::ops::OpsArgs),
    Undo(command::ops::UndoArgs),
    Index(command::index::IndexArgs),
    #[command(alias = "mv")]
    Move(command::move_project::MoveArgs),
    Keep(command::keep::KeepArgs),
    Config(command::config::ConfigArgs),
    Summarize(command::summarize::SummarizeArgs),
    Doctor(command::doctor::DoctorArgs),
    Demo(command::demo::DemoArgs),
    Man(command::man::ManArgs),
    Completions(command::completions::CompletionsArgs),
    Init(command::init::InitArgs),
    #[command(name = "__complete", hide = true)]
    Offer(command::completions::OfferArgs),
}
