//! What a person reads of an entry.

use crate::Usage;

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Plain text.
    Text(String),
    /// The model's reasoning.
    Thinking(String),
    /// A call of a tool.
    Call {
        /// Id by which the result refers to it.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments, JSON as written.
        input: String,
    },
    /// What a tool answered.
    Result {
        /// Id of the call.
        call: String,
        /// Text of the answer.
        text: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// An image or another file inside the message.
    Media {
        /// MIME type, if stated.
        mime: Option<String>,
        /// Where it lies: base64 inside the record, or a name of a file or blob.
        source: MediaSource,
    },
    /// A part whose type the dialect does not know, as JSON.
    Other {
        /// Its type word.
        word: String,
        /// Its JSON.
        json: String,
    },
}

/// Where the bytes of an image or file are.
#[derive(Debug, Clone, PartialEq)]
pub enum MediaSource {
    /// Base64 text inside the record.
    Inline(String),
    /// `blob:sha256:…` or a path below the store.
    Reference(String),
}

/// An entry prepared for reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// Its parts in order.
    pub blocks: Vec<Block>,
    /// Model that said it.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// Why the model ended, in the agent's own word.
    pub stop: Option<String>,
    /// Name of the tool, for results that state it.
    pub tool: Option<String>,
    /// Whether the agent keeps it from people's eyes.
    pub hidden: bool,
    /// A line about what it is, for entries that are no messages ("model is now …").
    pub remark: Option<String>,
}

impl View {
    /// A view of these parts.
    pub fn of(blocks: impl IntoIterator<Item = Block>) -> Self {
        View {
            blocks: blocks.into_iter().collect(),
            ..View::default()
        }
    }

    /// A view that is one text.
    pub fn text_only(text: impl Into<String>) -> Self {
        View::of([Block::Text(text.into())])
    }

    /// A view that is one line about the entry.
    pub fn remark(line: impl Into<String>) -> Self {
        View {
            remark: Some(line.into()),
            ..View::default()
        }
    }

    /// The text of the message: its text parts, and what tools answered.
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

    /// The calls it makes: id, name, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|b| match b {
            Block::Call { id, name, input } => Some((id.as_str(), name.as_str(), input.as_str())),
            _ => None,
        })
    }

    /// Ids of the calls it answers.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|b| match b {
            Block::Result { call, .. } => Some(call.as_str()),
            _ => None,
        })
    }
}
