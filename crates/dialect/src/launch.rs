//! How an agent is started on a session: a new session, an existing one, or a fork.
//!
//! Agents accept either the id of a session to create or the id of one to resume, never both,
//! except for a fork. A [`Launch`] is one of the three, so that the two cannot be combined by
//! mistake; [`resume_decision`](crate::resume_decision) chooses. Nothing is started here: the
//! arguments for a command line and the options for an SDK are data.

mod argument;
mod confirm;

use boswell_model::{Error, ErrorKind, Result};

use crate::uuid::is_uuid;

pub use argument::{EntryArgument, SessionArgument};
pub use confirm::{Confirmation, Confirmed};

/// A way to start an agent on a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// Creates a new session with this id.
    New {
        /// Id of the new session.
        id: SessionArgument,
    },
    /// Resumes a session.
    Resume {
        /// Id of the session.
        id: SessionArgument,
        /// The last entry to keep; later entries are ignored.
        at: Option<EntryArgument>,
    },
    /// Copies a session and resumes the copy. Created with [`Launch::fork`], because the two ids
    /// must differ.
    #[non_exhaustive]
    Fork {
        /// The session that is copied.
        from: SessionArgument,
        /// The id of the copy.
        id: SessionArgument,
        /// The last entry that is copied.
        at: Option<EntryArgument>,
    },
}

/// The options of Claude's SDK that select the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SdkOptions {
    /// `sessionId`
    pub session_id: Option<String>,
    /// `resume`
    pub resume: Option<String>,
    /// `resumeSessionAt`
    pub resume_session_at: Option<String>,
    /// `forkSession`
    pub fork_session: bool,
}

impl Launch {
    /// Creates a fork of one session under another id.
    pub fn fork(
        from: SessionArgument,
        id: SessionArgument,
        at: Option<EntryArgument>,
    ) -> Result<Launch> {
        if from == id {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("session {id} cannot be copied onto itself"),
            )
            .because("a copy needs an id of its own")
            .advising("give the copy a new id, or resume the session instead"));
        }
        Ok(Launch::Fork { from, id, at })
    }

    /// Returns the id of the session that will be written to.
    pub fn id(&self) -> &SessionArgument {
        match self {
            Launch::New { id } | Launch::Resume { id, .. } | Launch::Fork { id, .. } => id,
        }
    }

    /// Returns the options for Claude's SDK.
    pub fn sdk_options(&self) -> Result<SdkOptions> {
        let entry =
            |at: &Option<EntryArgument>| at.as_ref().map(|at| uuid(at.as_str())).transpose();
        let options = match self {
            Launch::New { id } => SdkOptions {
                session_id: Some(uuid(id.as_str())?),
                ..SdkOptions::default()
            },
            Launch::Resume { id, at } => {
                let resume = Some(uuid(id.as_str())?);
                SdkOptions {
                    resume,
                    resume_session_at: entry(at)?,
                    ..SdkOptions::default()
                }
            }
            Launch::Fork { from, id, at } => SdkOptions {
                session_id: Some(uuid(id.as_str())?),
                resume: Some(uuid(from.as_str())?),
                resume_session_at: entry(at)?,
                fork_session: true,
            },
        };
        Ok(options)
    }

    /// Returns the arguments for Claude's command line. Starting at an entry works only without its
    /// user interface (`-p`).
    pub fn argv(&self) -> Result<Vec<String>> {
        let options = self.sdk_options()?;
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                words.extend([name.to_owned(), value]);
            }
        };
        option("--resume", options.resume);
        option("--resume-session-at", options.resume_session_at);
        if options.fork_session {
            words.push("--fork-session".to_owned());
        }
        if let Some(id) = options.session_id {
            words.extend(["--session-id".to_owned(), id]);
        }
        Ok(words)
    }
}

fn uuid(text: &str) -> Result<String> {
    if is_uuid(text) {
        return Ok(text.to_owned());
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        format!("claude cannot be started on `{text}`"),
    )
    .because("it takes UUIDs only")
    .advising("start a new session under a UUID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "7924d439-b04f-4c1e-9d3b-2f6a1c8e5d70";
    const B: &str = "213793e6-5bf8-4d2a-8c11-aa0b6f2c9e01";

    fn id(text: &str) -> SessionArgument {
        SessionArgument::parse(text).unwrap()
    }

    fn entry(text: &str) -> Option<EntryArgument> {
        Some(EntryArgument::parse(text).unwrap())
    }

    #[test]
    fn each_launch_has_its_own_words() {
        for (launch, words) in [
            (Launch::New { id: id(A) }, vec!["--session-id", A]),
            (
                Launch::Resume {
                    id: id(A),
                    at: None,
                },
                vec!["--resume", A],
            ),
            (
                Launch::Resume {
                    id: id(A),
                    at: entry(B),
                },
                vec!["--resume", A, "--resume-session-at", B],
            ),
            (
                Launch::fork(id(A), id(B), None).unwrap(),
                vec!["--resume", A, "--fork-session", "--session-id", B],
            ),
        ] {
            assert_eq!(launch.argv().unwrap(), words);
            let options = launch.sdk_options().unwrap();
            let both = options.session_id.is_some() && options.resume.is_some();
            assert_eq!(
                both, options.fork_session,
                "make and take up go together only for a copy"
            );
        }
    }

    #[test]
    fn copy_onto_itself_cannot_be_built() {
        assert_eq!(
            Launch::fork(id(A), id(A), None).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }

    #[test]
    fn id_that_claude_would_not_take_is_refused_before_it_is_started() {
        let legacy = id("session-1738800000-abc123");
        assert_eq!(
            Launch::New { id: legacy.clone() }
                .argv()
                .unwrap_err()
                .kind(),
            ErrorKind::Unsupported
        );
        assert_eq!(
            Launch::Resume {
                id: id(A),
                at: entry("abc")
            }
            .argv()
            .unwrap_err()
            .kind(),
            ErrorKind::Unsupported
        );
    }
}
