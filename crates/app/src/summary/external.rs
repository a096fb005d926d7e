//! An external program that summarises: text on its standard input, title and sentences on its
//! standard output.
//!
//! It is started directly, without a shell: the text of a session is never a command.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::extract::limited;
use super::{SummaryInput, Summed};
use crate::config::Config;
use crate::system::until;

/// Maximum length of its input.
const INPUT: usize = 64 << 10;
/// Maximum length of its output.
const OUTPUT: usize = 16 << 10;
/// How often its exit is checked.
const TICK: Duration = Duration::from_millis(20);

/// The program from the settings or of a request.
#[derive(Debug)]
pub(crate) struct ExternalProgram {
    words: Vec<String>,
    limit: Duration,
    /// Where its name comes from.
    origin: &'static str,
}

impl ExternalProgram {
    /// Returns the program from the settings, if they name one.
    pub(crate) fn of(config: &Config) -> Option<ExternalProgram> {
        let words = config.words("summary.command");
        (!words.is_empty()).then_some(ExternalProgram {
            words,
            limit: limit(config),
            origin: "it is the `summary.command` of the settings",
        })
    }

    /// Returns a program that a request names, with its arguments.
    pub(crate) fn named(line: &str, config: &Config) -> ExternalProgram {
        ExternalProgram {
            words: line.split_whitespace().map(str::to_owned).collect(),
            limit: limit(config),
            origin: "it is the program that was asked for",
        }
    }

    /// Runs the program. The first line of its output is the title.
    pub(crate) fn sum_up(&self, summary_input: &SummaryInput) -> Result<Summed> {
        let answer = self.answer(summary_input.text(INPUT))?;
        let (title, summary) = answer
            .trim()
            .split_once('\n')
            .unwrap_or((answer.trim(), ""));
        let summed = limited(title, summary);
        if summed.title.is_empty() {
            return Err(self.fault("said nothing"));
        }
        Ok(summed)
    }

    /// Runs the program with a text as its input, and returns what it prints.
    pub(crate) fn answer(&self, text: String) -> Result<String> {
        let mut child = self.start()?;
        let answer = self.converse(&mut child, text);
        if answer.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        answer
    }

    fn start(&self) -> Result<Child> {
        let (program, args) = self
            .words
            .split_first()
            .ok_or_else(|| self.fault("has no name"))?;
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
            .spawn()
            .map_err(|error| self.fault("cannot be started").caused_by(error))
    }

    fn converse(&self, child: &mut Child, text: String) -> Result<String> {
        let go_on = until(self.limit);
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(self.fault("has no streams"));
        };
        // A program that does not read its input must not block us, and one that ends early is not
        // an error.
        std::thread::spawn(move || stdin.write_all(text.as_bytes()));
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(OUTPUT as u64 + 1).read_to_end(&mut bytes);
            let _ = send.send(read.map(|_| bytes));
        });
        let answer = loop {
            match receive.recv_timeout(TICK) {
                Ok(answer) => {
                    break answer.map_err(|error| self.fault("cannot be read").caused_by(error))?;
                }
                Err(RecvTimeoutError::Timeout) if go_on() => {}
                Err(_) => {
                    return Err(
                        self.fault(&format!("took longer than {} s", self.limit.as_secs_f32()))
                    );
                }
            }
        };
        if answer.len() > OUTPUT {
            return Err(self.fault(&format!("printed more than {OUTPUT} bytes")));
        }
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if go_on() => std::thread::park_timeout(TICK),
                _ => return Err(self.fault("closed its output and did not end")),
            }
        };
        if !status.success() {
            return Err(self.fault(&format!("failed: {status}")));
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn fault(&self, what: &str) -> Error {
        let name = self.words.first().map_or("", String::as_str);
        Error::new(
            ErrorKind::Unavailable,
            format!("the program `{}` {what}", name.escape_debug()),
        )
        .because(self.origin)
        .advising(Advice::from("try it by hand").or(Advice::EditConfig))
    }
}

fn limit(config: &Config) -> Duration {
    let limit = config.span("summary.timeout");
    limit.unwrap_or(Duration::from_secs(3600))
}
