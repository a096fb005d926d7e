//! Confirms which session id the agent really uses, from what it reports after its start.
//!
//! The SDK's first message states its id; a session is unified if that equals the id that it was
//! started with.

use boswell_model::{Error, ErrorKind, Result};

use super::SessionArgument;

/// A started session whose agent may have reported its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    own: SessionArgument,
    confirmed: Option<SessionArgument>,
}

/// The id that the agent reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// The id that the agent uses.
    pub external: SessionArgument,
    /// Whether the reported id is our own id.
    pub unified: bool,
}

impl Confirmation {
    /// Creates the state of a session that was started under our id and has not reported one yet.
    pub fn pending(own: SessionArgument) -> Self {
        Confirmation {
            own,
            confirmed: None,
        }
    }

    /// Creates the state of a session whose agent has already reported its id.
    pub fn known(own: SessionArgument, external: SessionArgument) -> Self {
        Confirmation {
            own,
            confirmed: Some(external),
        }
    }

    /// Returns the reported id; `None` before the agent reported one.
    pub fn confirmed(&self) -> Option<Confirmed> {
        let external = self.confirmed.clone()?;
        Some(Confirmed {
            unified: external == self.own,
            external,
        })
    }

    /// Records the id that the agent reports. The same id again is accepted; a different one is an
    /// error.
    pub fn confirm(&mut self, external: SessionArgument) -> Result<Confirmed> {
        if let Some(before) = self
            .confirmed
            .as_ref()
            .filter(|before| **before != external)
        {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("session {} is already {before}", self.own),
            )
            .because(format!("the agent now reports the id {external}"))
            .advising(
                "it was started on another session: record that one as a session of its own",
            ));
        }
        let unified = external == self.own;
        self.confirmed = Some(external.clone());
        Ok(Confirmed { external, unified })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionArgument {
        SessionArgument::parse(text).unwrap()
    }

    #[test]
    fn session_is_unified_when_the_agent_uses_our_id() {
        let mut started = Confirmation::pending(id("ours"));
        assert_eq!(started.confirmed(), None);
        assert_eq!(
            started.confirm(id("ours")).unwrap(),
            Confirmed {
                external: id("ours"),
                unified: true
            }
        );
        let mut other = Confirmation::pending(id("ours"));
        assert!(!other.confirm(id("theirs")).unwrap().unified);
        assert_eq!(other, Confirmation::known(id("ours"), id("theirs")));
    }

    #[test]
    fn agent_that_changes_its_mind_is_a_conflict_and_changes_nothing() {
        let mut started = Confirmation::known(id("ours"), id("theirs"));
        assert!(
            started.confirm(id("theirs")).is_ok(),
            "it says so at every start"
        );
        assert_eq!(
            started.confirm(id("third")).unwrap_err().kind(),
            ErrorKind::Conflict
        );
        assert_eq!(started.confirmed().unwrap().external, id("theirs"));
    }
}
