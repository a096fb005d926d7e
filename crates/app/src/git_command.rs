//! Asks git, with everything off that the configuration of a repository could start.
//!
//! A configuration can name programs: hooks, a file system monitor, pagers, external diffs,
//! filters, signature checkers, transports. A repository that someone else wrote starts nothing:
//! the settings are overruled, and only commands are run that read neither the working files nor
//! their filters.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use boswell_dialect::Environment;

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum length of its output.
const OUTPUT: u64 = 64 << 20;

/// Settings that start programs, each with a value that starts none.
const SETTINGS: [&str; 13] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "core.untrackedCache=false",
    "diff.external=",
    "diff.submodule=short",
    "submodule.recurse=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
];
/// Variables that git may see; those that begin with `GIT_` may name programs and repositories.
const VARIABLES: [&str; 7] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "TMPDIR",
    "USERPROFILE",
    "SystemRoot",
    "LANG",
];
const SET: [(&str, &str); 7] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    // A partial clone would fetch what is missing through a transport of its configuration.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    // A file may have the name of a pattern.
    ("GIT_LITERAL_PATHSPECS", "1"),
];

/// Git in a folder.
#[derive(Debug)]
pub(crate) struct GitCommand<'e> {
    env: &'e Environment,
    folder: &'e Path,
    bare: BareRepository,
}

/// Whether the folder may be, or be in, a repository without working files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BareRepository {
    Forbidden,
    Allowed,
}

/// Why git gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitFailure {
    /// It prints more than is read. A part of an answer is never used: the commit or the text that
    /// it lacks could be the one that decides.
    TooLong,
    /// It cannot be started, fails, or takes too long.
    Failed,
}

impl<'e> GitCommand<'e> {
    pub(crate) fn in_folder(env: &'e Environment, folder: &'e Path) -> GitCommand<'e> {
        GitCommand {
            env,
            folder,
            bare: BareRepository::Forbidden,
        }
    }

    /// As [`in_folder`](Self::in_folder), where a repository without working files is asked too. It
    /// starts no more programs than others: every setting is overruled here as well.
    pub(crate) fn in_bare(env: &'e Environment, folder: &'e Path) -> GitCommand<'e> {
        GitCommand {
            bare: BareRepository::Allowed,
            ..GitCommand::in_folder(env, folder)
        }
    }

    /// Returns what git prints, as text; `None` if there is no whole answer.
    pub(crate) fn text(&self, args: &[&str]) -> Option<String> {
        let bytes = self.bytes(args, Vec::new()).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// As [`text`](Self::text), with an input, and as bytes.
    pub(crate) fn bytes(&self, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFailure> {
        if !self.folder.is_dir() {
            return Err(GitFailure::Failed);
        }
        let mut command = Command::new("git");
        command.env_clear();
        let known = VARIABLES
            .iter()
            .filter_map(|name| Some((name, self.env.var(name)?)));
        command.envs(known).envs(SET);
        command.arg("-C").arg(self.folder).arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let bare = match self.bare {
            // A folder of a project that looks like a repository is not one.
            BareRepository::Forbidden => "safe.bareRepository=explicit",
            BareRepository::Allowed => "safe.bareRepository=all",
        };
        command.args(["-c", bare]).args(args);
        finished(command, input, OUTPUT)
    }
}

/// Returns what a program prints, if it succeeds in time and prints no more than `most` bytes.
fn finished(mut command: Command, input: Vec<u8>, most: u64) -> Result<Vec<u8>, GitFailure> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|_| GitFailure::Failed)?;
    let (Some(stdout), Some(mut stdin)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(GitFailure::Failed);
    };
    std::thread::spawn(move || {
        // A program that ends early does not read all of it.
        let _ = stdin.write_all(&input);
    });
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // One byte more than is allowed shows that there is more.
        let read = stdout.take(most + 1).read_to_end(&mut bytes);
        let _ = send.send(read.map(|_| bytes));
    });
    let received = receive.recv_timeout(LIMIT);
    let is_long = |bytes: &Vec<u8>| bytes.len() as u64 > most;
    match received {
        Ok(Ok(bytes)) if !is_long(&bytes) => match child.wait() {
            Ok(status) if status.success() => Ok(bytes),
            _ => Err(GitFailure::Failed),
        },
        received => {
            // It takes too long, or is blocked by a full pipe without a reader.
            let _ = child.kill();
            let _ = child.wait();
            match received {
                Ok(Ok(_)) => Err(GitFailure::TooLong),
                _ => Err(GitFailure::Failed),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn printed(script: &str, most: u64) -> Result<Vec<u8>, GitFailure> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        finished(command, Vec::new(), most)
    }

    #[test]
    fn an_answer_is_whole_or_there_is_none() {
        assert_eq!(printed("printf 12345", 5), Ok(b"12345".to_vec()));
        assert_eq!(printed("printf 12345", 4), Err(GitFailure::TooLong));
        assert_eq!(printed("yes", 1 << 16), Err(GitFailure::TooLong));
        assert_eq!(printed("printf 12345; exit 1", 5), Err(GitFailure::Failed));
    }
}
