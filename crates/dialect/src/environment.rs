//! The process environment as an argument: dialects and stores never read it themselves.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The facts about the process and its user that discovery needs.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder the command runs in.
    pub cwd: PathBuf,
    /// The folder for temporary files.
    pub tmp: PathBuf,
    /// Name of the terminal device on standard input, such as `/dev/pts/3`.
    pub terminal: Option<String>,
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
}

impl Environment {
    /// Returns a variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns a path below the home folder.
    pub fn in_home(&self, relative: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(relative))
    }

    /// Returns the path in a variable. A leading `~` is replaced by the home folder; a relative
    /// path is relative to the working folder.
    pub fn path_var(&self, name: &str) -> Option<PathBuf> {
        let value = self.var(name)?;
        match (value.strip_prefix("~/"), value, &self.home) {
            (Some(rest), _, Some(home)) => Some(home.join(rest)),
            (None, "~", Some(home)) => Some(home.clone()),
            _ => Some(self.cwd.join(value)),
        }
    }
}
