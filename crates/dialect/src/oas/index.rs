//! `sessions-index.json` of a folder: trusted by the SDK, compared by us.

use std::collections::BTreeSet;

use boswell_model::json::{Kind, Raw};
use boswell_model::{Problem, ProblemKind};

use crate::Files;

/// Its name.
pub(crate) const NAME: &str = "sessions-index.json";
const LIMIT: u64 = 256 << 20;

/// Says where the index of `folder` and its files differ. That there is none is no problem.
pub(crate) fn compare(
    files: &dyn Files,
    folder: &str,
    sessions: &BTreeSet<String>,
    problems: &mut Vec<(String, Problem)>,
) {
    let key = format!("{folder}/{NAME}");
    let mut say = |detail: String| problems.push((key.clone(), Problem::of_file(ProblemKind::StaleIndex, detail)));
    let bytes = match files.read_whole(&key, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return,
        Err(error) => return say(format!("the index cannot be read: {error}")),
    };
    let Some(rows) = ids(&bytes) else {
        return say("the index is no JSON of its kind; the next save would replace it by one row".to_owned());
    };
    let ghosts = rows.difference(sessions).count();
    if ghosts > 0 {
        say(format!("{ghosts} rows have no file; the SDK lists them all the same"));
    }
    let missing = sessions.difference(&rows).count();
    if missing > 0 {
        say(format!("{missing} files have no row; the SDK does not list them"));
    }
}

fn ids(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let sessions = Raw::parse(bytes).ok()?.get("sessions").filter(|s| s.kind() == Kind::Array)?;
    Some(sessions.items().filter_map(|row| row.get("id")?.text()).map(|id| id.to_lowercase()).collect())
}
