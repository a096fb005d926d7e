//! Random changes of sessions: logs, documents, indexes, side files and notes are added, changed
//! and removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_model::SessionRef;
use boswell_store::notes::NoteKind;
use boswell_testkit::disk;
use boswell_testkit::make::clinvoker::{self, ClinvokerSpec};
use boswell_testkit::make::myagents::{self, Era, MyAgentsSpec};
use serde_json::Value;

use super::{World, all};
use crate::known_sessions::ConversationRow;
use crate::new_session::NewSessionRequest;

impl World {
    /// Returns the logs of Claude Code, by id.
    fn logs(&self) -> BTreeMap<String, PathBuf> {
        let mut logs = BTreeMap::new();
        for project in disk::list(&self.path("claude/projects")) {
            for path in disk::list(&project) {
                if path.extension().is_some_and(|end| end == "jsonl") {
                    let id = path.file_stem().unwrap().to_string_lossy().into_owned();
                    logs.insert(id, path);
                }
            }
        }
        logs
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.rng.below(all.len())].clone())
    }

    fn log(&mut self) -> Option<(String, PathBuf)> {
        let logs: Vec<_> = self.logs().into_iter().collect();
        self.pick(&logs)
    }

    fn line(&mut self, id: &str) -> String {
        let number = self.rng.below(1000);
        let (minute, project) = (self.rng.below(60), self.rng.below(3));
        let branch = ["main", "dev"][self.rng.below(2)];
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"{id}\",\"cwd\":\"/p/{project}\",\"gitBranch\":\"{branch}\",\"timestamp\":\"2026-01-01T00:{minute:02}:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"Asked {number}\"}}}}\n"
        )
    }

    pub(super) fn new_log(&mut self) {
        self.made += 1;
        let id = format!(
            "{:08x}-0000-4000-8000-{:012}",
            self.rng.below(1 << 30),
            self.made
        );
        let project = self.rng.below(3);
        let mut text = self.line(&id);
        for _ in 0..self.rng.below(3) {
            text.push_str(&self.line(&id));
        }
        // Some contain only bookkeeping lines, so that lists hide them.
        if self.rng.below(6) == 0 {
            text = format!("{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{id}\"}}\n");
        }
        let path = format!("claude/projects/-p-{project}/{id}.jsonl");
        disk::write(&self.path(&path), text.as_bytes());
    }

    /// Writes a document that names a session of Claude Code, which may not exist.
    fn document(&mut self, id: &str) {
        let ids: Vec<String> = self.logs().into_keys().collect();
        let other = "99999999-0000-4000-8000-000000000000".to_owned();
        let backend_session = self.pick(&ids).filter(|_| self.rng.below(5) > 0);
        let backend_session = backend_session.unwrap_or(other);
        let made = clinvoker::made(&clinvoker::document(&ClinvokerSpec {
            id,
            backend: "claude",
            backend_session: &backend_session,
            status: ["completed", "error", "paused", ""][self.rng.below(4)],
            seed: self.rng.next_u64(),
            ..ClinvokerSpec::default()
        }));
        made.write_to(&self.path("clinvoker"));
    }

    fn mirror(&mut self) {
        self.made += 1;
        let ids: Vec<String> = self.logs().into_keys().collect();
        let (sdk, id) = (self.pick(&ids), format!("session-{}-abc", self.made));
        let (made, row) = myagents::session(&MyAgentsSpec {
            era: Era::E1,
            id: Some(&id),
            sdk: sdk.as_deref(),
            agent_dir: "/p/1",
            turns: 2,
            seed: self.rng.next_u64(),
        });
        made.write_to(&self.path("myagents"));
        self.rows.insert(id, row);
        self.write_index();
    }

    fn write_index(&self) {
        let rows: Vec<Value> = self.rows.values().cloned().collect();
        disk::write(
            &self.path("myagents/sessions.json"),
            &myagents::index(&rows),
        );
    }

    fn note(&mut self) {
        let known = self.known(&all());
        let refs: Vec<SessionRef> = known
            .rows
            .iter()
            .flat_map(ConversationRow::sides)
            .map(|side| side.reference.clone())
            .collect();
        let nowhere = SessionRef::new("claude", "nowhere");
        let session = self.pick(&refs).unwrap_or(nowhere);
        let tag = ["pinned", "red"][self.rng.below(2)].to_owned();
        let text = format!("Note {}", self.rng.below(100));
        let cx = self.app.request().unwrap();
        let mut notes = cx.notes().unwrap();
        let kind = match self.rng.below(7) {
            0 | 1 => NoteKind::Tag(tag),
            2 => NoteKind::Untag(tag),
            3 => NoteKind::Title(Some(text)),
            4 => NoteKind::Status {
                status: "completed".to_owned(),
                message: None,
            },
            5 => NoteKind::Summary(text),
            _ => {
                notes.forget(&[session], &[]).unwrap();
                return;
            }
        };
        notes.add(&session, cx.now, kind).unwrap();
    }

    /// Makes a random change to a session.
    pub(super) fn change(&mut self) {
        match self.rng.below(14) {
            0 | 1 => self.new_log(),
            2 | 3 => {
                if let Some((id, path)) = self.log() {
                    let line = self.line(&id);
                    append(&path, &line);
                }
            }
            4 => drop(self.log().map(|(_, path)| std::fs::remove_file(path))),
            5 => {
                if let Some((id, path)) = self.log() {
                    let to = format!("claude/projects/-p-{}/{id}.jsonl", self.rng.below(3));
                    let to = self.path(&to);
                    disk::make_dir(to.parent().unwrap());
                    std::fs::rename(path, to).unwrap();
                    self.moved.push(SessionRef::new("claude", id));
                }
            }
            6 => self.side_file(),
            7 => {
                let id = format!("{:032x}", self.rng.below(4));
                self.document(&id);
            }
            8 => {
                let documents = disk::list(&self.path("clinvoker/sessions"));
                drop(self.pick(&documents).map(std::fs::remove_file));
            }
            9 => self.mirror(),
            10 => {
                let ids: Vec<String> = self.rows.keys().cloned().collect();
                if let Some(id) = self.pick(&ids) {
                    let title = format!("Renamed {}", self.rng.below(9));
                    self.rows.get_mut(&id).unwrap()["title"] = title.into();
                    self.write_index();
                }
            }
            11 => {
                let request = NewSessionRequest {
                    project: "/p/2".into(),
                    title: (self.rng.below(2) == 0).then(|| "Own".to_owned()),
                    ..NewSessionRequest::default()
                };
                let _ = self.app.new_session(&request).unwrap();
            }
            _ => self.note(),
        }
    }

    fn side_file(&mut self) {
        let Some((_, path)) = self.log() else {
            return;
        };
        let folder = path.with_extension("");
        match self.rng.below(3) {
            0 => disk::write(
                &folder.join("custom-title.json"),
                format!("{{\"customTitle\":\"Side {}\"}}", self.rng.below(9)).as_bytes(),
            ),
            1 => disk::write(&folder.join("archived.json"), b"{\"archived\":true}"),
            _ => drop(std::fs::remove_dir_all(folder)),
        }
    }
}

fn append(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
}
