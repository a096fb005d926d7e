//! What an entry of another dialect is called in ours.

use std::collections::{HashMap, HashSet};

use boswell_dialect::{Answer, Body, Part};
use boswell_model::json::{Json, Raw};
use boswell_model::{Block, ContextItem, EntryKind, MediaSource, Result, Slot, View};

use crate::Session;
use crate::blobs::base64;

/// An image longer than this stays in its original record.
const LONGEST_IMAGE: usize = 64 << 20;

/// What an entry becomes, and the originals that are told by it.
pub(super) struct Told {
    pub(super) bodies: Vec<Body>,
    pub(super) slots: Vec<Slot>,
}

/// Tells entries, and remembers which tools were called.
pub(super) struct Telling<'s> {
    source: &'s Session,
    items: Vec<ContextItem>,
    sent: HashSet<Slot>,
    tools: HashMap<String, String>,
}

impl<'s> Telling<'s> {
    /// `items` are what a model is sent.
    pub(super) fn new(source: &'s Session, items: Vec<ContextItem>) -> Self {
        let sent = items.iter().flat_map(ContextItem::slots).collect();
        Telling { source, items, sent, tools: HashMap::new() }
    }

    /// What an entry becomes; `next` follows it in reading order.
    pub(super) fn tell(&mut self, slot: Slot, next: Option<Slot>) -> Result<Told> {
        let entry = self.source.entry(slot)?;
        let kind = self.source.log().kind(slot);
        let view = entry.view.unwrap_or_default();
        for (id, name, _) in view.calls() {
            self.tools.insert(id.to_owned(), name.to_owned());
        }
        let mut slots = vec![slot];
        let mut bodies = match kind {
            EntryKind::User | EntryKind::ToolResult | EntryKind::Assistant => self.said(&view, kind),
            EntryKind::Title => vec![Body::Title(view.text())],
            EntryKind::BranchSummary => vec![Body::BranchSummary { from: None, summary: view.text() }],
            EntryKind::Compaction => {
                let (summary, of) = self.summary(slot, &view, next)?;
                slots.extend(of);
                vec![Body::Compaction { summary, first_kept: String::new(), tokens_before: 0 }]
            }
            _ if self.sent.contains(&slot) => {
                let content = view.blocks.iter().filter_map(part).collect();
                let kind = format!("import.{}", self.source.log().word(slot));
                let body = Body::CustomMessage { kind, content, display: !view.hidden };
                if view.text().is_empty() { Vec::new() } else { vec![body] }
            }
            _ => Vec::new(),
        };
        let empty = |body: &Body| matches!(body, Body::Title(text) | Body::Compaction { summary: text, .. } if text.trim().is_empty());
        bodies.retain(|body| !empty(body));
        if bodies.is_empty() || view.blocks.iter().any(has_no_place) {
            bodies.push(self.original(slot, &entry.bytes));
        }
        Ok(Told { bodies, slots })
    }

    /// The summary of a compaction: its own text, else what the model is sent for it, else what follows it.
    fn summary(&self, slot: Slot, view: &View, next: Option<Slot>) -> Result<(String, Option<Slot>)> {
        let mut own = view.text();
        if own.is_empty() {
            for item in self.items.iter().filter(|item| item.slot == slot) {
                for part in self.source.render(item)?.message.content {
                    let bytes = part.to_bytes();
                    own.extend(Raw::trusted(&bytes).get("text").and_then(|text| text.text().map(|it| it.into_owned())));
                }
            }
        }
        match next.filter(|next| own.is_empty() && self.source.log().kind(*next) == EntryKind::User) {
            Some(next) => Ok((self.source.entry(next)?.view.map(|view| view.text()).unwrap_or_default(), Some(next))),
            None => Ok((own, None)),
        }
    }

    /// What was said and what tools answered, in order: some dialects keep both in one record.
    fn said(&self, view: &View, who: EntryKind) -> Vec<Body> {
        let mut bodies = Vec::new();
        let mut waiting = Vec::new();
        for block in &view.blocks {
            let Block::Result { call, text, is_error } = block else {
                waiting.extend(part(block));
                continue;
            };
            speak(view, who, std::mem::take(&mut waiting), &mut bodies);
            let tool = self.tools.get(call).or(view.tool.as_ref()).cloned().unwrap_or_else(|| "tool".to_owned());
            let content = vec![Part::Text(text.clone())];
            bodies.push(Body::ToolResult { call: call.clone(), tool, content, is_error: *is_error });
        }
        speak(view, who, waiting, &mut bodies);
        // What it cost is counted once.
        let answers = bodies.iter_mut().filter_map(|body| if let Body::Assistant(it) = body { Some(it) } else { None });
        if let (Some(last), Some(usage)) = (answers.last(), &view.usage) {
            last.usage = *usage;
        }
        bodies
    }

    fn original(&self, slot: Slot, bytes: &[u8]) -> Body {
        let data = Json::object().with("word", self.source.log().word(slot));
        let data = match std::str::from_utf8(bytes) {
            Ok(text) => data.with("record", text),
            Err(_) => data.with("base64", base64::encode(bytes)),
        };
        Body::Custom { kind: "boswell.import".to_owned(), data: Some(data) }
    }
}

fn speak(view: &View, who: EntryKind, content: Vec<Part>, bodies: &mut Vec<Body>) {
    if content.is_empty() {
        return;
    }
    bodies.push(match who {
        EntryKind::Assistant => {
            Body::Assistant(Box::new(Answer { content, model: view.model.clone(), ..Answer::default() }))
        }
        _ => Body::User(content),
    });
}

fn part(block: &Block) -> Option<Part> {
    match block {
        Block::Text(text) if !text.is_empty() => Some(Part::Text(text.clone())),
        Block::Thinking(text) => Some(Part::Thinking { text: text.clone(), signature: None }),
        Block::Call { id, name, input } => {
            let arguments = Raw::parse(input.as_bytes()).ok().map_or_else(Json::object, Json::from);
            Some(Part::Call { id: id.clone(), name: name.clone(), arguments })
        }
        Block::Media { mime, source: MediaSource::Inline(data) } if data.len() <= LONGEST_IMAGE => {
            Some(Part::Image { base64: data.clone(), mime: mime.clone().unwrap_or_else(|| "image/png".to_owned()) })
        }
        _ => None,
    }
}

fn has_no_place(block: &Block) -> bool {
    match block {
        Block::Other { .. } | Block::Media { source: MediaSource::Reference(_), .. } => true,
        Block::Media { source: MediaSource::Inline(data), .. } => data.len() > LONGEST_IMAGE,
        _ => false,
    }
}
