//! A message while operations change it: its members, blocks, calls and growing texts.

use std::collections::HashMap;

use boswell_model::json::{Raw, RawKind, write_string};

use super::super::indent;
use super::text::Text;

/// From this number of members on, names are looked up in a map.
const MANY: usize = 32;

/// Where an object is within a message. It decides which of its members operations reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Message,
    Block,
    Tool,
    Call,
}

/// The members of an object in order. Values that no operation reaches into stay JSON.
#[derive(Debug)]
pub(super) struct Members {
    level: Level,
    all: Vec<(Box<str>, Value)>,
}

#[derive(Debug)]
pub(super) enum Value {
    Raw(Box<[u8]>),
    Text(Text),
    Members(Members),
    List(List),
}

/// Blocks or calls, which operations find by id.
#[derive(Debug)]
pub(super) struct List {
    items: Vec<Value>,
    by_id: HashMap<Box<str>, usize>,
}

impl Members {
    /// Parses an object. Of members with the same name the last counts, at the place of the first.
    pub(super) fn of(level: Level, object: Raw<'_>) -> Members {
        let mut out = Members {
            level,
            all: Vec::new(),
        };
        out.merge(object);
        out
    }

    /// Sets every member of `object`.
    pub(super) fn merge(&mut self, object: Raw<'_>) {
        let count = self.all.len() + object.members().take(MANY + 1).count();
        if count <= MANY {
            for (name, value) in object.members() {
                self.set(&name.to_text(), value);
            }
            return;
        }
        let names = self.all.iter().enumerate();
        let mut places: HashMap<Box<str>, usize> =
            names.map(|(at, (name, _))| (name.clone(), at)).collect();
        for (name, value) in object.members() {
            let (name, value) = (name.to_text(), self.value(&name.to_text(), value));
            match places.get(&*name).and_then(|at| self.all.get_mut(*at)) {
                Some((_, known)) => *known = value,
                None => {
                    places.insert(Box::from(&*name), self.all.len());
                    self.all.push((Box::from(&*name), value));
                }
            }
        }
    }

    /// Sets one member, at its place or at the end.
    pub(super) fn set(&mut self, name: &str, value: Raw<'_>) {
        let value = self.value(name, value);
        self.put(name, value);
    }

    pub(super) fn put(&mut self, name: &str, value: Value) {
        match self.get_mut(name) {
            Some(known) => *known = value,
            None => self.all.push((Box::from(name), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.all.retain(|(known, _)| &**known != name);
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let mut all = self.all.iter_mut();
        all.find(|(known, _)| &**known == name)
            .map(|(_, value)| value)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let mut all = self.all.iter();
        all.find(|(known, _)| &**known == name)
            .map(|(_, value)| value)
    }

    fn value(&self, name: &str, value: Raw<'_>) -> Value {
        match (self.level, name, value.kind()) {
            (Level::Message, "content", RawKind::Array) => {
                Value::List(List::of(Level::Block, value))
            }
            (Level::Block, "tool", RawKind::Object) => {
                Value::Members(Members::of(Level::Tool, value))
            }
            (Level::Tool, "subagentCalls", RawKind::Array) => {
                Value::List(List::of(Level::Call, value))
            }
            _ => Value::Raw(value.bytes().into()),
        }
    }

    /// Writes the object.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for (at, (name, value)) in self.all.iter().enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            write_string(name.as_bytes(), out);
            out.push(b':');
            value.write(out);
        }
        out.extend_from_slice(if self.all.is_empty() { b"{}" } else { b"}" });
    }
}

impl Value {
    /// Returns the text, which operations append to; `None` if the value is not a string.
    pub(super) fn text(&mut self) -> Option<&mut Text> {
        if let Value::Raw(json) = self {
            let text = Text::of(Raw::trusted(json).string()?);
            *self = Value::Text(text);
        }
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Value::Raw(json) => out.extend_from_slice(&indent::compact(json)),
            Value::Text(text) => text.write(out),
            Value::Members(members) => members.write(out),
            Value::List(list) => list.write(out),
        }
    }
}

impl List {
    pub(super) fn of(level: Level, array: Raw<'_>) -> List {
        let item = |item: Raw<'_>| match item.kind() {
            RawKind::Object => Value::Members(Members::of(level, item)),
            _ => Value::Raw(item.bytes().into()),
        };
        let mut list = List {
            items: array.items().map(item).collect(),
            by_id: HashMap::new(),
        };
        list.index();
        list
    }

    pub(super) fn new() -> List {
        List {
            items: Vec::new(),
            by_id: HashMap::new(),
        }
    }

    /// Replaces the item with this id in place, or adds it at the end.
    pub(super) fn upsert(&mut self, id: &str, item: Members) {
        let known = self.by_id.get(id).and_then(|at| self.items.get_mut(*at));
        match known {
            Some(known) => *known = Value::Members(item),
            None => {
                self.by_id.insert(Box::from(id), self.items.len());
                self.items.push(Value::Members(item));
            }
        }
    }

    /// Removes the items with these ids.
    pub(super) fn remove(&mut self, ids: &[&str]) {
        self.items
            .retain(|item| id_of(item).is_none_or(|id| !ids.contains(&&*id)));
        self.index();
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Members> {
        match self.items.get_mut(*self.by_id.get(id)?)? {
            Value::Members(members) => Some(members),
            _ => None,
        }
    }

    fn index(&mut self) {
        self.by_id.clear();
        for (at, item) in self.items.iter().enumerate() {
            if let Some(id) = id_of(item) {
                self.by_id.entry(id).or_insert(at);
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        for (at, item) in self.items.iter().enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            item.write(out);
        }
        out.extend_from_slice(if self.items.is_empty() { b"[]" } else { b"]" });
    }
}

fn id_of(item: &Value) -> Option<Box<str>> {
    match item {
        Value::Members(members) => match members.get("id")? {
            Value::Raw(json) => Raw::trusted(json).text().map(|id| Box::from(&*id)),
            _ => None,
        },
        _ => None,
    }
}
