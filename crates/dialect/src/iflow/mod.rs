//! iFlow CLI: the lines of Claude Code, below a root of its own.
//!
//! The format is described in `docs/dialects/iflow.md`.

use boswell_model::json::Object;
use boswell_model::{Framing, Result};

use crate::claude::Claude;
use crate::other_root::OtherRoot;
use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files,
    SessionLocation, Support,
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("projects"),
    ..DialectFacts::new("iflow", "iFlow CLI")
};

/// The dialect of iFlow CLI.
pub(crate) static IFLOW: OtherRoot = OtherRoot {
    records: &Claude,
    facts: &FACTS,
    roots,
    discover,
    is_home: |folder| folder == ".iflow",
    is_own,
};

/// Whether a record names its session as this program does: Claude Code has nothing before the id.
fn is_own(object: &Object<'_>) -> bool {
    let session = object.text("sessionId");
    session.is_some_and(|it| it.strip_prefix("session-").is_some_and(is_uuid))
}

fn roots(env: &Environment) -> Vec<std::path::PathBuf> {
    env.in_home(".iflow").into_iter().collect()
}

fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for project in files
        .list("projects")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        for info in files.list(&project.key)? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
                let location = SessionLocation::at(id, &info, Framing::Lines);
                found.sessions.push(location);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;
    use crate::{Sample, recognise};

    #[test]
    fn a_log_outside_of_its_folder_is_recognised_by_the_name_of_its_session() {
        let line = |session: &str| {
            format!(
                r#"{{"uuid":"u","parentUuid":null,"isSidechain":false,"sessionId":"{session}","type":"user","message":{{"role":"user","content":"hi"}}}}"#
            )
        };
        let id = "5de701fc-7454-4858-a249-95cac4fd3b51";
        for (session, agent) in [
            (format!("session-{id}"), "iflow"),
            (id.to_owned(), "claude"),
            ("session-1".to_owned(), "claude"),
        ] {
            let text = line(&session);
            let mut members = Vec::new();
            scan_object(text.as_bytes(), &mut members).unwrap();
            let sample = Sample {
                name: "copy.jsonl",
                folders: &[],
                records: &[Object::new(text.as_bytes(), &members)],
            };
            assert_eq!(recognise(&sample).facts().name, agent, "{session}");
        }
    }
}
