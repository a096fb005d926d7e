//! The fallback dialect for files of JSON records from an unknown agent: read, counted and
//! exported, never interpreted.

use std::path::PathBuf;

use boswell_model::json::{Json, Object};
use boswell_model::{
    Advice, Context, ContextItem, EntryKind, Head, Instant, Interner, Message, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};

use crate::DialectFacts;
use crate::{Dialect, Discovered, Environment, Files, Match, Sample};

/// The dialect of files that no other dialect recognises.
#[derive(Debug)]
pub struct Unknown;

static FACTS: DialectFacts = DialectFacts::new("unknown", "unknown");

impl Dialect for Unknown {
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
        !id.is_empty() && !id.starts_with('-')
    }

    fn recognises(&self, _sample: &Sample<'_>) -> Match {
        Match::No
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("type").is_some() || object.get("role").is_some()
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        let word = object.text("type").or_else(|| object.text("role"));
        head.word = word.and_then(|w| names.intern(&w));
        head.time = object
            .text("timestamp")
            .and_then(|t| Instant::parse(&t))
            .map(Into::into);
        head.kind = EntryKind::Unknown;
    }

    fn collect_meta(
        &self,
        _object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta.saw(head);
        meta.count(head.word.map_or("", |w| names.text(w)));
    }

    /// It is not known how such records are linked, so each one follows the one before it.
    fn link(&self, log: &boswell_model::Log) -> Vec<Option<Slot>> {
        log.slots()
            .map(|slot| slot.0.checked_sub(1).map(Slot))
            .collect()
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        Ok(view.log.slots().next_back().map_or(Tip::Root, Tip::At))
    }

    fn view(&self, object: &Object<'_>) -> View {
        View::remark(String::from_utf8_lossy(object.raw().bytes()))
    }

    fn context(&self, _view: &SessionView<'_>, _tip: Tip) -> Result<Context> {
        Err(boswell_model::Error::new(
            boswell_model::ErrorKind::Unsupported,
            "the format of this file is not known, so its context is not known either",
        )
        .advising(Advice::ShowRecords {
            session: None,
            around: None,
        }))
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let content = records
            .iter()
            .map(|record| Json::from(record.raw()))
            .collect();
        Message {
            role: "unknown".to_owned(),
            content,
            native: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use crate::{Depth, Reader, SessionLocation};

    use super::*;

    #[test]
    fn records_of_an_unknown_file_are_counted_by_their_type() {
        let location = SessionLocation::of("x", Framing::Lines, 0);
        let bytes =
            b"{\"type\":\"a\"}\nnot json\n{\"role\":\"user\"}{\"type\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n";
        let read = Reader::read(&Unknown, &location, bytes, Depth::Facts);
        assert_eq!(read.log.heads.len(), 3);
        assert_eq!(read.meta.kinds.get("a"), Some(&2));
        assert_eq!(read.log.gaps.len(), 1);
        assert_eq!(read.tree.path(Slot(2)).len(), 3);
        assert_eq!(read.log.label(Slot(2)), "#3.2");
    }
}
