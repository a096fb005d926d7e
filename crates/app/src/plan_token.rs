//! Tokens that bind the execution of a plan to the plan that was shown.

use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::vault::Digest;

/// Identifies a plan for a session. A request with the token plans again, and refuses if the new
/// plan differs from the shown one: in the meantime a name such as `@last` may select another
/// session, or the session may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanToken {
    /// The session.
    pub session: SessionRef,
    /// Opaque; differs if the plan differs.
    pub digest: String,
}

impl PlanToken {
    /// Creates the token of a plan that depends on these parts.
    pub(crate) fn new(session: SessionRef, parts: &[String]) -> PlanToken {
        // Parts are paths, keys and hashes. None contains a line break, which separates them; a
        // false match would also need the same session.
        PlanToken {
            session,
            digest: Digest::of(parts.join("\n").as_bytes()).to_string(),
        }
    }

    /// Fails if this plan is not the one that was shown.
    pub(crate) fn require(&self, shown: Option<&PlanToken>) -> Result<()> {
        if shown == Some(self) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("{} is not as its plan was shown", self.session),
        )
        .because("it changed since, or its name means another session now")
        .advising("look at the plan again"))
    }
}

#[cfg(test)]
mod tests;
