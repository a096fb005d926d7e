//! Converts the current branch of a session: what came before a compaction, then what a model is
//! sent.
//!
//! Agents send less than their logs contain, and in another order: parallel calls are joined,
//! missing answers are made up, notices of the program are left out. So everything that is sent is
//! converted message by message, as its dialect renders it, and the other entries of the branch are
//! placed between.

use std::collections::{HashMap, HashSet};

use boswell_dialect::Body;
use boswell_model::{ContextForm, ContextItem, EntryKind, Part, Result, Slot, View};

use super::{Importing, convert, message};

impl Importing<'_> {
    /// Converts the branch; returns the id of its last entry.
    pub(super) fn convert_branch(&mut self) -> Result<Option<String>> {
        let tip = self.source.tip()?;
        let mut branch = self.source.branch(tip)?;
        branch.retain(|slot| Some(*slot) != self.source.header());
        let items = self.source.context(tip)?.items;
        let sent: HashSet<Slot> = items.iter().flat_map(ContextItem::slots).collect();
        let cut = self.cut(&branch, &sent);
        let (history, rest) = branch.split_at(cut.unwrap_or(0));
        let mut parent = self.convert_history(history, &items)?;
        let mut items = items.as_slice();
        if cut.is_some() {
            (parent, items) = self.convert_compaction(items, history, parent)?;
        }
        let places: HashMap<Slot, usize> = rest
            .iter()
            .enumerate()
            .map(|(at, slot)| (*slot, at))
            .collect();
        let mut next = 0;
        for item in items {
            let place = places.get(&item.slot).copied().unwrap_or(next);
            parent = self.add_between(rest.get(next..place).unwrap_or_default(), &sent, parent)?;
            next = next.max(place);
            parent = self.convert_item(item, parent)?;
        }
        self.add_between(rest.get(next..).unwrap_or_default(), &sent, parent)
    }

    /// Returns where a compaction cuts the branch: the last one, unless everything before it is
    /// still sent.
    fn cut(&self, branch: &[Slot], sent: &HashSet<Slot>) -> Option<usize> {
        let log = self.source.log();
        let cut = branch
            .iter()
            .rposition(|slot| log.kind(*slot) == EntryKind::Compaction)?;
        let is_gone = |slot: &Slot| is_message(log.kind(*slot)) && !sent.contains(slot);
        branch.iter().take(cut).any(is_gone).then_some(cut)
    }

    /// Converts the entries that are not sent any more for people to read, and those that are kept
    /// as they are sent.
    fn convert_history(
        &mut self,
        history: &[Slot],
        items: &[ContextItem],
    ) -> Result<Option<String>> {
        let kept: HashMap<Slot, &ContextItem> = items
            .iter()
            .filter(|it| is_stored(it))
            .map(|it| (it.slot, it))
            .collect();
        let mut parent = None;
        for slot in history {
            parent = match kept.get(slot) {
                Some(item) => self.convert_item(item, parent)?,
                None => {
                    let bodies = convert::record(self.source, *slot, &mut self.earlier)?;
                    self.add(&[*slot], bodies, parent)?
                }
            };
        }
        Ok(parent)
    }

    /// Converts the compaction, with the first message that is sent since, and returns the messages
    /// that remain. If that message is not a text of the user, the conversation begins again with a
    /// new root: nothing else would send the same messages.
    fn convert_compaction<'i>(
        &mut self,
        items: &'i [ContextItem],
        history: &[Slot],
        parent: Option<String>,
    ) -> Result<(Option<String>, &'i [ContextItem])> {
        let Some((first, rest)) = items.split_first() else {
            return Ok((parent, items));
        };
        let rendered = self.source.render(first)?.message;
        let in_family = self.source.dialect().facts().has_own_records;
        let summary = if first.form == ContextForm::CompactionSummary && in_family {
            // The family wraps summaries itself.
            self.source.entry(first.slot)?.view.map(|view| view.text())
        } else {
            message::only_text(&rendered).filter(|_| rendered.role != "assistant")
        };
        let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else {
            return Ok((None, items));
        };
        let kept = self.kept(rest, history);
        let first_kept = rest
            .first()
            .filter(|_| kept > 0)
            .and_then(|item| self.firsts.get(&item.slot))
            .cloned();
        let body = Body::Compaction {
            summary,
            first_kept: first_kept.unwrap_or_default().into(),
            tokens_before: 0,
        };
        let slots: Vec<Slot> = first.slots().collect();
        let parent = self.add(&slots, vec![body], parent)?;
        Ok((parent, rest.get(kept..).unwrap_or_default()))
    }

    /// Returns how many of the next messages are at the end of the history exactly as they are
    /// sent.
    fn kept(&self, items: &[ContextItem], history: &[Slot]) -> usize {
        let Some(start) = items
            .first()
            .and_then(|item| history.iter().position(|slot| *slot == item.slot))
        else {
            return 0;
        };
        let end = history.get(start..).unwrap_or_default();
        let kept_messages: Vec<Slot> = end
            .iter()
            .copied()
            .filter(|slot| is_message(self.source.log().kind(*slot)))
            .collect();
        let next = items.get(..kept_messages.len()).unwrap_or_default();
        let same = next.len() == kept_messages.len()
            && next
                .iter()
                .zip(&kept_messages)
                .all(|(item, slot)| is_stored(item) && item.slot == *slot);
        if same { kept_messages.len() } else { 0 }
    }

    /// Entries of the branch that no model is sent.
    fn add_between(
        &mut self,
        slots: &[Slot],
        sent: &HashSet<Slot>,
        parent: Option<String>,
    ) -> Result<Option<String>> {
        let mut parent = parent;
        for slot in slots {
            if !sent.contains(slot) && !self.ids.contains_key(slot) {
                let body = convert::side_files(self.source, *slot)?;
                parent = self.add(&[*slot], vec![body], parent)?;
            }
        }
        Ok(parent)
    }

    fn convert_item(
        &mut self,
        item: &ContextItem,
        parent: Option<String>,
    ) -> Result<Option<String>> {
        let rendered = self.source.render(item)?.message;
        let entry = self.source.entry(item.slot)?;
        let view = entry
            .view
            .as_ref()
            .filter(|_| item.form == ContextForm::Stored);
        let mut converted = message::convert_message(&rendered, view, &mut self.earlier);
        // Some apps store their engine's work in the record, and send only the text.
        if view.is_some_and(uses_tools) && !converted.bodies.iter().any(is_tool_use) {
            converted.bodies = convert::record(self.source, item.slot, &mut self.earlier)?;
        }
        if let Some(view) = view.filter(|_| !is_message(self.source.log().kind(item.slot))) {
            // Not typed by the user: it keeps its kind, and whether it is shown.
            let kind = format!("import.{}", self.source.log().word(item.slot));
            for body in &mut converted.bodies {
                if let Body::User(content) = body {
                    let content: Vec<Part> = std::mem::take(content);
                    *body = Body::CustomMessage {
                        kind: kind.clone(),
                        content,
                        display: !view.hidden,
                    };
                }
            }
        }
        if (converted.left_over || converted.bodies.is_empty()) && item.form == ContextForm::Stored
        {
            converted
                .bodies
                .push(convert::original(self.source, item.slot, &entry.bytes));
        }
        let slots: Vec<Slot> = item.slots().collect();
        self.add(&slots, converted.bodies, parent)
    }
}

/// Whether tools were called or answered.
fn uses_tools(view: &View) -> bool {
    view.calls().next().is_some() || view.results().next().is_some()
}

fn is_tool_use(body: &Body) -> bool {
    match body {
        Body::ToolResult { .. } => true,
        Body::Assistant(answer) => answer
            .content
            .iter()
            .any(|part| matches!(part, Part::Call { .. })),
        _ => false,
    }
}

fn is_message(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
    )
}

fn is_stored(item: &ContextItem) -> bool {
    item.form == ContextForm::Stored && item.more.is_empty()
}
