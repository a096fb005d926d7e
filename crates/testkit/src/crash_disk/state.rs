//! The contents of the disk, and the resolution of paths.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use boswell_store::disk::{Stat, StatKind};

use super::disk::Keep;
use super::names::{Name, Names};
use super::node::Node;
use super::switches::Switches;
use crate::Rng;
use crate::clock::MORNING;

/// The folder in which every path starts.
pub(super) const ROOT: u64 = 1;

/// How far the clock advances with every change, in nanoseconds.
const TICK: i128 = 1_000_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) nodes: BTreeMap<u64, Node>,
    pub(super) names: Names,
    pub(super) switches: Switches,
    pub(super) now: i128,
    next_node: u64,
    next_handle: u64,
    seed: u64,
}

impl State {
    pub(super) fn new(seed: u64) -> State {
        let now = i128::from(MORNING) * 1_000_000;
        State {
            nodes: BTreeMap::from([(ROOT, Node::new(true, now))]),
            names: Names::default(),
            switches: Switches::default(),
            now,
            next_node: ROOT + 1,
            next_handle: 1,
            seed,
        }
    }

    /// Returns the disk as the next boot finds it.
    pub(super) fn after_crash(&self, keep: Keep) -> State {
        let seed = match keep {
            Keep::Subset(seed) => seed,
            _ => 0,
        };
        let mut rng = Rng::for_part(self.seed ^ seed, "crash");
        let names = match keep {
            Keep::Nothing => self.names.with_nothing(),
            Keep::Everything => self.names.with_everything().clone(),
            Keep::Subset(_) => self.names.with_some(&mut rng),
        };
        let content = |node: &Node| match keep {
            Keep::Nothing => node.with_nothing(),
            Keep::Everything => node.with_everything(),
            Keep::Subset(_) => node.with_some(&mut rng),
        };
        self.rebooted(names, content)
    }

    /// Returns the disk as other processes see it after this one was killed: the system still has
    /// all data.
    pub(super) fn after_kill(&self) -> State {
        let mut state = State {
            switches: Switches::default(),
            nodes: self.nodes.clone(),
            names: self.names.clone(),
            ..*self
        };
        for node in state.nodes.values_mut() {
            node.locks.clear();
            node.handles = 0;
        }
        state.forget_the_nameless();
        state
    }

    fn rebooted(
        &self,
        names: BTreeMap<Name, u64>,
        mut content: impl FnMut(&Node) -> super::node::Content,
    ) -> State {
        let reachable = reachable(&names);
        let nodes = self.nodes.iter().filter(|(id, _)| reachable.contains(id));
        let nodes =
            nodes.map(|(id, node)| (*id, Node::settled(node.is_folder, content(node), self.now)));
        let nodes = nodes.collect::<BTreeMap<_, _>>();
        let names = names
            .into_iter()
            .filter(|((folder, _), _)| reachable.contains(folder))
            .collect();
        State {
            nodes,
            names: Names::settled(names),
            switches: Switches::default(),
            now: self.now + TICK,
            ..*self
        }
    }

    pub(super) fn tick(&mut self) -> i128 {
        self.now += TICK;
        self.now
    }

    pub(super) fn handle(&mut self, node: u64) -> u64 {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.handles += 1;
        }
        self.next_handle += 1;
        self.next_handle
    }

    pub(super) fn make(&mut self, name: Name, is_folder: bool) -> u64 {
        let now = self.tick();
        let id = self.next_node;
        self.next_node += 1;
        self.nodes.insert(id, Node::new(is_folder, now));
        self.entry_changed(name.0, now);
        self.names.set(name, id);
        id
    }

    pub(super) fn entry_changed(&mut self, folder: u64, now: i128) {
        if let Some(folder) = self.nodes.get_mut(&folder) {
            folder.live.modified = now;
            folder.changed = now;
        }
    }

    /// Returns the node at a path.
    pub(super) fn find(&self, path: &Path) -> io::Result<Option<u64>> {
        let mut at = ROOT;
        for part in parts(path)? {
            if !self.is_folder(at) {
                return Err(ErrorKind::NotADirectory.into());
            }
            match self.names.get(&(at, part)) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    pub(super) fn must_find(&self, path: &Path) -> io::Result<u64> {
        self.find(path)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Returns the name of a path, whose folder must exist.
    pub(super) fn name(&self, path: &Path) -> io::Result<Name> {
        let mut parts = parts(path)?;
        let last = parts.pop().ok_or(ErrorKind::InvalidInput)?;
        let mut folder = ROOT;
        for part in parts {
            folder = self.names.get(&(folder, part)).ok_or(ErrorKind::NotFound)?;
            if !self.is_folder(folder) {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        Ok((folder, last))
    }

    pub(super) fn is_folder(&self, node: u64) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.is_folder)
    }

    pub(super) fn node(&mut self, id: u64) -> io::Result<&mut Node> {
        self.nodes
            .get_mut(&id)
            .ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(super) fn stat(&self, id: u64) -> io::Result<Stat> {
        let node = self.nodes.get(&id).ok_or(ErrorKind::NotFound)?;
        let kind = if node.is_folder {
            StatKind::Folder
        } else {
            StatKind::File
        };
        Ok(Stat {
            kind,
            len: node.live.bytes.len() as u64,
            modified: node.live.modified,
            changed: node.changed,
            identity: (1, id),
            mode: node.live.mode,
            links: if node.is_folder {
                1
            } else {
                self.names.links(id)
            },
        })
    }

    /// Returns the bytes in all files, including open ones without a name.
    pub(super) fn used(&self) -> u64 {
        let named = reachable(self.names.with_everything());
        let there = self
            .nodes
            .iter()
            .filter(|(id, node)| node.handles > 0 || named.contains(id));
        there.map(|(_, node)| node.live.bytes.len() as u64).sum()
    }

    /// Frees files that are no longer reachable. Files that could exist again after a crash stay.
    pub(super) fn forget_the_nameless(&mut self) {
        let named = self.names.could_be_named();
        self.nodes
            .retain(|id, node| *id == ROOT || node.handles > 0 || named.contains(id));
    }
}

fn reachable(names: &BTreeMap<Name, u64>) -> BTreeSet<u64> {
    let mut found = BTreeSet::from([ROOT]);
    let mut open = vec![ROOT];
    while let Some(folder) = open.pop() {
        let below = names
            .range((folder, String::new())..)
            .take_while(|((of, _), _)| *of == folder);
        for (_, node) in below {
            if found.insert(*node) {
                open.push(*node);
            }
        }
    }
    found
}

/// Returns the parts of a path; absolute and relative paths start at the same root.
pub(super) fn parts(path: &Path) -> io::Result<Vec<String>> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => match part.to_str().filter(|part| !part.contains('\0')) {
                Some(part) if part.len() > 255 => return Err(ErrorKind::InvalidFilename.into()),
                Some(part) => parts.push(part.to_owned()),
                None => return Err(ErrorKind::InvalidInput.into()),
            },
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                return Err(ErrorKind::InvalidInput.into());
            }
        }
    }
    Ok(parts)
}
