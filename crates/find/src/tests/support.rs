//! Shared helpers of the search tests: a small dialect, and sources in a folder or in memory that
//! count reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_dialect::DialectFacts;
use boswell_dialect::{Dialect, Discovered, Environment, Files, Match, Sample};
use boswell_find::{Source, SourceReader};
use boswell_model::json::{Object, Raw};
use boswell_model::{
    Context, ContextItem, EntryKind, Error, ErrorKind, Head, Instant, Interner, Line, Message,
    Part, Result, SessionMeta, SessionRef, SessionView, Tip, View,
};
use boswell_store::backend::{Backend, FsBackend};

/// A minimal reader of lines in the form of Claude Code.
#[derive(Debug)]
pub(crate) struct Plain;

pub(crate) static PLAIN: Plain = Plain;

fn block(raw: Raw<'_>) -> Option<Part> {
    let text = |key: &str| {
        raw.get(key)
            .and_then(|v| v.text())
            .unwrap_or_default()
            .into_owned()
    };
    Some(match raw.get("type")?.text()?.as_ref() {
        "text" => Part::Text(text("text")),
        "thinking" => Part::thinking(text("thinking")),
        "tool_use" => Part::Call {
            id: text("id"),
            name: text("name"),
            input: raw
                .get("input")
                .map(|v| String::from_utf8_lossy(v.bytes()).into_owned())
                .unwrap_or_default()
                .into(),
        },
        "tool_result" => {
            let content = raw.get("content")?;
            let texts = content
                .items()
                .filter_map(|b| b.get("text")?.text().map(|t| t.into_owned()));
            let joined = content
                .text()
                .map_or_else(|| texts.collect::<Vec<_>>().join("\n"), |t| t.into_owned());
            Part::Result {
                call: text("tool_use_id"),
                text: joined,
                is_error: false,
            }
        }
        word => Part::Other {
            word: word.to_owned(),
            json: String::from_utf8_lossy(raw.bytes()).into_owned(),
        },
    })
}

static FACTS: DialectFacts = DialectFacts::new("plain", "plain");

impl Dialect for Plain {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, _env: &Environment) -> Vec<PathBuf> {
        Vec::new()
    }

    fn discover(&self, _files: &dyn Files) -> Result<Discovered> {
        Ok(Discovered::default())
    }

    fn id_is_valid(&self, id: &str) -> bool {
        !id.is_empty()
    }

    fn recognises(&self, _sample: &Sample<'_>) -> Match {
        Match::No
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("type").is_some()
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        head.id = object.text("uuid").and_then(|id| names.intern(&id));
        head.time = object
            .text("timestamp")
            .and_then(|t| Instant::parse(&t))
            .map(Into::into);
        let content = object.get("message").and_then(|m| m.get("content"));
        let is_result = || {
            content
                .and_then(|c| c.items().next()?.get("type"))
                .is_some_and(|t| t.is("tool_result"))
        };
        head.kind = match object.text("type").unwrap_or_default().as_ref() {
            "user" if is_result() => EntryKind::ToolResult,
            "user" => EntryKind::User,
            "assistant" => EntryKind::Assistant,
            "summary" => EntryKind::Title,
            _ => EntryKind::Unknown,
        };
    }

    fn collect_meta(
        &self,
        _object: &Object<'_>,
        _head: &Head,
        _names: &mut Interner,
        _meta: &mut SessionMeta,
    ) {
    }

    fn tip(&self, _view: &SessionView<'_>) -> Result<Tip> {
        Ok(Tip::Root)
    }

    fn view(&self, object: &Object<'_>) -> View {
        if let Some(title) = object.text("summary") {
            return View::remark(title);
        }
        let Some(message) = object.get("message") else {
            return View::default();
        };
        let content = message.get("content");
        let blocks = match content.and_then(|c| c.text()) {
            Some(text) => vec![Part::Text(text.into_owned())],
            None => content
                .into_iter()
                .flat_map(|c| c.items())
                .filter_map(block)
                .collect(),
        };
        View {
            parts: blocks,
            model: message
                .get("model")
                .and_then(|m| m.text())
                .map(|m| m.into_owned()),
            ..View::default()
        }
    }

    fn context(&self, _view: &SessionView<'_>, _tip: Tip) -> Result<Context> {
        Err(Error::new(ErrorKind::Unsupported, "not here"))
    }

    fn render(&self, _item: &ContextItem, _records: &[Object<'_>]) -> Message {
        Message {
            role: String::new(),
            content: Vec::new(),
            native: None,
        }
    }
}

