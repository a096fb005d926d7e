//! Asks git for the commits of a time.
//!
//! The configuration of a repository can name programs: hooks, a file system monitor, pagers,
//! signature checkers, transports. All of them are off, so that a repository that someone else
//! wrote starts nothing.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use boswell_dialect::Environment;
use boswell_model::Instant;

use crate::shape::shape;

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum length of its output.
const OUTPUT: u64 = 4 << 20;
/// Maximum number of commits.
const MOST: &str = "--max-count=500";
/// Short id, time, author, committer, subject; a message contains no NUL.
const FORMAT: &str = "--pretty=tformat:%h%x00%ct%x00%ae%x00%ce%x00%s%x00";
const FIELDS: usize = 5;

/// Settings that start programs, each with a value that starts none.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "log.showSignature=false",
    "gc.auto=0",
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
const SET: [(&str, &str); 6] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    // A partial clone would fetch what is missing through a transport of its configuration.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

shape! {
    /// A commit.
    CommitShape {
        /// short id
        id: String,
        /// when it was committed
        at: Option<Instant>,
        /// first line of its message
        subject: String,
    }
}

/// A repository, asked with everything off that its configuration could start.
#[derive(Debug)]
pub(crate) struct GitLog<'e> {
    env: &'e Environment,
    folder: &'e Path,
}

impl<'e> GitLog<'e> {
    pub(crate) fn of(env: &'e Environment, folder: &'e Path) -> GitLog<'e> {
        GitLog { env, folder }
    }

    /// Returns the commits that the user made on any local branch since a time and before another,
    /// oldest first; `None` if git cannot be asked, or if the folder is not in a repository.
    pub(crate) fn commits(&self, since: Instant, until: Instant) -> Option<Vec<CommitShape>> {
        if !self.folder.is_dir() {
            return None;
        }
        let seconds = |at: Instant| at.millis().div_euclid(1000);
        let since = format!("--since=@{}", seconds(since));
        let until = format!("--until=@{}", seconds(until));
        let printed = self.run(&[
            "log",
            "--branches",
            "--reverse",
            "--no-patch",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",
            "--no-notes",
            "--no-mailmap",
            "--no-color",
            MOST,
            FORMAT,
            &since,
            &until,
            "HEAD",
            "--",
        ])?;
        let own = self.run(&["config", "--get", "user.email"]);
        let own = own.map(|it| it.trim().to_owned());
        let own = own.filter(|it| !it.is_empty());
        Some(parse(&printed, own.as_deref()))
    }

    fn run(&self, args: &[&str]) -> Option<String> {
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
        let child = command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        finished(child.ok()?)
    }
}

/// Returns what a program printed, if it succeeds in time.
fn finished(mut child: Child) -> Option<String> {
    let stdout = child.stdout.take()?;
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(OUTPUT).read_to_end(&mut bytes);
        let _ = send.send(read.map(|_| bytes));
    });
    let Ok(Ok(bytes)) = receive.recv_timeout(LIMIT) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    // It has closed its output, or is blocked by a full pipe without a reader.
    if bytes.len() as u64 == OUTPUT {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    let is_whole = status.success() || bytes.len() as u64 == OUTPUT;
    is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(printed: &str, own: Option<&str>) -> Vec<CommitShape> {
    let fields: Vec<&str> = printed.split('\0').collect();
    let mut commits = Vec::new();
    for commit in fields.chunks_exact(FIELDS) {
        let &[id, at, author, committer, subject] = commit else {
            continue;
        };
        if own.is_some_and(|own| own != author && own != committer) {
            continue;
        }
        let at: Option<i64> = at.parse().ok();
        commits.push(CommitShape {
            id: id.trim().to_owned(),
            at: at.map(|seconds| Instant::from_millis(seconds.saturating_mul(1000))),
            subject: subject.to_owned(),
        });
    }
    commits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_of_others_are_left_out_if_the_user_is_known() {
        let printed =
            "a1\x0010\x00me@x\x00me@x\x00one\x00\nb2\x0020\x00you@x\x00you@x\x00two\x00\n";
        let ids = |own| -> Vec<String> {
            let commits = parse(printed, own);
            commits.into_iter().map(|it| it.id).collect()
        };
        assert_eq!(ids(Some("me@x")), ["a1"]);
        assert_eq!(ids(None), ["a1", "b2"]);
        let first = &parse(printed, None)[0];
        assert_eq!(first.at, Some(Instant::from_millis(10_000)));
        assert_eq!(first.subject, "one");
    }

    #[test]
    fn a_folder_without_a_repository_has_no_commits() {
        let temp = tempfile::tempdir().unwrap();
        let env = Environment::default();
        let zero = Instant::from_millis(0);
        assert!(
            GitLog::of(&env, &temp.path().join("gone"))
                .commits(zero, zero)
                .is_none()
        );
    }
}
