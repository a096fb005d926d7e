//! Repeats a title at the end of the log, if the client no longer finds it.

use boswell_model::{ProblemKind, Repair, Result};

use super::super::{metadata, title_window};
use super::Lines;
use crate::{Confidence, Fix, Splice};

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let Some((slot, title)) = title_window::lost(&lines.view)? else {
        return Ok(());
    };
    let does = "append its title again, where the client reads it".to_owned();
    let mut fix = lines.fix(ProblemKind::LostTitle, slot, Confidence::Certain, does);
    fix.repair = Repair::Append;
    let lead: &[u8] = if lines.view.log.ended { b"" } else { b"\n" };
    let with = [
        lead,
        &metadata::title_lines(&title, &lines.repair_input.location.id),
    ]
    .concat();
    fix.splices = vec![Splice::insert(lines.view.log.bytes, with)];
    fixes.push(fix);
    Ok(())
}
