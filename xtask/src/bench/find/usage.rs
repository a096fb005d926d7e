//! Measures the statistics of all sessions.

use super::bed::Bed;
use crate::Outcome;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::table::{Row, Target};

/// The time of the best known counter for the same sessions, every time.
const ALLOWED: f64 = 4.2;

pub(crate) struct UsageReport;

impl Group for UsageReport {
    fn name(&self) -> &'static str {
        "usage-report"
    }

    fn about(&self) -> &'static str {
        "`boswell stats --by day` over 10,000 sessions that the catalog knows against what the best known counter takes"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let ours = bed.job(lab, &["stats", "--by", "day"]);
        if ours.output_lines()? < 2 {
            return Err("boswell stats counted nothing".into());
        }
        Ok(vec![lab.allowed(
            "usage by day, warm",
            &ours,
            ALLOWED,
            Target::AtMost(0.02),
        )?])
    }
}
