//! `sessions/index.json`: a cache, compared with the documents.

use std::collections::BTreeSet;

use boswell_model::json::{Kind, Raw};
use boswell_model::{Problem, ProblemKind};

use crate::Files;

/// Where it stands.
pub(crate) const KEY: &str = "sessions/index.json";
const LIMIT: u64 = 256 << 20;
/// How many ids a sentence names.
const NAMED: usize = 5;

/// Says where the index and the documents differ. That there is none is no problem: clinvoker makes one.
pub(crate) fn compare(files: &dyn Files, documents: &BTreeSet<String>, problems: &mut Vec<(String, Problem)>) {
    let mut say = |detail: String| problems.push((KEY.to_owned(), Problem::of_file(ProblemKind::StaleIndex, detail)));
    let bytes = match files.read_whole(KEY, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return,
        Err(error) => return say(format!("the index cannot be read: {error}")),
    };
    let rows = match keys(&bytes) {
        Ok(rows) => rows,
        Err(why) => return say(format!("{why}; clinvoker will make it anew")),
    };
    let ghosts: Vec<_> = rows.difference(documents).map(String::as_str).collect();
    if !ghosts.is_empty() {
        say(format!("{} rows have no document: {}", ghosts.len(), some(&ghosts)));
    }
    let missing: Vec<_> = documents.difference(&rows).map(String::as_str).collect();
    if !missing.is_empty() {
        say(format!("{} documents have no row, so clinvoker does not list them: {}", missing.len(), some(&missing)));
    }
}

/// The ids that the index holds.
fn keys(bytes: &[u8]) -> Result<BTreeSet<String>, &'static str> {
    let root = Raw::parse(bytes).map_err(|_| "the index is no JSON")?;
    if root.get("version").and_then(|v| v.i64()) != Some(1) {
        return Err("the index is of another version than 1");
    }
    match root.get("index") {
        Some(rows) if rows.kind() == Kind::Object => {
            Ok(rows.members().map(|(id, _)| id.to_text().into_owned()).collect())
        }
        Some(rows) if !rows.is_null() => Err("the index holds no rows"),
        _ => Ok(BTreeSet::new()),
    }
}

fn some(ids: &[&str]) -> String {
    let mut named: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{}`", id.escape_debug())).collect();
    if ids.len() > NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}
