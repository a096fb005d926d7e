//! Everything that is wrong with a 1 GB session.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

/// What `check` may use beyond the longest line.
const ALLOWANCE: u64 = 100_000_000;

pub(crate) struct Check1Gb;

impl Group for Check1Gb {
    fn name(&self) -> &'static str {
        "check-1gb"
    }

    fn about(&self) -> &'static str {
        "`boswell check FILE` of a 1 GB Claude session against reading the file and scanning every line as JSON once"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let file = data::gigabyte_session(&lab.data)?;
        let ours = lab.boswell(&["check", &file.display().to_string()]);
        if ours.output_lines()? == 0 {
            return Err("boswell check printed nothing: there is nothing to measure".into());
        }
        Ok(vec![
            lab.compare("CPU", &ours, &lab.parse(&file), Some(Target::AtMost(2.0)))?,
            lab.memory_within("peak memory", &ours, &file, ALLOWANCE)?,
        ])
    }
}
