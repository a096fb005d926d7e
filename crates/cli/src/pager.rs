//! A pager for answers that outgrow the screen.

#![expect(
    clippy::disallowed_methods,
    reason = "the pager is chosen by the environment"
)]

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// Standard output, or a pager in front of it. Dropping it waits for the pager.
#[derive(Debug)]
pub(crate) struct Pager {
    child: Option<Child>,
}

impl Pager {
    /// Starts the pager on a terminal; elsewhere, or when there is none, gives
    /// plain standard output.
    ///
    /// `less -FRX` shows what fits on one screen and ends at once, so that short
    /// answers stay as they are.
    pub(crate) fn start(wanted: bool) -> Pager {
        if !wanted || !std::io::stdout().is_terminal() {
            return Pager { child: None };
        }
        let chosen = std::env::var("PAGER").unwrap_or_default();
        let mut words = chosen.split_whitespace();
        let mut command = match words.next() {
            Some("cat") => return Pager { child: None },
            Some(program) => {
                let mut command = Command::new(program);
                command.args(words);
                command
            }
            None => Command::new("less"),
        };
        command
            .env(
                "LESS",
                std::env::var("LESS").unwrap_or_else(|_| "FRX".to_owned()),
            )
            .env("LESSCHARSET", "utf-8");
        Pager {
            child: command.stdin(Stdio::piped()).spawn().ok(),
        }
    }

    /// Where to write.
    pub(crate) fn writer(&mut self) -> Box<dyn Write> {
        match self.child.as_mut().and_then(|child| child.stdin.take()) {
            Some(stdin) => Box::new(std::io::BufWriter::with_capacity(1 << 16, stdin)),
            None => Box::new(std::io::BufWriter::with_capacity(
                1 << 16,
                std::io::stdout(),
            )),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}
