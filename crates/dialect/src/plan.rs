//! Plans: what has to happen in a store's files for an intention to come true.
//!
//! A dialect turns "give it this title" or "remove it" into a plan and does nothing itself; one
//! runner in `boswell-store` takes the locks, checks what must hold, carries the steps out and can
//! take them back. Keys are paths below the store's root, parts joined by `/`.

use std::fmt;

use crate::{Patch, PatchPiece};

/// What has to happen: locks in order, what must hold, and steps in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The sort of change in one word: `append`, `rename`, `delete`, `repair`, `move`…
    pub kind: String,
    /// What the user reads about it.
    pub title: String,
    /// Locks, taken in this order.
    pub locks: Vec<LockSpec>,
    /// What must hold once the locks are taken.
    pub preconditions: Vec<Precondition>,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// Keys of files that follow from others, such as an index: undoing makes them anew instead
    /// of putting them back.
    pub derived: Vec<String>,
}

/// A lock that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockSpec {
    /// A lock among boswell's own, by name.
    Os {
        /// Name of the lock.
        name: String,
    },
    /// The lock that boswell's own writers take for each append to a session's log.
    Append {
        /// Name of the session's lease.
        name: String,
    },
    /// A folder that MyAgents makes to hold a lock, with an owner file in it.
    AgentMkdir {
        /// Key of the folder.
        key: String,
    },
    /// A file that clinvoker locks, and unlinks when it lets go.
    AgentFlock {
        /// Key of the file.
        key: String,
    },
}

/// What must hold before the first step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precondition {
    /// Nothing stands at the key.
    Absent {
        /// The key.
        key: String,
    },
    /// A file stands there, as it was when the plan was made.
    Unchanged {
        /// The key.
        key: String,
        /// What it was.
        was: ExpectedState,
    },
    /// No program is at work on the file.
    NotLive {
        /// The key.
        key: String,
    },
}

/// What a plan's maker saw of a file; what is none was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpectedState {
    /// Its length.
    pub len: Option<u64>,
    /// SHA-256 of its bytes, in lower-case hex.
    pub sha256: Option<String>,
    /// Device and number of the file.
    pub identity: Option<(u64, u64)>,
}

/// The time of the last change that a replaced file shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Modified {
    /// When it was replaced.
    #[default]
    Now,
    /// That of the file before: where the time is data, as in stores that sort by it.
    Kept,
    /// This one, in nanoseconds since 1970.
    At(i64),
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Adds lines at the end; a torn last line stays on a line of its own. A file that
    /// is not there is made.
    Append {
        /// The key.
        key: String,
        /// Whole lines.
        bytes: Vec<u8>,
    },
    /// The same, and the file keeps its time: where the time is data, and what is added is
    /// nothing that was said.
    AppendKeepingTime {
        /// The key.
        key: String,
        /// Whole lines.
        bytes: Vec<u8>,
    },
    /// Replaces a file as a whole, or makes it, with the folders that lead to it.
    Put {
        /// The key.
        key: String,
        /// All of it.
        bytes: Vec<u8>,
        /// Permission bits; none keeps those of the file before, or makes it the owner's alone.
        mode: Option<u32>,
        /// Its time.
        modified: Modified,
    },
    /// Replaces a part of a file, rewriting it as a whole.
    Edit {
        /// The key.
        key: String,
        /// Where `old` must stand; none if it must stand in the file exactly once, anywhere.
        at: Option<u64>,
        /// What stands there.
        old: Vec<u8>,
        /// What shall stand there.
        new: Vec<u8>,
        /// Its time.
        modified: Modified,
    },
    /// Makes a file from pieces of another, or of itself, and new bytes: for files that are too
    /// large to be held in memory.
    Assemble {
        /// The key.
        key: String,
        /// The file that the old pieces are of.
        from: String,
        /// The pieces.
        patch: Patch,
        /// Its time.
        modified: Modified,
    },
    /// Gives a file or folder another name, which must be free.
    Rename {
        /// The key.
        from: String,
        /// The new key.
        to: String,
    },
    /// Removes a file; one that is not there is fine.
    Remove {
        /// The key.
        key: String,
    },
    /// Makes a folder; one that is there is fine.
    MakeFolder {
        /// The key.
        key: String,
    },
    /// Removes a folder if it is empty.
    RemoveFolder {
        /// The key.
        key: String,
    },
    /// Looks whether a file is what it should be by now; otherwise everything is taken back.
    Verify {
        /// The key.
        key: String,
        /// What it should be.
        is: Assertion,
    },
}

/// What a file should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assertion {
    /// Its SHA-256, in lower-case hex.
    Sha256(String),
    /// Its length.
    Len(u64),
    /// Bytes that stand in it.
    Contains(Vec<u8>),
    /// Nothing stands there.
    Absent,
}

impl Plan {
    /// A plan without steps.
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

    /// Adds what must hold.
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

    /// Says of a file that it follows from others.
    #[must_use]
    pub fn deriving(mut self, key: impl Into<String>) -> Self {
        self.derived.push(key.into());
        self
    }

    /// Whether more than one thing changes, so that a crash between two must be
    /// made good afterwards.
    pub fn intent(&self) -> bool {
        self.steps.iter().filter(|step| step.changes()).count() > 1
    }

    /// Every key that a step changes, once, in the order of the steps.
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
    /// Adds lines to a file.
    pub fn append(key: impl Into<String>, lines: impl Into<Vec<u8>>) -> Self {
        Step::Append {
            key: key.into(),
            bytes: lines.into(),
        }
    }

    /// Replaces or makes a file.
    pub fn put(key: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Step::Put {
            key: key.into(),
            bytes: bytes.into(),
            mode: None,
            modified: Modified::Now,
        }
    }

    /// Replaces the one occurrence of `old`.
    pub fn edit(key: impl Into<String>, old: impl Into<Vec<u8>>, new: impl Into<Vec<u8>>) -> Self {
        Step::Edit {
            key: key.into(),
            at: None,
            old: old.into(),
            new: new.into(),
            modified: Modified::Now,
        }
    }

    /// Gives a file or folder another name.
    pub fn rename(from: impl Into<String>, to: impl Into<String>) -> Self {
        Step::Rename {
            from: from.into(),
            to: to.into(),
        }
    }

    /// Removes a file.
    pub fn remove(key: impl Into<String>) -> Self {
        Step::Remove { key: key.into() }
    }

    /// Whether it changes anything.
    pub fn changes(&self) -> bool {
        !matches!(self, Step::Verify { .. })
    }

    /// The keys that it names.
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

/// A key as it may be shown: file names are other people's text.
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
                write!(f, "needs nobody to be at work on {}", shown(key))
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

/// One line per lock, condition and step, for `--dry-run`; harmless on a terminal.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Quotes are harmless, and titles hold them.
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
