//! Names the side files of an import in the artifact folder of the new session.

use std::collections::{HashMap, HashSet};

use boswell_dialect::pi::output_name;
use boswell_dialect::{SessionLocation, SideFile, SideKind};

/// Folders within each other that are looked into below an artifact folder.
const DEEPEST: usize = 3;

/// Assigns unique names.
pub(super) struct ArtifactNames<'a> {
    pub(super) source: &'a SessionLocation,
    /// The calls whose whole output lies in a file, by its key.
    pub(super) outputs: HashMap<String, String>,
    /// Whether the source keeps such a folder itself.
    pub(super) in_family: bool,
    given: HashSet<String>,
}

impl<'a> ArtifactNames<'a> {
    pub(super) fn new(
        source: &'a SessionLocation,
        outputs: HashMap<String, String>,
        in_family: bool,
    ) -> Self {
        ArtifactNames {
            source,
            outputs,
            in_family,
            given: HashSet::new(),
        }
    }

    /// The name of a file: a path below the folder.
    pub(super) fn of(&mut self, file: &SideFile) -> String {
        let name = self.wanted(file);
        let mut free = name.clone();
        let mut number = 2;
        while !self.given.insert(free.clone()) {
            // Before the ending, so that it stays what it is.
            let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
            free = if ending.is_empty() {
                format!("{stem}-{number}")
            } else {
                format!("{stem}-{number}.{ending}")
            };
            number += 1;
        }
        free
    }

    fn wanted(&self, file: &SideFile) -> String {
        let below = self.below(&file.key);
        if self.in_family {
            return settled(below, file.kind);
        }
        let name = file.key.rsplit('/').next().unwrap_or_default();
        let called = self
            .outputs
            .get(&file.key)
            .and_then(|call| output_name(call));
        match file.kind {
            SideKind::Subagent => settled(name, file.kind),
            SideKind::ToolOutput => {
                called.unwrap_or_else(|| settled(&format!("tool-results/{name}"), file.kind))
            }
            SideKind::Checkpoint => settled(&format!("file-history/{name}"), file.kind),
            SideKind::Meta => settled(&format!("meta/{below}"), file.kind),
            _ => settled(below, file.kind),
        }
    }

    /// The part of a key that follows the folder of the session; of a file that lies
    /// elsewhere, its name.
    fn below<'k>(&self, key: &'k str) -> &'k str {
        let own = self
            .source
            .key
            .as_deref()
            .and_then(|log| log.strip_suffix(".jsonl"));
        let in_folder = own.and_then(|folder| key.strip_prefix(folder)?.strip_prefix('/'));
        in_folder.unwrap_or_else(|| key.rsplit('/').next().unwrap_or(key))
    }
}

/// A name that is seen, is not taken for a log unless it is one, and lies no deeper than is looked.
fn settled(name: &str, kind: SideKind) -> String {
    let mut parts: Vec<String> = name
        .split('/')
        .filter(|part| !part.is_empty())
        .map(shown)
        .collect();
    while parts.len() > DEEPEST {
        let last = parts.pop().unwrap_or_default();
        if let Some(folder) = parts.last_mut() {
            *folder = format!("{folder}-{last}");
        }
    }
    let name = parts.join("/");
    if kind != SideKind::Subagent && name.ends_with(".jsonl") {
        format!("{name}.kept")
    } else {
        name
    }
}

/// Names with a dot at their beginning are passed over.
fn shown(part: &str) -> String {
    if part.starts_with('.') {
        format!("_{part}")
    } else {
        part.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use super::*;

    fn name(key: &str, kind: SideKind, in_family: bool) -> String {
        let source = SessionLocation {
            key: Some("projects/-w/S.jsonl".into()),
            ..SessionLocation::of("S", Framing::Lines, 0)
        };
        let outputs = HashMap::from([(
            "projects/-w/S/tool-results/b1.txt".to_owned(),
            "toolu_1".to_owned(),
        )]);
        ArtifactNames::new(&source, outputs, in_family).of(&SideFile {
            key: key.to_owned(),
            kind,
            size: 0,
        })
    }

    #[test]
    fn files_are_found_where_they_are_looked_for() {
        for (key, kind, expected) in [
            (
                "projects/-w/S/subagents/agent-a.jsonl",
                SideKind::Subagent,
                "agent-a.jsonl",
            ),
            (
                "projects/-w/S/subagents/deep/agent-b.jsonl",
                SideKind::Subagent,
                "agent-b.jsonl",
            ),
            (
                "projects/-w/S/subagents/agent-a.meta.json",
                SideKind::Meta,
                "meta/subagents/agent-a.meta.json",
            ),
            (
                "projects/-w/S/tool-results/b1.txt",
                SideKind::ToolOutput,
                "tool-results/toolu_1.txt",
            ),
            (
                "projects/-w/S/tool-results/b2.jsonl",
                SideKind::ToolOutput,
                "tool-results/b2.jsonl.kept",
            ),
            (
                "file-history/S/0123@v1",
                SideKind::Checkpoint,
                "file-history/0123@v1",
            ),
            ("tasks/S/1.json", SideKind::Meta, "meta/1.json"),
            (
                "projects/-w/S/images/.x.png",
                SideKind::Attachment,
                "images/_.x.png",
            ),
            ("projects/-w/S/a/b/c/d/e", SideKind::Attachment, "a/b/c-d-e"),
        ] {
            assert_eq!(name(key, kind, false), expected, "{key}");
        }
        assert_eq!(
            name(
                "projects/-w/S/0-Explore/1-Deep.jsonl",
                SideKind::Subagent,
                true
            ),
            "0-Explore/1-Deep.jsonl"
        );
    }

    #[test]
    fn no_name_is_given_twice() {
        let source = SessionLocation::of("S", Framing::Lines, 0);
        let mut names = ArtifactNames::new(&source, HashMap::new(), false);
        let mut of = |key: &str, kind| {
            names.of(&SideFile {
                key: key.to_owned(),
                kind,
                size: 0,
            })
        };
        let given = [
            of("a/agent-x.jsonl", SideKind::Subagent),
            of("b/agent-x.jsonl", SideKind::Subagent),
            of("a/x", SideKind::Attachment),
            of("b/x", SideKind::Attachment),
            of("b/x-2", SideKind::Attachment),
        ];
        assert_eq!(
            given,
            ["agent-x.jsonl", "agent-x-2.jsonl", "x", "x-2", "x-2-2"]
        );
    }
}
