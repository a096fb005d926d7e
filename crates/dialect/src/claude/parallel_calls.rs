//! Restores the parallel tool calls and results that a path of single parents leaves out.
//!
//! A message with several tool calls is written as one line per call, each the child of the line
//! before, and each result is the child of its own call. The next message is the child of only one
//! of the results, so the others are not on its path.

use std::collections::{HashMap, HashSet, VecDeque};

use boswell_model::{EntryKind, Flags, Interner, Log, Result, SessionView, Slot, Symbol, ToolLink};

use super::chain::Chain;
use super::pairing::pairs;

/// Returns the path with the other lines of its API messages, and all their results, inserted.
pub(super) fn put_back(
    view: &SessionView<'_>,
    chain: &Chain<'_>,
    path: &[Slot],
) -> Result<Vec<Slot>> {
    let log = view.log;
    let mut on_path = vec![false; log.heads.len()];
    let mut anchors = Anchors::of(log);
    for slot in path {
        if let Some(mark) = on_path.get_mut(slot.index()) {
            *mark = true;
        }
        if let Some(group) = log
            .head(*slot)
            .filter(|h| h.kind == EntryKind::Assistant)
            .and_then(|h| h.group)
        {
            anchors.insert(group, *slot);
        }
    }
    let mut missing = Missing::default();
    let off_path =
        |slot: &Slot| chain.is_alive(*slot) && !on_path.get(slot.index()).copied().unwrap_or(true);
    for slot in log.slots().filter(off_path) {
        missing.sort_in(log, chain, &anchors, slot);
    }
    if !missing.strays.is_empty() && chain.client().finds_by_call() {
        missing.claim_strays(view, &anchors, path)?;
    }
    Ok(missing.insert(log, &anchors, path))
}

/// The last line on the path of each API message, by the symbol of its id: a table, not a map,
/// because every line of a long log is looked up.
struct Anchors(Vec<Option<Slot>>);

impl Anchors {
    fn of(log: &Log) -> Anchors {
        Anchors(vec![None; log.names.len()])
    }

    fn insert(&mut self, group: Symbol, slot: Slot) {
        if let Some(place) = self.0.get_mut(group.index()) {
            *place = Some(slot);
        }
    }

    fn get(&self, group: Symbol) -> Option<Slot> {
        self.0.get(group.index()).copied().flatten()
    }
}

#[derive(Default)]
struct Missing {
    lines: HashMap<Symbol, Vec<Slot>>,
    results: HashMap<Symbol, Vec<Slot>>,
    /// Results whose parent is not a line of a message on the path: they may belong to one by the
    /// id of the call.
    strays: Vec<Slot>,
}

impl Missing {
    fn sort_in(&mut self, log: &Log, chain: &Chain<'_>, anchors: &Anchors, slot: Slot) {
        let Some(head) = log.head(slot) else { return };
        let same_writer = |group: &Symbol| {
            let anchor = anchors.get(*group).and_then(|anchor| log.head(anchor));
            anchor
                .is_some_and(|a| a.flags.has(Flags::SIDECHAIN) == head.flags.has(Flags::SIDECHAIN))
        };
        match head.kind {
            EntryKind::Assistant => {
                if let Some(group) = head.group.filter(same_writer) {
                    self.lines.entry(group).or_default().push(slot);
                }
            }
            EntryKind::ToolResult => {
                // A compaction may have moved it behind a message that it kept.
                let call = chain.linked(slot).and_then(|line| log.head(line));
                match call.and_then(|call| call.group).filter(same_writer) {
                    Some(group) => self.results.entry(group).or_default().push(slot),
                    None => self.strays.push(slot),
                }
            }
            _ => {}
        }
    }

