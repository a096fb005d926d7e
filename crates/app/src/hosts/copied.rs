//! A session as a host sent it: its log and its side files, in memory, each checked.
//!
//! A name that the session's dialect does not take for a file of this session is refused with the
//! file: settings, hooks, other sessions and paths elsewhere never get here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Dialect, SessionLocation, by_name};
use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::Store;
use boswell_store::backend::MemoryBackend;

use super::lines::succeeded;
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::import::unpacked_file;
use crate::text::{cut, one_line};

/// Maximum length of a document: it is held in memory.
const LONGEST: u64 = 1 << 30;
/// A longer name is none of an agent's file.
const LONGEST_KEY: usize = 1024;

/// Files by their keys.
pub(crate) type FilesByKey = BTreeMap<String, Vec<u8>>;

/// A session of a host, in memory.
pub(crate) struct CopiedSession {
    pub(crate) dialect: &'static dyn Dialect,
    pub(super) id: String,
    /// Key of the log.
    pub(super) log: String,
    /// The log and its side files.
    pub(super) files: FilesByKey,
    /// Keys that the host sent and that are no files of the session.
    pub(super) refused: Vec<String>,
}

impl CopiedSession {
    /// Asks a host for a session with its side files.
    pub(super) fn receive(host: &Host, session: &str) -> Result<CopiedSession> {
        let words = ["export", "--format", "json", "--no-redact", "--", session];
        let words = words.map(str::to_owned);
        let call = Call {
            words: &words,
            columns: None,
            limits: Limits {
                bytes: LONGEST,
                ..Limits::LONG
            },
        };
        let mut document = Vec::new();
        let ended = ssh::run(host, &call, &mut |piece| {
            document.extend_from_slice(piece);
            Ok(true)
        })?;
        succeeded(host, &ended, &[0])?;
        CopiedSession::parse(&document).map_err(|why| {
            let what = format!("what {} sent is not a whole session", host.name);
            Error::new(ErrorKind::Damaged, what)
                .because(why)
                .advising(format!("try again, or update boswell on {}", host.name))
        })
    }

    fn parse(document: &[u8]) -> std::result::Result<CopiedSession, String> {
        let document = Raw::parse(document.trim_ascii()).map_err(|_| "it is not JSON")?;
        let text = |key: &str| Some(document.get(key)?.text()?.into_owned());
        let (Some("export"), Some(name), Some(id), Some(files)) = (
            text("type").as_deref(),
            text("dialect"),
            text("id"),
            document.get("files"),
        ) else {
            return Err("it lacks its dialect, id or files".to_owned());
        };
        // What comes last shows that nothing is missing.
        document.get("secrets").ok_or("its end is missing")?;
        let dialect = by_name(&name)
            .ok_or_else(|| format!("there is no agent `{}`", cut(&one_line(&name), 40)))?;
        let mut sent = FilesByKey::new();
        let mut refused = Vec::new();
        for file in files.items() {
            let sum = file.get("sha256").and_then(|it| it.text());
            sum.filter(|sum| sum.len() == 64)
                .ok_or("a file lacks its hash")?;
            let (key, bytes) = unpacked_file(&file)?;
            match is_plain_key(&key) {
                true => drop(sent.insert(key, bytes)),
                false => refused.push(key),
            }
        }
        let mut session = CopiedSession::of(dialect, &id, sent)?;
        session.refused.extend(refused);
        Ok(session)
    }

    /// Takes those of these files that are of the session.
    pub(crate) fn of(
        dialect: &'static dyn Dialect,
        id: &str,
        files: FilesByKey,
    ) -> std::result::Result<CopiedSession, String> {
        let (files, other): (FilesByKey, FilesByKey) =
            files.into_iter().partition(|(key, _)| is_plain_key(key));
        let mut session = CopiedSession {
            dialect,
            id: id.to_owned(),
            log: String::new(),
            files,
            refused: other.into_keys().collect(),
        };
        session.keep_own()?;
        Ok(session)
    }

