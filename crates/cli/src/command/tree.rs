//! `tree`: branch points, leaves, labels, compactions, the current leaf.

use std::collections::HashSet;
use std::process::ExitCode;

use boswell_dialect::Depth;
use boswell_model::json::Json;
use boswell_model::{EntryKind, Flags, Result, Slot};
use boswell_store::Session;
use clap::Args;

use super::show::warn_about_gaps;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, cut, one_line};
use crate::time;

/// Show branch points, leaves, labels and compactions
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell tree @last
  boswell tree 0b7e --json")]
pub(crate) struct TreeArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
}

struct Node {
    slot: Slot,
    depth: usize,
    /// The nearest node above that is shown.
    above: Option<Slot>,
    /// Entries between it and this one.
    between: usize,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &TreeArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    let session = found.store.read(&found.location, Depth::Facts)?;
    let leaf = session.leaf()?;
    let branch: HashSet<Slot> = session.branch(session.tip()?)?.into_iter().collect();
    let nodes = nodes(&session, leaf);
    let mut out = Output::paged(app);
    for node in &nodes {
        if out.json {
            out.object(&shape(&session, node, leaf, &branch)?)?;
        } else {
            line(app, &session, node, leaf, &branch, &mut out)?;
        }
    }
    out.finish()?;
    warn_about_gaps(app, &session);
    Ok(ExitCode::SUCCESS)
}

fn in_tree(session: &Session, slot: Slot) -> bool {
    let linked = session.tree().parent(slot).is_some() || !session.tree().is_tip(slot);
    session.log().head(slot).is_some_and(|h| {
        h.flags.has(Flags::CHAIN)
            || h.kind.is_conversation()
            || linked && h.kind != EntryKind::Header
    })
}

/// Entries that are conversation or have some below them. The rest is bookkeeping at
/// the end of a branch.
fn alive(session: &Session) -> Vec<bool> {
    let mut alive = vec![false; session.tree().len()];
    for (slot, head) in session.log().entries() {
        if !head.kind.is_conversation() {
            continue;
        }
        for above in session.tree().ancestors(slot) {
            match alive.get_mut(above.index()) {
                Some(mark) if !*mark => *mark = true,
                _ => break,
            }
        }
    }
    alive
}

/// Walks the tree without recursion and keeps the entries worth a line.
fn nodes(session: &Session, leaf: Option<Slot>) -> Vec<Node> {
    let tree = session.tree();
    let labels = session.meta().labels_now();
    let alive = alive(session);
    let shown_at_all =
        |slot: &Slot| alive.get(slot.index()) == Some(&true) && in_tree(session, *slot);
    let mut nodes = Vec::new();
    let mut open: Vec<Node> = tree
        .roots()
        .filter(|slot| shown_at_all(slot))
        .map(|slot| Node {
            slot,
            depth: 0,
            above: None,
            between: 0,
        })
        .collect();
    open.reverse();
    while let Some(node) = open.pop() {
        let children: Vec<Slot> = tree
            .children(node.slot)
            .filter(|slot| shown_at_all(slot))
            .collect();
        let log = session.log();
        let shown = node.above.is_none()
            || children.len() != 1
            || leaf == Some(node.slot)
            || log.kind(node.slot) == EntryKind::Compaction
            || labels.contains_key(log.label(node.slot).as_ref());
        let deeper = usize::from(children.len() > 1);
        for child in children.into_iter().rev() {
            let (above, between, depth) = if shown {
                (Some(node.slot), 0, node.depth + deeper)
            } else {
                (node.above, node.between + 1, node.depth)
            };
            open.push(Node {
                slot: child,
                depth,
                above,
                between,
            });
        }
        if shown {
            nodes.push(node);
        }
    }
    nodes
}

fn text_of(session: &Session, slot: Slot) -> Result<String> {
    let view = session.entry(slot)?.view.unwrap_or_default();
    let text = view.text();
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let call = view.calls().next().map(|(_, name, _)| format!("→ {name}"));
    Ok(call.or(view.remark).unwrap_or_default())
}

fn shape(
    session: &Session,
    node: &Node,
    leaf: Option<Slot>,
    branch: &HashSet<Slot>,
) -> Result<Json> {
    let log = session.log();
    let labels = session.meta().labels_now();
    let id = log.label(node.slot);
    Ok(Json::object()
        .with("v", 1)
        .with("type", "node")
        .with("session", session.reference().to_string())
        .with("id", id.as_ref())
        .with("above", node.above.map(|slot| log.label(slot).into_owned()))
        .with(
            "parent",
            session
                .tree()
                .parent(node.slot)
                .map(|slot| log.label(slot).into_owned()),
        )
        .with("between", node.between)
        .with("depth", node.depth)
        .with("children", session.tree().children(node.slot).count())
        .with("kind", log.word(node.slot))
        .with("role", log.kind(node.slot).role())
        .with(
            "at",
            log.head(node.slot)
                .and_then(|h| h.instant())
                .map(|t| t.to_rfc3339()),
        )
        .with("label", labels.get(id.as_ref()).copied())
        .with("compaction", log.kind(node.slot) == EntryKind::Compaction)
        .with("leaf", leaf == Some(node.slot))
        .with("on_branch", branch.contains(&node.slot))
        .with("text", cut(&text_of(session, node.slot)?, 200)))
}

fn line(
    app: &App,
    session: &Session,
    node: &Node,
    leaf: Option<Slot>,
    branch: &HashSet<Slot>,
    out: &mut Output,
) -> Result<()> {
    let log = session.log();
    let labels = session.meta().labels_now();
    let id = log.label(node.slot);
    let mark = if leaf == Some(node.slot) {
        "◉"
    } else if branch.contains(&node.slot) {
        "●"
    } else {
        "○"
    };
    let between = if node.between > 0 {
        format!("+{} ", node.between)
    } else {
        String::new()
    };
    let who = log
        .kind(node.slot)
        .role()
        .map_or_else(|| one_line(log.word(node.slot)), str::to_owned);
    let label = labels
        .get(id.as_ref())
        .map(|l| format!(" [{}]", one_line(l)))
        .unwrap_or_default();
    let time = log
        .head(node.slot)
        .and_then(|h| h.instant())
        .map(time::minute)
        .unwrap_or_default();
    let lead = format!(
        "{}{mark} {between}{who}{label} {} {time} ",
        "  ".repeat(node.depth.min(40)),
        one_line(&id)
    );
    let room = app
        .width
        .saturating_sub(crate::terminal::columns(&lead))
        .max(10);
    let text = cut(&one_line(&text_of(session, node.slot)?), room);
    let style = if branch.contains(&node.slot) {
        Style::Strong
    } else {
        Style::Faint
    };
    out.line(format!("{}{text}", out.paint(style, &lead)).trim_end())
}
