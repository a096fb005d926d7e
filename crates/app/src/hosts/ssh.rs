//! Runs boswell on a host through ssh, with bounds on time and bytes.
//!
//! One connection per request. The command of the host's shell is
//! `PROGRAM --version && exec PROGRAM WORDS`, each word in single quotes: no text of a user or of a
//! session is ever read by that shell. The first line of the answer is the version there, before
//! which a shell may print a greeting. Ssh asks nothing (`BatchMode`) and gets no terminal.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result, shell_literal};

use super::setting::Host;
use crate::system::Stopwatch;
use crate::text::{cut, one_line};

/// The oldest version that answers what is asked here.
const OLDEST: [u64; 3] = [0, 1, 0];
/// Options of every connection. The first value of an option counts for ssh: these cannot be
/// overruled by the user's own.
const FIXED: [&str; 12] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
    "-o",
    "RequestTTY=no",
    "-o",
    "PermitLocalCommand=no",
    "-C",
];
/// Options that the user may overrule.
const DEFAULTS: [&str; 6] = [
    "-o",
    "ConnectTimeout=5",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];
/// The argument that makes boswell print its version.
const VERSION: &str = "--version";
/// How much a shell may print before the version.
const GREETING: usize = 64 << 10;
/// How much is kept of what ssh and the program there print on standard error.
const ERRORS: usize = 64 << 10;
const CHUNK: usize = 64 << 10;
/// A connection that is shared in the background keeps standard error open.
const LAST_ERRORS: Duration = Duration::from_millis(500);

/// What is run on a host.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// Arguments of boswell.
    pub(crate) words: &'c [String],
    /// The width of the terminal, for text.
    pub(crate) columns: Option<usize>,
    pub(crate) limits: Limits,
}

/// Bounds of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How long the version may take: connecting and logging in.
    pub(crate) first: Duration,
    /// How long nothing may come after it.
    pub(crate) silence: Duration,
    /// How long the whole answer may take.
    pub(crate) total: Duration,
    /// Maximum length.
    pub(crate) bytes: u64,
}

impl Limits {
    /// For answers that a list or a search waits for.
    pub(crate) const SHORT: Limits = Limits {
        first: Duration::from_secs(10),
        silence: Duration::from_secs(20),
        total: Duration::from_secs(60),
        bytes: 256 << 20,
    };
    /// For a search, which joins the answer of this machine.
    pub(crate) const SEARCH: Limits = Limits {
        total: Duration::from_secs(15),
        ..Limits::SHORT
    };
    /// For whole sessions.
    pub(crate) const LONG: Limits = Limits {
        first: Duration::from_secs(20),
        silence: Duration::from_secs(60),
        total: Duration::from_secs(24 * 3600),
        bytes: 2 << 30,
    };
}

/// How a call ended: the exit code of boswell there, and what it printed on standard error.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) errors: String,
}

/// Receives an answer piece by piece; returns false to stop.
pub(crate) type PieceSink<'s> = &'s mut dyn FnMut(&[u8]) -> Result<bool>;

/// Runs boswell on a host and passes on what it prints.
///
/// # Errors
///
/// Unavailable if the host or boswell on it cannot be reached, does not answer in time or sends too
/// much; Unsupported if boswell there is too old; and every error of the sink.
pub(crate) fn run(host: &Host, call: &Call<'_>, sink: PieceSink<'_>) -> Result<Ended> {
    let mut running = Running::start(host, &remote_command(host, call))?;
    let mut answer = Answer {
        host,
        limits: call.limits,
        watch: Stopwatch::start(),
        greeting: Some(Vec::new()),
        length: 0,
    };
    let end = answer.pass_on(&running.output, sink)?;
    if end == End::Stopped {
        return Ok(Ended {
            code: 0,
            errors: String::new(),
        });
    }
    let code = running.code()?;
    let errors = running.errors();
    match (answer.greeting.is_some(), code) {
        (_, Some(255) | None) => Err(unreachable(host, &errors, answer.greeting.is_none())),
        (true, Some(126 | 127)) => Err(missing(host, &errors)),
        (true, _) => Err(not_boswell(host, &errors)),
        (false, Some(code)) => Ok(Ended { code, errors }),
    }
}

/// Returns the words of an ssh command that runs a command on a terminal of the host.
pub(crate) fn interactive(host: &Host, command: &str) -> Vec<String> {
    let words = ["ssh", "-t"].map(str::to_owned).into_iter();
    let end = ["--", host.ssh.as_str(), command].map(str::to_owned);
    words.chain(host.options.clone()).chain(end).collect()
}

/// Returns the command for the shell of the host.
fn remote_command(host: &Host, call: &Call<'_>) -> String {
    let program = host.quoted_program();
    let width = call.columns.map(|width| format!("env COLUMNS={width} "));
    let width = width.unwrap_or_default();
    let words: Vec<String> = call.words.iter().map(|word| shell_literal(word)).collect();
    format!(
        "{program} {VERSION} && exec {width}{program} {}",
        words.join(" ")
    )
}

