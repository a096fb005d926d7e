//! Checks a 1 GB session.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

/// Memory that `check` may use beyond the longest line.
const ALLOWANCE: u64 = 100_000_000;

pub(crate) struct Check1Gb;

impl Group for Check1Gb {
    fn name(&self) -> &'static str {
        "check-1gb"
    }

    fn about(&self) -> &'static str {
        "`boswell check FILE` of a 1 GB session, Claude's and one of boswell's own, against reading the file and scanning every line as JSON once"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let file = data::gigabyte_session(&lab.data)?;
        let (native, _) = data::gigabyte_native_session(&lab.data)?;
        let mut rows = Vec::new();
        for (whose, file) in [("Claude", file), ("boswell's own", native)] {
            let mut ours = lab.boswell(&["check", &file.display().to_string()]);
            // The data contains branches of two clients, so the result is "damaged".
            ours.may_find_nothing = true;
            if ours.output_lines()? == 0 {
                return Err("boswell check printed nothing: there is nothing to measure".into());
            }
            let cpu = lab.compare(
                &format!("CPU, {whose}"),
                &ours,
                &lab.parse(&file),
                Some(Target::AtMost(2.0)),
            )?;
            let memory =
                lab.memory_within(&format!("peak memory, {whose}"), &ours, &file, ALLOWANCE)?;
            rows.extend([cpu, memory]);
        }
        Ok(rows)
    }
}
