//! The [`Refine`] power: answers that are better or faster than the generic ones.

use std::borrow::Cow;
use std::fmt;

use boswell_model::json::Object;
use boswell_model::{
    Log, Message, Result, SessionMeta, SessionView, Settings, Tip, ToolInput, View,
};

use crate::{SessionLocation, TextPiece};

/// Questions that have a correct default for every dialect, and a better answer for some.
///
/// Not an option like the other powers: each default is correct, only slower or less precise.
pub trait Refine: Send + Sync + fmt::Debug {
    /// Decides what only the whole log shows: called when everything was read, with the metadata if
    /// it was collected. Lines may be added later, and then it is called again.
    fn settle(&self, _log: &mut Log, _meta: Option<&mut SessionMeta>) {}

    /// Returns the text of a record as its view would show it, borrowed from the record where it is
    /// stored unescaped; `None` if only the view can provide it.
    fn text_pieces<'a>(&self, _object: &Object<'a>) -> Option<Vec<TextPiece<'a>>> {
        None
    }

    /// Returns a record with the agent's credentials replaced, for display.
    ///
    /// Only for display: an exact export returns the record itself.
    fn redact<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(record)
    }

    /// Whether the end of a log is enough for the context at a tip. `_view` is a log with its first
    /// line and everything from some line to its end; the context must be the same as that of the
    /// whole log.
    fn context_coverage(&self, _view: &SessionView<'_>, _tip: Tip) -> Result<ContextCoverage> {
        Ok(ContextCoverage::Whole)
    }

    /// Adds settings that are stored outside the log, such as in an index row. Called after the
    /// context is built.
    fn side_settings(&self, _location: &SessionLocation, _settings: &mut Settings) {}

    /// Converts the messages of a context to what a provider accepts: known roles, and every tool
    /// call followed by its result. The stored session does not change.
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

    /// Whether the agent itself wrote a message of a context in the user's place, such as a
    /// description of the machine. Another agent that goes on with the conversation adds its own.
    fn is_injected(&self, _message: &Message) -> bool {
        false
    }

    /// Returns the files that an entry read or changed through a tool: pairs of path and tool name.
    fn touched_files(&self, view: &View) -> Vec<(String, String)> {
        view.calls()
            .flat_map(|(_, name, input)| tool_paths(name, input))
            .collect()
    }
}

/// The defaults, for dialects without refinements.
#[derive(Debug)]
pub(super) struct General;

impl Refine for General {}

/// Returns the paths in the arguments of a tool call, each with the tool's name.
pub fn tool_paths(name: &str, input: &ToolInput) -> Vec<(String, String)> {
    let Some(raw) = input.json() else {
        return Vec::new();
    };
    ["file_path", "path", "notebook_path", "filePath", "filename"]
        .iter()
        .filter_map(|key| raw.get(key)?.text())
        .filter(|path| !path.is_empty())
        .map(|path| (path.into_owned(), name.to_owned()))
        .collect()
}

/// A message in the form that a provider accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderMessage {
    /// Index of the context message that it was made from; `None` if it was added.
    pub from: Option<usize>,
    /// Indexes of further context messages that were merged into it.
    pub joined: Vec<usize>,
    /// The converted message.
    pub message: Message,
}

/// How much of a log must be read for a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCoverage {
    /// The part that was read determines the context.
    Enough,
    /// Reading more of the log may be enough.
    More,
    /// Only the whole log is enough.
    Whole,
}
