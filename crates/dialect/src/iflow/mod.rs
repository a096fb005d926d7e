//! iFlow CLI: the lines of Claude Code, below a root of its own.
//!
//! The format is described in `docs/dialects/iflow.md`.

use boswell_model::{Framing, Result};

use crate::claude::Claude;
use crate::other_root::OtherRoot;
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
};

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
