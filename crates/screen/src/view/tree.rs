//! The tree of branches.

use ratatui::layout::Rect;

use crate::ask::Node;
use crate::layout;
use crate::state::State;
use crate::view::canvas::Canvas;
use crate::view::{FAINT, PLAIN, SELECTED, answer};
use crate::words::{self, fill};

/// Draws the tree.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let Some(tree) = &state.tree else {
        return;
    };
    let about = (words::TREE, tree.session.as_str());
    let Some(nodes) = answer(state, canvas, about, tree.nodes.as_ref()) else {
        return;
    };
    let area = layout::body(state.size);
    let height = usize::from(area.height);
    let top = tree.selected.saturating_sub(height.saturating_sub(1));
    let visible = nodes.iter().enumerate().skip(top);
    for (y, (at, node)) in (area.top()..area.bottom()).zip(visible) {
        let style = if node.on_branch { PLAIN } else { FAINT };
        canvas.text(1, y, &line(state, node), style);
        if at == tree.selected {
            canvas.paint(Rect::new(0, y, area.width, 1), SELECTED);
        }
    }
}

fn line(state: &State, node: &Node) -> String {
    let between = match node.between {
        0 => String::new(),
        count => {
            let count = count.to_string();
            format!(
                " ({})",
                fill(state.look.say(words::ENTRIES_BETWEEN), &[&count])
            )
        }
    };
    let mark = match (node.leaf, node.compaction) {
        (true, _) => "●",
        (false, true) => "┄",
        (false, false) => "·",
    };
    let label = node
        .label
        .as_ref()
        .map(|it| format!(" [{it}]"))
        .unwrap_or_default();
    let indent = "  ".repeat(node.depth.min(20));
    format!(
        "{indent}{mark} {}{label}: {}{between}",
        node.role, node.text
    )
}
