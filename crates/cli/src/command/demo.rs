//! `demo`: a home to try boswell on.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::{IdSource, SystemIds};
use clap::Args;

use crate::app::{App, is_new_or_empty, program};
use crate::demo::{DemoLayout, TOUR};
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};

/// Make a small home with sessions of every agent, and say what to try on it
#[derive(Debug, Args)]
#[command(
    after_help = "Your own sessions are neither read nor changed. To end it, remove the folder.

Examples:
  boswell demo
  boswell demo ./boswell-demo"
)]
pub(crate) struct DemoArgs {
    /// A folder that is not there yet, or empty [default: a new temporary one]
    folder: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &DemoArgs) -> Result<ExitCode> {
    app.may_write()?;
    let root = match &args.folder {
        Some(folder) => app.env.cwd.join(folder),
        None => app.env.tmp.join(format!(
            "boswell-demo-{}",
            SystemIds.hex16().get(..8).unwrap_or("0")
        )),
    };
    if !is_new_or_empty(&root)? {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` is no empty folder", root.display()),
        )
        .because("a demo is made where nothing is yet")
        .hinting("name another folder, or none for a new temporary one"));
    }
    let place = DemoLayout::at(root);
    place.build(&program()?)?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&shape(&place))?;
    } else {
        print(&place, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn shape(place: &DemoLayout) -> Json {
    let commands: Vec<Json> = TOUR
        .iter()
        .map(|(typed, what)| Json::object().with("command", *typed).with("shows", *what))
        .collect();
    Json::object()
        .with("v", 1)
        .with("type", "demo")
        .with("path", place.root().display().to_string())
        .with("script", place.script().display().to_string())
        .with("options", place.options())
        .with("commands", commands)
}

fn print(place: &DemoLayout, out: &mut Output) -> Result<()> {
    out.line(&format!(
        "a home to try is in {}",
        one_line(&place.root().display().to_string())
    ))?;
    out.line("")?;
    out.line("Type this, then the commands below:")?;
    let script = boswell_model::shell_quote(&place.script().display().to_string());
    out.line(&out.paint(Style::Strong, &format!("  alias try={script}")))?;
    out.line("")?;
    for (typed, what) in TOUR {
        out.line(&format!(
            "  {} {}",
            fit(&format!("try {typed}"), 36),
            out.paint(Style::Faint, &format!("# {what}"))
        ))?;
    }
    Ok(())
}
