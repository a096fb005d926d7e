//! Lines of digests in Markdown, which `outline` and `today` share.

use boswell_app::outline::EditedFile;
use boswell_model::Result;

use crate::output::Output;
use crate::terminal::{cut, one_line};

/// The widest quotation on a line.
const WIDEST: usize = 160;

/// A section, if it has anything.
pub(crate) fn heading(title: &str, items: usize, out: &mut Output) -> Result<()> {
    if items == 0 {
        return Ok(());
    }
    out.line("")?;
    out.line(&format!("## {title}"))
}

/// The first line of a text, harmless and cut.
pub(crate) fn short_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    cut(&one_line(first.unwrap_or_default()), WIDEST)
}

/// A changed file below its project, with the lines that were added and removed.
pub(crate) fn file_line(file: &EditedFile, project: Option<&str>) -> String {
    let below = project.and_then(|project| file.path.strip_prefix(project)?.strip_prefix('/'));
    let path = one_line(below.unwrap_or(&file.path));
    match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("- {path} +{added} −{removed}"),
        _ => format!("- {path}"),
    }
}
