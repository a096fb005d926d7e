//! How sessions are named.

use std::fmt;

/// Which physical session: a dialect, and the id in its own words. Written `DIALECT:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionRef {
    /// Name of the dialect.
    pub dialect: String,
    /// Id of the session.
    pub id: String,
}

impl SessionRef {
    /// A reference from its parts.
    pub fn new(dialect: impl Into<String>, id: impl Into<String>) -> Self {
        SessionRef {
            dialect: dialect.into(),
            id: id.into(),
        }
    }

    /// The reference as one word of a command that people copy into a shell: some agents' ids may
    /// contain blanks, quotes and `$`.
    pub fn to_argument(&self) -> String {
        crate::shell_quote(&self.to_string())
    }
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dialect, self.id)
    }
}
