//! Finds the tool call that started each subagent, and the file with the complete output of a tool,
//! as far as boswell's own sessions record them.

use boswell_model::Result;
use boswell_model::json::{Object, Raw};

use super::layout;
use crate::{Discovered, Files, SessionLocation, Subagent};

/// An imported transcript states its origin within this many bytes from its beginning.
const BEGINNING: usize = 64 << 10;
/// Longest call id that is used as a file name.
const LONGEST_CALL: usize = 128;

/// Returns the transcripts in the artifact folder of a session, including those of nested
/// subagents.
pub(super) fn of(files: &dyn Files, location: &SessionLocation) -> Result<Vec<Subagent>> {
    let Some(folder) = location
        .key
        .as_deref()
        .and_then(|key| key.strip_suffix(".jsonl"))
    else {
        return Ok(Vec::new());
    };
    let mut found = Discovered::default();
    if let Some(artifacts) = files.stat(folder)?.filter(|info| info.is_folder()) {
        layout::subagents(files, &artifacts, &mut found)?;
    }
    found.sessions.sort_by(|a, b| a.key.cmp(&b.key));
    found
        .sessions
        .into_iter()
        .map(|location| subagent(files, location))
        .collect()
}

fn subagent(files: &dyn Files, location: SessionLocation) -> Result<Subagent> {
    let beginning = files.read(location.key.as_deref().unwrap_or_default(), 0, BEGINNING)?;
    let mut told = (None, None);
    for line in beginning
        .split(|byte| *byte == b'\n')
        .filter_map(|line| Raw::parse(line).ok())
    {
        let Some(import) = line.get("data").and_then(|data| data.get("import")) else {
            continue;
        };
        if line
            .get("customType")
            .is_some_and(|kind| kind.is("boswell.meta"))
        {
            let text = |key: &str| Some(import.get(key)?.text()?.into_owned());
            told = (text("call"), text("task"));
        }
    }
    Ok(Subagent {
        location,
        call: told.0,
        task: told.1,
    })
}

/// Returns the key of the file named after the call that a record answers; the file need not exist.
pub(super) fn full_output_key(location: &SessionLocation, object: &Object<'_>) -> Option<String> {
    let message = object.get("message")?;
    let call = message.get("toolCallId")?.text()?;
    let key = location.key.as_deref()?;
    let artifacts = match location.owner {
        // A subagent's artifacts are next to those of its parent session.
        Some(_) => key.rsplit_once('/')?.0,
        None => key.strip_suffix(".jsonl")?,
    };
    Some(format!("{artifacts}/{}", output_name(&call)?))
}

/// Returns the file name for the output of a call in an artifact folder; `None` if the call id is
/// not usable as a name.
pub fn output_name(call: &str) -> Option<String> {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let safe = !call.is_empty() && call.len() <= LONGEST_CALL && call.bytes().all(is_safe);
    safe.then(|| format!("tool-results/{call}.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;
    use crate::pi::fixture::location;

    #[test]
    fn a_transcript_names_the_call_that_started_it_if_it_was_told() {
        let mut files = MemoryFiles::default();
        let base = "sessions/--p--/2026-01-01T00-00-00-000Z_S";
        let meta = r#"{"type":"custom","customType":"boswell.meta","data":{"import":{"call":"t1","task":"看"}}}"#;
        files.put(&format!("{base}.jsonl"), "", None);
        files.put(
            &format!("{base}/agent-a.jsonl"),
            format!("{{\"type\":\"session\"}}\n{meta}\n{{torn"),
            None,
        );
        files.put(&format!("{base}/0-Explore.jsonl"), "garbage\n", None);
        files.put(&format!("{base}/0-Explore/1-Deep.jsonl"), "", None);
        let found = of(&files, &location("S")).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.location.id.as_str(),
                    it.call.as_deref(),
                    it.task.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("S.0-Explore", None, None),
                ("S.0-Explore.1-Deep", None, None),
                ("S.agent-a", Some("t1"), Some("看"))
            ]
        );
        assert!(
            of(
                &files,
                &SessionLocation {
                    key: None,
                    ..location("S")
                }
            )
            .unwrap()
            .is_empty()
        );
    }

    #[test]
    fn calls_whose_ids_lead_elsewhere_name_no_file() {
        assert_eq!(
            output_name("toolu_01-x").as_deref(),
            Some("tool-results/toolu_01-x.txt")
        );
        for bad in ["", "../x", "a/b", "a.b", "呼", &"x".repeat(129)] {
            assert_eq!(output_name(bad), None, "{bad}");
        }
    }
}
