//! Confirms which session id the agent really uses, from what it reports after its start.

use boswell_model::{Error, ErrorKind, Result};

use super::SessionId;

/// A session that was started and has, or has not yet, said its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    own: SessionId,
    confirmed: Option<SessionId>,
}

/// What the agent said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// The id that the agent uses.
    pub external: SessionId,
    /// Whether it is our own id.
    pub unified: bool,
}

impl Confirmation {
    /// A session that was started under our id and has said nothing yet.
    pub fn pending(own: SessionId) -> Self {
        Confirmation {
            own,
            confirmed: None,
        }
    }

    /// Creates the state of a session whose agent has already reported its id.
    pub fn known(own: SessionId, external: SessionId) -> Self {
        Confirmation {
            own,
            confirmed: Some(external),
        }
    }

    /// What the agent said; none while it has not.
    pub fn confirmed(&self) -> Option<Confirmed> {
        let external = self.confirmed.clone()?;
        Some(Confirmed {
            unified: external == self.own,
            external,
        })
    }

    /// Takes note of what the agent says. Saying the same again is fine; saying
    /// something else is not.
    pub fn confirm(&mut self, external: SessionId) -> Result<Confirmed> {
        if let Some(before) = self
            .confirmed
            .as_ref()
            .filter(|before| **before != external)
        {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("session {} is already {before}", self.own),
            )
            .because(format!("the agent now says that it is {external}"))
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

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
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
