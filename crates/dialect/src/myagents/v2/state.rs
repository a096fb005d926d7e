//! What the operations leave: messages in order of creation, and turns.

use std::collections::HashMap;

use boswell_model::json::Raw;

use super::members::{Level, List, Members, Value};
use super::operation::{Append, Field, Operation};
use super::text::Text;

/// Messages and turns. A place stays empty when its message is removed.
#[derive(Debug, Default)]
pub(crate) struct State {
    messages: Vec<Option<Members>>,
    by_id: HashMap<Box<str>, usize>,
    turns: Vec<Option<Turn>>,
    turn_by_id: HashMap<Box<str>, usize>,
    /// The turns that a prompt started or once started.
    turns_of: HashMap<Box<str>, Vec<usize>>,
}

#[derive(Debug)]
struct Turn {
    id: Box<str>,
    root: Option<Box<str>>,
    json: Box<[u8]>,
}

/// Why an operation cannot be applied.
type Applied = Result<(), &'static str>;

const NO_MESSAGE: &str = "a change of a message that is not there";
const NO_BLOCK: &str = "a change of a block that is not there";
const NO_CALL: &str = "a change of a call that is not there";

impl State {
    /// Applies an operation. After an error the state is not to be used: a batch counts as a whole
    /// or not at all, so the caller folds again and stops before it.
    pub(super) fn apply(&mut self, operation: &Operation<'_>) -> Applied {
        match operation {
            Operation::Create { id, message } => {
                if self.by_id.contains_key(&**id) {
                    return Err("a second message with the same id");
                }
                self.by_id.insert(Box::from(&**id), self.messages.len());
                self.messages
                    .push(Some(Members::of(Level::Message, *message)));
                Ok(())
            }
            Operation::Update {
                message,
                details,
                clear,
            } => {
                let message = self.message(message)?;
                message.merge(*details);
                clear.iter().for_each(|name| message.remove(name));
                Ok(())
            }
            Operation::Confirm { message, content } => {
                self.message(message)?.set("content", *content);
                Ok(())
            }
            Operation::UpsertBlock { message, id, block } => self.upsert_block(message, id, *block),
            Operation::RemoveBlocks { message, ids } => {
                let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
                self.blocks(message)?.remove(&ids);
                Ok(())
            }
            Operation::RemoveMessages { ids } => {
                ids.iter().for_each(|id| self.remove(id));
                Ok(())
            }
            Operation::Turn { id, root, turn } => {
                self.turn(id, root.as_deref(), *turn);
                Ok(())
            }
            Operation::Append(append) => self.append(append),
            _ => self.change_call(operation),
        }
    }

