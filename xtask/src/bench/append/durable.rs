//! A durable append by a program with an open writer.

use std::io::Write;

use super::super::group::Group;
use super::super::in_turn::{compare, timed};
use super::super::lab::Lab;
use super::super::table::{Row, Target};
use super::bed::Bed;
use crate::Outcome;

const APPENDS: usize = 200;

pub(crate) struct AppendDurable;

impl Group for AppendDurable {
    fn name(&self) -> &'static str {
        "append-durable"
    }

    fn about(&self) -> &'static str {
        "`SessionWriter::append` of a 1 KB entry against `write` and `fdatasync` of the same bytes; wall time, median"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (bed, writer) = Bed::make(lab, "durable")?;
        let mut raw = bed.open_raw()?;
        let mut ours = || {
            let draft = bed.draft.clone();
            let (time, receipt) = timed(|| writer.append(draft));
            receipt?;
            Ok(time)
        };
        let mut theirs = || {
            let (time, done) = timed(|| raw.write_all(&bed.line).and_then(|()| raw.sync_data()));
            done?;
            Ok(time)
        };
        let target = Some(Target::AtMost(1.10));
        Ok(vec![compare(
            "durable append",
            (lab.repeats, APPENDS),
            &mut ours,
            &mut theirs,
            target,
        )?])
    }
}
