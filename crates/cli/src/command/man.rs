//! `man`: manual pages.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use boswell_app::system::{make_folders, new_file};
use boswell_model::{Error, ErrorKind, Result};
use clap::Args;

use crate::app::App;
use crate::output::Output;

/// Show the manual page of boswell or of a command
///
/// Where there is no terminal, its source is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell man search
  boswell man --output ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Command [default: the page of boswell itself]
    command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ManArgs) -> Result<ExitCode> {
    let program = crate::parse::whole();
    if let Some(folder) = &args.output {
        make_folders(folder)?;
        for command in program
            .get_subcommands()
            .filter(|it| !it.is_hide_set())
            .chain([&program])
        {
            let path = folder.join(format!("{}.1", page_name(command)));
            // Rendering writes word by word: in memory first.
            let mut page = Vec::new();
            render(command, &mut page)?;
            let written = new_file(&path)?.write_all(&page);
            written.map_err(|error| Error::io(path.display(), "write the manual page", error))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let command = match &args.command {
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("there is no command `{}`", name.escape_debug()),
            )
            .advising("see them with `boswell --help`")
        })?,
        None => &program,
    };
    let mut page = Vec::new();
    render(command, &mut page)?;
    // A terminal gets the page, not its source; `man` brings its own pager.
    let reader = app.terminal && app.pages;
    let mut reader = reader.then(|| Output::to_program(app, Command::new("man").args(["-l", "-"])));
    let mut out = match reader.take().flatten() {
        Some(out) => out,
        None => Output::paged(app),
    };
    out.bytes(&page)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn page_name(command: &clap::Command) -> String {
    command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned()
}

fn render(command: &clap::Command, to: &mut dyn std::io::Write) -> Result<()> {
    clap_mangen::Man::new(command.clone())
        .render(to)
        .map_err(|error| {
            Error::new(ErrorKind::Unavailable, "cannot write the manual page").caused_by(error)
        })
}
