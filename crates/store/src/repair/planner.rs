//! Plans a repair: collects fixes round by round, and reads the session through the patch that they
//! make.
//!
//! One fix can make another necessary or possible (a record on its own line gets a parent), so the
//! planner works to a fixed point: read the session through the patch, ask for fixes, splice those
//! that do not overlap into the patch, read again. The order of classes matters: bytes first
//! ([`in_place`](RepairPlanner::in_place)), because a dialect can judge links and ids only when
//! every record has its line; then changes of records ([`settled`](RepairPlanner::settled)). At the
//! fixed point a second repair has nothing to do.
//!
//! Nothing is written here. Sessions read through a patch are cached by patch, because the same one
//! is compared several times.

use std::cell::RefCell;
use std::rc::Rc;

use boswell_dialect::{Confidence, Depth, Fix, Patch, SessionLocation, Splice};
use boswell_model::{Advice, Error, ErrorKind, Framing, Repair, Result};

use super::byte_fixes::Keep;
use super::fix_selection::{accept, changed};
use super::original_lines::OriginalLines;
use super::patched_reader::PatchedReader;
use super::patched_session::PatchedSession;
use super::{
    RepairPlan, RepairRequest, RepairStep, byte_fixes, changed_bytes, late_lines, target_readers,
    verify,
};
use crate::{Session, Store};

/// Limit of rounds, in case that fixes keep causing others.
const MOST_ROUNDS: usize = 16;
/// How many patched sessions are cached: the current one, and the one that it is compared with.
const MOST_STAGES: usize = 2;

/// Plans the repair of one session.
pub(super) struct RepairPlanner<'a> {
    pub(super) store: &'a Store,
    location: &'a SessionLocation,
    request: &'a RepairRequest,
    late: Vec<Vec<u8>>,
    /// The session without a patch.
    pub(super) original: Rc<PatchedSession>,
    stages: RefCell<Vec<(Patch, Rc<PatchedSession>)>>,
    pub(super) goals: Vec<&'static str>,
}

/// A patch, with the steps that it consists of.
#[derive(Debug, Clone, Default)]
pub(super) struct Worked {
    pub(super) patch: Patch,
    pub(super) steps: Vec<RepairStep>,
    /// How many records the patch changes; [`verify`](verify::verify) allows that many to be
    /// missing.
    pub(super) changed: usize,
}

