//! Reads real files for the tests of the Claude dialect.
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests read real files, named by the environment, and stop at the first that is not there"
)]

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use boswell_dialect::claude::Claude;
use boswell_dialect::{Depth, Dialect, ReadSession, Reader, Repairer, SessionLocation};
use boswell_model::json::{Json, Member, Object, scan_object};
use boswell_model::{
    ContextItem, Framing, Lines, Payloads, Problem, SessionView, Slot, Splitter, Tip,
};

/// Returns the folder that a variable names. Without it the test is skipped with a message, or
/// fails in CI, where skipping is not allowed.
pub(crate) fn root(variable: &str) -> Option<PathBuf> {
    let root = std::env::var_os(variable).map(PathBuf::from);
    if root.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{variable} is not set"
        );
        eprintln!("skipped: {variable} is not set");
    }
    root
}

/// Returns every file below a folder whose name has this ending, sorted.
pub(crate) fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Returns the file rebuilt from its spans.
pub(crate) fn spans(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut splitter = Splitter::default();
    let mut take = |line: boswell_model::Line<'_>| {
        splitter.line(line, &|object| Claude.is_record(object), &mut |piece| {
            out.extend_from_slice(piece.bytes)
        });
    };
    let mut lines = Lines::new(0, 1);
    lines.push(bytes, &mut take);
    lines.finish(&mut take);
    out
}

struct Bytes(Vec<u8>);

impl Payloads for Bytes {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<Cow<'_, [u8]>> {
        self.0.as_slice().payload(at, len)
    }
}

/// A session file that was read.
pub(crate) struct Session {
    bytes: Bytes,
    /// The session as read.
    pub(crate) read: ReadSession,
}

impl Session {
    /// Reads a session file.
    pub(crate) fn read(path: &Path) -> Self {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        Session::of(&id, std::fs::read(path).unwrap())
    }

    /// Reads the bytes of a session.
    pub(crate) fn of(id: &str, bytes: Vec<u8>) -> Self {
        let location = SessionLocation::of(id.to_owned(), Framing::Lines, bytes.len() as u64);
        let read = Reader::read(&Claude, &location, &bytes, Depth::Facts);
        Session {
            bytes: Bytes(bytes),
            read,
        }
    }

    /// Returns the view that dialect functions take.
    pub(crate) fn view(&self) -> SessionView<'_> {
        self.read.view(&self.bytes)
    }

    /// Returns the tip.
    pub(crate) fn tip(&self) -> Tip {
        Claude.tip(&self.view()).unwrap()
    }

    /// Returns the first eight characters of the tip's label.
    pub(crate) fn tip_label(&self) -> String {
        self.tip().slot().map_or("root".to_owned(), |slot| {
            self.read.log.label(slot).chars().take(8).collect()
        })
    }

    /// Returns the current branch.
    pub(crate) fn branch(&self) -> Vec<Slot> {
        Claude.branch(&self.view(), self.tip()).unwrap()
    }

    /// Returns the problems that only this dialect finds.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        Claude
            .check(&self.view(), &self.read.meta, &mut problems)
            .unwrap();
        problems
    }

    /// Returns role and a characteristic text of each message of the context.
    pub(crate) fn messages(&self) -> Vec<(String, String)> {
        let context = Claude.context(&self.view(), self.tip()).unwrap();
        context
            .items
            .iter()
            .map(|item| self.message(item))
            .collect()
    }

    fn message(&self, item: &ContextItem) -> (String, String) {
        let payloads: Vec<_> = item
            .slots()
            .map(|slot| self.view().payload(slot).unwrap().into_owned())
            .collect();
        let scanned: Vec<(&[u8], Vec<Member>)> = payloads
            .iter()
            .map(|bytes| {
                let mut members = Vec::new();
                let end = scan_object(bytes, &mut members).unwrap();
                (&bytes[..end], members)
            })
            .collect();
        let records: Vec<_> = scanned
            .iter()
            .map(|(bytes, members)| Object::new(bytes, members))
            .collect();
        let message = Claude.render(item, &records);
        let first = message
            .content
            .first()
            .map(Json::to_bytes)
            .unwrap_or_else(|| b"{}".to_vec());
        let raw = boswell_model::json::Raw::parse(&first).unwrap();
        let keys = ["text", "id", "tool_use_id", "thinking", "type"];
        let text = keys
            .iter()
            .find_map(|key| raw.get(key)?.text())
            .unwrap_or_default()
            .into_owned();
        (message.role, text)
    }
}
