//! The parts of a message, the same for writing and for reading.
//!
//! A [`View`](crate::View) is made of them, a message of a context, and the entries that callers
//! hand in. So what was read can be written again.

use crate::json::{Json, Raw, RawKind};

/// A part of a message, for writing and for reading.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Plain text.
    Text(String),
    /// The model's reasoning.
    Thinking {
        /// Text of the reasoning.
        text: String,
        /// The provider's signature, without which it does not take the reasoning back.
        signature: Option<String>,
    },
    /// A tool call.
    Call {
        /// Id that the result refers to.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        input: ToolInput,
    },
    /// A tool result, as it is read. It is written as an entry of its own, whose content are parts.
    Result {
        /// Id of the tool call.
        call: String,
        /// Text of the result.
        text: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// An image or another file inside the message. It can be written if its bytes are inline and
    /// its type is known.
    Media {
        /// MIME type, if stated.
        mime: Option<String>,
        /// Where the bytes are.
        source: MediaSource,
    },
    /// A part whose type the dialect does not know. It can be read, but not be written: it may mean
    /// something else in another place.
    Other {
        /// The type word of the part.
        word: String,
        /// Its JSON.
        json: String,
    },
}

impl Part {
    /// Creates an image, or another file, whose bytes are in the message.
    pub fn image(base64: impl Into<String>, mime: impl Into<String>) -> Self {
        Part::Media {
            mime: Some(mime.into()),
            source: MediaSource::Inline(base64.into()),
        }
    }

    /// Creates the model's reasoning without a signature.
    pub fn thinking(text: impl Into<String>) -> Self {
        Part::Thinking {
            text: text.into(),
            signature: None,
        }
    }
}

/// The location of the bytes of an image or file.
#[derive(Debug, Clone, PartialEq)]
pub enum MediaSource {
    /// Base64 text inside the record.
    Inline(String),
    /// `blob:sha256:…`, a URL, or a path relative to the store.
    Reference(String),
}

/// The arguments of a tool call, as they were written: JSON text in most calls, free text for tools
/// that take it, and the beginning of a JSON text where a model was interrupted.
///
/// They are parsed only when [`json`](ToolInput::json) is called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolInput(String);

impl ToolInput {
    /// Returns the arguments as they were written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the arguments as JSON; `None` if they are other text.
    pub fn json(&self) -> Option<Raw<'_>> {
        Raw::parse(self.0.as_bytes()).ok()
    }

    /// Returns the arguments as an object on one line, which agents and providers demand. Other
    /// text becomes its member `input`, and no text an object without members.
    pub fn to_object(&self) -> Json {
        match self.json() {
            Some(raw) if raw.kind() == RawKind::Object => {
                let mut bytes = raw.bytes().to_vec();
                // Strings contain no line end in valid JSON.
                bytes.retain(|byte| !matches!(byte, b'\n' | b'\r'));
                Json::Raw(bytes)
            }
            _ if self.0.is_empty() => Json::object(),
            _ => Json::object().with("input", self.text()),
        }
    }
}

impl From<Json> for ToolInput {
    fn from(json: Json) -> Self {
        ToolInput(json.to_string())
    }
}

impl From<String> for ToolInput {
    fn from(text: String) -> Self {
        ToolInput(text)
    }
}

impl From<&str> for ToolInput {
    fn from(text: &str) -> Self {
        ToolInput(text.to_owned())
    }
}

impl std::fmt::Display for ToolInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stay_as_they_were_written() {
        let input = ToolInput::from("{ \"n\": 1.0, \"n\": 2 }");
        assert_eq!(input.text(), "{ \"n\": 1.0, \"n\": 2 }");
        assert!(input.json().is_some_and(|raw| raw.get("n").is_some()));
        assert_eq!(
            ToolInput::from(Json::object().with("n", 1)).text(),
            r#"{"n":1}"#
        );
        assert!(ToolInput::from("*** Begin Patch").json().is_none());
    }

    #[test]
    fn what_is_no_object_becomes_a_member_of_one() {
        for (given, object) in [
            ("{\"a\":\n1\r\n}", r#"{"a":1}"#),
            (" {} ", "{}"),
            ("", "{}"),
            ("[1]", r#"{"input":"[1]"}"#),
            ("7", r#"{"input":"7"}"#),
            ("{\"a\":", r#"{"input":"{\"a\":"}"#),
            ("two\nlines", r#"{"input":"two\nlines"}"#),
        ] {
            let made = ToolInput::from(given).to_object().to_string();
            assert_eq!(made, object, "{given}");
        }
    }
}
