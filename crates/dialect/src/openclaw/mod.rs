//! OpenClaw: the lines of pi, in one folder for each agent.
//!
//! The format is described in `docs/dialects/openclaw.md`. The folder in a header is the agent's
//! workspace, not a project.

use boswell_model::{Framing, Result};

use crate::other_root::OtherRoot;
use crate::pi::Pi;
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files,
    SessionLocation, Support,
};

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    sessions_folder: Some("agents"),
    ..DialectFacts::new("openclaw", "OpenClaw")
};

/// The dialect of OpenClaw.
pub(crate) static OPENCLAW: OtherRoot = OtherRoot {
    records: &Pi::PI,
    facts: &FACTS,
    roots,
    discover,
    is_home: |folder| matches!(folder, ".openclaw" | ".clawdbot"),
    is_own: |_| false,
};

fn roots(env: &Environment) -> Vec<std::path::PathBuf> {
    match env.path_var("OPENCLAW_STATE_DIR") {
        Some(root) => vec![root],
        None => [".openclaw", ".clawdbot"]
            .iter()
            .filter_map(|name| env.in_home(name))
            .collect(),
    }
}

/// Finds the sessions of every agent. A copy that the program makes before it compacts a session
/// has a dot in its name: it is listed as hidden, because it may contain what the session no longer
/// does. Copies with other endings are no sessions.
fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for agent in files
        .list("agents")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        for info in files.list(&format!("{}/sessions", agent.key))? {
            let Some(id) = info.stem(".jsonl").filter(|_| info.is_file()) else {
                continue;
            };
            let owner = id
                .split_once(".checkpoint.")
                .map(|(owner, _)| owner.to_owned());
            found.sessions.push(SessionLocation {
                hidden: owner.as_ref().map(|_| "replaced"),
                owner,
                ..SessionLocation::at(id, &info, Framing::Lines)
            });
        }
    }
    Ok(found)
}
