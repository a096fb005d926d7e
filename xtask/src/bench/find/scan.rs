//! A regular expression that no index can speed up.

use super::bed::Bed;
use crate::Outcome;
use crate::bench::data;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::table::{Row, Target};

/// Five digits twice: it contains no literal that must occur.
const EXPRESSION: &str = "[0-9]{5}-[0-9]{5}";
const MOST_MEMORY: u64 = 200_000_000;

pub(crate) struct Scan;

impl Group for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn about(&self) -> &'static str {
        "`boswell search --regex` without a literal over 1,000 sessions against `rg` (or `grep -E`, where there is no `rg`) on the same files"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let root = data::thousand_sessions(&lab.data)?;
        let bed = Bed {
            root: root.clone(),
            home: lab.data.join("warm-scan"),
        };
        std::fs::create_dir_all(&bed.home)?;
        bed.job(lab, &["index"]).output_lines()?;
        let mut ours = bed.job(lab, &["search", "--regex", EXPRESSION]);
        // Finding nothing is the expected result here, not a failure.
        ours.may_find_nothing = true;
        let root = root.display().to_string();
        let row = match lab.program("rg", &["--no-messages", "-c", EXPRESSION, &root]) {
            Ok(mut rg) => {
                rg.may_find_nothing = true;
                lab.compare("CPU, against rg", &ours, &rg, Some(Target::AtMost(1.0)))?
            }
            Err(_) => {
                let mut grep = lab.program("grep", &["-rcE", EXPRESSION, &root])?;
                grep.may_find_nothing = true;
                lab.compare("CPU, against grep -E", &ours, &grep, None)?
            }
        };
        Ok(vec![row, lab.peak("peak memory", &ours, MOST_MEMORY)?])
    }
}
