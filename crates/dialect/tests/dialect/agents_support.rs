//! Reading of sessions of file-based agents for tests.

use std::path::Path;

use boswell_dialect::{Depth, Dialect, Files, MemoryFiles, ReadSession, Reader, SessionLocation};
use boswell_model::json::{Object, Scanned};
use boswell_model::{Message, SessionView};
use boswell_testkit::{corpus, disk};

/// A session with the bytes of its log.
pub(crate) struct Read {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) location: SessionLocation,
    pub(crate) bytes: Vec<u8>,
    pub(crate) session: ReadSession,
}

pub(crate) fn read(
    dialect: &'static dyn Dialect,
    files: &MemoryFiles,
    location: SessionLocation,
) -> Read {
    let key = location.key.clone().unwrap();
    let compose = dialect.powers().compose;
    let compose = compose.filter(|it| !it.sources(files, &key).unwrap().is_empty());
    let bytes = match compose {
        Some(compose) => compose.compose(files, &key).unwrap(),
        None => files.read(&key, 0, usize::MAX).unwrap(),
    };
    let mut session = Reader::read(dialect, &location, &bytes, Depth::Pairs);
    dialect
        .add_side_meta(files, &location, &mut session.meta)
        .unwrap();
    Read {
        dialect,
        location,
        bytes,
        session,
    }
}

impl Read {
    pub(crate) fn view(&self) -> SessionView<'_> {
        self.session.view(&self.bytes)
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        let view = self.view();
        let tip = self.dialect.tip(&view).unwrap();
        let context = self.dialect.context(&view, tip).unwrap();
        let items = context.items.iter();
        items.map(|item| self.render(item)).collect()
    }

    fn render(&self, item: &boswell_model::ContextItem) -> Message {
        let view = self.view();
        let payloads: Vec<_> = item.slots().map(|it| view.payload(it).unwrap()).collect();
        let mut scanned: Vec<Scanned> = payloads.iter().map(|_| Scanned::default()).collect();
        for (scanned, bytes) in scanned.iter_mut().zip(&payloads) {
            scanned.scan(bytes).unwrap();
        }
        let pairs = scanned.iter().zip(&payloads);
        let records: Vec<Object<'_>> = pairs.map(|(it, bytes)| it.object(bytes)).collect();
        self.dialect.render(item, &records)
    }

    /// One line: what a list shows, and the size of its context.
    pub(crate) fn row(&self) -> String {
        let meta = &self.session.meta;
        let usage = meta.usage.total();
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let short = |text: String| text.chars().take(40).collect::<String>();
        let count = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
        format!(
            "{} {} records {} gaps | id {} in {} version {} branch {} hidden {} | {} messages {} \
             turns {} calls | tokens {}+{} out {} thought {} | models {} | {} sent | title {} | {}",
            self.dialect.name(),
            self.session.log.heads.len(),
            self.session.log.gaps.len(),
            text(&meta.id),
            text(&meta.project),
            text(&meta.agent_version),
            text(&meta.git_branch),
            meta.hidden.or(self.location.hidden).unwrap_or("-"),
            meta.messages,
            meta.turns,
            meta.tool_calls,
            count(usage.input),
            count(usage.cache_read),
            count(usage.output),
            count(usage.reasoning),
            meta.models.join("+"),
            self.messages().len(),
            short(text(&meta.title)),
            short(text(&meta.first_prompt)).replace('\n', " "),
        )
    }
}

/// Loads every file below a folder, keyed by its path.
pub(crate) fn load(folder: &Path) -> MemoryFiles {
    load_below(folder, "")
}

/// The same, with keys that begin with a prefix.
pub(crate) fn load_below(folder: &Path, prefix: &str) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    for path in corpus::files(folder) {
        let key = path.strip_prefix(folder).unwrap();
        let key = key.to_str().unwrap().replace('\\', "/");
        files.put(&format!("{prefix}{key}"), disk::read(&path), None);
    }
    files
}
