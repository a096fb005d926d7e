//! The folder of a demo and its layout.

use std::path::{Path, PathBuf};

use boswell_model::Result;
use boswell_store::disk::{RealDisk, durable};

use super::{agent_files, native_session};
use crate::system::new_script;

/// Dialects, and the folders of their agents' sessions below a home folder.
const STORES: &[(&str, &str)] = &[
    ("claude", "home/.claude"),
    ("pi", "home/.pi/agent"),
    ("omp", "home/.omp/agent"),
    ("xcsh", "home/.xcsh/agent"),
    ("myagents", "home/.myagents"),
    ("clinvoker", "home/.clinvk"),
    ("oas", "home/.open-agent"),
    ("codex", "home/.codex"),
    ("boswell", "own"),
];

/// The folder of a demo.
#[derive(Debug)]
pub(super) struct DemoLayout {
    root: PathBuf,
}

impl DemoLayout {
    /// Creates the layout for an absolute folder.
    pub(super) fn at(root: PathBuf) -> DemoLayout {
        DemoLayout { root }
    }

    /// Returns the folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the script that runs boswell on these stores and no others.
    pub(super) fn script(&self) -> PathBuf {
        self.root.join("try")
    }

    /// Returns the folder of a project.
    pub(super) fn project(&self, name: &str) -> String {
        self.root.join("projects").join(name).display().to_string()
    }

    /// Returns boswell's own home in the demo.
    pub(super) fn own(&self) -> PathBuf {
        self.root.join("own")
    }

    /// Returns the options that select these stores and no others.
    pub(super) fn options(&self) -> Vec<String> {
        let mut options = vec!["--home".to_owned(), self.own().display().to_string()];
        for (dialect, path) in STORES {
            options.push("--store".to_owned());
            options.push(format!("{dialect}={}", self.root.join(path).display()));
        }
        options
    }

    /// Writes all files.
    pub(super) fn build(&self, program: &Path) -> Result<()> {
        for file in agent_files::FILES {
            let path = self.root.join(file.path(self));
            if let Some(folder) = path.parent() {
                durable::make_folders(&RealDisk, folder)?;
            }
            durable::create(&RealDisk, &path, file.text(self).as_bytes())?;
        }
        native_session::write(self)?;
        // Hints then name the script, which knows the stores.
        let name = [
            "--called-as".to_owned(),
            self.script().display().to_string(),
        ];
        let words = std::iter::once(program.display().to_string());
        let words = words.chain(name).chain(self.options());
        let line: Vec<String> = words.map(|word| quoted(&word)).collect();
        let text = format!(
            "#!/bin/sh\n# The stores of this demo, and no others.\nexec {} \"$@\"\n",
            line.join(" ")
        );
        new_script(&self.script(), &text)
    }
}

/// Quotes a word for any POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:@+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        assert_eq!(quoted("claude=/a/b.c"), "claude=/a/b.c");
        assert_eq!(quoted("it's 会"), r"'it'\''s 会'");
        assert_eq!(quoted(""), "''");
    }
}