impl<'a> RepairPlanner<'a> {
    pub(super) fn new(
        store: &'a Store,
        location: &'a SessionLocation,
        request: &'a RepairRequest,
        late: Vec<Vec<u8>>,
    ) -> Result<Self> {
        if location.framing != Framing::Lines || location.key.is_none() {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("session {} is not a log of lines", location.id),
            )
            .because("only logs of one record a line can be repaired")
            .advising(Advice::Check { session: None }.or(Advice::Undo { operation: None })));
        }
        let original = Rc::new(PatchedSession::of(store.read(location, Depth::Pairs)?));
        let wrote = original.meta().agent_version.as_deref();
        let goals = target_readers::goals(store.dialect(), wrote, request)?;
        Ok(RepairPlanner {
            store,
            location,
            request,
            late,
            original,
            stages: RefCell::default(),
            goals,
        })
    }

    /// Plans all steps, and reports what they would leave.
    pub(super) fn plan(&self) -> Result<RepairPlan> {
        let whole = self.whole();
        let placed = self.in_place(whole)?;
        let mut changed = self.settled(placed.patch.clone())?;
        let refused = self.refused(&placed, &changed);
        let mut steps = placed.steps;
        steps.append(&mut changed.steps);
        for (at, step) in steps.iter_mut().enumerate() {
            step.number = at + 1;
            step.taken &= refused.is_none();
        }
        let patch = match refused {
            None => changed.patch,
            Some(_) => self.whole(),
        };
        let after = self.session(&patch)?;
        let (reachable, total) = self.original.reach()?;
        Ok(RepairPlan {
            still_lost: self.still_lost(&after)?,
            unsent: self.unsent(&patch, &after)?,
            goals: self.goals.clone(),
            reachable,
            would_reach: after.reach()?.0,
            total,
            steps,
            refused,
        })
    }

    /// Returns the lines that an agent wrote into replaced files.
    pub(super) fn late(&self) -> &[Vec<u8>] {
        &self.late
    }

    /// Returns the patch that changes nothing.
    pub(super) fn whole(&self) -> Patch {
        Patch::whole(self.original.log().bytes)
    }

    /// Returns why the steps would not be applied: the same tests as before they are.
    fn refused(&self, placed: &Worked, changed: &Worked) -> Option<Error> {
        self.verified(placed, changed).err()
    }

    /// Fails if the result of the steps is worse than the session is now. Returns whether what is
    /// done in place is good without the fork.
    pub(super) fn verified(&self, placed: &Worked, changed: &Worked) -> Result<bool> {
        let whole = self.whole();
        let alone = self.stands_alone(placed)?;
        let base = if alone { &placed.patch } else { &whole };
        if changed.patch != *base {
            let (before, after) = (self.session(base)?, self.session(&changed.patch)?);
            verify::verify(&before, &after, changed.changed)?;
        }
        if alone && placed.patch != whole {
            verify::verify(&self.original, &*self.session(&placed.patch)?, 0)?;
        }
        Ok(alone)
    }

    /// Plans what is done in place: bytes are moved, lines added.
    pub(super) fn in_place(&self, patch: Patch) -> Result<Worked> {
        let mut worked = self.work(patch, |session, patch| self.rewrites(session, patch))?;
        let added = self.work(worked.patch, |session, _| {
            let mut fixes = late_lines::late_line_fixes(session, &self.late)?;
            fixes.extend(self.of_dialect(session, Repair::Append)?);
            Ok(fixes)
        })?;
        worked.steps.extend(added.steps);
        Ok(Worked {
            patch: added.patch,
            steps: worked.steps,
            changed: 0,
        })
    }

    /// Returns whether the changes in place are good without the fork. Separating a record can cut
    /// the conversation while its parent is missing; then everything goes into the fork together.
    pub(super) fn stands_alone(&self, placed: &Worked) -> Result<bool> {
        let after = self.session(&placed.patch)?;
        Ok(after.reach()?.0 >= self.original.reach()?.0 || verify::is_whole(&after)?)
    }

    /// Plans changes of records, and the rewrites that become possible after them: two records that
    /// differed only in a link can become duplicates.
    pub(super) fn settled(&self, patch: Patch) -> Result<Worked> {
        let mut worked = self.changes(patch)?;
        for _ in 0..MOST_ROUNDS {
            let placed = self.in_place(worked.patch.clone())?;
            if placed.patch == worked.patch {
                // The fixed point: no rewrite is left after the changes.
                return Ok(worked);
            }
            let more = self.changes(placed.patch)?;
            // Steps that were not selected are found again by the later rounds.
            worked.steps.retain(|step| step.taken);
            worked
                .steps
                .extend(placed.steps.into_iter().filter(|step| step.taken));
            worked.steps.extend(more.steps);
            worked.changed += more.changed;
            worked.patch = more.patch;
        }
        Ok(worked)
    }

    /// Plans changes of records, on top of `patch`.
    pub(super) fn changes(&self, patch: Patch) -> Result<Worked> {
        self.work(patch, |session, _| {
            let mut fixes = self.of_dialect(session, Repair::Fork)?;
            fixes.extend(byte_fixes::not_utf8(session)?);
            Ok(fixes)
        })
    }

    /// Returns the session as `patch` would leave it.
    pub(super) fn session(&self, patch: &Patch) -> Result<Rc<PatchedSession>> {
        if patch.is_unchanged(self.original.log().bytes) {
            return Ok(Rc::clone(&self.original));
        }
        if let Some((_, stage)) = self
            .stages
            .borrow()
            .iter()
            .find(|(known, _)| known == patch)
        {
            return Ok(Rc::clone(stage));
        }
        let (dialect, backend) = (self.store.dialect(), self.store.backend());
        let object = backend.open(self.location.key.as_deref().unwrap_or_default())?;
        let location = SessionLocation {
            size: patch.len(),
            ..self.location.clone()
        };
        let patched = Box::new(PatchedReader::new(object, patch));
        let stage = Rc::new(PatchedSession::of(Session::over(
            dialect,
            backend,
            patched,
            &location,
            Depth::Pairs,
        )?));
        let mut stages = self.stages.borrow_mut();
        stages.insert(0, (patch.clone(), Rc::clone(&stage)));
        stages.truncate(MOST_STAGES);
        Ok(stage)
    }

    /// Returns the fixes that move bytes.
    pub(super) fn rewrites(&self, session: &PatchedSession, patch: &Patch) -> Result<Vec<Fix>> {
        // One sort of fix per round, from the surest: lines first, because record boundaries decide
        // what the dialect sees, and duplicates last, because only whole records can be compared.
        let mut fixes = byte_fixes::lines(session);
        if fixes.iter().any(|fix| self.takes(fix)) {
            return Ok(fixes);
        }
        fixes.extend(self.of_dialect(session, Repair::Rewrite)?);
        if fixes.iter().any(|fix| self.takes(fix)) {
            return Ok(fixes);
        }
        fixes.extend(self.copies(session, patch)?);
        Ok(fixes)
    }

    /// Returns the fixes that drop further copies of records.
    fn copies(&self, session: &PatchedSession, patch: &Patch) -> Result<Vec<Fix>> {
        let first = byte_fixes::copies(session, Keep::First)?;
        // Agents that take the last line for the tip may need the last copy instead of the first.
        if first.is_empty() || self.can_drop(session, patch, &first)? {
            return Ok(first);
        }
        let mut last = byte_fixes::copies(session, Keep::Last)?;
        if !self.can_drop(session, patch, &last)? {
            // Neither choice keeps the tip and the reach, so a person has to decide.
            last.iter_mut()
                .for_each(|fix| fix.confidence = Confidence::Guess);
        }
        Ok(last)
    }

    /// Returns whether without these copies the tip stays the same and the agent reaches no less.
    fn can_drop(&self, session: &PatchedSession, patch: &Patch, copies: &[Fix]) -> Result<bool> {
        let splices: Vec<Splice> = copies.iter().flat_map(|fix| fix.splices.clone()).collect();
        let without = self.session(&patch.spliced(&splices))?;
        let label = |session: &Session| -> Result<Option<String>> {
            Ok(session
                .tip()?
                .slot()
                .map(|slot| session.log().label(slot).into_owned()))
        };
        Ok(label(session)? == label(&without)? && session.reach()?.0 <= without.reach()?.0)
    }

    pub(super) fn of_dialect(&self, session: &PatchedSession, class: Repair) -> Result<Vec<Fix>> {
        let mut fixes = session.fixes(class, self.store.id_source())?;
        // A problem that is not damage (a limit of one reader) is fixed only for readers that the
        // request names.
        let is_asked = |name: &&str| self.request.goals.iter().any(|goal| goal == name);
        fixes.retain(|fix| fix.problem.is_damage() || fix.helps.iter().any(is_asked));
        Ok(fixes)
    }

    fn work(
        &self,
        mut patch: Patch,
        find: impl Fn(&PatchedSession, &Patch) -> Result<Vec<Fix>>,
    ) -> Result<Worked> {
        let mut steps = Vec::new();
        let mut count = 0;
        for _ in 0..MOST_ROUNDS {
            let session = self.session(&patch)?;
            let fixes = find(&session, &patch)?;
            let (mut taken, left): (Vec<Fix>, Vec<Fix>) =
                fixes.into_iter().partition(|fix| self.takes(fix));
            let stage = taken.iter().map(|fix| fix.stage).min();
            taken.retain(|fix| Some(fix.stage) == stage);
            if taken.is_empty() {
                steps.extend(left.iter().map(|fix| self.step(&session, &patch, fix)));
                return Ok(Worked {
                    patch,
                    steps,
                    changed: count,
                });
            }
            let accepted = accept(&taken);
            // Fixes that overlap an accepted one are found again in the next round.
            let splices: Vec<Splice> = accepted
                .iter()
                .flat_map(|fix| fix.splices.clone())
                .collect();
            count += changed(&accepted);
            steps.extend(accepted.iter().map(|fix| self.step(&session, &patch, fix)));
            patch = patch.spliced(&splices);
        }
        let last = steps.last().map(|step: &RepairStep| {
            let line = step.line.map(|line| line.to_string()).unwrap_or_default();
            format!(
                "line {line}, {}: {} is found again and again",
                step.problem.word(),
                step.does
            )
        });
        Err(Error::new(
            ErrorKind::Internal,
            format!("the repair of session {} does not end", self.location.id),
        )
        .because(last.unwrap_or_default())
        .advising(Advice::RepairByStep.also("please report this")))
    }

    fn takes(&self, fix: &Fix) -> bool {
        let for_goal =
            fix.helps.is_empty() || fix.helps.iter().any(|name| self.goals.contains(name));
        for_goal && fix.confidence <= self.request.level
    }

    /// Returns the step of a fix that was found in a session read through a patch.
    pub(super) fn step(&self, session: &Session, patch: &Patch, fix: &Fix) -> RepairStep {
        let entry = fix.slot.map(|slot| session.log().label(slot).into_owned());
        let head = fix.slot.and_then(|slot| session.log().head(slot));
        let place = head
            .map(|head| head.at)
            .or(fix.splices.first().map(|it| it.at));
        let lines = OriginalLines::new(self.original.log(), patch);
        RepairStep {
            number: 0,
            problem: fix.problem,
            line: fix.line.and(place).map(|at| lines.at(at, entry.as_deref())),
            entry,
            repair: fix.repair,
            confidence: fix.confidence,
            does: fix.does.clone(),
            taken: self.takes(fix),
            helps: fix.helps,
            changes: changed_bytes::of(session, fix),
        }
    }
}
