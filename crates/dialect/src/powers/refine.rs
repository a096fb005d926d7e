//! What a dialect knows better than the general way of reading.

use std::borrow::Cow;
use std::fmt;

use boswell_model::json::Object;
use boswell_model::{Message, Result, SessionView, Settings, Tip, View};

use crate::{SessionLocation, TextPiece};

/// Questions that have an answer for every dialect, and a better one for some.
///
/// Not an option as the other powers are: each default is right, only slower or less telling.
pub trait Refine: Send + Sync + fmt::Debug {
    /// The text of a record as its view would show it, borrowed from the record where it is stored
    /// as it is shown; none where only the view tells.
    fn text_pieces<'a>(&self, _object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
        None
    }

    /// A record as it may be shown raw: credentials that the agent keeps inside are
    /// replaced, all else stays.
    ///
    /// For eyes only. An exact export hands out the record itself.
    fn redact<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(record)
    }

    /// Whether the end of a log is enough for the context at a tip. Asked about a log that holds
    /// its first line and everything from some line to its end; the answer must be the one that the
    /// whole log would give.
    fn context_coverage(&self, _view: &SessionView<'_>, _tip: Tip) -> Result<ContextCoverage> {
        Ok(ContextCoverage::Whole)
    }

    /// Settings that are kept outside the log, such as in an index row; called on a
    /// context once it is built.
    fn side_settings(&self, _location: &SessionLocation, _settings: &mut Settings) {}

    /// The messages of a context as they go to a provider: in the roles that providers know, every
    /// call followed by its answer. Storage is not concerned.
    fn provider_messages(&self, messages: Vec<Message>) -> Vec<ProviderMessage> {
        messages
            .into_iter()
            .enumerate()
            .map(|(at, message)| ProviderMessage {
                from: Some(at),
                joined: Vec::new(),
                message,
            })
            .collect()
    }

    /// Files that an entry read or changed through a tool.
    fn touched_files(&self, view: &View) -> Vec<(String, String)> {
        view.calls()
            .flat_map(|(_, name, input)| tool_paths(name, input))
            .collect()
    }
}

/// The general way of reading.
#[derive(Debug)]
pub(super) struct General;

impl Refine for General {}

/// Paths named by the arguments of a tool call, each with the tool's name.
pub fn tool_paths(name: &str, input: &str) -> Vec<(String, String)> {
    let Ok(raw) = boswell_model::json::Raw::parse(input.as_bytes()) else {
        return Vec::new();
    };
    ["file_path", "path", "notebook_path", "filePath", "filename"]
        .iter()
        .filter_map(|key| raw.get(key)?.text())
        .filter(|path| !path.is_empty())
        .map(|path| (path.into_owned(), name.to_owned()))
        .collect()
}

/// A message on its way to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderMessage {
    /// Its place among the messages of the context; none if it was made up.
    pub from: Option<usize>,
    /// The places of further messages of the context that became part of it.
    pub joined: Vec<usize>,
    /// The message.
    pub message: Message,
}

/// How far back a log must be read for a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCoverage {
    /// What was read settles everything.
    Enough,
    /// More of it may.
    More,
    /// Only the whole log does.
    Whole,
}