    fn claim_strays(
        &mut self,
        view: &SessionView<'_>,
        anchors: &Anchors,
        path: &[Slot],
    ) -> Result<()> {
        let mut said = Said {
            view,
            names: Interner::default(),
        };
        let mut owner: HashMap<Symbol, Symbol> = HashMap::new();
        let mut answered: HashSet<Symbol> = HashSet::new();
        let of_answers = self.lines.values().chain(self.results.values()).flatten();
        for slot in path.iter().chain(of_answers) {
            let Some(head) = view.log.head(*slot) else {
                continue;
            };
            match head.group.filter(|group| anchors.get(*group).is_some()) {
                Some(group) => said.calls(*slot, &mut |call| {
                    owner.insert(call, group);
                })?,
                None if head.kind == EntryKind::ToolResult => said.answers(*slot, &mut |call| {
                    answered.insert(call);
                })?,
                None => {}
            }
        }
        for slot in std::mem::take(&mut self.strays) {
            let mut results = Vec::new();
            said.answers(slot, &mut |call| results.push(call))?;
            let open = results
                .iter()
                .find(|call| !answered.contains(*call))
                .and_then(|call| owner.get(call));
            if let Some(group) = open {
                self.results.entry(*group).or_default().push(slot);
                answered.extend(results);
            }
        }
        Ok(())
    }

    /// Inserts lines and results in file order, but no result before the last line of its message.
    fn insert(mut self, log: &Log, anchors: &Anchors, path: &[Slot]) -> Vec<Slot> {
        let when = |slot: &Slot| (log.head(*slot).and_then(|head| head.time), *slot);
        let sorted = |mut slots: Vec<Slot>| {
            slots.sort_by_key(when);
            VecDeque::from(slots)
        };
        let mut lines: HashMap<Symbol, VecDeque<Slot>> = HashMap::new();
        for (group, slots) in self.lines.drain() {
            lines.insert(group, sorted(slots));
        }
        let mut out: Vec<Slot> = Vec::with_capacity(path.len());
        let mut results: VecDeque<Slot> = VecDeque::new();
        for slot in path {
            let is_result = log.kind(*slot) == EntryKind::ToolResult;
            take(&mut results, &mut out, |next| {
                !is_result || when(next) < when(slot)
            });
            let group = log.head(*slot).and_then(|head| head.group);
            let own = group.and_then(|group| lines.get_mut(&group));
            if let Some(own) = own {
                take(own, &mut out, |next| when(next) < when(slot));
            }
            out.push(*slot);
            if let Some(group) = group.filter(|group| anchors.get(*group) == Some(*slot)) {
                out.extend(lines.remove(&group).unwrap_or_default());
                results = sorted(self.results.remove(&group).unwrap_or_default());
            }
        }
        out.extend(results);
        out
    }
}

/// The tool calls and results of lines: those collected while the log was read, else read from the
/// line itself.
struct Said<'v, 'a> {
    view: &'v SessionView<'a>,
    names: Interner,
}

impl Said<'_, '_> {
    fn calls(&mut self, slot: Slot, sink: &mut dyn FnMut(Symbol)) -> Result<()> {
        self.each(slot, &mut |pair| {
            if let ToolLink::Call(call) = pair {
                sink(call)
            }
        })
    }

    fn answers(&mut self, slot: Slot, sink: &mut dyn FnMut(Symbol)) -> Result<()> {
        self.each(slot, &mut |pair| {
            if let ToolLink::Answer(call) = pair {
                sink(call)
            }
        })
    }

    fn each(&mut self, slot: Slot, sink: &mut dyn FnMut(ToolLink)) -> Result<()> {
        match self.view.pairs_of(slot) {
            Some(gathered) => gathered.for_each(sink),
            None => drop(
                self.view
                    .with_object(slot, |object| pairs(object, &mut self.names, sink))?,
            ),
        }
        Ok(())
    }
}

/// Moves entries from the front of the queue as long as they are due.
fn take(from: &mut VecDeque<Slot>, to: &mut Vec<Slot>, is_due: impl Fn(&Slot) -> bool) {
    while from.front().is_some_and(&is_due) {
        to.extend(from.pop_front());
    }
}
