//! A command that writes, with what has to be there first.

/// How the state after a fault is compared with the old and the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// It is one of them as a whole.
    Whole,
    /// Each file and each line of an answer is: the command does several things
    /// one after the other.
    Parts,
    /// The command writes only a file that the user named; a part of it may stay, and the command
    /// says so or was killed.
    Output,
}

/// A command to be interrupted.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name in reports and on the command line; the part before the
    /// space is the command.
    pub name: &'static str,
    /// Commands that come before it; `{d}` is the folder of the fixture.
    pub before: &'static [&'static [&'static str]],
    /// The command itself.
    pub args: &'static [&'static str],
    /// Input on stdin.
    pub stdin: Option<&'static str>,
    /// How the result is judged.
    pub judged: Judged,
}

impl Case {
    pub(super) const fn new(name: &'static str, args: &'static [&'static str]) -> Case {
        Case {
            name,
            before: &[],
            args,
            stdin: None,
            judged: Judged::Whole,
        }
    }

    pub(super) const fn after(mut self, before: &'static [&'static [&'static str]]) -> Case {
        self.before = before;
        self
    }

    pub(super) const fn reading(mut self, stdin: &'static str) -> Case {
        self.stdin = Some(stdin);
        self
    }

    pub(super) const fn judged(mut self, judged: Judged) -> Case {
        self.judged = judged;
        self
    }
}
