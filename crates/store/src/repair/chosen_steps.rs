//! Plans exactly the steps that a request names by number.

use boswell_dialect::{Fix, Patch, Splice};
use boswell_model::{Advice, Error, ErrorKind, Repair, Result};

use super::fix_selection::{accept, changed};
use super::patched_session::PatchedSession;
use super::planner::{RepairPlanner, Worked};
use super::{RepairPlan, RepairStep, byte_fixes, late_lines};

impl RepairPlanner<'_> {
    /// Plans exactly the steps with these numbers, all of them.
    ///
    /// Two steps may change the same record, and a step can depend on another one: what cannot be
    /// applied together is applied in rounds.
    ///
    /// # Errors
    ///
    /// `NotFound` for a number that the plan does not have, `Conflict` if a step cannot be applied.
    pub(super) fn chosen(&self, numbers: &[usize]) -> Result<Worked> {
        let plan = self.plan()?;
        let mut open = self.wanted(&plan, numbers)?;
        self.refuse_before_bytes(&plan, &open)?;
        let mut worked = Worked {
            patch: self.whole(),
            ..Worked::default()
        };
        while !open.is_empty() {
            let left = self.round(&mut worked, &open)?;
            if left.len() == open.len() {
                return Err(self.follows_from_others(&open));
            }
            open = left;
        }
        Ok(worked)
    }

    /// Applies those of the open steps that can be applied together; returns the others.
    fn round<'p>(
        &self,
        worked: &mut Worked,
        open: &[&'p RepairStep],
    ) -> Result<Vec<&'p RepairStep>> {
        let session = self.session(&worked.patch)?;
        let fixes = self.fixes_for(open, &session, &worked.patch)?;
        let accepted = accept(&fixes);
        let (mut left, mut splices) = (open.to_vec(), Vec::<Splice>::new());
        for fix in &accepted {
            let step = self.step(&session, &worked.patch, fix);
            left.retain(|open| !is_same(open, &step));
            splices.extend(fix.splices.iter().cloned());
            worked.steps.push(RepairStep {
                taken: true,
                ..step
            });
        }
        worked.changed += changed(&accepted);
        worked.patch = worked.patch.spliced(&splices);
        Ok(left)
    }

    /// Returns the fixes of the open steps in a state of the session, of the first stage that has
    /// any.
    fn fixes_for(
        &self,
        open: &[&RepairStep],
        session: &PatchedSession,
        patch: &Patch,
    ) -> Result<Vec<Fix>> {
        let mut fixes = self.all_fixes(session, patch)?;
        fixes.retain(|fix| {
            let found = self.step(session, patch, fix);
            open.iter().any(|step| is_same(step, &found))
        });
        let stage = fixes.iter().map(|fix| fix.stage).min();
        fixes.retain(|fix| Some(fix.stage) == stage);
        Ok(fixes)
    }

    /// Returns the steps of a plan that have these numbers.
    fn wanted<'p>(&self, plan: &'p RepairPlan, numbers: &[usize]) -> Result<Vec<&'p RepairStep>> {
        let mut wanted = Vec::new();
        for number in numbers {
            let Some(step) = plan.steps.iter().find(|step| step.number == *number) else {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("the plan has no step {number}"),
                )
                .advising(self.show_repair()));
            };
            wanted.push(step);
        }
        Ok(wanted)
    }

    fn show_repair(&self) -> Advice {
        Advice::ShowRepair {
            session: Some(self.original.reference().to_string()),
            likely: false,
        }
    }

    /// Refuses changes of records while byte fixes are pending that were not chosen too: a fork is
    /// made of records, which are right only after those.
    fn refuse_before_bytes(&self, plan: &RepairPlan, wanted: &[&RepairStep]) -> Result<()> {
        let is_pending = |step: &RepairStep| {
            step.repair != Repair::Fork
                && step.taken
                && !wanted.iter().any(|wanted| wanted.number == step.number)
        };
        if wanted.iter().any(|step| step.repair == Repair::Fork)
            && plan.steps.iter().any(is_pending)
        {
            return Err(Error::new(
                ErrorKind::Conflict,
                "bytes must be repaired before records are changed",
            )
            .advising(Advice::Repair {
                session: self.original.reference().to_string(),
            }));
        }
        Ok(())
    }

    /// Returns all fixes of a state of the session.
    fn all_fixes(&self, session: &PatchedSession, patch: &Patch) -> Result<Vec<Fix>> {
        let mut fixes = self.rewrites(session, patch)?;
        fixes.extend(late_lines::late_line_fixes(session, self.late())?);
        fixes.extend(self.of_dialect(session, Repair::Append)?);
        fixes.extend(self.of_dialect(session, Repair::Fork)?);
        fixes.extend(byte_fixes::not_utf8(session)?);
        Ok(fixes)
    }

    /// The error for steps that repair what steps which were not chosen leave.
    fn follows_from_others(&self, open: &[&RepairStep]) -> Error {
        let numbers: Vec<String> = open.iter().map(|step| step.number.to_string()).collect();
        let what = match numbers.as_slice() {
            [number] => format!("step {number} follows from other steps"),
            numbers => format!("steps {} follow from other steps", numbers.join(", ")),
        };
        Error::new(ErrorKind::Conflict, what)
            .because("it repairs what they leave")
            .advising(Advice::from("choose the steps before it too").also(self.show_repair()))
    }
}

/// Whether two steps are the same, in different states of the session.
fn is_same(step: &RepairStep, found: &RepairStep) -> bool {
    (step.problem, step.line, step.repair) == (found.problem, found.line, found.repair)
        && (&step.does, &step.entry) == (&found.does, &found.entry)
}
