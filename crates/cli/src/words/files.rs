//! Files of a project as they were at an entry: for `files`, `checkout` and `rewind`.

use boswell_app::files::{FileDifference, FormerFile, RestoreStep};
use boswell_app::shape::{Maybe, Shape as _};
use boswell_model::Result;

use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};

/// Prints what each file was.
pub(crate) fn states(files: Vec<FormerFile>, out: &mut Output) -> Result<()> {
    for file in files {
        if out.json {
            out.object(&file.object())?;
        } else {
            out.line(&format!("{}  {}", fit(file.state, 8), one_line(&file.path)))?;
        }
    }
    Ok(())
}

/// Prints how files differ from what they were.
pub(crate) fn differences(files: Vec<FileDifference>, out: &mut Output) -> Result<()> {
    for file in files {
        if out.json {
            out.object(&file.object())?;
        } else if file.change != "unchanged" {
            let note = if matches!(file.conflict, Maybe::Given(true)) {
                " (outside this session)"
            } else {
                ""
            };
            out.line(&format!(
                "{}  {}{note}",
                out.paint(Style::Strong, &one_line(&file.path)),
                file.change
            ))?;
            for line in file.diff.unwrap_or_default().lines() {
                out.line(&format!("  {}", escape(line)))?;
            }
        }
    }
    Ok(())
}

/// Prints whether a file was restored.
pub(crate) fn restored(step: RestoreStep, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&step.object());
    }
    out.line(&format!("{}: {}", step.done, one_line(&step.path)))
}
