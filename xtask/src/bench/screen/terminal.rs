//! A program in a pseudo-terminal: what is on its screen, and when it got there.
//!
//! `script` of util-linux makes the terminal and passes keys and output on. The output is
//! interpreted as far as the screens here need it, so that a case can wait for what a person would
//! see instead of for bytes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar;

use crate::Outcome;
use crate::bench::machine;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// A screen that did not change for this long has settled.
pub(super) const QUIET: Duration = Duration::from_millis(150);
/// Columns and rows.
pub(super) const SIZE: (usize, usize) = (120, 40);

/// What a program wrote.
struct Output {
    at: Instant,
    bytes: Vec<u8>,
    /// The stolen time until then.
    stolen: u64,
}

/// A program in a terminal.
pub(super) struct Terminal {
    child: Child,
    keys: ChildStdin,
    output: Receiver<Output>,
    /// Output that was waited for and not taken yet.
    waiting: Option<Output>,
    grid: Grid,
    /// The stolen time when the last key was pressed, and when the last output arrived.
    stolen: (u64, u64),
    /// When the program was started, by the word that its shell printed before.
    pub(super) started: Instant,
    pub(super) pid: u32,
}

impl Terminal {
    /// Starts a command of a shell.
    pub(super) fn start(command: &str, environment: &[(&str, &Path)]) -> Outcome<Terminal> {
        let line = format!(
            "stty cols {} rows {}; printf 'PID=%s=' $$; exec {command}",
            SIZE.0, SIZE.1
        );
        let mut process = Command::new("script");
        process
            .args(["-q", "-f", "-c", &line, "/dev/null"])
            // Variables of agents and of CI would make it list instead.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        for (name, value) in environment {
            process.env(name, value);
        }
        let mut child = process
            .spawn()
            .map_err(|error| format!("the bench needs `script` of util-linux: {error}"))?;
        let keys = child.stdin.take().ok_or("no input")?;
        let mut stdout = child.stdout.take().ok_or("no output")?;
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                let output = Output {
                    at: Instant::now(),
                    bytes: buffer[..count].to_vec(),
                    stolen: machine::stolen(),
                };
                if sender.send(output).is_err() {
                    return;
                }
            }
        });
        let mut terminal = Terminal {
            child,
            keys,
            output,
            waiting: None,
            grid: Grid::new(),
            stolen: (0, 0),
            started: Instant::now(),
            pid: 0,
        };
        terminal.wait_for_start()?;
        Ok(terminal)
    }

    fn wait_for_start(&mut self) -> Outcome {
        let mut seen = String::new();
        loop {
            let Output { at, bytes, .. } = self.output.recv_timeout(PATIENCE)?;
            seen.push_str(&String::from_utf8_lossy(&bytes));
            let Some((_, rest)) = seen.split_once("PID=") else {
                continue;
            };
            if let Some((pid, after)) = rest.split_once('=') {
                self.pid = pid.parse()?;
                self.started = at;
                let after = after.as_bytes().to_vec();
                self.grid.take(&after);
                return Ok(());
            }
        }
    }

    /// Presses keys; returns when.
    pub(super) fn press(&mut self, keys: &str) -> Outcome<Instant> {
        let stolen = machine::stolen();
        self.stolen = (stolen, stolen);
        let at = Instant::now();
        self.keys.write_all(keys.as_bytes())?;
        self.keys.flush()?;
        Ok(at)
    }

    /// Waits until the screen holds what is wanted; returns when it did.
    pub(super) fn wait(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> Outcome<Instant> {
        let mut at = Instant::now();
        while !holds(&self.grid.text()) {
            let Ok(output) = self.output.recv_timeout(PATIENCE) else {
                return Err(format!("no {what} on\n{}", self.grid.text()).into());
            };
            at = self.take(&output);
        }
        Ok(at)
    }

    /// Waits for the next output; returns when it arrived.
    pub(super) fn first_bytes(&mut self) -> Outcome<Instant> {
        let next = match self.waiting.take() {
            Some(known) => Ok(known),
            None => self.output.recv_timeout(PATIENCE),
        };
        let Ok(output) = next else {
            return Err(format!("a key changed nothing on\n{}", self.grid.text()).into());
        };
        Ok(self.take(&output))
    }

    fn take(&mut self, output: &Output) -> Instant {
        self.grid.take(&output.bytes);
        self.stolen.1 = output.stolen;
        output.at
    }

    /// Returns whether the host of a virtual machine took a core away between the last key and the
    /// output that was waited for: that time says nothing about the program.
    pub(super) fn is_disturbed(&self) -> bool {
        self.stolen.1 > self.stolen.0
    }

    /// Returns whether anything is drawn within a time; [`Terminal::first_bytes`] returns when.
    pub(super) fn draws_within(&mut self, time: Duration) -> bool {
        self.waiting = self.output.recv_timeout(time).ok();
        self.waiting.is_some()
    }

    /// Waits until nothing more is drawn; returns when the last change arrived, or `since`.
    pub(super) fn settled(&mut self, since: Instant) -> Outcome<Instant> {
        self.quiet_for(QUIET, since)
    }

    /// Waits until nothing is drawn for some time; returns when the last change
    /// arrived, or `since`.
    pub(super) fn quiet_for(&mut self, time: Duration, since: Instant) -> Outcome<Instant> {
        let mut last = since;
        loop {
            match self.output.recv_timeout(time) {
                Ok(output) => last = self.take(&output),
                Err(RecvTimeoutError::Timeout) => return Ok(last),
                Err(RecvTimeoutError::Disconnected) => return Err("the program ended".into()),
            }
        }
    }

    /// Returns how many bytes are drawn in a time.
    pub(super) fn drawn_in(&mut self, time: Duration) -> usize {
        let end = Instant::now() + time;
        let mut count = 0;
        while let Some(left) = end.checked_duration_since(Instant::now())
            && let Ok(output) = self.output.recv_timeout(left)
        {
            count += output.bytes.len();
        }
        count
    }

    /// Returns the CPU seconds that the program used so far.
    pub(super) fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        let fields: Vec<&str> = match stat.rsplit_once(')') {
            Some((_, rest)) => rest.split_whitespace().collect(),
            None => return Err("no stat".into()),
        };
        let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok());
        // Fields 14 and 15 of the manual, in ticks of 10 ms.
        let (user, system) = (ticks(11).ok_or("no time")?, ticks(12).ok_or("no time")?);
        Ok((user + system) / 100.0)
    }

    /// Returns the most memory that the program held, in bytes.
    pub(super) fn memory(&self) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let line = status.lines().find(|it| it.starts_with("VmHWM:"));
        let kilobytes = line.and_then(|it| it.split_whitespace().nth(1));
        let kilobytes: u64 = kilobytes.ok_or("no memory")?.parse()?;
        Ok(kilobytes << 10)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // fast-resume goes on without its terminal, and would take time from what is measured next.
        let _ = Command::new("kill")
            .args(["-9", &self.pid.to_string()])
            .output();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The cells of a terminal.
