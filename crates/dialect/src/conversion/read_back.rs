//! Compares a conversation that was written with what the target's dialect reads back.

use std::fmt;

use boswell_model::{MediaSource, Part};
use sha2::{Digest, Sha256};

use super::Intake;
use crate::{Body, ChatMessage, Draft, Role};

/// The most differences that are listed.
const MOST: usize = 20;
/// How much of a text a difference shows.
const SHOWN: usize = 60;

/// Something that a model is sent. Agents join messages of one side and split them, so neighbouring
/// texts of one side are one piece. Reasoning is left out: it is sent back by rules of its own.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text {
        is_answer: bool,
        text: String,
    },
    Image {
        is_answer: bool,
        hash: String,
    },
    Call {
        id: String,
        name: String,
        input: String,
    },
    Result {
        call: String,
        text: String,
        images: Vec<String>,
        failed: bool,
    },
    Other(String),
}

/// Returns how what was read differs from what was to be written; empty if it does not.
pub fn differences(written: &[Draft], read: &[ChatMessage], intake: &Intake) -> Vec<String> {
    let mut expected = Pieces::default();
    for draft in written {
        match &draft.body {
            Body::User(parts) => expected.add(false, parts),
            Body::Assistant(answer) => expected.add(true, &answer.content),
            Body::ToolResult {
                call,
                content,
                is_error,
                ..
            } => expected.result(call, content, *is_error),
            _ => expected.pieces.push(Piece::Other("entry".to_owned())),
        }
    }
    let mut found = Pieces::default();
    for message in read {
        match &message.role {
            Role::User => found.add(false, &message.parts),
            Role::Assistant => found.add(true, &message.parts),
            Role::Tool { call, is_error, .. } => {
                let is_marked = *is_error && intake.marks_failed_results;
                found.result(call, &message.parts, is_marked);
            }
            Role::System => found.pieces.push(Piece::Other("system message".to_owned())),
        }
    }
    listed(&expected.pieces, &found.pieces)
}

fn listed(expected: &[Piece], found: &[Piece]) -> Vec<String> {
    let mut differences = Vec::new();
    for at in 0..expected.len().max(found.len()) {
        let number = at + 1;
        match (expected.get(at), found.get(at)) {
            (Some(one), Some(other)) if one == other => continue,
            (Some(one), Some(other)) => {
                differences.push(format!("{number}: wrote {one}, read {other}"));
            }
            (Some(one), None) => differences.push(format!("{number}: wrote {one}, read nothing")),
            (None, Some(other)) => differences.push(format!("{number}: read {other} as well")),
            (None, None) => {}
        }
        if differences.len() == MOST {
            differences.push("…".to_owned());
            break;
        }
    }
    differences
}

#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
}

impl Pieces {
    fn add(&mut self, is_answer: bool, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Text(text) => self.text(is_answer, text),
                Part::Thinking { .. } => {}
                Part::Call { id, name, input } => self.pieces.push(Piece::Call {
                    id: id.clone(),
                    name: name.clone(),
                    input: input.to_object().to_string(),
                }),
                Part::Media {
                    source: MediaSource::Inline(data),
                    ..
                } => self.pieces.push(Piece::Image {
                    is_answer,
                    hash: hash(data),
                }),
                Part::Media { .. } => self.pieces.push(Piece::Other("reference".to_owned())),
                Part::Other { word, .. } => self.pieces.push(Piece::Other(word.clone())),
                _ => self.pieces.push(Piece::Other("part".to_owned())),
            }
        }
    }

    fn text(&mut self, is_answer: bool, said: &str) {
        if said.is_empty() {
            return;
        }
        if let Some(Piece::Text {
            is_answer: before,
            text,
        }) = self.pieces.last_mut()
            && *before == is_answer
        {
            text.push('\n');
            text.push_str(said);
            return;
        }
        self.pieces.push(Piece::Text {
            is_answer,
            text: said.to_owned(),
        });
    }

    fn result(&mut self, call: &str, parts: &[Part], failed: bool) {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let images = parts.iter().filter_map(|part| match part {
            Part::Media {
                source: MediaSource::Inline(data),
                ..
            } => Some(hash(data)),
            _ => None,
        });
        self.pieces.push(Piece::Result {
            call: call.to_owned(),
            text: texts.collect::<Vec<_>>().join("\n"),
            images: images.collect(),
            failed,
        });
    }
}

fn hash(data: &str) -> String {
    let hash = Sha256::digest(data.as_bytes());
    hash.iter().take(8).map(|it| format!("{it:02x}")).collect()
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| text.chars().take(SHOWN).collect::<String>();
        let side = |is_answer: &bool| if *is_answer { "answer" } else { "prompt" };
        match self {
            Piece::Text { is_answer, text } => write!(
                f,
                "a text of {} characters in the {} (`{}`)",
                text.chars().count(),
                side(is_answer),
                cut(text).escape_debug()
            ),
            Piece::Image { is_answer, hash } => {
                write!(f, "the image {hash} in the {}", side(is_answer))
            }
            Piece::Call { id, name, input } => write!(
                f,
                "the call `{}` of `{}` with `{}`",
                id.escape_debug(),
                name.escape_debug(),
                cut(input).escape_debug()
            ),
            Piece::Result {
                call,
                text,
                images,
                failed,
            } => write!(
                f,
                "the {} of `{}` with {} images (`{}`)",
                if *failed { "failed result" } else { "result" },
                call.escape_debug(),
                images.len(),
                cut(text).escape_debug()
            ),
            Piece::Other(word) => write!(f, "a part of the type `{}`", word.escape_debug()),
        }
    }
}
