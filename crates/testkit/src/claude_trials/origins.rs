//! The sound transcripts that trials damage.

use std::path::Path;

use super::Trial;
use super::tags::tagged;
use crate::make::claude::{self, ClaudeShape};
use crate::{corpus, disk};

/// The longest transcript that is used: every client run reads it.
const LONGEST: usize = 200_000;

/// A sound transcript.
#[derive(Debug, Clone)]
pub struct TrialOrigin {
    /// Name of its shape or scenario.
    pub name: String,
    /// The id of the session.
    pub session: String,
    /// The content, with tags.
    pub bytes: Vec<u8>,
}

/// Returns transcripts of every shape that testkit makes, each twice.
pub fn made() -> Vec<TrialOrigin> {
    let mut origins = Vec::new();
    for seed in [1, 2] {
        for shape in ClaudeShape::ALL {
            let made = claude::file(*shape, "/srv/demo", seed);
            origins.push(TrialOrigin {
                name: format!("{shape:?}-{seed}"),
                session: made.id.clone(),
                bytes: tagged(made.bytes()),
            });
        }
    }
    origins.retain(is_usable);
    origins
}

/// Returns the captured transcripts below a folder, without those of subagents.
pub fn captured(captures: &Path) -> Vec<TrialOrigin> {
    let root = captures.join("claude-code");
    let mut origins = Vec::new();
    for path in corpus::files(&root) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
        if !is_log || stem.len() != 36 {
            continue;
        }
        let inside = path.strip_prefix(&root).unwrap_or(&path);
        let scenario = inside.components().next();
        let scenario = scenario.map(|it| it.as_os_str().to_string_lossy().into_owned());
        origins.push(TrialOrigin {
            name: format!("{}-{}", scenario.unwrap_or_default(), short(&stem)),
            session: stem.into_owned(),
            bytes: tagged(&disk::read(&path)),
        });
    }
    origins.retain(is_usable);
    origins
}

/// Returns the real transcripts below folders as they are, each with tags, without those of
/// subagents, which no client resumes.
pub fn real(folders: &[&Path]) -> Vec<Trial> {
    let mut found = Vec::new();
    for folder in folders {
        for path in corpus::files(&folder.join("claude-code")) {
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
            if !is_log || inside.components().any(|it| it.as_os_str() == "subagents") {
                continue;
            }
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            found.push(Trial {
                name: inside.to_string_lossy().into_owned(),
                session: match stem.len() == 36 {
                    true => stem.into_owned(),
                    // Clients resume files whose names are ids.
                    false => NAMELESS.to_owned(),
                },
                bytes: tagged(&disk::read(&path)),
            });
        }
    }
    found
}

/// The session of real files whose names are not ids.
const NAMELESS: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn short(stem: &str) -> &str {
    stem.get(..8).unwrap_or(stem)
}

/// Whether the origin is short enough and has a few messages to damage.
fn is_usable(origin: &TrialOrigin) -> bool {
    let text = String::from_utf8_lossy(&origin.bytes);
    origin.bytes.len() <= LONGEST && super::tags_in(&text).len() >= 3
}
