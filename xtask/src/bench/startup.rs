//! Measures the start of the program with a command that needs no session.

use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

pub(crate) struct Startup;

impl Group for Startup {
    fn name(&self) -> &'static str {
        "startup"
    }

    fn about(&self) -> &'static str {
        "`boswell --version`, and `boswell ops` where nothing was ever done, against starting `true`"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let nothing = lab.program("true", &[])?;
        let row = |case: &str, arguments: &[&str], target: Option<Target>| {
            lab.compare(case, &lab.boswell(arguments), &nothing, target)
        };
        // `ops` finds the stores of the machine first, like every command.
        Ok(vec![
            row("CPU, --version", &["--version"], Some(Target::AtMost(3.0)))?,
            row("CPU, ops", &["ops"], None)?,
        ])
    }
}
