//! Metadata of every session of a store, without a catalog.

use super::data;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

pub(crate) struct ReadAll;

impl Group for ReadAll {
    fn name(&self) -> &'static str {
        "read-all"
    }

    fn about(&self) -> &'static str {
        "`boswell list --json` over 1,000 Claude sessions (100 MB) without a catalog against reading the same bytes and \
         splitting them at newlines"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let root = data::thousand_sessions(&lab.data)?;
        let store = format!("claude={}", root.display());
        let ours = lab.boswell(&["list", "--json", "--limit", "1000000", "--store", &store]);
        let listed = ours.output_lines()?;
        if listed < data::SESSIONS {
            return Err(format!(
                "boswell list printed {listed} lines for {} sessions",
                data::SESSIONS
            )
            .into());
        }
        // At least a fifth of the baseline's rate is the same as at most five times its CPU time.
        Ok(vec![lab.compare(
            "CPU, cold",
            &ours,
            &lab.split(&root),
            Some(Target::AtMost(5.0)),
        )?])
    }
}
