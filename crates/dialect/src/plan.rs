//! Plans: the locks, preconditions and steps that change a store's files, as data.
//!
//! A dialect converts an edit request into a [`Plan`] and writes nothing itself. One runner in
//! `boswell-store` acquires the locks, checks the preconditions, executes the steps in order, and
//! can undo them. So a plan can be printed, tested without files, and recovered after
//! a crash. Keys are paths below the store's root, with `/` between their parts.

use std::fmt;

use crate::{Patch, PatchPiece};

/// Locks, preconditions and steps, each in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The kind of change in one word: `append`, `rename`, `delete`, `repair`, `move`…
    pub kind: String,
    /// A description for the user.
    pub title: String,
    /// The locks, acquired in this order.
    pub locks: Vec<LockSpec>,
    /// Conditions that are checked after the locks are acquired.
    pub preconditions: Vec<Precondition>,
    /// The changes, executed in this order.
    pub steps: Vec<Step>,
    /// Keys of files that are derived from other files, such as an index: undo rebuilds them
    /// instead of restoring them.
    pub derived: Vec<String>,
}

/// A lock that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockSpec {
    /// One of boswell's own locks, by name.
    Os {
        /// Name of the lock.
        name: String,
    },
    /// The append lock of a session's log, which boswell's own writers hold for each append.
    Append {
        /// Name of the session's lease.
        name: String,
    },
    /// A lock folder as MyAgents creates it, with an owner file in it.
    AgentMkdir {
        /// Key of the folder.
        key: String,
    },
    /// A file that clinvoker locks with `flock`, and unlinks on release.
    AgentFlock {
        /// Key of the file.
        key: String,
    },
}

/// A condition that must hold before the first step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precondition {
    /// No file exists at the key.
    Absent {
        /// The key.
        key: String,
    },
    /// The file exists and is as it was when the plan was computed.
    Unchanged {
        /// The key.
        key: String,
        /// The state of the file when the plan was computed.
        was: ExpectedState,
    },
    /// No process is using the file.
    NotLive {
        /// The key.
        key: String,
    },
}

/// The state of a file when the plan was computed. Fields that are `None` were not examined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedState {
    /// Length in bytes.
    pub len: Option<u64>,
    /// SHA-256 of the contents, in lower-case hex.
    pub sha256: Option<String>,
    /// Device and inode of the file.
    pub identity: Option<(u64, u64)>,
}

/// The modification time of a replaced file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Modified {
    /// The time of the replacement.
    #[default]
    Now,
    /// The time of the file before, for stores where the time is data, such as a sort key.
    Kept,
    /// This time, in nanoseconds since 1970.
    At(i64),
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Appends lines. A torn last line is ended with a newline first, so that it stays on a line of
    /// its own. Creates the file if it is missing.
    Append {
        /// The key.
        key: String,
        /// Complete lines.
        bytes: Vec<u8>,
    },
    /// As [`Step::Append`], but the file keeps its modification time: for stores where the time is
    /// data, and lines that are not part of the conversation.
    AppendKeepingTime {
        /// The key.
        key: String,
        /// Complete lines.
        bytes: Vec<u8>,
    },
    /// Replaces or creates a whole file, and creates its parent folders.
    Put {
        /// The key.
        key: String,
        /// The complete new contents.
        bytes: Vec<u8>,
        /// Permission bits. `None` keeps those of the file before, or makes a new file readable for
        /// its owner only.
        mode: Option<u32>,
        /// The modification time of the result.
        modified: Modified,
    },
    /// Replaces a part of a file. The file is rewritten as a whole.
    Edit {
        /// The key.
        key: String,
        /// Position of `old`; `None` if `old` must occur in the file exactly once, at any position.
        at: Option<u64>,
        /// The bytes that must be there.
        old: Vec<u8>,
        /// The bytes that replace them.
        new: Vec<u8>,
        /// The modification time of the result.
        modified: Modified,
    },
    /// Builds a file from pieces of another file, or of its own old contents, and new bytes: for
    /// files that are too large for memory.
    Assemble {
        /// The key.
        key: String,
        /// Key of the file that the old pieces are read from.
        from: String,
        /// The pieces of the result.
        patch: Patch,
        /// The modification time of the result.
        modified: Modified,
    },
    /// Renames a file or folder. The new name must not exist.
    Rename {
        /// The old key.
        from: String,
        /// The new key.
        to: String,
    },
    /// Removes a file; it may be missing.
    Remove {
        /// The key.
        key: String,
    },
    /// Creates a folder; it may exist already.
    MakeFolder {
        /// The key.
        key: String,
    },
    /// Removes a folder if it is empty.
    RemoveFolder {
        /// The key.
        key: String,
    },
    /// Checks that a file is as expected at this point; otherwise the whole plan is rolled back.
    Verify {
        /// The key.
        key: String,
        /// The expected state.
        is: Assertion,
    },
}

