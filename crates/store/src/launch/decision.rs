//! Whether a session of a front program is taken up again or made anew.
//!
//! A front program has an id of its own and keeps the id that the SDK knows the conversation by. The transcript of the
//! SDK decides: where it is, making the session would fail; where it is not, taking it up would. Where nobody could
//! look, either could destroy something, so the answer is no.

use boswell_model::{Error, ErrorKind, Result};

use super::{EntryId, Launch, SessionId};

/// What is known of a session that is to be started.
#[derive(Debug, Clone)]
pub struct SessionFacts {
    /// The id that the front program gave it.
    pub id: SessionId,
    /// The id that the SDK confirmed.
    pub sdk_id: Option<SessionId>,
    /// Whether the SDK was told to use the front program's id.
    pub unified: bool,
    /// Whether the SDK has said that it keeps the session: from then on it can only be taken up.
    pub registered: bool,
    /// Whether it was only prepared: no turn of it was ever admitted.
    pub prepared: bool,
    /// What was found where the SDK keeps the transcript of [`SessionFacts::sdk_session`].
    pub transcript: Transcript,
}

/// What was found where a transcript should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transcript {
    /// It has at least one record.
    Exists,
    /// It is not there, or is empty.
    Absent,
    /// Nobody could look, for this reason.
    ProbeFailed(String),
}

/// Why a session is taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// The user chose it from the history.
    History,
    /// The user went back; what follows this entry is left behind.
    Rewind(EntryId),
    /// The process that held it died.
    Crash,
    /// Its settings changed, so its process was ended and is started again.
    ConfigChange,
}

impl SessionFacts {
    /// The id that the SDK knows it by, if it was ever told one: look for the transcript of this one, else of `id`.
    pub fn sdk_session(&self) -> Option<&SessionId> {
        self.sdk_id.as_ref().or(self.unified.then_some(&self.id))
    }
}

/// Decides how a session is started. `fresh` is an unused id for one that has none that the SDK would take.
pub fn resume_decision(facts: &SessionFacts, purpose: &Use, fresh: &SessionId) -> Result<Launch> {
    let candidate = facts.sdk_session().unwrap_or(&facts.id).clone();
    match &facts.transcript {
        Transcript::ProbeFailed(reason) => {
            Err(Error::new(ErrorKind::Unavailable, format!("session {} cannot be started safely", facts.id))
                .because(format!("its transcript could not be looked for: {reason}"))
                .hinting("make the transcript readable and try again"))
        }
        Transcript::Exists => {
            let at = match purpose {
                Use::Rewind(entry) => Some(entry.clone()),
                Use::History | Use::Crash | Use::ConfigChange => None,
            };
            Ok(Launch::Resume { id: candidate, at })
        }
        Transcript::Absent => absent(facts, purpose, candidate, fresh),
    }
}

fn absent(facts: &SessionFacts, purpose: &Use, candidate: SessionId, fresh: &SessionId) -> Result<Launch> {
    if let Use::Rewind(entry) = purpose {
        return Err(Error::new(ErrorKind::NotFound, format!("session {} cannot go back to {entry}", facts.id))
            .because("it has no transcript that holds the entry")
            .hinting("start it without going back"));
    }
    // A process that only warmed up registers the session and writes its transcript with the first turn.
    if facts.registered && !facts.prepared {
        return Err(Error::new(ErrorKind::NotFound, format!("transcript of session {candidate} is gone"))
            .because("the SDK had confirmed it, so making it anew would pass over what was said")
            .hinting("get the transcript back with `boswell restore`, or start a new session"));
    }
    // An id from before the SDK took ids of others was never known to it, and would not be taken now.
    let id = if super::id::is_uuid(candidate.as_str()) { candidate } else { fresh.clone() };
    Ok(Launch::New { id })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "7924d439-b04f-4c1e-9d3b-2f6a1c8e5d70";
    const SDK: &str = "213793e6-5bf8-4d2a-8c11-aa0b6f2c9e01";
    const FRESH: &str = "00000000-0000-4000-8000-000000000001";

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    fn facts(own: &str, sdk: Option<&str>, transcript: Transcript) -> SessionFacts {
        let registered = sdk.is_some();
        let unified = sdk.is_none_or(|sdk| sdk == own);
        SessionFacts { id: id(own), sdk_id: sdk.map(id), unified, registered, prepared: false, transcript }
    }

    fn decided(facts: &SessionFacts, purpose: &Use) -> Result<Launch> {
        resume_decision(facts, purpose, &id(FRESH))
    }

    fn uses() -> [Use; 4] {
        [Use::History, Use::Rewind(EntryId::parse(SDK).unwrap()), Use::Crash, Use::ConfigChange]
    }

    #[test]
    fn unified_session_is_taken_up_under_its_own_id_for_all_four_uses() {
        for purpose in uses() {
            let launch = decided(&facts(OWN, Some(OWN), Transcript::Exists), &purpose).unwrap();
            let at = matches!(purpose, Use::Rewind(_)).then(|| EntryId::parse(SDK).unwrap());
            assert_eq!(launch, Launch::Resume { id: id(OWN), at });
        }
    }

    #[test]
    fn session_of_two_ids_is_taken_up_under_the_one_that_the_sdk_knows() {
        let old = facts("session-1738800000-abc123", Some(SDK), Transcript::Exists);
        for purpose in uses() {
            assert_eq!(decided(&old, &purpose).unwrap().id(), &id(SDK));
        }
    }

    #[test]
    fn session_that_was_never_asked_anything_is_made_under_its_own_id() {
        for purpose in [Use::History, Use::Crash, Use::ConfigChange] {
            let launch = decided(&facts(OWN, None, Transcript::Absent), &purpose).unwrap();
            assert_eq!(launch, Launch::New { id: id(OWN) });
        }
        let mut legacy = facts("session-1738800000-abc123", None, Transcript::Absent);
        legacy.unified = false;
        assert_eq!(decided(&legacy, &Use::History).unwrap(), Launch::New { id: id(FRESH) });
    }

    #[test]
    fn transcript_that_was_written_before_its_id_was_saved_is_taken_up() {
        let launch = decided(&facts(OWN, None, Transcript::Exists), &Use::Crash).unwrap();
        assert_eq!(launch, Launch::Resume { id: id(OWN), at: None });
    }

    #[test]
    fn prepared_session_is_made_even_if_a_warm_up_registered_it() {
        let mut prepared = facts(OWN, Some(OWN), Transcript::Absent);
        prepared.prepared = true;
        assert_eq!(decided(&prepared, &Use::ConfigChange).unwrap(), Launch::New { id: id(OWN) });
    }

    #[test]
    fn registered_session_is_never_made_again() {
        for purpose in uses() {
            let error = decided(&facts(OWN, Some(OWN), Transcript::Absent), &purpose).unwrap_err();
            assert!(error.is_not_found());
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn nothing_is_started_when_nobody_could_look() {
        for purpose in uses() {
            let unknown = facts(OWN, Some(OWN), Transcript::ProbeFailed("permission denied".to_owned()));
            assert_eq!(decided(&unknown, &purpose).unwrap_err().kind(), ErrorKind::Unavailable);
        }
    }

    #[test]
    fn going_back_needs_a_transcript() {
        let launch = decided(&facts(OWN, None, Transcript::Absent), &uses()[1]);
        assert!(launch.unwrap_err().is_not_found());
    }
}