impl Host {
    /// Quotes the program for the shell of the host; the home folder before it is left to that.
    pub fn quoted_program(&self) -> String {
        // What a shell reads as one word needs no quotes, so that people recognise the command in
        // a list of processes.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        let quoted = |word: &str| match word.bytes().all(is_plain) {
            true => word.to_owned(),
            false => shell_literal(word),
        };
        match self.program.strip_prefix("~/") {
            Some(rest) => format!("~/{}", quoted(rest)),
            None => quoted(&self.program),
        }
    }
}

/// A process of ssh, which is ended when it is dropped.
struct Running {
    child: Child,
    output: Receiver<std::io::Result<Vec<u8>>>,
    errors: Arc<Mutex<Vec<u8>>>,
    errors_end: Receiver<()>,
}

impl Running {
    fn start(host: &Host, command: &str) -> Result<Running> {
        let mut ssh = Command::new("ssh");
        ssh.args(FIXED).args(&host.options).args(DEFAULTS);
        ssh.args(["--", host.ssh.as_str(), command]);
        let child = ssh
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|error| {
            Error::new(ErrorKind::Unavailable, "cannot start `ssh`")
                .caused_by(error)
                .advising("install OpenSSH, so that `ssh` is on your PATH")
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        // A few chunks wait: a host that sends without end is not read ahead.
        let (send, output) = sync_channel(4);
        std::thread::spawn(move || {
            let pass = |piece| send.send(piece).is_ok();
            if let Some(stdout) = stdout {
                read(stdout, &pass);
            }
        });
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (ended, errors_end) = channel();
        let kept = Arc::clone(&errors);
        std::thread::spawn(move || {
            if let Some(stderr) = stderr {
                keep(stderr, &kept, &ended);
            }
        });
        Ok(Running {
            child,
            output,
            errors,
            errors_end,
        })
    }

    /// Waits for the process, and returns its exit code.
    fn code(&mut self) -> Result<Option<i32>> {
        let status = self.child.wait();
        let status = status.map_err(|error| Error::io("ssh", "wait for", error))?;
        Ok(status.code())
    }

    fn errors(&self) -> String {
        // What comes later is of a connection in the background.
        let _ = self.errors_end.recv_timeout(LAST_ERRORS);
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&errors).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It ended already, as a rule.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes on a stream in chunks, until it ends or no chunk is wanted.
fn read(mut stream: impl Read, pass: &dyn Fn(std::io::Result<Vec<u8>>) -> bool) {
    let mut chunk = vec![0; CHUNK];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                if !pass(Ok(chunk.get(..length).unwrap_or_default().to_vec())) {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                pass(Err(error));
                return;
            }
        }
    }
}

/// Keeps the beginning of a stream, and reads it to its end.
fn keep(stream: impl Read, kept: &Mutex<Vec<u8>>, ended: &Sender<()>) {
    read(stream, &|piece| {
        let Ok(piece) = piece else { return false };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = ERRORS.saturating_sub(kept.len()).min(piece.len());
        kept.extend_from_slice(piece.get(..room).unwrap_or_default());
        true
    });
    // Without a receiver no one waits for it.
    let _ = ended.send(());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Stopped,
}

/// An answer while it comes.
struct Answer<'a> {
    host: &'a Host,
    limits: Limits,
    watch: Stopwatch,
    /// What came before the version; `None` once the version was read.
    greeting: Option<Vec<u8>>,
    length: u64,
}

impl Answer<'_> {
    fn pass_on(
        &mut self,
        output: &Receiver<std::io::Result<Vec<u8>>>,
        sink: PieceSink<'_>,
    ) -> Result<End> {
        loop {
            let piece = match output.recv_timeout(self.patience()) {
                Ok(piece) => piece.map_err(|error| Error::io("ssh", "read from", error))?,
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Whole),
                Err(RecvTimeoutError::Timeout) => return Err(self.too_slow()),
            };
            self.length += piece.len() as u64;
            if self.length > self.limits.bytes {
                return Err(too_long(self.host, self.limits.bytes));
            }
            let rest = match self.greeting.take() {
                None => piece,
                Some(greeting) => match self.after_version(greeting, &piece)? {
                    Some(rest) => rest,
                    None => continue,
                },
            };
            if !rest.is_empty() && !sink(&rest)? {
                return Ok(End::Stopped);
            }
        }
    }

    /// How long to wait for the next piece.
    fn patience(&self) -> Duration {
        let spent = self.watch.elapsed();
        let left = self.limits.total.saturating_sub(spent);
        match self.greeting {
            Some(_) => left.min(self.limits.first.saturating_sub(spent)),
            None => left.min(self.limits.silence),
        }
    }

    /// Looks for the version in what came so far; returns what follows it.
    fn after_version(&mut self, mut greeting: Vec<u8>, piece: &[u8]) -> Result<Option<Vec<u8>>> {
        greeting.extend_from_slice(piece);
        let mut at = 0;
        while let Some(length) = line_length(greeting.get(at..).unwrap_or_default()) {
            let line = greeting.get(at..at + length).unwrap_or_default();
            at += length + 1;
            if let Some(version) = version(line) {
                refuse_old(self.host, &version)?;
                return Ok(Some(greeting.split_off(at)));
            }
        }
        if greeting.len() > GREETING {
            return Err(not_boswell(self.host, ""));
        }
        self.greeting = Some(greeting);
        Ok(None)
    }

    fn too_slow(&self) -> Error {
        let seconds = self.watch.elapsed().as_secs();
        let what = format!("{} did not answer within {seconds} s", self.host.name);
        Error::new(ErrorKind::Unavailable, what).advising(by_hand(self.host))
    }
}