/// The expected state of a file in [`Step::Verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assertion {
    /// The SHA-256 of the contents, in lower-case hex.
    Sha256(String),
    /// The length in bytes.
    Len(u64),
    /// Bytes that the file contains.
    Contains(Vec<u8>),
    /// The file does not exist.
    Absent,
}

impl Plan {
    /// Creates a plan without steps.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Self {
        Plan {
            kind: kind.into(),
            title: title.into(),
            ..Plan::default()
        }
    }

    /// Adds a lock.
    #[must_use]
    pub fn locking(mut self, lock: LockSpec) -> Self {
        self.locks.push(lock);
        self
    }

    /// Adds a precondition.
    #[must_use]
    pub fn requiring(mut self, precondition: Precondition) -> Self {
        self.preconditions.push(precondition);
        self
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Declares that a file is derived from others.
    #[must_use]
    pub fn deriving(mut self, key: impl Into<String>) -> Self {
        self.derived.push(key.into());
        self
    }

    /// Whether more than one step changes files, so that an intent must be recorded for recovery
    /// after a crash between two steps.
    pub fn intent(&self) -> bool {
        self.steps.iter().filter(|step| step.changes()).count() > 1
    }

    /// Returns every key that a step changes, without duplicates, in the order of the steps.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys = Vec::new();
        for key in self
            .steps
            .iter()
            .filter(|step| step.changes())
            .flat_map(Step::keys)
        {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}

impl Step {
    /// Creates a step that appends lines to a file.
    pub fn append(key: impl Into<String>, lines: impl Into<Vec<u8>>) -> Self {
        Step::Append {
            key: key.into(),
            bytes: lines.into(),
        }
    }

    /// Creates a step that replaces or creates a file.
    pub fn put(key: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Step::Put {
            key: key.into(),
            bytes: bytes.into(),
            mode: None,
            modified: Modified::Now,
        }
    }

    /// Creates a step that replaces the only occurrence of `old`.
    pub fn edit(key: impl Into<String>, old: impl Into<Vec<u8>>, new: impl Into<Vec<u8>>) -> Self {
        Step::Edit {
            key: key.into(),
            at: None,
            old: old.into(),
            new: new.into(),
            modified: Modified::Now,
        }
    }

    /// Creates a step that renames a file or folder.
    pub fn rename(from: impl Into<String>, to: impl Into<String>) -> Self {
        Step::Rename {
            from: from.into(),
            to: to.into(),
        }
    }

    /// Creates a step that removes a file.
    pub fn remove(key: impl Into<String>) -> Self {
        Step::Remove { key: key.into() }
    }

    /// Whether the step changes anything; only [`Step::Verify`] does not.
    pub fn changes(&self) -> bool {
        !matches!(self, Step::Verify { .. })
    }

    /// Returns the keys that the step names.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Step::Rename { from, to } => vec![from, to],
            Step::Append { key, .. }
            | Step::AppendKeepingTime { key, .. }
            | Step::Put { key, .. }
            | Step::Edit { key, .. }
            | Step::Assemble { key, .. }
            | Step::Remove { key }
            | Step::MakeFolder { key }
            | Step::RemoveFolder { key }
            | Step::Verify { key, .. } => vec![key],
        }
    }
}

