//! A file or folder of the disk, and which of its data would survive a crash.

use boswell_store::disk::LockMode;

use crate::Rng;

/// Bytes are written back in pages: part of one append may survive and another be lost.
const PAGE: u64 = 4096;

/// A file or a folder. The contents of a folder are in the table of names.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) is_folder: bool,
    /// The current content.
    pub(super) live: Content,
    /// The durable content.
    base: Content,
    /// Unsynced changes, in order.
    pending: Vec<Fact>,
    /// Whether the node itself was never synced.
    fresh: bool,
    pub(super) changed: i128,
    pub(super) locks: Vec<(u64, LockMode)>,
    pub(super) handles: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
    pub(super) modified: i128,
}

/// One change of a file that may survive or be lost independently.
#[derive(Clone, Debug)]
enum Fact {
    Data { at: u64, bytes: Vec<u8> },
    Length { len: u64, modified: i128 },
    Mode { mode: u32, modified: i128 },
}

impl Content {
    fn apply(&mut self, fact: &Fact, len: &mut u64) {
        match fact {
            Fact::Data { at, bytes } => {
                let (from, to) = (*at as usize, *at as usize + bytes.len());
                if self.bytes.len() < to {
                    self.bytes.resize(to, 0);
                }
                self.bytes[from..to].copy_from_slice(bytes);
            }
            Fact::Length { len: new, modified } => {
                // Truncated bytes are gone even if the file grows again.
                if *new < *len {
                    self.bytes.truncate(*new as usize);
                }
                *len = *new;
                self.modified = *modified;
            }
            Fact::Mode { mode, modified } => {
                self.mode = *mode;
                self.modified = *modified;
            }
        }
    }
}

impl Node {
    pub(super) fn new(is_folder: bool, now: i128) -> Node {
        let mode = if is_folder { 0o700 } else { 0o600 };
        let content = Content {
            bytes: Vec::new(),
            mode,
            modified: now,
        };
        let base = content.clone();
        Node {
            is_folder,
            live: content,
            base,
            pending: Vec::new(),
            fresh: true,
            changed: now,
            locks: Vec::new(),
            handles: 0,
        }
    }

    /// Creates a node whose content is durable, as after a boot.
    pub(super) fn settled(is_folder: bool, content: Content, changed: i128) -> Node {
        let base = content.clone();
        Node {
            is_folder,
            live: content,
            base,
            fresh: false,
            ..Node::new(is_folder, changed)
        }
    }

    pub(super) fn append(&mut self, bytes: &[u8], now: i128) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = self.live.bytes.len() as u64;
            let room = usize::try_from(PAGE - at % PAGE)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (page, after) = rest.split_at(room);
            self.live.bytes.extend_from_slice(page);
            self.pending.push(Fact::Data {
                at,
                bytes: page.to_vec(),
            });
            self.pending.push(Fact::Length {
                len: at + room as u64,
                modified: now,
            });
            rest = after;
        }
        self.touched(now);
    }

    /// Overwrites existing bytes; the length stays.
    pub(super) fn write_again(&mut self, bytes: &[u8], at: u64, now: i128) {
        let from = at as usize;
        self.live.bytes[from..from + bytes.len()].copy_from_slice(bytes);
        self.pending.push(Fact::Data {
            at,
            bytes: bytes.to_vec(),
        });
        self.touched(now);
    }

    pub(super) fn truncate(&mut self, len: u64, now: i128) {
        self.live
            .bytes
            .resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        self.pending.push(Fact::Length { len, modified: now });
        self.touched(now);
    }

    fn touched(&mut self, now: i128) {
        self.live.modified = now;
        self.changed = now;
    }

    pub(super) fn set_mode(&mut self, mode: u32, modified: i128, now: i128) {
        self.live.mode = mode;
        self.live.modified = modified;
        self.changed = now;
        self.pending.push(Fact::Mode { mode, modified });
    }

    /// Makes bytes and length durable; the mode only if the node is written for another reason.
    pub(super) fn sync(&mut self) {
        let node_written = self.fresh
            || self
                .pending
                .iter()
                .any(|fact| matches!(fact, Fact::Length { .. }));
        let pending = std::mem::take(&mut self.pending);
        let (kept, left): (Vec<Fact>, Vec<Fact>) = pending
            .into_iter()
            .partition(|fact| node_written || matches!(fact, Fact::Data { .. }));
        self.base = applied(&self.base, &kept);
        self.pending = left;
        self.fresh = false;
    }

    /// Marks dirty bytes as synced although they are not: as a kernel does after a failed
    /// write-back.
    pub(super) fn drop_dirty_bytes(&mut self) {
        self.pending
            .retain(|fact| !matches!(fact, Fact::Data { .. }));
    }

    /// Returns the content with all unsynced changes, except dropped ones.
    pub(super) fn with_everything(&self) -> Content {
        applied(&self.base, &self.pending)
    }

    /// Returns the content without unsynced changes.
    pub(super) fn with_nothing(&self) -> Content {
        self.base.clone()
    }

    /// Returns the content with some unsynced changes.
    pub(super) fn with_some(&self, rng: &mut Rng) -> Content {
        let luck = rng.unit();
        let kept: Vec<Fact> = self
            .pending
            .iter()
            .filter(|_| rng.id_source(luck))
            .cloned()
            .collect();
        applied(&self.base, &kept)
    }
}

fn applied(base: &Content, meta: &[Fact]) -> Content {
    let mut content = base.clone();
    let mut len = content.bytes.len() as u64;
    for fact in meta {
        content.apply(fact, &mut len);
    }
    // Bytes beyond the length are lost; a length beyond the bytes is a hole.
    content.bytes.resize(len as usize, 0);
    content
}
