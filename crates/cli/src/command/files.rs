//! `files`: files that a session touched.

use std::collections::BTreeMap;
use std::process::ExitCode;

use boswell_dialect::{Depth, SideKind};
use boswell_model::Result;
use boswell_model::json::Json;
use clap::Args;

use super::agent_file_history::AgentFileHistory;
use super::checkout::Files;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{fit, one_line};

/// List the files that a session read or changed through tools
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell files @last
  boswell files 0b7e --json")]
pub(crate) struct FilesArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Checkpointed files as they stood at this entry
    #[arg(long, value_name = "E")]
    at: Option<String>,
    /// How they differ from what they are now (with --at)
    #[arg(long, requires = "at")]
    diff: bool,
}

#[derive(Default)]
struct Touched {
    tools: BTreeMap<String, usize>,
    first: String,
    last: String,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &FilesArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    if let Some(entry) = &args.at {
        let session = found.store.read(&found.location, Depth::Facts)?;
        let mut out = Output::paged(app);
        if let Some(copies) = AgentFileHistory::at(&found, &session, entry, &[])? {
            if args.diff {
                copies.show_diff(&session, &mut out)?
            } else {
                copies.list(&session, &mut out)?
            }
            return out.finish().map(|()| ExitCode::SUCCESS);
        }
        let files = Files::at(app, &session, entry, &[])?;
        if args.diff {
            files.show_diff(&session, &mut out)?
        } else {
            files.list(&session, &mut out)?
        }
        return out.finish().map(|()| ExitCode::SUCCESS);
    }
    let session = found.store.read(&found.location, Depth::Heads)?;
    let mut touched: BTreeMap<String, Touched> = BTreeMap::new();
    for slot in session.log().slots() {
        let Some(view) = session.entry(slot)?.view else {
            continue;
        };
        for (path, tool) in session.dialect().powers().refine.touched_files(&view) {
            let label = session.log().label(slot).into_owned();
            let file = touched.entry(path).or_default();
            *file.tools.entry(tool).or_default() += 1;
            if file.first.is_empty() {
                file.first.clone_from(&label);
            }
            file.last = label;
        }
    }
    let checkpoints = found
        .store
        .side_files(&found.location)?
        .into_iter()
        .filter(|f| f.kind == SideKind::Checkpoint);
    let mut out = Output::paged(app);
    for (path, file) in &touched {
        if out.json {
            let tools = file
                .tools
                .iter()
                .map(|(tool, count)| (tool.clone(), Json::from(*count)))
                .collect();
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "file")
                    .with("session", session.reference().to_string())
                    .with("path", path)
                    .with("tools", Json::Object(tools))
                    .with("first", &file.first)
                    .with("last", &file.last),
            )?;
        } else {
            let tools: Vec<String> = file
                .tools
                .iter()
                .map(|(tool, count)| format!("{tool}×{count}"))
                .collect();
            out.line(&format!(
                "{}  {}",
                fit(&one_line(&tools.join(" ")), 24),
                one_line(path)
            ))?;
        }
    }
    for file in checkpoints {
        let place = found.store.backend().describe(&file.key);
        if out.json {
            let reference = session.reference().to_string();
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "checkpoint")
                    .with("session", reference)
                    .with("path", place)
                    .with("bytes", file.size),
            )?;
        } else {
            out.line(&format!("{}  {}", fit("checkpoint", 24), one_line(&place)))?;
        }
    }
    if touched.is_empty() && !app.quiet {
        crate::error_report::say("no tool of this session read or changed a file");
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