/// Escapes a key for display: file names are untrusted text.
fn shown(key: &str) -> String {
    format!("`{}`", key.escape_debug())
}

impl fmt::Display for LockSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockSpec::Os { name } => write!(f, "lock {}", shown(name)),
            LockSpec::Append { name } => write!(f, "lock the log of {}", shown(name)),
            LockSpec::AgentMkdir { key } => write!(f, "lock the agent's folder {}", shown(key)),
            LockSpec::AgentFlock { key } => write!(f, "lock the agent's file {}", shown(key)),
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precondition::Absent { key } => write!(f, "needs {} to be free", shown(key)),
            Precondition::Unchanged { key, .. } => {
                write!(f, "needs {} to be as it was", shown(key))
            }
            Precondition::NotLive { key } => {
                write!(f, "needs {} not to be in use", shown(key))
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Append { key, bytes } | Step::AppendKeepingTime { key, bytes } => {
                write!(f, "append {} bytes to {}", bytes.len(), shown(key))
            }
            Step::Put { key, bytes, .. } => {
                write!(f, "write {} bytes to {}", bytes.len(), shown(key))
            }
            Step::Edit { key, old, new, .. } => {
                write!(
                    f,
                    "replace {} bytes by {} in {}",
                    old.len(),
                    new.len(),
                    shown(key)
                )
            }
            Step::Assemble {
                key, from, patch, ..
            } => {
                let new: usize = patch
                    .pieces()
                    .iter()
                    .map(|p| {
                        if let PatchPiece::New(b) = p {
                            b.len()
                        } else {
                            0
                        }
                    })
                    .sum();
                write!(
                    f,
                    "write {} bytes to {}, {new} of them new, the others from {}",
                    patch.len(),
                    shown(key),
                    shown(from)
                )
            }
            Step::Rename { from, to } => write!(f, "rename {} to {}", shown(from), shown(to)),
            Step::Remove { key } => write!(f, "remove {}", shown(key)),
            Step::MakeFolder { key } => write!(f, "make the folder {}", shown(key)),
            Step::RemoveFolder { key } => {
                write!(f, "remove the folder {} if it is empty", shown(key))
            }
            Step::Verify { key, .. } => write!(f, "check {}", shown(key)),
        }
    }
}

/// One line per lock, precondition and step, for a look before it is applied; safe to print on a
/// terminal.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Quotes are harmless on a terminal, and titles contain them, so they are not escaped.
        writeln!(
            f,
            "{}",
            self.title
                .escape_debug()
                .to_string()
                .replace("\\'", "'")
                .replace("\\\"", "\"")
        )?;
        self.locks
            .iter()
            .try_for_each(|lock| writeln!(f, "  {lock}"))?;
        self.preconditions
            .iter()
            .try_for_each(|condition| writeln!(f, "  {condition}"))?;
        self.steps
            .iter()
            .try_for_each(|step| writeln!(f, "  {step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_as_one_line_per_step_and_shows_no_control_characters() {
        let plan = Plan::new("rename", "title it Ann's \u{1b}[31mred")
            .locking(LockSpec::AgentMkdir {
                key: "sessions.lock".into(),
            })
            .requiring(Precondition::Absent { key: "b".into() })
            .step(Step::append("a\nb", "x\n"))
            .step(Step::rename("a", "b"));
        let text = plan.to_string();
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.starts_with("title it Ann's \\u{1b}"), "{text}");
        assert!(text.contains("append 2 bytes to `a\\nb`"), "{text}");
    }

    #[test]
    fn only_plans_that_change_more_than_one_thing_need_an_intent() {
        let one = Plan::new("append", "one").step(Step::append("a", "x\n"));
        assert!(
            !one.clone()
                .step(Step::Verify {
                    key: "a".into(),
                    is: Assertion::Len(2)
                })
                .intent()
        );
        let two = one.step(Step::remove("b"));
        assert!(two.intent());
        assert_eq!(two.keys(), ["a", "b"]);
    }
}
