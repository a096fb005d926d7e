//! Writes an answer piece by piece, as one JSON document or as the lines of `--json`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use boswell_app::Cancel;
use boswell_app::shape::{ErrorShape, NoticeShape, Shape as _};
use boswell_app::text::harmless;
use boswell_app::{AppResult, Notice, Refusal};
use boswell_model::Result;
use boswell_model::json::{Json, is_printable};
use bytes::Bytes;
use tokio::sync::mpsc;

use crate::config::Phrase;

/// An answer that is not longer is sent as a whole, with its length and its ETag.
const WHOLE: usize = 1 << 20;
/// How long the pieces of a longer one are.
const PIECE: usize = 64 << 10;
/// How long a client may take none of an answer before it is given up.
const STALLED: Duration = Duration::from_secs(30);

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"items":[…],"page":…,"warnings":[…]}`
    List,
    /// The shape itself.
    One,
    /// One line per shape, as `--json` prints them.
    Ndjson,
    /// One event per shape, sent at once; `done` or `error` is the last one.
    Events,
}

/// A part of an answer on its way to the client.
#[derive(Debug)]
pub(crate) enum Piece {
    /// The complete answer.
    Whole(WholeAnswer),
    /// A part of a long answer.
    Part(Bytes),
    /// The request failed.
    Failed(Box<Refusal>),
}

/// An answer that is sent as a whole.
#[derive(Debug, Clone)]
pub(crate) struct WholeAnswer {
    pub(crate) bytes: Bytes,
    /// Notices that have no place in it.
    pub(crate) warnings: Vec<String>,
    /// Weak ETag: the same for the same content, whenever it was made.
    pub(crate) tag: Option<String>,
}

/// The last line of a list.
#[derive(Debug, Default)]
pub(crate) enum Last {
    /// There is none.
    #[default]
    None,
    /// A shape that `--json` prints too.
    Line(Json),
    /// A shape that only the JSON document has.
    Extra(Json),
}

/// The ETag of an answer, set by the request before it writes anything.
pub(crate) type Tag = Arc<OnceLock<String>>;

/// Receives the shapes of an answer.
#[derive(Debug)]
pub(crate) struct Lines {
    form: Form,
    phrase: Phrase,
    cancel: Cancel,
    pieces: mpsc::Sender<Piece>,
    runtime: tokio::runtime::Handle,
    buffer: Vec<u8>,
    count: usize,
    has_begun: bool,
    /// Whether the answer has an ETag already, or needs none: hashing takes as long as a tenth of
    /// the rest of a page.
    is_tagged: bool,
    tag: Tag,
}

impl Lines {
    pub(crate) fn new(
        form: Form,
        phrase: Phrase,
        cancel: Cancel,
        pieces: mpsc::Sender<Piece>,
        runtime: tokio::runtime::Handle,
    ) -> Lines {
        let mut lines = Lines {
            form,
            phrase,
            cancel,
            pieces,
            runtime,
            buffer: Vec::new(),
            count: 0,
            has_begun: false,
            is_tagged: false,
            tag: Tag::default(),
        };
        if form == Form::List {
            lines.buffer.extend_from_slice(b"{\"items\":[");
        }
        lines
    }

    /// Makes no ETag of the bytes of the answer.
    pub(crate) fn tagged(mut self, is_tagged: bool) -> Lines {
        self.is_tagged = is_tagged;
        self
    }

    /// Returns the ETag that the request sets.
    pub(crate) fn tag(&self) -> Tag {
        Arc::clone(&self.tag)
    }

    /// Sets the ETag, before anything is written.
    pub(crate) fn set_tag(&mut self, tag: String) {
        self.is_tagged = true;
        let _ = self.tag.set(tag);
    }

    /// Whether exactly the lines of `--json` are wanted.
    pub(crate) fn is_ndjson(&self) -> bool {
        self.form == Form::Ndjson
    }

    /// Whether the client follows the work as events.
    pub(crate) fn is_events(&self) -> bool {
        self.form == Form::Events
    }

    /// Sends the beginning of an answer that may take long, so that the client knows that it comes.
    pub(crate) fn begin(&mut self) {
        self.flush();
    }

    /// Whether nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes a shape. Returns false if the client wants no more.
    pub(crate) fn object(&mut self, value: &Json) -> Result<bool> {
        if self.count > 0 && self.form == Form::List {
            self.buffer.push(b',');
        }
        self.count += 1;
        if self.form == Form::Events {
            self.event(type_of(value), value);
            return Ok(self.flush());
        }
        self.write(value);
        if self.form != Form::List {
            self.buffer.push(b'\n');
        }
        let most = if self.has_begun { PIECE } else { WHOLE };
        Ok(self.buffer.len() < most || self.flush())
    }

    /// Writes bytes as they are, for answers that are no JSON. Returns false if the client wants no
    /// more.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        self.buffer.extend_from_slice(bytes);
        let most = if self.has_begun { PIECE } else { WHOLE };
        Ok(self.buffer.len() < most || self.flush())
    }

    fn write(&mut self, value: &Json) {
        let start = self.buffer.len();
        value.write(&mut self.buffer);
        let is_plain = self.buffer.get(start..).is_some_and(is_printable);
        if !is_plain {
            let line = self.buffer.split_off(start);
            self.buffer.extend_from_slice(harmless(line).as_bytes());
        }
    }

    fn event(&mut self, name: &str, value: &Json) {
        self.buffer
            .extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
        // A line of JSON has no line break in it.
        self.write(value);
        self.buffer.extend_from_slice(b"\n\n");
    }

    /// Sends what was written. Returns false if the client went away.
    fn flush(&mut self) -> bool {
        self.has_begun = true;
        let part = Piece::Part(std::mem::take(&mut self.buffer).into());
        self.send(part)
    }

    fn send(&self, piece: Piece) -> bool {
        let sent = async { tokio::time::timeout(STALLED, self.pieces.send(piece)).await };
        let is_sent = matches!(self.runtime.block_on(sent), Ok(Ok(())));
        if !is_sent {
            self.cancel.cancel();
        }
        is_sent && !self.cancel.is_cancelled()
    }

    /// Ends the answer.
    pub(crate) fn end(mut self, done: AppResult<Last>) {
        match done {
            Ok(answer) => {
                let tag = (!self.is_tagged).then(|| tag_of(&self.buffer, &answer.value));
                let warnings = self.close(answer.value, &answer.notices);
                let bytes = std::mem::take(&mut self.buffer).into();
                self.send(match self.has_begun {
                    true => Piece::Part(bytes),
                    false => Piece::Whole(WholeAnswer {
                        bytes,
                        warnings,
                        tag,
                    }),
                });
            }
            Err(refusal) if self.form == Form::Events && self.has_begun => {
                let error = &refusal.error;
                let shape = ErrorShape::new(error, error.advice().map(self.phrase));
                self.event("error", &shape.object());
                self.flush();
            }
            Err(refusal) => {
                self.send(Piece::Failed(Box::new(refusal)));
            }
        }
    }

    /// Writes what comes after the items; returns the notices that have no place there.
    fn close(&mut self, last: Last, notices: &[Notice]) -> Vec<String> {
        let phrase = self.phrase;
        let shapes = notices.iter().map(|it| NoticeShape::new(it, &phrase));
        if self.form == Form::Events {
            let warnings: Vec<Json> = shapes.map(|it| it.object()).collect();
            let done = Json::object().with("v", 1).with("type", "done");
            self.event("done", &done.with("warnings", warnings));
            return Vec::new();
        }
        if self.form != Form::List {
            if let Last::Line(line) = last {
                self.write(&line);
                self.buffer.push(b'\n');
            }
            return shapes.map(|it| it.message).collect();
        }
        let warnings: Vec<Json> = shapes.map(|it| it.object()).collect();
        self.buffer.extend_from_slice(b"],\"page\":");
        match last {
            Last::Line(page) | Last::Extra(page) => self.write(&page),
            Last::None => self.buffer.extend_from_slice(b"null"),
        }
        self.buffer.extend_from_slice(b",\"warnings\":");
        self.write(&Json::Array(warnings));
        self.buffer.extend_from_slice(b"}\n");
        Vec::new()
    }
}

/// Returns the type of a shape.
fn type_of(value: &Json) -> &str {
    let Json::Object(members) = value else {
        return "message";
    };
    let word = members.iter().find(|(name, _)| name == "type");
    match word {
        Some((_, Json::Text(word))) => word,
        _ => "message",
    }
}

/// Returns the ETag of an answer. The time at which a page was made is not part of it.
fn tag_of(items: &[u8], last: &Last) -> String {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    hash.update(items);
    if let Last::Line(Json::Object(members)) | Last::Extra(Json::Object(members)) = last {
        for (name, value) in members.iter().filter(|(name, _)| name != "as_of") {
            hash.update(name.as_bytes());
            hash.update(value.to_bytes());
        }
    }
    let digest = hash.finalize();
    let beginning = digest.get(..16).unwrap_or_default();
    format!("W/\"{}\"", boswell_app::base64::encode_url(beginning))
}
