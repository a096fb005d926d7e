//! Updates the rows that name a project folder after it was moved.

use boswell_model::Result;

use crate::{Files, IdSource, Plan, Planned};

use super::super::index_file::{IndexFile, RowEdit};

pub(super) fn plan(
    files: &dyn Files,
    from: &str,
    to: &str,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    let mut index = IndexFile::load(files)?;
    let moved: Vec<(String, RowEdit, String)> = index
        .rows()
        .filter_map(|(id, _)| {
            let row = index.row(id)?;
            let place = format!("{to}{}", below(&row.text("agentDir")?, from)?);
            Some((id.to_owned(), row, place))
        })
        .collect();
    let mut plan = Plan::new(
        "move",
        format!("{} sessions follow from {from} to {to}", moved.len()),
    );
    for (id, mut row, place) in moved {
        row.set("agentDir", place)?;
        index.put(&id, row);
    }
    plan.steps = index.steps(files, id_source.now())?;
    Ok(Planned::of(plan))
}

/// Returns the part of a path after `folder`: empty, or a separator and more. Windows paths have
/// either separator.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)
        .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}
