//! The turns of a session, as a model would see them or as the whole branch has them.

use std::collections::{HashMap, HashSet};

use boswell_dialect::conversion::{Loss, LossKind, Turn};
use boswell_dialect::{ChatMessage, ChatReader, Role};
use boswell_model::json::Raw;
use boswell_model::{
    ContextForm, ContextItem, EntryKind, Flags, Instant, Message, Part, Result, Slot, Tip, View,
};

use super::{ConversionScope, is_message};
use crate::Session;

/// The turns of a session, and what is left out of them.
pub(super) struct Carried {
    pub(super) turns: Vec<Turn>,
    pub(super) losses: Vec<Loss>,
}

/// Returns the turns of the branch that ends at `tip`.
pub(super) fn of(session: &Session, tip: Tip, scope: ConversionScope) -> Result<Carried> {
    let mut carrying = Carrying {
        session,
        sent: Vec::new(),
        injected: None,
    };
    carrying.read_context(tip)?;
    let branch = session.branch(tip)?;
    let sent: HashSet<Slot> = carrying
        .sent
        .iter()
        .flat_map(|sent| sent.item.slots())
        .collect();
    let unsent: Vec<Slot> = branch
        .iter()
        .copied()
        .filter(|slot| !sent.contains(slot) && is_shown(session, *slot))
        .collect();
    let mut losses: Vec<Loss> = carrying.injected.take().into_iter().collect();
    if scope == ConversionScope::Branch {
        let turns = carrying.whole_branch(&branch)?;
        return Ok(Carried { turns, losses });
    }
    if let Some(first) = unsent.first() {
        losses.push(Loss {
            kind: LossKind::Unsent,
            count: unsent.len() as u64,
            entry: Some(session.log().label(*first).into_owned()),
        });
    }
    let turns = carrying.sent.into_iter().flat_map(|sent| sent.turns);
    Ok(Carried {
        turns: turns.collect(),
        losses,
    })
}

/// A message of the context, as turns.
struct Sent {
    item: ContextItem,
    turns: Vec<Turn>,
}

struct Carrying<'s> {
    session: &'s Session,
    sent: Vec<Sent>,
    injected: Option<Loss>,
}

