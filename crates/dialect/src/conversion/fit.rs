//! Fits a conversation to what a target takes, and counts what is lost.

use std::collections::{BTreeMap, HashSet};

use boswell_model::json::RawKind;
use boswell_model::{Instant, MediaSource, Part, ToolInput};
use sha2::{Digest, Sha256};

use super::pairing::{Exchange, exchanges};
use super::{ImageIntake, Intake, Loss, LossKind, ThinkingIntake};
use crate::{AssistantMessage, Body, ChatMessage, Draft, Role};

/// Longest id of a call: the shortest limit of a provider, that of OpenAI's chat completions.
const LONGEST_CALL_ID: usize = 40;
/// Longest name of a tool: OpenAI and Google have this limit.
const LONGEST_TOOL_NAME: usize = 64;

/// What stands in the place of a result that was not recorded.
const NO_RESULT: &str = "[No result was recorded.]";
/// What stands before a conversation that begins with an answer: providers want a prompt first.
const BEGINNING: &str = "[The conversation begins with an answer.]";
/// What is put before a prompt that the target would otherwise not send.
const MARK: &str = "Prompt: ";

/// A message of the source, with the facts that a conversion needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The entry of the source.
    pub entry: String,
    /// When it was written, if that is known.
    pub at: Option<Instant>,
    /// Role and parts.
    pub message: ChatMessage,
    /// The provider that signed its reasoning, if that is known.
    pub provider: Option<String>,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// A conversation that a target takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fitted {
    /// Messages of the user, answers, and the results of their calls. Each has its time.
    pub drafts: Vec<Draft>,
    /// What was lost or changed, in display order.
    pub losses: Vec<Loss>,
}

/// Fits turns to what a target takes. `began` is the time of a first turn that has none.
///
/// The result begins with a message of the user, each call has a result right behind its message,
/// ids and names have the form that every provider accepts, and no text is empty.
pub fn fit(turns: Vec<Turn>, intake: &Intake, began: Instant) -> Fitted {
    let mut fitting = Fitting {
        intake,
        at: began,
        drafts: Vec::new(),
        losses: BTreeMap::new(),
        call_ids: HashSet::new(),
    };
    let mut kept = Vec::with_capacity(turns.len());
    for turn in turns {
        match turn.message.role {
            Role::System => fitting.lose(LossKind::SystemMessage, &turn.entry),
            _ => kept.push(turn),
        }
    }
    for exchange in exchanges(kept) {
        match exchange {
            Exchange::Prompt(turn) => fitting.prompt(turn),
            Exchange::Answer { said, results } => fitting.answer(said, results),
            Exchange::Orphan(turn) => fitting.lose(LossKind::OrphanResult, &turn.entry),
        }
    }
    fitting.finish()
}

struct Fitting<'i> {
    intake: &'i Intake,
    /// Time of the last draft; no later one is older.
    at: Instant,
    drafts: Vec<Draft>,
    losses: BTreeMap<LossKind, Loss>,
    /// Ids of calls that are used already.
    call_ids: HashSet<String>,
}

/// Where a part is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Prompt,
    Answer,
    Result,
}

