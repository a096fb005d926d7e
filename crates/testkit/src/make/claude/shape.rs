//! The shapes of Claude transcripts for tests.

use serde_json::json;

use crate::files::{FileList, Made};
use crate::jsonl;
use crate::make::claude::{ClaudeSession, Style, old, project_key, today};
use crate::rng::Rng;

/// What a transcript demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaudeShape {
    /// Three exchanges of the newest client, without branches.
    Plain,
    /// Calls with parallel results, thinking, an image in a prompt.
    ToolUse,
    /// A rewind: two branches, the newer one last in the file.
    Branched,
    /// A compaction that preserves a message, and turns after it.
    Compacted,
    /// Two branches and an explicit statement that the older one is current.
    ExplicitLeaf,
    /// Titles by hand and by model, a tag set and cleared and set, and a sidecar.
    Titled,
    /// File history: snapshots, deltas and backups of files.
    Checkpointed,
    /// A subagent, and one that it started itself.
    Subagents,
    /// Output too large for the transcript.
    BigOutput,
    /// An error of the API, and a call without a result.
    Interrupted,
    /// Metadata of every kind, some of it before the first chain line, and unknown kinds.
    OddMetadata,
    /// Lines of metadata only: not a conversation.
    MetadataOnly,
    /// JSON that other readers fail on, and a chain that begins with an attachment.
    Traps,
    /// Client 1.0.128: subagents inline, summaries in other files.
    V1_0,
    /// Client 2.0.76: subagents next to the sessions.
    V2_0_76,
    /// Client 2.1.17: with an index of sessions.
    V2_1_17,
    /// Client 2.1.50: progress lines in the chain.
    V2_1_50,
}

impl ClaudeShape {
    /// Every shape.
    pub const ALL: &'static [ClaudeShape] = &[
        ClaudeShape::Plain,
        ClaudeShape::ToolUse,
        ClaudeShape::Branched,
        ClaudeShape::Compacted,
        ClaudeShape::ExplicitLeaf,
        ClaudeShape::Titled,
        ClaudeShape::Checkpointed,
        ClaudeShape::Subagents,
        ClaudeShape::BigOutput,
        ClaudeShape::Interrupted,
        ClaudeShape::OddMetadata,
        ClaudeShape::MetadataOnly,
        ClaudeShape::Traps,
        ClaudeShape::V1_0,
        ClaudeShape::V2_0_76,
        ClaudeShape::V2_1_17,
        ClaudeShape::V2_1_50,
    ];

    fn style(self) -> Style {
        match self {
            ClaudeShape::V1_0 => Style::Old("1.0.128"),
            ClaudeShape::V2_0_76 => Style::Old("2.0.76"),
            ClaudeShape::V2_1_17 => Style::Old("2.1.17"),
            ClaudeShape::V2_1_50 => Style::Old("2.1.50"),
            _ => Style::Today,
        }
    }
}

/// Returns the files of one shape, below the client's folder.
pub fn file(shape: ClaudeShape, cwd: &str, seed: u64) -> Made {
    let session = ClaudeSession::start(shape.style(), cwd, seed);
    build(shape, session)
}

/// Returns a transcript with a given id, for sessions that another agent's store links to.
pub fn linked(shape: ClaudeShape, cwd: &str, id: &str, seed: u64) -> Made {
    build(
        shape,
        ClaudeSession::with_id(shape.style(), cwd, id, Rng::for_part(seed, id)),
    )
}

fn build(shape: ClaudeShape, mut session: ClaudeSession) -> Made {
    let folder = format!("projects/{}", project_key(&session.cwd));
    let mut side = FileList::new();
    let mut title = None;
    match shape {
        ClaudeShape::V1_0 | ClaudeShape::V2_0_76 | ClaudeShape::V2_1_17 | ClaudeShape::V2_1_50 => {
            title = old::fill(&mut session, shape, &folder, &mut side);
        }
        ClaudeShape::MetadataOnly => {
            session.meta("mode", json!({"mode": "normal"}));
            session.meta("permission-mode", json!({"permissionMode": "default"}));
        }
        _ => title = today::fill(&mut session, shape, &folder, &mut side),
    }
    let (id, project, last) = (session.id.clone(), session.cwd.clone(), session.clock.ms());
    let main = format!("{folder}/{id}.jsonl");
    let mut files = FileList::new();
    let spec = files.add(main.clone(), session.into_bytes());
    (spec.mode, spec.modified) = (Some(0o600), Some(last));
    files.extend(side);
    Made {
        id,
        project,
        title,
        main,
        files,
    }
}

/// Returns the file that `--fork-session` writes: chain lines with the same uuids under a new
/// session id.
pub fn fork_of(source: &Made, seed: u64) -> Made {
    let id = Rng::for_part(seed, &source.id).uuid_v4();
    let mut bytes = Vec::new();
    for line in jsonl::lines(source.bytes())
        .into_iter()
        .filter(|line| line.starts_with(b"{\"parentUuid\""))
    {
        bytes.extend_from_slice(
            String::from_utf8_lossy(line)
                .replace(&source.id, &id)
                .as_bytes(),
        );
        bytes.push(b'\n');
    }
    let main = source.main.replace(&source.id, &id);
    let mut files = FileList::new();
    let spec = files.add(main.clone(), bytes);
    (spec.mode, spec.modified) = (
        Some(0o600),
        source.files.list[0].modified.map(|ms| ms + 60_000),
    );
    Made {
        id,
        project: source.project.clone(),
        title: None,
        main,
        files,
    }
}