    fn change_call(&mut self, operation: &Operation<'_>) -> Applied {
        match operation {
            Operation::UpdateBlock {
                message,
                block,
                on_tool,
                nested,
                details,
            } => {
                let block = self.block(message, block)?;
                let target = match (on_tool, nested) {
                    (false, _) => block,
                    (true, None) => tool(block)?,
                    (true, Some(nested)) => call(block, nested)?,
                };
                target.merge(*details);
                Ok(())
            }
            Operation::UpsertCall {
                message,
                block,
                id,
                call,
            } => {
                let tool = tool(self.block(message, block)?)?;
                if !matches!(tool.get_mut("subagentCalls"), Some(Value::List(_))) {
                    tool.put("subagentCalls", Value::List(List::new()));
                }
                if let Some(Value::List(calls)) = tool.get_mut("subagentCalls") {
                    calls.upsert(id, Members::of(Level::Call, *call));
                }
                Ok(())
            }
            Operation::RemoveCalls {
                message,
                block,
                ids,
            } => {
                let tool = tool(self.block(message, block)?)?;
                let Some(Value::List(calls)) = tool.get_mut("subagentCalls") else {
                    return Err(NO_CALL);
                };
                let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
                calls.remove(&ids);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn upsert_block(&mut self, message: &str, id: &str, block: Raw<'_>) -> Applied {
        let message = self.message(message)?;
        let is_empty = match message.get_mut("content") {
            Some(Value::Raw(json)) => **json == *b"\"\"",
            Some(Value::Text(text)) => text.units() == 0,
            _ => false,
        };
        if is_empty {
            message.put("content", Value::List(List::new()));
        }
        match message.get_mut("content") {
            Some(Value::List(blocks)) => {
                blocks.upsert(id, Members::of(Level::Block, block));
                Ok(())
            }
            _ => Err("a block for a message that is text"),
        }
    }

    fn append(&mut self, append: &Append<'_>) -> Applied {
        let name = append.field.name();
        let text = match &append.block {
            None if append.field == Field::Text => {
                let content = self.message(&append.message)?.get_mut("content");
                content
                    .and_then(Value::text)
                    .ok_or("text for a message that is blocks")?
            }
            None => return Err("text for a message without a block"),
            Some(block) => {
                let block = self.block(&append.message, block)?;
                let holder = match &append.nested {
                    _ if !append.field.is_of_call() => block,
                    None => tool(block)?,
                    Some(nested) => call(block, nested)?,
                };
                if holder.get_mut(name).is_none() {
                    holder.put(name, Value::Text(Text::default()));
                }
                let field = holder.get_mut(name).and_then(Value::text);
                field.ok_or("text for a member that is not text")?
            }
        };
        if text.units() != append.offset {
            return Err("text at a place that is not the end");
        }
        text.append(append.text);
        Ok(())
    }

    fn remove(&mut self, id: &str) {
        if let Some(place) = self
            .by_id
            .remove(id)
            .and_then(|at| self.messages.get_mut(at))
        {
            *place = None;
        }
        for at in self.turns_of.remove(id).unwrap_or_default() {
            let Some(place) = self.turns.get_mut(at) else {
                continue;
            };
            let started = |turn: &mut Turn| turn.root.as_deref() == Some(id);
            if let Some(turn) = place.take_if(started) {
                self.turn_by_id.remove(&turn.id);
            }
        }
    }

    fn turn(&mut self, id: &str, root: Option<&str>, turn: Raw<'_>) {
        let known = self.turn_by_id.get(id).copied();
        let at = known.unwrap_or(self.turns.len());
        let turn = Turn {
            id: Box::from(id),
            root: root.map(Box::from),
            json: turn.bytes().into(),
        };
        if let Some(root) = root {
            self.turns_of.entry(Box::from(root)).or_default().push(at);
        }
        match self.turns.get_mut(at) {
            Some(place) => *place = Some(turn),
            None => {
                self.turn_by_id.insert(Box::from(id), at);
                self.turns.push(Some(turn));
            }
        }
    }

    fn message(&mut self, id: &str) -> Result<&mut Members, &'static str> {
        let at = self.by_id.get(id).copied().ok_or(NO_MESSAGE)?;
        let place = self.messages.get_mut(at).and_then(Option::as_mut);
        place.ok_or(NO_MESSAGE)
    }

    fn blocks(&mut self, message: &str) -> Result<&mut List, &'static str> {
        match self.message(message)?.get_mut("content") {
            Some(Value::List(blocks)) => Ok(blocks),
            _ => Err("a change of a block of a message that is text"),
        }
    }

    fn block(&mut self, message: &str, id: &str) -> Result<&mut Members, &'static str> {
        self.blocks(message)?.get_mut(id).ok_or(NO_BLOCK)
    }

    /// Whether there is a message with this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Passes each message as JSON on one line to `sink`, in order.
    pub(crate) fn each_message(&self, sink: &mut dyn FnMut(&[u8])) {
        let mut line = Vec::new();
        for message in self.messages.iter().flatten() {
            line.clear();
            message.write(&mut line);
            sink(&line);
        }
    }

    /// Iterates over the turns as JSON, in order.
    pub(crate) fn turns(&self) -> impl Iterator<Item = Raw<'_>> {
        let turns = self.turns.iter().flatten();
        turns.map(|turn| Raw::trusted(&turn.json))
    }
}

fn tool(block: &mut Members) -> Result<&mut Members, &'static str> {
    match block.get_mut("tool") {
        Some(Value::Members(tool)) => Ok(tool),
        _ => Err(NO_CALL),
    }
}

fn call<'m>(block: &'m mut Members, id: &str) -> Result<&'m mut Members, &'static str> {
    match tool(block)?.get_mut("subagentCalls") {
        Some(Value::List(calls)) => calls.get_mut(id).ok_or(NO_CALL),
        _ => Err(NO_CALL),
    }
}