struct Grid {
    cells: Vec<Vec<char>>,
    at: (usize, usize),
    /// An escape sequence or a character that is not complete yet.
    rest: Vec<u8>,
}

impl Grid {
    fn new() -> Grid {
        Grid {
            cells: vec![vec![' '; SIZE.0]; SIZE.1],
            at: (0, 0),
            rest: Vec::new(),
        }
    }

    fn text(&self) -> String {
        let lines = self.cells.iter();
        let lines = lines.map(|it| it.iter().filter(|c| **c != '\0').collect::<String>());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut at = 0;
        while at < all.len() {
            let Some(used) = self.one(&all[at..]) else {
                break;
            };
            at += used;
        }
        self.rest = all.split_off(at);
    }

    /// Takes one character or sequence; returns its length, or `None` if it is not complete.
    fn one(&mut self, bytes: &[u8]) -> Option<usize> {
        match bytes {
            [0x1b, b'[', rest @ ..] => {
                let end = rest.iter().position(|it| (0x40..=0x7e).contains(it))?;
                let parameters = String::from_utf8_lossy(&rest[..end]).into_owned();
                self.sequence(rest[end], &parameters);
                Some(end + 3)
            }
            [0x1b, b']', rest @ ..] => {
                let end = rest.iter().position(|it| *it == 7 || *it == 0x1b)?;
                Some(end + 3)
            }
            [0x1b, _, ..] => Some(2),
            [0x1b] => None,
            [b'\r', ..] => {
                self.at.0 = 0;
                Some(1)
            }
            [b'\n', ..] => {
                self.at.1 = (self.at.1 + 1).min(SIZE.1 - 1);
                Some(1)
            }
            [first, ..] if *first < 0x20 => Some(1),
            _ => self.character(bytes),
        }
    }

    fn character(&mut self, bytes: &[u8]) -> Option<usize> {
        let wanted = match bytes.first()? {
            0..0x80 => 1,
            0x80..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        };
        let c = match std::str::from_utf8(bytes.get(..wanted)?) {
            Ok(text) => text.chars().next()?,
            Err(_) => return Some(1),
        };
        let wide = c.width().unwrap_or(0);
        if wide > 0 && self.at.0 < SIZE.0 {
            self.cells[self.at.1][self.at.0] = c;
            if wide > 1 && self.at.0 + 1 < SIZE.0 {
                self.cells[self.at.1][self.at.0 + 1] = '\0';
            }
            self.at.0 += wide;
        }
        Some(wanted)
    }

    fn sequence(&mut self, end: u8, parameters: &str) {
        let mut numbers = parameters
            .split(';')
            .map(|it| it.parse::<usize>().unwrap_or(1));
        let first = numbers.next().unwrap_or(1).max(1);
        let second = numbers.next().unwrap_or(1).max(1);
        match end {
            b'H' | b'f' => self.at = ((second - 1).min(SIZE.0 - 1), (first - 1).min(SIZE.1 - 1)),
            b'A' => self.at.1 = self.at.1.saturating_sub(first),
            b'B' => self.at.1 = (self.at.1 + first).min(SIZE.1 - 1),
            b'C' => self.at.0 = (self.at.0 + first).min(SIZE.0 - 1),
            b'D' => self.at.0 = self.at.0.saturating_sub(first),
            b'G' => self.at.0 = (first - 1).min(SIZE.0 - 1),
            b'J' => self.cells = vec![vec![' '; SIZE.0]; SIZE.1],
            b'K' => {
                let (x, y) = self.at;
                self.cells[y][x.min(SIZE.0)..].fill(' ');
            }
            b'h' | b'l' if parameters == "?1049" => {
                self.cells = vec![vec![' '; SIZE.0]; SIZE.1];
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_in_pieces_is_on_the_screen() {
        let mut grid = Grid::new();
        for piece in [
            "\x1b[2J\x1b[2;3Hhe",
            "llo \u{4f1a}",
            "\x1b[1",
            "m!\x1b[1;1Hx\x1b[2;3HJ",
        ] {
            grid.take(piece.as_bytes());
        }
        let text = grid.text();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[..2], ["x", "  Jello \u{4f1a}!"]);
    }
}