fn line_length(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

/// Parses the line that states a version.
fn version(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.trim();
    let version = line.strip_prefix("boswell ")?;
    numbers(version).map(|_| version.to_owned())
}

/// The three numbers of a version; what follows them does not count.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = version.find(|c| !is_number(c)).unwrap_or(version.len());
    let mut parts = version.get(..end)?.splitn(3, '.');
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

fn refuse_old(host: &Host, version: &str) -> Result<()> {
    if numbers(version).is_some_and(|numbers| numbers >= OLDEST) {
        return Ok(());
    }
    let [major, minor, patch] = OLDEST;
    let what = format!("boswell {} on {} is too old", one_line(version), host.name);
    Err(Error::new(ErrorKind::Unsupported, what)
        .because(format!("{major}.{minor}.{patch} or newer is needed"))
        .advising(format!("update boswell on {}", host.name)))
}

/// The last line that ssh printed.
fn last_line(errors: &str) -> Option<String> {
    let mut lines = errors.lines().rev().map(one_line);
    lines.find(|line| !line.is_empty()).map(|it| cut(&it, 300))
}

fn because(error: Error, errors: &str) -> Error {
    match last_line(errors) {
        Some(line) => error.because(line),
        None => error,
    }
}

fn by_hand(host: &Host) -> Advice {
    Advice::from(format!("try `ssh {}` by hand", host.ssh)).or(Advice::ShowSettings)
}

fn unreachable(host: &Host, errors: &str, was_there: bool) -> Error {
    let what = match was_there {
        true => format!("the connection to {} was lost", host.name),
        false => format!("cannot reach {}", host.name),
    };
    because(Error::new(ErrorKind::Unavailable, what), errors).advising(by_hand(host))
}

fn missing(host: &Host, errors: &str) -> Error {
    let what = format!("there is no boswell on {}", host.name);
    because(Error::new(ErrorKind::Unavailable, what), errors).advising(format!(
        "install it there, or set `program` of the host to its path: now it is `{}`",
        one_line(&host.program)
    ))
}

fn not_boswell(host: &Host, errors: &str) -> Error {
    let what = format!("what answers on {} is not boswell", host.name);
    because(Error::new(ErrorKind::Unavailable, what), errors).advising(by_hand(host))
}

fn too_long(host: &Host, bytes: u64) -> Error {
    let what = format!("the answer of {} is too long", host.name);
    Error::new(ErrorKind::Unavailable, what)
        .because(format!("at most {} are read", crate::text::size(bytes)))
        .advising(by_hand(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host {
            program: "~/my bin/boswell".to_owned(),
            ..Host::of_destination("box").unwrap()
        }
    }

    #[test]
    fn every_word_is_one_word_for_the_shell_there() {
        let words = ["show", "it's; rm -rf ~", "$(x)\n`y`", "--json"].map(str::to_owned);
        let call = Call {
            words: &words,
            columns: Some(80),
            limits: Limits::SHORT,
        };
        assert_eq!(
            remote_command(&host(), &call),
            "~/'my bin/boswell' --version && exec env COLUMNS=80 ~/'my bin/boswell' \
             'show' 'it'\\''s; rm -rf ~' '$(x)\n`y`' '--json'"
        );
    }

    #[test]
    fn a_version_is_found_behind_a_greeting_and_an_old_one_is_refused() {
        let host = host();
        let mut answer = Answer {
            host: &host,
            limits: Limits::SHORT,
            watch: Stopwatch::start(),
            greeting: None,
            length: 0,
        };
        let mut after = |text: &str| answer.after_version(Vec::new(), text.as_bytes());
        let rest = after("Welcome!\nboswell 1.2.3\n{\"v\":1}").unwrap();
        assert_eq!(rest.as_deref(), Some(&b"{\"v\":1}"[..]));
        assert_eq!(after("boswell 9").unwrap(), None);
        let old = after("boswell 0.0.9\n").unwrap_err();
        assert_eq!(old.kind(), ErrorKind::Unsupported);
        assert!(old.to_string().contains("0.0.9 on box is too old"), "{old}");
        assert!(after(&"x".repeat(GREETING + 1)).is_err());
    }
}