    /// Leaves the files that the dialect takes for those of this session.
    fn keep_own(&mut self) -> std::result::Result<(), String> {
        let store = self.store();
        let location = self.location(&store).map_err(|error| error.to_string())?;
        let log = location.key.clone();
        self.log = log.ok_or("the session has no log")?;
        let side = store.side_files(&location);
        let side = side.map_err(|error| error.to_string())?;
        let is_own = |key: &str| key == self.log || side.iter().any(|file| file.key == key);
        let (own, other): (FilesByKey, FilesByKey) = std::mem::take(&mut self.files)
            .into_iter()
            .partition(|(key, _)| is_own(key));
        self.refused.extend(other.into_keys());
        self.files = own;
        Ok(())
    }

    /// Returns a store with only these files.
    pub(super) fn store(&self) -> Store {
        let mut backend = MemoryBackend::default();
        for (key, bytes) in &self.files {
            backend.put(key, bytes.clone(), None);
        }
        Store::on(self.dialect, Arc::new(backend), Path::new("/"))
    }

    /// Returns where the session is in such a store.
    pub(super) fn location(&self, store: &Store) -> Result<SessionLocation> {
        let sessions = store.whole().list()?.sessions;
        let found = sessions.into_iter().find(|it| it.id == self.id);
        found.ok_or_else(|| Error::new(ErrorKind::Damaged, "the session is not in its files"))
    }
}

/// Whether a key is a path below a store's folder, of names that every file system has.
fn is_plain_key(key: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    let is_plain = |c: char| !c.is_control() && c != '\\';
    key.len() <= LONGEST_KEY && key.split('/').all(is_name) && key.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::Json;
    use boswell_store::vault::Digest;

    use super::*;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
    const LINE: &str = "{\"type\":\"user\",\"uuid\":\"bbbbbbbb-0001-4001-8001-000000000001\",\"parentUuid\":null,\"sessionId\":\"aaaaaaaa-0001-4001-8001-000000000001\",\"cwd\":\"/w\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";

    fn file(key: &str, text: &str) -> Json {
        Json::object()
            .with("key", key)
            .with("content", Json::Array(vec![text.into()]))
            .with("sha256", Digest::of(text.as_bytes()).to_string())
    }

    fn document(files: Vec<Json>) -> Vec<u8> {
        Json::object()
            .with("type", "export")
            .with("dialect", "claude")
            .with("id", ID)
            .with("files", Json::Array(files))
            .with("secrets", Json::object())
            .to_bytes()
    }

    fn log() -> Json {
        file(&format!("projects/-w/{ID}.jsonl"), LINE)
    }

    #[test]
    fn only_files_of_the_session_are_taken() {
        let hostile = [
            "settings.json",
            "CLAUDE.md",
            "projects/-w/memory/MEMORY.md",
            "projects/-w/aaaaaaaa-0001-4001-8001-000000000002.jsonl",
            "../.ssh/authorized_keys",
            "/etc/passwd",
            "projects/-w/../../hooks",
            "projects//x",
            "projects/-w\\x",
            "plugins/x/hooks.json",
        ];
        let mut files = vec![log()];
        files.push(file(&format!("projects/-w/{ID}/tool-results/a.txt"), "out"));
        files.extend(hostile.iter().map(|key| file(key, "x")));
        let session = CopiedSession::parse(&document(files)).unwrap();
        assert_eq!(session.files.len(), 2, "{:?}", session.files.keys());
        let mut refused = session.refused.clone();
        refused.sort();
        let mut wanted: Vec<String> = hostile.iter().map(|it| (*it).to_owned()).collect();
        wanted.sort();
        assert_eq!(refused, wanted);
    }

    #[test]
    fn a_session_that_is_not_whole_is_refused() {
        let whole = document(vec![log()]);
        assert!(CopiedSession::parse(&whole).is_ok());
        for cut in 0..whole.len() {
            assert!(CopiedSession::parse(&whole[..cut]).is_err(), "{cut}");
        }
        let changed = String::from_utf8(whole).unwrap().replace("hi", "ho");
        let error = CopiedSession::parse(changed.as_bytes());
        assert!(error.err().unwrap().contains("hash"));
    }
}