impl Fitting<'_> {
    fn lose(&mut self, kind: LossKind, entry: &str) {
        let loss = self.losses.entry(kind).or_insert_with(|| Loss {
            kind,
            count: 0,
            entry: Some(entry.to_owned()).filter(|it| !it.is_empty()),
        });
        loss.count += 1;
    }

    fn push(&mut self, at: Option<Instant>, body: Body) {
        self.at = at.unwrap_or(self.at).max(self.at);
        let is_answer = matches!(body, Body::Assistant(_));
        if self.drafts.is_empty() && is_answer {
            self.lose(LossKind::AddedPrompt, "");
            let first = Body::User(vec![Part::Text(BEGINNING.to_owned())]);
            self.drafts.push(Draft::new(first).at(self.at));
        }
        self.drafts.push(Draft::new(body).at(self.at));
    }

    fn prompt(&mut self, turn: Turn) {
        let mut parts = self.parts(&turn, Place::Prompt);
        let is_unsent = |text: &str| {
            let text = text.trim_start();
            let mut beginnings = self.intake.unsent_prompts.iter();
            beginnings.any(|beginning| text.starts_with(beginning))
        };
        if let Some(Part::Text(text)) = parts.first_mut()
            && is_unsent(text)
        {
            text.insert_str(0, MARK);
            self.lose(LossKind::MarkedPrompt, &turn.entry);
        }
        if !parts.is_empty() {
            self.push(turn.at, Body::User(parts));
        }
    }

    fn answer(&mut self, said: Vec<Turn>, results: Vec<Option<Turn>>) {
        let at = said.iter().find_map(|turn| turn.at);
        let model = said.iter().find_map(|turn| turn.model.clone());
        let model = model.filter(|_| self.intake.states_models);
        let mut content = Vec::new();
        for turn in &said {
            content.extend(self.parts(turn, Place::Answer));
        }
        let entry = said.last().map(|turn| turn.entry.clone());
        let entry = entry.unwrap_or_default();
        let calls: Vec<(String, String)> = content
            .iter()
            .filter_map(|part| match part {
                Part::Call { id, name, .. } => Some((id.clone(), name.clone())),
                _ => None,
            })
            .collect();
        if content.is_empty() {
            return;
        }
        let answer = AssistantMessage {
            content,
            model,
            ..AssistantMessage::default()
        };
        self.push(at, Body::Assistant(Box::new(answer)));
        for ((call, tool), result) in calls.into_iter().zip(results) {
            self.result((call, tool), result, &entry);
        }
    }

    fn result(&mut self, (call, tool): (String, String), result: Option<Turn>, entry: &str) {
        let (at, mut content, failed) = match &result {
            Some(turn) => {
                let failed = matches!(turn.message.role, Role::Tool { is_error: true, .. });
                (turn.at, self.parts(turn, Place::Result), failed)
            }
            None => {
                self.lose(LossKind::MissingResult, entry);
                (None, vec![Part::Text(NO_RESULT.to_owned())], true)
            }
        };
        if content.is_empty() {
            content.push(Part::Text(String::new()));
        }
        let is_marked = failed && self.intake.marks_failed_results;
        if failed && !is_marked && result.is_some() {
            self.lose(LossKind::FailedMark, entry);
        }
        let body = Body::ToolResult {
            call,
            tool,
            content,
            is_error: is_marked,
        };
        self.push(at, body);
    }

    fn parts(&mut self, turn: &Turn, place: Place) -> Vec<Part> {
        let mut parts = Vec::new();
        for part in &turn.message.parts {
            parts.extend(self.part(part, turn, place));
        }
        parts
    }

    fn part(&mut self, part: &Part, turn: &Turn, place: Place) -> Option<Part> {
        match part {
            Part::Text(text) if text.trim().is_empty() => {
                // An empty result is an answer, an empty message is refused by providers.
                if place != Place::Result {
                    self.lose(LossKind::EmptyText, &turn.entry);
                }
                None
            }
            Part::Text(text) => Some(Part::Text(text.clone())),
            Part::Thinking { text, signature } => self.thinking(text, signature.as_ref(), turn),
            Part::Call { id, name, input } if place == Place::Answer => {
                Some(self.call(id, name, input, &turn.entry))
            }
            Part::Media { mime, source } => self.media(mime.as_deref(), source, turn, place),
            _ => {
                self.lose(LossKind::OtherPart, &turn.entry);
                None
            }
        }
    }

    fn thinking(&mut self, text: &str, signature: Option<&String>, turn: &Turn) -> Option<Part> {
        let kept = |signature: Option<&String>| Part::Thinking {
            text: text.to_owned(),
            signature: signature.cloned(),
        };
        let is_signed_by =
            |provider| signature.is_some() && turn.provider.as_deref() == Some(provider);
        match self.intake.thinking {
            ThinkingIntake::Everything => Some(kept(signature)),
            ThinkingIntake::Signed(provider) if is_signed_by(provider) => Some(kept(signature)),
            ThinkingIntake::Text if !text.trim().is_empty() => {
                if signature.is_some() {
                    self.lose(LossKind::Signature, &turn.entry);
                }
                Some(kept(None))
            }
            _ => {
                self.lose(LossKind::Thinking, &turn.entry);
                None
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &ToolInput, entry: &str) -> Part {
        let is_object = input
            .json()
            .is_some_and(|json| json.kind() == RawKind::Object);
        if !is_object && !input.text().is_empty() {
            self.lose(LossKind::FreeInput, entry);
        }
        let id = self.call_id(id, entry);
        let clean = tool_name(name);
        if clean != name {
            self.lose(LossKind::ToolName, entry);
        }
        Part::Call {
            id,
            name: clean,
            input: input.to_object().into(),
        }
    }

    /// Keeps an id that every provider accepts, and derives another one otherwise.
    fn call_id(&mut self, id: &str, entry: &str) -> String {
        let is_plain = !id.is_empty() && id.len() <= LONGEST_CALL_ID && id.bytes().all(is_plain);
        if is_plain && self.call_ids.insert(id.to_owned()) {
            return id.to_owned();
        }
        self.lose(LossKind::CallId, entry);
        let mut count = self.call_ids.len() as u64;
        loop {
            let hash = Sha256::new()
                .chain_update(id.as_bytes())
                .chain_update(count.to_be_bytes())
                .finalize();
            let digits: String = hash.iter().take(12).map(|it| format!("{it:02x}")).collect();
            let derived = format!("call_{digits}");
            if self.call_ids.insert(derived.clone()) {
                return derived;
            }
            count += 1;
        }
    }

    fn media(
        &mut self,
        mime: Option<&str>,
        source: &MediaSource,
        turn: &Turn,
        place: Place,
    ) -> Option<Part> {
        let takes = matches!(
            (place, self.intake.images),
            (Place::Prompt, ImageIntake::Prompts)
                | (
                    Place::Prompt | Place::Result,
                    ImageIntake::PromptsAndResults
                )
        );
        let is_image = mime.is_some_and(|mime| self.intake.image_types.contains(&mime));
        let kind = match source {
            MediaSource::Reference(_) => LossKind::Reference,
            MediaSource::Inline(data) if is_image && takes => {
                return mime.map(|mime| Part::image(data.as_str(), mime));
            }
            MediaSource::Inline(_) if is_image => LossKind::Image,
            MediaSource::Inline(_) => LossKind::File,
        };
        self.lose(kind, &turn.entry);
        // A model that is told so asks; one that is not answers about a file it never saw. In the
        // place of its own words a model would repeat the text.
        (place != Place::Answer).then(|| {
            let what = mime.unwrap_or("file");
            Part::Text(format!("[{what}: not carried over]"))
        })
    }

    fn finish(self) -> Fitted {
        Fitted {
            drafts: self.drafts,
            losses: self.losses.into_values().collect(),
        }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns a name in the form that every provider accepts: a letter or underscore, then letters,
/// digits, `_` and `-`.
fn tool_name(name: &str) -> String {
    let plain = |c: char| {
        let is_plain = u8::try_from(c).is_ok_and(is_plain);
        if is_plain { c } else { '_' }
    };
    let mut clean: String = name.chars().map(plain).take(LONGEST_TOOL_NAME).collect();
    if !clean.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        clean.insert(0, '_');
        clean.truncate(LONGEST_TOOL_NAME);
    }
    clean
}

#[cfg(test)]
mod tests;
