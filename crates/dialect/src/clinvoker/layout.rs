//! The layout of a clinvoker store.

use std::collections::BTreeSet;

use boswell_model::{Framing, Problem, ProblemKind, Result};

use crate::{Discovered, Files, SessionLocation};

use super::{id, index};

/// Finds every document. A row of the index without a document is reported as stale and is not a
/// session.
pub(crate) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let mut documents = BTreeSet::new();
    for info in files.list("sessions")? {
        let Some(session) = info
            .stem(".json")
            .filter(|_| info.key != index::KEY && !info.is_folder())
        else {
            continue;
        };
        let trouble = if !id::is_valid(session) {
            Some("its name is not a session id, so it is not listed; it can be read by its path")
        } else if !info.is_file() {
            Some("it is not a regular file")
        } else {
            None
        };
        match trouble {
            Some(detail) => {
                found.problems.push((
                    info.key.clone(),
                    Problem::of_file(ProblemKind::Unreadable, detail),
                ));
            }
            None => {
                documents.insert(session.to_owned());
                found
                    .sessions
                    .push(SessionLocation::at(session, &info, Framing::Document));
            }
        }
    }
    index::compare(files, &documents, &mut found.problems);
    Ok(found)
}

/// Returns the key of a session's document.
pub(crate) fn key(id: &str) -> String {
    format!("sessions/{id}.json")
}

/// Returns the ids of all documents.
pub(crate) fn documents(files: &dyn Files) -> Result<BTreeSet<String>> {
    let is_one = |info: &crate::FileInfo| {
        let id = info
            .stem(".json")
            .filter(|id| id::is_valid(id) && info.is_file());
        id.map(str::to_owned)
    };
    Ok(files.list("sessions")?.iter().filter_map(is_one).collect())
}
