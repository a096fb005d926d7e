//! The repository of a file, and the working trees that share its commits.
//!
//! An agent often works in a working tree of its own (`git worktree`): the file that it changed has
//! another path, and its lines come here with a commit.

use std::path::{Path, PathBuf};

use boswell_dialect::Environment;

use crate::git_command::GitCommand;

/// Maximum number of other working trees.
const MOST: usize = 64;

/// A repository, as seen from one of its folders.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top folder of the working files; the repository itself if it has none.
    pub(super) top: PathBuf,
    /// Whether it has no working files.
    is_bare: bool,
    pub(super) trees: WorkingTrees,
}

impl Repository {
    /// Returns the repository with the working files of a folder.
    pub(super) fn of_files(env: &Environment, folder: &Path) -> Option<Repository> {
        let git = GitCommand::in_folder(env, folder);
        let top = printed_path(&git, "--show-toplevel")?;
        let dot_git = top.join(".git");
        // Only then there are other working trees: most repositories have none.
        let has_trees = dot_git.is_file() || dot_git.join("worktrees").is_dir();
        let others = has_trees.then(|| other_trees(&git, &top));
        Some(Repository {
            trees: WorkingTrees::new(&top, others.unwrap_or_default()),
            top,
            is_bare: false,
        })
    }

    /// As [`of_files`](Self::of_files), or the repository without working files that a folder is.
    pub(super) fn of_commits(env: &Environment, folder: &Path) -> Option<Repository> {
        Repository::of_files(env, folder).or_else(|| {
            let git = GitCommand::in_bare(env, folder);
            let top = printed_path(&git, "--absolute-git-dir")?;
            Some(Repository {
                trees: WorkingTrees::new(&top, other_trees(&git, &top)),
                top,
                is_bare: true,
            })
        })
    }

    pub(super) fn git<'e>(&'e self, env: &'e Environment) -> GitCommand<'e> {
        match self.is_bare {
            true => GitCommand::in_bare(env, &self.top),
            false => GitCommand::in_folder(env, &self.top),
        }
    }
}

fn printed_path(git: &GitCommand<'_>, what: &str) -> Option<PathBuf> {
    let printed = git.text(&["rev-parse", what])?;
    let path = printed.trim_end_matches(['\n', '\r']);
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Returns the top folders of the working trees of a repository, without this one.
fn other_trees(git: &GitCommand<'_>, top: &Path) -> Vec<PathBuf> {
    let printed = git.text(&["worktree", "list", "--porcelain", "-z"]);
    let mut others = listed_trees(&printed.unwrap_or_default());
    others.iter_mut().for_each(|tree| {
        if let Ok(real) = tree.canonicalize() {
            *tree = real;
        }
    });
    others.retain(|tree| tree != top);
    others.truncate(MOST);
    others
}

/// Reads the folders that `worktree list --porcelain -z` prints.
fn listed_trees(printed: &str) -> Vec<PathBuf> {
    let tree = |tree: &str| {
        let mut facts = tree.split('\0');
        let path = facts.next()?.strip_prefix("worktree ")?;
        // A working tree that says nothing of this repository is not one of it.
        let is_one = !facts.any(|fact| fact == "bare" || fact.starts_with("prunable"));
        is_one.then(|| PathBuf::from(path))
    };
    printed.split("\0\0").filter_map(tree).collect()
}

/// The top folders of all working trees, each with `/` at its end; the one that is asked about is
/// the first.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkingTrees(Vec<String>);

impl WorkingTrees {
    fn new(top: &Path, others: Vec<PathBuf>) -> WorkingTrees {
        let all = [top.to_owned()].into_iter().chain(others);
        let all = all.map(|tree| format!("{}/", tree.display().to_string().trim_end_matches('/')));
        WorkingTrees(all.collect())
    }

    #[cfg(test)]
    pub(super) fn of(trees: &[&str]) -> WorkingTrees {
        WorkingTrees(trees.iter().map(|tree| format!("{tree}/")).collect())
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.len() < 2
    }

    /// Returns the paths of a file in every working tree, beginning with the one that is asked
    /// about; a path that is in none of them alone.
    pub(super) fn everywhere(&self, path: &str) -> Vec<String> {
        match self.below(path) {
            Some(below) => self.0.iter().map(|tree| format!("{tree}{below}")).collect(),
            None => vec![path.to_owned()],
        }
    }

    /// Returns the path of a file in the working tree that another path is in.
    pub(super) fn in_tree_of(&self, path: &str, other: &str) -> String {
        let tree = self.tree(other).zip(self.below(path));
        tree.map_or_else(|| path.to_owned(), |(tree, below)| format!("{tree}{below}"))
    }

    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.tree(path)?)
    }

    /// The innermost working tree with a path: one may be below another.
    fn tree(&self, path: &str) -> Option<&str> {
        let trees = self.0.iter().map(String::as_str);
        let trees = trees.filter(|tree| path.starts_with(tree));
        trees.max_by_key(|tree| tree.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_trees_are_read_without_those_that_are_gone() {
        let printed = "worktree /w/main\0HEAD a\0branch refs/heads/main\0\0\
                       worktree /w/gone\0HEAD b\0detached\0prunable gitdir file is gone\0\0\
                       worktree /w/bare\0bare\0\0worktree /w/one two\0HEAD c\0detached\0\0";
        assert_eq!(
            listed_trees(printed),
            [PathBuf::from("/w/main"), PathBuf::from("/w/one two")]
        );
        assert_eq!(listed_trees(""), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_has_a_path_in_every_working_tree() {
        let others = vec![PathBuf::from("/w/main/trees/b"), PathBuf::from("/w/c")];
        let trees = WorkingTrees::new(Path::new("/w/main"), others);
        let all = ["/w/main/x", "/w/main/trees/b/x", "/w/c/x"];
        for path in all {
            assert_eq!(trees.everywhere(path), all, "{path}");
        }
        assert_eq!(trees.everywhere("/w/d/x"), ["/w/d/x"]);
        assert_eq!(
            trees.in_tree_of("/w/c/y", "/w/main/trees/b/x"),
            "/w/main/trees/b/y"
        );
        assert_eq!(WorkingTrees::default().everywhere("/a"), ["/a"]);
    }
}
