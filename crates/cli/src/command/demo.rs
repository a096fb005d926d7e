//! `demo`: sample sessions to try boswell on.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::demo::{DemoRequest, DemoShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::{App, program};
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};

/// Create sample sessions of every agent, and list what to try
#[derive(Debug, Args)]
#[command(
    after_help = "Your own sessions are neither read nor changed. To clean up, delete the folder.

Examples:
  boswell demo
  boswell demo ./boswell-demo"
)]
pub(crate) struct DemoArgs {
    /// A new or empty folder [default: a temporary one]
    folder: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &DemoArgs) -> Result<ExitCode> {
    let request = DemoRequest {
        folder: args.folder.clone(),
        program: program()?,
    };
    let demo = app.shown(app.requests.demo(&request))?;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&demo.object())?;
    } else {
        print(&demo, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(demo: &DemoShape, out: &mut Output) -> Result<()> {
    out.line(&format!("sample sessions are in {}", one_line(&demo.path)))?;
    out.line("")?;
    out.line("Set this alias, then try the commands below:")?;
    let script = boswell_model::shell_quote(&demo.script);
    out.line(&out.paint(Style::Strong, &format!("  alias try={script}")))?;
    out.line("")?;
    for it in &demo.commands {
        out.line(&format!(
            "  {} {}",
            fit(&format!("try {}", it.command), 36),
            out.paint(Style::Faint, &format!("# {}", it.shows))
        ))?;
    }
    Ok(())
}
