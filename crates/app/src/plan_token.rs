//! Tokens that bind the execution of a plan to the plan that was shown.

use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::vault::Digest;

/// Identifies a plan for a session. A request that gets it back plans again, and refuses to do
/// anything else than what was shown: between the two requests a name such as `@last` may have come
/// to mean another session, or the session may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanToken {
    /// The session.
    pub session: SessionRef,
    /// Opaque; it is another one when the plan would be another one.
    pub digest: String,
}

impl PlanToken {
    /// The token of a plan that depends on these parts.
    pub(crate) fn new(session: SessionRef, parts: &[String]) -> PlanToken {
        // Parts are paths, keys and hashes; none of them has a line break that could be confused
        // with the end of a part, and a false match would need the very same session.
        PlanToken {
            session,
            digest: Digest::of(parts.join("\n").as_bytes()).to_string(),
        }
    }

    /// Fails if this plan, made now, is not the one that was shown.
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