/// Files below a folder; each is a source whose id is its path.
#[derive(Debug)]
pub(crate) struct FolderSources {
    backend: FsBackend,
    pub(crate) read: AtomicU64,
}

/// Returns the dialect of a file, by its folder.
fn dialect_of(key: &str) -> &'static dyn Dialect {
    let named = |name: &str| {
        key.split('/')
            .any(|part| part.trim_start_matches('.').starts_with(name))
    };
    let known = ["claude", "codex", "pi"]
        .into_iter()
        .find(|name| named(name));
    boswell_dialect::by_name(known.unwrap_or("unknown")).unwrap_or(&PLAIN)
}

impl FolderSources {
    pub(crate) fn new(root: &Path) -> FolderSources {
        FolderSources {
            backend: FsBackend::new(root),
            read: AtomicU64::new(0),
        }
    }

    /// Every `.jsonl` file as a source.
    pub(crate) fn sources(&self, root: &Path) -> Vec<Source> {
        let files = boswell_testkit::corpus::files(root);
        let logs = files
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
        logs.map(|path| self.source(path.strip_prefix(root).unwrap()))
            .collect()
    }

    pub(crate) fn source(&self, key: &Path) -> Source {
        let info = self.backend.stat(&key.to_string_lossy()).unwrap().unwrap();
        let mut source = Source::log(
            SessionRef::new(
                dialect_of(&key.to_string_lossy()).name(),
                key.to_string_lossy(),
            ),
            0,
            info.size,
        );
        source.modified = info.modified;
        source
    }
}

impl SourceReader for FolderSources {
    fn dialect(&self, source: &Source) -> &dyn Dialect {
        dialect_of(&source.reference.id)
    }

    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()> {
        let bytes = self.backend.open(&source.reference.id)?.read(at, len)?;
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        *into = bytes;
        Ok(())
    }

    fn records(
        &self,
        _: &Source,
        _: std::ops::Range<u64>,
        _: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        Err(Error::new(ErrorKind::NotFound, "there are no rows"))
    }
}

/// Sources in memory.
#[derive(Debug, Default)]
pub(crate) struct TestSources {
    pub(crate) logs: BTreeMap<String, (u64, Vec<u8>)>,
    pub(crate) read: AtomicU64,
}

impl TestSources {
    /// Adds a user message to a session.
    pub(crate) fn say(&mut self, id: &str, text: &str) {
        let log = &mut self.logs.entry(id.to_owned()).or_default().1;
        let number = log.iter().filter(|b| **b == b'\n').count();
        let mut quoted = Vec::new();
        boswell_model::json::write_string(text.as_bytes(), &mut quoted);
        let at = Instant::from_millis(1_790_000_000_000 + 60_000 * number as i64).to_rfc3339();
        log.extend_from_slice(
            format!(
                "{{\"type\":\"user\",\"uuid\":\"{id}-{number}\",\"timestamp\":\"{at}\",\"message\":{{\"content\":{}}}}}\n",
                String::from_utf8(quoted).unwrap()
            )
            .as_bytes(),
        );
    }

    pub(crate) fn sources(&self) -> Vec<Source> {
        let source = |(id, (generation, log)): (&String, &(u64, Vec<u8>))| {
            let mut source =
                Source::log(SessionRef::new("plain", id), *generation, log.len() as u64);
            source.modified = Some(Instant::from_millis(1_790_000_000_000));
            source
        };
        self.logs.iter().map(source).collect()
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.swap(0, Ordering::Relaxed)
    }
}

impl SourceReader for TestSources {
    fn dialect(&self, _source: &Source) -> &dyn Dialect {
        &PLAIN
    }

    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()> {
        let Some((_, log)) = self.logs.get(&source.reference.id) else {
            return Err(Error::new(ErrorKind::NotFound, "there is no such session"));
        };
        let from = (at as usize).min(log.len());
        let to = from.saturating_add(len as usize).min(log.len());
        self.read.fetch_add((to - from) as u64, Ordering::Relaxed);
        *into = log[from..to].to_vec();
        Ok(())
    }

    fn records(
        &self,
        _: &Source,
        _: std::ops::Range<u64>,
        _: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        Err(Error::new(ErrorKind::NotFound, "there are no rows"))
    }
}
