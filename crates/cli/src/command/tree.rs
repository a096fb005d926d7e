//! `tree`: branches, labels and compactions of a session.

use std::process::ExitCode;

use boswell_app::shape::Shape as _;
use boswell_app::tree::{TreeNode, TreeRequest};
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::{LateOutput, Output};
use crate::terminal::{Style, columns, cut, one_line};

/// Show the branches, labels and compactions of a session
///
/// ● is on the current branch, ○ on another, ◉ is the current leaf; +4 counts entries left out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell tree @last
  boswell tree 0b7e --json")]
pub(crate) struct TreeArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    #[command(flatten)]
    host: HostArgs,
}

impl TreeArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::about(&self.host, Some(&self.session))
    }
}

impl From<&TreeArgs> for TreeRequest {
    fn from(args: &TreeArgs) -> TreeRequest {
        TreeRequest {
            session: args.session.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &TreeArgs) -> Result<ExitCode> {
    let mut out = LateOutput::paged(app);
    let shown = app.requests.tree(&args.into(), &mut |node| {
        let out = out.open()?;
        if out.json {
            out.object(&node.shape.object())?;
        } else {
            line(app, &node, out)?;
        }
        Ok(!out.gone())
    });
    out.shown(shown)?;
    Ok(ExitCode::SUCCESS)
}

fn line(app: &App, TreeNode { shape, text }: &TreeNode, out: &mut Output) -> Result<()> {
    let mark = match (shape.leaf, shape.on_branch) {
        (true, _) => "◉",
        (_, true) => "●",
        _ => "○",
    };
    let between = if shape.between > 0 {
        format!("+{} ", shape.between)
    } else {
        String::new()
    };
    let who = shape
        .role
        .map_or_else(|| one_line(&shape.kind), str::to_owned);
    let label = shape
        .label
        .as_deref()
        .map(|label| format!(" [{}]", one_line(label)))
        .unwrap_or_default();
    let time = shape.at.map(|at| out.minute(at)).unwrap_or_default();
    // Deep branches must leave room for what they say.
    let indent = "  ".repeat(shape.depth.min(app.width / 8));
    let id = one_line(&shape.id);
    let mut lead = format!("{indent}{mark} {between}{who}{label} {id} {time} ");
    if columns(&lead) + 20 > app.width {
        let short: String = id.chars().take(8).collect();
        lead = format!("{indent}{mark} {between}{who}{label} {short} ");
    }
    let lead = cut(&lead, app.width.saturating_sub(1));
    let room = app.width.saturating_sub(columns(&lead));
    let text = match room {
        0..4 => String::new(),
        room => cut(&one_line(text), room),
    };
    let style = if shape.on_branch {
        Style::Strong
    } else {
        Style::Faint
    };
    out.line(format!("{}{text}", out.paint(style, &lead)).trim_end())
}
