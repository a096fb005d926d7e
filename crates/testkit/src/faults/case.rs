//! A command that writes, with its preconditions.

/// How the state after a fault is compared with the old and the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// It equals one of them as a whole.
    Whole,
    /// Each file and each line of output equals one of them: the command does several things one
    /// after the other.
    Parts,
    /// The command writes only a file that the user named; a part of it may stay if the command
    /// reports it or was killed.
    Output,
}

/// A command to interrupt.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name in reports and on the command line; the part before the space is the command.
    pub name: &'static str,
    /// Commands that run before it; `{d}` is the folder of the fixture.
    pub before: &'static [&'static [&'static str]],
    /// The command itself.
    pub args: &'static [&'static str],
    /// Input on stdin.
    pub stdin: Option<&'static str>,
    /// How the result is compared.
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
