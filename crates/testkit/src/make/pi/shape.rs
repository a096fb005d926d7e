//! The shapes of pi-family files for tests.

use serde_json::json;

use crate::files::{FileList, Made};
use crate::make::pi::{PiFlavour, PiLayout, PiSession, file_name, old, v3};
use crate::phrase;

/// What a file demonstrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiShape {
    /// Version 1: no ids, compaction by index.
    V1,
    /// Version 2: `hookMessage`.
    V2,
    /// Version 3: prompts, messages, tools; without branches.
    Linear,
    /// Version 3 with every entry type of the flavour, and unknown keys.
    EveryEntry,
    /// A branch abandoned with a summary, a second branch, and the leaf on the first one again.
    Branched,
    /// Two compactions whose preserved parts overlap.
    TwoCompactions,
    /// Labels set, moved and cleared, on more than one branch.
    Labels,
    /// Small and large images; the large ones are blobs if the flavour has them.
    Images,
    /// Newer oh-my-pi: the title line before the header.
    TitleSlot,
    /// A header and nothing else.
    HeaderOnly,
    /// Version 4 with its journal entries.
    Version4,
    /// Version 99 with unknown entries.
    Version99,
    /// JSON that other readers fail on: number forms, lone surrogates, duplicate keys, U+2028.
    Traps,
    /// Two entries that are each other's parent.
    Cycle,
    /// An entry that is its own parent.
    SelfParent,
    /// Children that come before their parents.
    ForwardParents,
    /// Two entries without a parent.
    TwoRoots,
    /// One id used by two entries, and one line duplicated.
    DuplicateIds,
    /// An entry whose parent is missing.
    Orphan,
}

impl PiShape {
    /// Every shape.
    pub const ALL: &'static [PiShape] = &[
        PiShape::V1,
        PiShape::V2,
        PiShape::Linear,
        PiShape::EveryEntry,
        PiShape::Branched,
        PiShape::TwoCompactions,
        PiShape::Labels,
        PiShape::Images,
        PiShape::TitleSlot,
        PiShape::HeaderOnly,
        PiShape::Version4,
        PiShape::Version99,
        PiShape::Traps,
        PiShape::Cycle,
        PiShape::SelfParent,
        PiShape::ForwardParents,
        PiShape::TwoRoots,
        PiShape::DuplicateIds,
        PiShape::Orphan,
    ];

    /// Whether every parent exists once, without a cycle.
    pub fn has_sound_tree(self) -> bool {
        !matches!(
            self,
            PiShape::Cycle | PiShape::SelfParent | PiShape::DuplicateIds | PiShape::Orphan
        )
    }

    fn has_title(self) -> bool {
        matches!(
            self,
            PiShape::Linear | PiShape::EveryEntry | PiShape::Branched | PiShape::TitleSlot
        )
    }
}

/// Returns the files of one shape, below an agent's folder (`~/.pi/agent` and the like).
pub fn file(shape: PiShape, flavour: PiFlavour, place: PiLayout<'_>, seed: u64) -> Made {
    let mut session = PiSession::start(flavour, place.cwd, seed);
    let title = shape
        .has_title()
        .then(|| phrase::title(&mut session.rng).to_owned());
    fill(&mut session, shape, title.as_deref());
    let main = format!(
        "sessions/{}/{}",
        place.folder(flavour),
        file_name(session.created, &session.id)
    );
    let mut files = FileList::new();
    for (hash, bytes) in &session.blobs {
        files.add(format!("blobs/{hash}"), bytes.clone());
    }
    let (id, project, last) = (session.id.clone(), session.cwd.clone(), session.clock.ms());
    files.add(main.clone(), session.into_bytes()).modified = Some(last);
    Made {
        id,
        project,
        title,
        main,
        files,
    }
}

/// Returns a chain of `depth` entries, each the child of the one before.
pub fn deep(flavour: PiFlavour, depth: usize, seed: u64) -> Vec<u8> {
    let mut session = PiSession::start(flavour, "/home/dev/deep", seed);
    session.header_v3(None);
    for number in 0..depth {
        let id = format!("{number:08x}");
        let message = if number % 2 == 0 {
            session.user_message("deeper")
        } else {
            session.assistant_message(json!([{"type": "text", "text": "deeper still"}]), "stop")
        };
        session.entry_with_id(&id, "message", json!({"message": message}));
    }
    session.into_bytes()
}

fn fill(session: &mut PiSession, shape: PiShape, title: Option<&str>) {
    match shape {
        PiShape::V1 => old::v1(session),
        PiShape::V2 => old::v2(session),
        PiShape::Version4 => old::newer(session, 4),
        PiShape::Version99 => old::newer(session, 99),
        PiShape::HeaderOnly => session.header_v3(None),
        PiShape::TitleSlot => v3::title_slotted(session, title),
        _ => {
            session.header_v3(title);
            session.model_change("anthropic", "claude-sonnet-4-5");
            session.entry("thinking_level_change", json!({"thinkingLevel": "low"}));
            v3::fill(session, shape);
        }
    }
}
