//! The context of a 1 GB session of another agent, read for the first time.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

pub(crate) struct Context1Gb;

impl Group for Context1Gb {
    fn name(&self) -> &'static str {
        "context-1gb"
    }

    fn about(&self) -> &'static str {
        "`boswell context FILE --json` of a 1 GB Claude session against reading the file and splitting it at newlines"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let file = data::gigabyte_session(&lab.data)?;
        let ours = lab.boswell(&["context", &file.display().to_string(), "--json"]);
        if ours.output_lines()? == 0 {
            return Err("boswell context printed nothing: there is nothing to measure".into());
        }
        Ok(vec![
            lab.compare(
                "CPU, first time",
                &ours,
                &lab.split(&file),
                Some(Target::AtMost(2.0)),
            )?,
            lab.memory("peak memory", &ours, &file)?,
        ])
    }
}
