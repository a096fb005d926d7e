//! How long it takes until the program has answered something that needs no session.

use super::group::Group;
use super::in_turn::{self, timed};
use super::lab::Lab;
use super::measure::Job;
use super::table::{Row, Target};
use crate::Outcome;

/// How often each program is started in a round.
const STARTS: usize = 200;

pub(crate) struct Startup;

impl Group for Startup {
    fn name(&self) -> &'static str {
        "startup"
    }

    fn about(&self) -> &'static str {
        "`boswell --version`, and `boswell ops` where nothing was ever done, against starting `true`; wall time, median"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let nothing = lab.program("true", &[])?;
        let start = |job: &Job| {
            let (time, ended) = timed(|| job.output_lines());
            ended.map(|_| time)
        };
        let row = |case: &str, arguments: &[&str], target: Option<Target>| {
            let ours = lab.boswell(arguments);
            in_turn::compare(case, (lab.repeats, STARTS), &mut || start(&ours), &mut || start(&nothing), target)
        };
        // `ops` finds the stores of the machine first, as every command does.
        Ok(vec![row("--version", &["--version"], Some(Target::AtMost(3.0)))?, row("ops", &["ops"], None)?])
    }
}
