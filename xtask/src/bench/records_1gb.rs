//! Every record of a 1 GB session, streamed.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::Row;
use crate::{Outcome, baseline};

pub(crate) struct Records1Gb;

impl Group for Records1Gb {
    fn name(&self) -> &'static str {
        "records-1gb"
    }

    fn about(&self) -> &'static str {
        "`boswell show FILE --records --raw` of a 1 GB Claude session against reading the file and splitting it at newlines"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let file = data::gigabyte_session(&lab.data)?;
        let ours = lab.boswell(&["show", &file.display().to_string(), "--records", "--raw"]);
        let mut seen = baseline::Split::default();
        baseline::split(&file, &mut seen)?;
        let printed = ours.output_lines()? as u64;
        if printed < seen.lines {
            return Err(format!(
                "boswell show printed {printed} lines of a file of {}",
                seen.lines
            )
            .into());
        }
        Ok(vec![
            lab.compare("CPU, all records", &ours, &lab.split(&file), None)?,
            lab.memory("peak memory", &ours, &file)?,
        ])
    }
}
