//! Asks git for the commits of a time.

use std::path::Path;

use boswell_dialect::Environment;
use boswell_model::Instant;

use crate::git_command::GitCommand;
use crate::shape::shape;

/// Maximum number of commits.
const MOST: &str = "--max-count=500";
/// Short id, time, author, committer, subject; a message contains no NUL.
const FORMAT: &str = "--pretty=tformat:%h%x00%ct%x00%ae%x00%ce%x00%s%x00";
const FIELDS: usize = 5;

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

/// The commits of a repository.
#[derive(Debug)]
pub(crate) struct GitLog<'e> {
    git: GitCommand<'e>,
}

impl<'e> GitLog<'e> {
    pub(crate) fn of(env: &'e Environment, folder: &'e Path) -> GitLog<'e> {
        GitLog {
            git: GitCommand::in_folder(env, folder),
        }
    }

    /// Returns the commits that the user made on any local branch since a time and before another,
    /// oldest first; `None` if git cannot be asked, or if the folder is not in a repository.
    pub(crate) fn commits(&self, since: Instant, until: Instant) -> Option<Vec<CommitShape>> {
        let seconds = |at: Instant| at.millis().div_euclid(1000);
        let since = format!("--since=@{}", seconds(since));
        let until = format!("--until=@{}", seconds(until));
        let printed = self.git.text(&[
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
        let own = self.git.text(&["config", "--get", "user.email"]);
        let own = own.map(|it| it.trim().to_owned());
        let own = own.filter(|it| !it.is_empty());
        Some(parse(&printed, own.as_deref()))
    }
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
