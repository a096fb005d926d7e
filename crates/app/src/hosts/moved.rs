//! Moves a copied session to another project folder, in memory, by the plan with which its dialect
//! moves projects.

use boswell_dialect::{MemoryFiles, Patch, PatchPiece, Step, StoreRequest};
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::SystemIds;

use super::copied::{CopiedSession, FilesByKey};

impl CopiedSession {
    /// Returns the session as it is once its project is in another folder.
    pub(super) fn moved(mut self, from: &str, to: &str) -> Result<CopiedSession> {
        let mut files = MemoryFiles::default();
        for (key, bytes) in &self.files {
            files.put(key, bytes.clone(), None);
        }
        let request = StoreRequest::Move {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let planner = self.dialect.planner();
        let planned = planner.and_then(|it| it.plan_store(&files, &request, &SystemIds));
        let planned = planned.map_err(|error| cannot_move(&self, from, error))?;
        for step in planned.plan.steps {
            apply(&mut self.files, step)?;
        }
        let store = self.store();
        let location = self.location(&store)?;
        let log = location.key.filter(|key| self.files.contains_key(key));
        self.log = log.ok_or_else(|| lost("its log has no name"))?;
        Ok(self)
    }
}

fn cannot_move(session: &CopiedSession, from: &str, error: Error) -> Error {
    if error.kind() != ErrorKind::Unsupported {
        return error;
    }
    let title = session.dialect.facts().title;
    let what = format!("a session of {title} cannot get another project folder");
    Error::new(ErrorKind::Unsupported, what)
        .because("its format states the folder in places that nothing changes")
        .advising(format!("make the folder `{}` here", from.escape_debug()))
}

/// Applies a step to files in memory.
fn apply(files: &mut FilesByKey, step: Step) -> Result<()> {
    match step {
        Step::Append { key, bytes } | Step::AppendKeepingTime { key, bytes } => {
            append(files.entry(key).or_default(), bytes);
        }
        Step::Put { key, bytes, .. } => {
            files.insert(key, bytes);
        }
        Step::Edit {
            key, at, old, new, ..
        } => edit(files, &key, at, (&old, new))?,
        Step::Assemble {
            key, from, patch, ..
        } => {
            let bytes = assembled(files.get(&from).map_or(&[][..], Vec::as_slice), patch)?;
            files.insert(key, bytes);
        }
        Step::Rename { from, to } => rename(files, &from, &to),
        Step::Remove { key } => {
            files.remove(&key);
        }
        // Folders are only parts of keys here, and nothing else changes these files.
        Step::MakeFolder { .. } | Step::RemoveFolder { .. } | Step::Verify { .. } => {}
        other => return Err(lost(&format!("`{other}` is not known here"))),
    }
    Ok(())
}

fn append(file: &mut Vec<u8>, bytes: Vec<u8>) {
    if !file.is_empty() && !file.ends_with(b"\n") {
        file.push(b'\n');
    }
    file.extend(bytes);
}

fn edit(
    files: &mut FilesByKey,
    key: &str,
    at: Option<u64>,
    (old, new): (&[u8], Vec<u8>),
) -> Result<()> {
    let file = files
        .get_mut(key)
        .ok_or_else(|| lost("a file is missing"))?;
    let place = match at {
        Some(at) => usize::try_from(at).ok(),
        None => file.windows(old.len().max(1)).position(|part| part == old),
    };
    let place = place.filter(|at| {
        let there = file.get(*at..).unwrap_or_default();
        there.starts_with(old)
    });
    let place = place.ok_or_else(|| lost("a file is not as expected"))?;
    file.splice(place..place + old.len(), new);
    Ok(())
}

fn assembled(old: &[u8], patch: Patch) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in patch.pieces() {
        match piece {
            PatchPiece::Old { at, len } => {
                let from = usize::try_from(*at).unwrap_or(usize::MAX);
                let to = from.saturating_add(usize::try_from(*len).unwrap_or(usize::MAX));
                let part = old
                    .get(from..to)
                    .ok_or_else(|| lost("a file is too short"))?;
                bytes.extend_from_slice(part);
            }
            PatchPiece::New(new) => bytes.extend_from_slice(new),
        }
    }
    Ok(bytes)
}

/// Renames a file, or every file below a folder.
fn rename(files: &mut FilesByKey, from: &str, to: &str) {
    let below = format!("{from}/");
    let moved: Vec<String> = files
        .keys()
        .filter(|key| *key == from || key.starts_with(&below))
        .cloned()
        .collect();
    for key in moved {
        let rest = key.get(from.len()..).unwrap_or_default();
        let new = format!("{to}{rest}");
        if let Some(bytes) = files.remove(&key) {
            files.insert(new, bytes);
        }
    }
}

fn lost(why: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        "the session cannot be moved to another project folder",
    )
    .because(why.to_owned())
}
