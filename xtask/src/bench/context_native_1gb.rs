//! The context of a 1 GB native session whose last compaction is near its end.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

pub(crate) struct ContextNative1Gb;

impl Group for ContextNative1Gb {
    fn name(&self) -> &'static str {
        "context-native-1gb"
    }

    fn about(&self) -> &'static str {
        "`boswell context FILE --json` of a 1 GB native session with its last compaction near the end against `tail -c` of \
         the bytes needed"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (file, needed) = data::gigabyte_native_session(&lab.data)?;
        let name = file.display().to_string();
        let ours = lab.boswell(&["context", &name, "--json"]);
        if ours.output_lines()? == 0 {
            return Err("boswell context printed nothing: there is nothing to measure".into());
        }
        let tail = lab.program("tail", &["-c", &needed.to_string(), &name])?;
        let case = format!("CPU, last {:.1} MB needed", needed as f64 / 1e6);
        Ok(vec![
            lab.compare(&case, &ours, &tail, Some(Target::AtMost(3.0)))?,
            lab.compare("CPU against read and split", &ours, &lab.split(&file), None)?,
            lab.memory("peak memory", &ours, &file)?,
        ])
    }
}
