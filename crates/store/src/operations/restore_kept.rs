//! Restores sessions that were kept and then deleted by another program.

use boswell_dialect::{Modified, Plan, Precondition, Step};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};

use crate::runner::{Runner, State, place, read_state};
use crate::vault::{ChunkedCopy, Reason};

use super::agent_cleanup::RestoredOperation;

impl Runner {
    /// Restores the files of a session from the copies that were kept as they grew: the log under
    /// its last key, and its side files. Files that exist stay as they are.
    pub fn restore_kept(&self, session: &SessionRef) -> Result<RestoredOperation> {
        let kept = self.vault.kept()?;
        let files = kept.of(session);
        let log = files
            .iter()
            .find(|file| file.key.ends_with(&format!("{}.jsonl", session.id)))
            .or(files.first());
        let Some(log) = log else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the vault holds no files of {session}"),
            )
            .advising(Advice::ListOperations.or(Advice::ShowKept)));
        };
        let stem = log.key.strip_suffix(".jsonl").unwrap_or(&log.key);
        let mut plan = Plan::new("restore", format!("restore {session} from kept copies"));
        let (cleanup, mut renewed) = (self.cleanup_age(&log.root, session), 0);
        for file in files
            .iter()
            .filter(|file| file.root == log.root && belongs(file, stem, &session.id))
        {
            let path = place(&file.root, &file.key)?;
            if read_state(self.disk.as_ref(), &path)?.0 != State::Absent {
                continue;
            }
            let (key, bytes) = (file.key.clone(), self.vault.read_kept(file)?);
            plan.preconditions
                .push(Precondition::Absent { key: key.clone() });
            // A file that was kept only in part has no time of its own.
            let partly = file.modified == 0;
            let modified = if partly {
                Modified::Now
            } else {
                cleanup.time(file.modified, &mut renewed)
            };
            plan.steps.push(Step::Put {
                key,
                bytes,
                mode: Some(file.mode),
                modified,
            });
        }
        if plan.steps.is_empty() {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("nothing of {session} is missing"),
            )
            .because("every file that was kept of it is in its place")
            .advising(Advice::show(session)));
        }
        let operation = self.run(&log.root, &plan, session, Reason::Before)?;
        Ok(RestoredOperation { operation, renewed })
    }
}

/// Returns whether a file is a side file of that log, and not one from before the session's project
/// moved.
fn belongs(file: &ChunkedCopy, stem: &str, id: &str) -> bool {
    let side_files = file
        .key
        .strip_prefix(stem)
        .is_some_and(|rest| rest.starts_with(['/', '.']));
    let project = stem
        .rsplit_once('/')
        .and_then(|(folder, _)| folder.rsplit_once('/'))
        .map_or("", |(above, _)| above);
    let elsewhere = project.is_empty() || !file.key.starts_with(&format!("{project}/"));
    side_files
        || (elsewhere
            && file.key != stem
            && file.key.split('/').any(|part| part.contains(id))
            && !file.key.ends_with(".jsonl"))
}
