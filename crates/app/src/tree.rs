//! The tree of a session: branch points, leaves, labels, compactions, the current leaf.

use std::collections::{BTreeMap, HashSet};

use boswell_dialect::Depth;
use boswell_model::{EntryKind, Flags, Instant, Result, Slot};
use boswell_store::Session;

use crate::gaps::{require_conversation, warn_about_gaps};
use crate::shape::shape;
use crate::text::cut;
use crate::{App, AppResult, RequestContext};

shape! {
    /// A branch point, a leaf, a label or a compaction of a session.
    NodeShape: "node" {
        /// the session
        session: String,
        /// id of the entry, or `#LINE` if it has none
        id: String,
        /// the nearest ancestor that is shown
        above: Option<String>,
        /// the entry that it follows
        parent: Option<String>,
        /// number of entries between it and that ancestor
        between: usize,
        /// number of branch points above it
        depth: usize,
        /// number of its children
        children: usize,
        /// the agent's own type of the record
        kind: String,
        /// role: `user`, `assistant` and others
        role: Option<&'static str>,
        /// when it was written
        at: Option<Instant>,
        /// label of the entry
        label: Option<String>,
        /// whether it is a compaction
        compaction: bool,
        /// whether it is the current leaf
        leaf: bool,
        /// whether it is on the current branch
        on_branch: bool,
        /// start of its text
        text: String,
    }
}

/// A request for the tree of a session.
#[derive(Debug, Clone, Default)]
pub struct TreeRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
}

/// A node of a tree.
#[derive(Debug)]
pub struct TreeNode {
    /// Its JSON shape.
    pub shape: NodeShape,
    /// The complete text, for faces that truncate it to their own width.
    pub text: String,
}

/// Receives a tree node by node, parents first; returns false to stop.
pub type TreeSink<'s> = &'s mut dyn FnMut(TreeNode) -> Result<bool>;

impl App {
    /// Passes the nodes of a session's tree to the sink.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session; and every error of the sink.
    pub fn tree(&self, request: &TreeRequest, sink: TreeSink<'_>) -> AppResult<()> {
        self.answer(|cx| tree(cx, request, sink))
    }
}

fn tree(cx: &RequestContext, request: &TreeRequest, sink: TreeSink<'_>) -> Result<()> {
    let found = cx.resolve(&request.session)?;
    let session = found
        .store
        .read_conversation(&found.location, Depth::Facts)?;
    require_conversation(&session)?;
    let drawing = Drawing {
        leaf: session.leaf()?,
        branch: session.branch(session.tip()?)?.into_iter().collect(),
        labels: session.meta().labels_now(),
        session: &session,
    };
    for node in drawing.nodes() {
        if !sink(drawing.node(&node)?)? {
            break;
        }
    }
    warn_about_gaps(cx, &session);
    Ok(())
}

/// An entry that is shown in the tree.
struct Node {
    slot: Slot,
    depth: usize,
    /// The nearest ancestor that is shown.
    above: Option<Slot>,
    /// Number of entries between that one and this one.
    between: usize,
}

struct Drawing<'s> {
    session: &'s Session,
    leaf: Option<Slot>,
    branch: HashSet<Slot>,
    labels: BTreeMap<&'s str, &'s str>,
}

impl Drawing<'_> {
    /// Walks the tree without recursion and returns the entries to show.
    fn nodes(&self) -> Vec<Node> {
        let tree = self.session.tree();
        let alive = alive(self.session);
        let is_shown_at_all =
            |slot: &Slot| alive.get(slot.index()) == Some(&true) && in_tree(self.session, *slot);
        let root = |slot| Node {
            slot,
            depth: 0,
            above: None,
            between: 0,
        };
        let mut nodes = Vec::new();
        let mut open: Vec<Node> = tree.roots().filter(is_shown_at_all).map(root).collect();
        open.reverse();
        while let Some(node) = open.pop() {
            let children: Vec<Slot> = tree.children(node.slot).filter(is_shown_at_all).collect();
            let is_shown = node.above.is_none() || self.is_worth_a_line(node.slot, children.len());
            let deeper = usize::from(children.len() > 1);
            for slot in children.into_iter().rev() {
                let (above, between, depth) = if is_shown {
                    (Some(node.slot), 0, node.depth + deeper)
                } else {
                    (node.above, node.between + 1, node.depth)
                };
                open.push(Node {
                    slot,
                    depth,
                    above,
                    between,
                });
            }
            if is_shown {
                nodes.push(node);
            }
        }
        nodes
    }

    fn is_worth_a_line(&self, slot: Slot, children: usize) -> bool {
        let log = self.session.log();
        children != 1
            || self.leaf == Some(slot)
            || log.kind(slot) == EntryKind::Compaction
            || self.labels.contains_key(log.label(slot).as_ref())
    }

    fn node(&self, node: &Node) -> Result<TreeNode> {
        let (log, tree) = (self.session.log(), self.session.tree());
        let named = |slot: Slot| log.label(slot).into_owned();
        let id = named(node.slot);
        let text = text_of(self.session, node.slot)?;
        let shape = NodeShape {
            session: self.session.reference().to_string(),
            above: node.above.map(named),
            parent: tree.parent(node.slot).map(named),
            between: node.between,
            depth: node.depth,
            children: tree.children(node.slot).count(),
            kind: log.word(node.slot).to_owned(),
            role: log.kind(node.slot).role(),
            at: log.head(node.slot).and_then(|head| head.instant()),
            label: self.labels.get(id.as_str()).map(|it| (*it).to_owned()),
            id,
            compaction: log.kind(node.slot) == EntryKind::Compaction,
            leaf: self.leaf == Some(node.slot),
            on_branch: self.branch.contains(&node.slot),
            text: cut(&text, 200),
        };
        Ok(TreeNode { shape, text })
    }
}

/// Whether an entry is part of the tree that users see.
pub(crate) fn in_tree(session: &Session, slot: Slot) -> bool {
    let is_linked = session.tree().parent(slot).is_some() || !session.tree().is_tip(slot);
    session.log().head(slot).is_some_and(|head| {
        head.flags.has(Flags::CHAIN)
            || head.kind.is_conversation()
            || is_linked && head.kind != EntryKind::Header
    })
}

/// Returns for each entry whether it is conversation or has some below it. The others are
/// bookkeeping at the end of a branch.
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

fn text_of(session: &Session, slot: Slot) -> Result<String> {
    let view = session.entry(slot)?.view.unwrap_or_default();
    let text = view.text();
    if !text.trim().is_empty() {
        return Ok(text);
    }
    let call = view.calls().next().map(|(_, name, _)| format!("→ {name}"));
    Ok(call.or(view.remark).unwrap_or_default())
}