impl Carrying<'_> {
    fn read_context(&mut self, tip: Tip) -> Result<()> {
        let items = self.session.context(tip)?.items;
        let mut rendered = Vec::with_capacity(items.len());
        for item in &items {
            rendered.push(self.session.render(item)?.message);
        }
        let refine = self.session.dialect().powers().refine;
        let mut reader = ChatReader::default();
        for message in refine.provider_messages(rendered) {
            let item = message.from.and_then(|at| items.get(at));
            let read = reader.read(&message.message);
            // What was added has no entry of its own: only results that complete calls are wanted.
            let Some(item) = item
                .or_else(|| self.sent.last().map(|sent| &sent.item))
                .cloned()
            else {
                continue;
            };
            let is_made = message.from.is_none();
            let turns = self.turns(&item, &message.message, read, is_made)?;
            self.sent.push(Sent { item, turns });
        }
        Ok(())
    }

    fn turns(
        &mut self,
        item: &ContextItem,
        message: &Message,
        read: Vec<ChatMessage>,
        is_made: bool,
    ) -> Result<Vec<Turn>> {
        let is_made = is_made || matches!(item.form, ContextForm::Made { .. });
        let is_injected = self.is_injected(item, message);
        let is_answer = read.iter().any(|chat| chat.role == Role::Assistant);
        let model = match is_answer {
            true => self
                .session
                .entry(item.slot)?
                .view
                .and_then(|view| view.model),
            false => None,
        };
        let provider = stated_provider(message).or_else(|| {
            let provider = self.session.dialect().facts().provider;
            provider.map(str::to_owned)
        });
        let mut turns = Vec::new();
        for chat in read {
            let is_result = matches!(chat.role, Role::Tool { .. });
            let is_own_text = is_made || (is_injected && chat.role == Role::User);
            if is_own_text && !is_result {
                self.lose(item.slot);
                continue;
            }
            turns.push(Turn {
                provider: provider.clone(),
                model: model.clone(),
                ..self.turn(item.slot, chat)
            });
        }
        Ok(turns)
    }

    fn turn(&self, slot: Slot, message: ChatMessage) -> Turn {
        let head = self.session.log().head(slot);
        Turn {
            entry: self.session.log().label(slot).into_owned(),
            at: head.and_then(|head| head.time).map(Instant::from),
            message,
            provider: None,
            model: None,
        }
    }

    fn lose(&mut self, slot: Slot) {
        let entry = self.session.log().label(slot).into_owned();
        let loss = self.injected.get_or_insert(Loss {
            kind: LossKind::Injected,
            count: 0,
            entry: Some(entry),
        });
        loss.count += 1;
    }

    /// Whether the agent wrote a message in the user's place.
    fn is_injected(&self, item: &ContextItem, message: &Message) -> bool {
        let refine = self.session.dialect().powers().refine;
        let head = self.session.log().head(item.slot);
        let is_own = head.is_some_and(|head| match head.kind {
            EntryKind::User => head.flags.has(Flags::HIDDEN) && !head.flags.has(Flags::SUMMARY),
            EntryKind::System | EntryKind::Attachment => true,
            _ => false,
        });
        is_own || refine.is_injected(message)
    }

    /// Returns the turns of a branch. What is still sent is taken as it is sent; what a compaction
    /// replaced is taken from the entries, and its summary is left out.
    fn whole_branch(self, branch: &[Slot]) -> Result<Vec<Turn>> {
        let Carrying { session, sent, .. } = self;
        let mut by_slot: HashMap<Slot, Vec<Turn>> = HashMap::new();
        let mut joined: HashSet<Slot> = HashSet::new();
        for Sent { item, turns } in sent {
            let is_summary = item.form == ContextForm::CompactionSummary
                || session.log().kind(item.slot) == EntryKind::Compaction;
            joined.extend(item.more.iter().copied());
            if !is_summary {
                by_slot.entry(item.slot).or_default().extend(turns);
            } else {
                joined.insert(item.slot);
            }
        }
        let reading = Carrying {
            session,
            sent: Vec::new(),
            injected: None,
        };
        let mut turns = Vec::new();
        for slot in branch {
            if let Some(sent) = by_slot.remove(slot) {
                turns.extend(sent);
            } else if !joined.contains(slot) && is_shown(session, *slot) {
                let entry = session.entry(*slot)?;
                let view = entry.view.unwrap_or_default();
                let model = view.model.clone();
                turns.extend(messages(entry.kind, view).into_iter().map(|chat| Turn {
                    model: model.clone(),
                    ..reading.turn(*slot, chat)
                }));
            }
        }
        Ok(turns)
    }
}

/// Whether a person sees the message in the conversation.
fn is_shown(session: &Session, slot: Slot) -> bool {
    session.log().head(slot).is_some_and(|head| {
        let hidden = [
            Flags::HIDDEN,
            Flags::SIDECHAIN,
            Flags::SUMMARY,
            Flags::ERROR,
        ];
        is_message(head.kind) && !hidden.iter().any(|flag| head.flags.has(*flag))
    })
}

fn stated_provider(message: &Message) -> Option<String> {
    let native = message.native.as_ref()?.to_bytes();
    let provider = Raw::trusted(&native).get("provider")?.text()?.into_owned();
    Some(provider)
}

/// Returns the messages of an entry's view. Results become messages of their own, with the files
/// behind them.
fn messages(kind: EntryKind, view: View) -> Vec<ChatMessage> {
    let role = match kind {
        EntryKind::Assistant => Role::Assistant,
        _ => Role::User,
    };
    let mut messages = vec![ChatMessage::new(role, Vec::new())];
    let mut in_result = false;
    for part in view.parts {
        if let Part::Result {
            call,
            text,
            is_error,
        } = part
        {
            let role = Role::Tool {
                call,
                tool: view.tool.clone().unwrap_or_default(),
                is_error,
            };
            messages.push(ChatMessage::new(role, vec![Part::Text(text)]));
            in_result = true;
            continue;
        }
        let is_file = matches!(part, Part::Media { .. });
        let place = match in_result && is_file {
            true => messages.last_mut(),
            false => messages.first_mut(),
        };
        if let Some(message) = place {
            message.parts.push(part);
        }
    }
    messages.retain(|message| !message.parts.is_empty());
    messages
}
