//! A pager for answers that outgrow the screen.
//!
//! While it runs, Ctrl-C belongs to it: boswell stops writing, but does not end before the pager
//! has given the terminal back.

#![expect(
    clippy::disallowed_methods,
    reason = "the pager is chosen by the environment"
)]

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use self::interrupt::Interrupt;

/// Standard output, or a pager in front of it. Dropping it waits for the pager.
#[derive(Debug)]
pub(crate) struct Pager {
    child: Option<Child>,
    interrupt: Interrupt,
}

impl Pager {
    /// Standard output alone.
    pub(crate) fn none() -> Pager {
        Pager {
            child: None,
            interrupt: Interrupt::ends_the_program(),
        }
    }

    /// Starts the pager on a terminal that can show one; elsewhere, or when there is none, gives
    /// plain standard output.
    ///
    /// `less -FRX` shows what fits on one screen and ends at once, so that short
    /// answers stay as they are.
    pub(crate) fn start() -> Pager {
        // On a terminal that cannot move its cursor `less` warns and waits for a key.
        let is_dumb = matches!(std::env::var("TERM").as_deref(), Err(_) | Ok("" | "dumb"));
        if is_dumb || !std::io::stdout().is_terminal() {
            return Pager::none();
        }
        let chosen = std::env::var("PAGER").unwrap_or_default();
        let mut words = chosen.split_whitespace();
        let mut command = match words.next() {
            Some("cat") => return Pager::none(),
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
        Pager::through(&mut command).unwrap_or_else(Pager::none)
    }

    /// Starts a program that shows its input, if there is such a program.
    pub(crate) fn through(command: &mut Command) -> Option<Pager> {
        // First the signal: a pager that is there before could be left alone on the terminal.
        let interrupt = Interrupt::left_to_the_pager();
        let child = command.stdin(Stdio::piped()).spawn().ok()?;
        Some(Pager {
            child: Some(child),
            interrupt,
        })
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

    /// Whether Ctrl-C was pressed while the pager ran: the reader wants no more of the answer.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_pressed()
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

#[cfg(unix)]
mod interrupt {
    //! Who gets Ctrl-C.

    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::SIGINT;
    use signal_hook::flag;

    /// While it lives, SIGINT may be left to the pager; afterwards it ends the program again.
    #[derive(Debug)]
    pub(super) struct Interrupt {
        pressed: Arc<AtomicBool>,
        ends: Arc<AtomicBool>,
    }

    impl Interrupt {
        pub(super) fn ends_the_program() -> Interrupt {
            Interrupt {
                pressed: Arc::default(),
                ends: Arc::new(AtomicBool::new(true)),
            }
        }

        pub(super) fn left_to_the_pager() -> Interrupt {
            let new = Interrupt {
                pressed: Arc::default(),
                ends: Arc::default(),
            };
            // Without a handler SIGINT ends the program, as it did before: nothing to report.
            let _ = flag::register_conditional_default(SIGINT, Arc::clone(&new.ends));
            let _ = flag::register(SIGINT, Arc::clone(&new.pressed));
            new
        }

        pub(super) fn is_pressed(&self) -> bool {
            self.pressed.load(Ordering::Relaxed)
        }
    }

    impl Drop for Interrupt {
        fn drop(&mut self) {
            self.ends.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(not(unix))]
mod interrupt {
    //! Who gets Ctrl-C: the system decides.

    #[derive(Debug)]
    pub(super) struct Interrupt;

    impl Interrupt {
        pub(super) fn ends_the_program() -> Interrupt {
            Interrupt
        }

        pub(super) fn left_to_the_pager() -> Interrupt {
            Interrupt
        }

        pub(super) fn is_pressed(&self) -> bool {
            false
        }
    }
}
