//! The readable view of an entry: text, reasoning, tool calls, media.

use crate::Usage;

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Plain text.
    Text(String),
    /// The model's reasoning.
    Thinking(String),
    /// A tool call.
    Call {
        /// Id by which the result refers to it.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments, JSON as written.
        input: String,
    },
    /// A tool result.
    Result {
        /// Id of the tool call.
        call: String,
        /// Text of the result.
        text: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// An image or another file inside the message.
    Media {
        /// MIME type, if stated.
        mime: Option<String>,
        /// Where the bytes are: base64 inside the record, or the name of a file or blob.
        source: MediaSource,
    },
    /// A part whose type the dialect does not know, as JSON.
    Other {
        /// The type word of the part.
        word: String,
        /// Its JSON.
        json: String,
    },
}

/// The location of the bytes of an image or file.
#[derive(Debug, Clone, PartialEq)]
pub enum MediaSource {
    /// Base64 text inside the record.
    Inline(String),
    /// `blob:sha256:…` or a path relative to the store.
    Reference(String),
}

/// An entry prepared for display.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// The parts of the message in order.
    pub blocks: Vec<Block>,
    /// The model that wrote the message.
    pub model: Option<String>,
    /// Tokens and cost of the message.
    pub usage: Option<Usage>,
    /// The stop reason, in the agent's own word.
    pub stop: Option<String>,
    /// Name of the tool, for results that state it.
    pub tool: Option<String>,
    /// Whether the agent hides the entry from the user.
    pub hidden: bool,
    /// A one-line description, for entries that are not messages ("model is now …").
    pub remark: Option<String>,
}

impl View {
    /// Creates a view of these parts.
    pub fn of(blocks: impl IntoIterator<Item = Block>) -> Self {
        View {
            blocks: blocks.into_iter().collect(),
            ..View::default()
        }
    }

    /// Creates a view of one text part.
    pub fn text_only(text: impl Into<String>) -> Self {
        View::of([Block::Text(text.into())])
    }

    /// Creates a view of one descriptive line.
    pub fn remark(line: impl Into<String>) -> Self {
        View {
            remark: Some(line.into()),
            ..View::default()
        }
    }

    /// Returns the text of the message: its text parts and tool results.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            let (Block::Text(text) | Block::Result { text, .. }) = block else {
                continue;
            };
            if !out.is_empty() && !text.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
        }
        out
    }

    /// Iterates over the tool calls: id, name, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|b| match b {
            Block::Call { id, name, input } => Some((id.as_str(), name.as_str(), input.as_str())),
            _ => None,
        })
    }

    /// Iterates over the ids of the tool calls that the entry answers.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|b| match b {
            Block::Result { call, .. } => Some(call.as_str()),
            _ => None,
        })
    }
}
