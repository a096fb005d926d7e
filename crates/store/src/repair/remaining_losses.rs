//! What known readers lose after a repair: by the kind of problem, and record by record where it
//! was measured what a reader sends.

use std::collections::BTreeMap;

use boswell_dialect::{Patch, UnsentReason};
use boswell_model::{ProblemKind, Result, Slot};

use super::original_lines::OriginalLines;
use super::planner::RepairPlanner;
use super::{StillLost, UnsentRecord, UnsentRecords};
use crate::Session;

/// Whether a problem costs something that is not a message of the file.
fn is_of_later(problem: ProblemKind) -> bool {
    matches!(problem, ProblemKind::TornTail | ProblemKind::LostTitle)
}

impl RepairPlanner<'_> {
    /// Returns what known readers lose to the problems that are left. Of readers whose behaviour
    /// was measured only what is not in the file yet: the rest is known record by record.
    pub(super) fn still_lost(&self, after: &Session) -> Result<Vec<StillLost>> {
        let report = crate::repair::check(after)?;
        let mut lost = Vec::new();
        for reader in self.store.dialect().facts().readers {
            let is_measured = self.is_measured(reader.name);
            let mut losses: Vec<(ProblemKind, &'static str, usize)> = Vec::new();
            for problem in &report.problems {
                let hurt = crate::repair::check::hurt(after, &report.losses, problem);
                if !hurt.contains(&reader.name) {
                    continue;
                }
                let Some(loss) = reader.loss(problem.kind) else {
                    continue;
                };
                if is_measured && !is_of_later(problem.kind) {
                    continue;
                }
                match losses.iter_mut().find(|(kind, _, _)| *kind == problem.kind) {
                    Some((_, _, count)) => *count += 1,
                    None => losses.push((problem.kind, loss, 1)),
                }
            }
            if !losses.is_empty() {
                let is_goal = self.goals.contains(&reader.name);
                lost.push(StillLost {
                    reader: reader.name,
                    title: reader.title,
                    is_goal,
                    losses,
                });
            }
        }
        Ok(lost)
    }

    fn is_measured(&self, reader: &str) -> bool {
        let repair = self.store.dialect().powers().repair;
        repair.is_some_and(|repair| repair.predicts(reader))
    }

    /// Returns the messages that known readers do not send of a session read through a patch.
    pub(super) fn unsent(&self, patch: &Patch, after: &Session) -> Result<Vec<UnsentRecords>> {
        let Some(repair) = self.store.dialect().powers().repair else {
            return Ok(Vec::new());
        };
        let mut readers: BTreeMap<(UnsentReason, Slot), Vec<&'static str>> = BTreeMap::new();
        for reader in self.store.dialect().facts().readers {
            let unsent = repair.unsent_records(&after.view(), reader.name)?;
            for (slot, reason) in unsent.into_iter().flatten() {
                readers.entry((reason, slot)).or_default().push(reader.name);
            }
        }
        let lines = OriginalLines::new(self.original.log(), patch);
        let mut groups: BTreeMap<(UnsentReason, Vec<&'static str>), Vec<UnsentRecord>> =
            BTreeMap::new();
        for ((reason, slot), readers) in readers {
            let label = after.log().label(slot).into_owned();
            let at = after.log().head(slot).map_or(0, |head| head.at);
            let record = UnsentRecord {
                line: lines.at(at, Some(&label)),
                entry: label,
            };
            groups.entry((reason, readers)).or_default().push(record);
        }
        let group = |((reason, readers), records)| UnsentRecords {
            reason,
            readers,
            records,
        };
        Ok(groups.into_iter().map(group).collect())
    }
}
