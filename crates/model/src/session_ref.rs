//! Session references: `DIALECT:ID`.

use std::fmt;

/// A reference to one physical session: a dialect, and the id in that dialect. Written
/// `DIALECT:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionRef {
    /// Name of the dialect.
    pub dialect: String,
    /// Id of the session.
    pub id: String,
}

impl SessionRef {
    /// Creates a reference from its parts.
    pub fn new(dialect: impl Into<String>, id: impl Into<String>) -> Self {
        SessionRef {
            dialect: dialect.into(),
            id: id.into(),
        }
    }

    /// Returns the reference quoted for a shell, for commands that users copy: ids of some agents
    /// may contain blanks, quotes and `$`.
    pub fn to_argument(&self) -> String {
        crate::shell_quote(&self.to_string())
    }
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dialect, self.id)
    }
}
