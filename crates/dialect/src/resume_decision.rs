//! Decides whether a session of a front program is resumed or created. This is the only place that
//! decides it.
//!
//! A front program such as MyAgents has an id of its own for a session and runs Claude's SDK. The
//! SDK accepts `sessionId` (create a session with this id) or `resume` (continue one), never both.
//! The wrong choice loses the model's memory of the conversation, or fails with "already in use".
//!
//! Old and new ids work side by side, in three combinations: an old session has two ids, its own
//! and the stored one of the SDK (`sdk_id`); a new one is unified, one UUID for both (`unified`);
//! and a session that the SDK never saw has only its own. The stored SDK id is resumed, else
//! the unified id, else none: the session is created.
//!
//! The records of the front program do not prove that the SDK has a transcript, so the transcript
//! decides: if there is one, creating the session would fail; if there is none, resuming it would.
//! If the search for the transcript failed, either choice could split the conversation in two, so
//! the session is not started.

use boswell_model::{Advice, Error, ErrorKind, SessionRef};

use crate::launch::{EntryArgument, Launch, SessionArgument};
use crate::uuid::is_uuid;

/// What a front program recorded about a session to be started.
///
/// Ids are as recorded, of any version and form. Only a UUID is ever used in a [`Launch`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResumeFacts<'a> {
    /// The front program's id of the session.
    pub id: &'a str,
    /// The id that the SDK reported, if it has.
    pub sdk_id: Option<&'a str>,
    /// Whether the SDK was asked to use the front program's id.
    pub unified: bool,
    /// Whether the SDK is known to have stored the session: from then on it can only be resumed.
    pub registered: bool,
    /// Whether the session was only prepared: no prompt was ever sent.
    pub prepared: bool,
    /// The engine that has the conversation, if it is not Claude's SDK.
    pub other_engine: Option<&'a str>,
    /// Whether a rewind was started and not finished.
    pub unfinished_rewind: bool,
}

/// Why a session is started (seed 001 names these four).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeReason {
    /// The user opened it from the history.
    History,
    /// The user went back to this entry; later entries are dropped.
    Rewind(EntryArgument),
    /// The process of the session died.
    Crash,
    /// The settings changed, so the process was stopped and is started again.
    ConfigChange,
}

/// Result of the search for the SDK's transcript of [`ResumeFacts::sdk_session`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// A transcript with at least one record.
    Found,
    /// No transcript, or an empty one.
    Absent,
    /// The search failed, for this reason.
    Failed(String),
}

/// How a session is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeDecision {
    /// Start in this way.
    Start(Launch),
    /// Start as a new session under an unused id: the SDK has no session with the recorded id, and
    /// would not accept that id.
    StartUnderNewId,
}

/// Why a session is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeRefusal {
    /// A rewind must be finished or cancelled first.
    UnfinishedRewind,
    /// The conversation belongs to this engine.
    OtherEngine(String),
    /// It is unknown whether the SDK has a transcript, for this reason.
    ProbeFailed(String),
    /// The SDK had stored the session, and its transcript is missing.
    TranscriptGone,
    /// There is no transcript that could contain the entry to go back to.
    NothingToRewind(EntryArgument),
}

impl<'a> ResumeFacts<'a> {
    /// Returns the id under which the SDK has the session, or would have it: the reported one, else
    /// the shared one.
    pub fn sdk_session(&self) -> Option<&'a str> {
        self.sdk_id.or_else(|| self.unified.then_some(self.id))
    }
}

/// Decides how a session is started. `probe` is the search result for [`ResumeFacts::sdk_session`].
pub fn decide(
    meta: &ResumeFacts<'_>,
    reason: &ResumeReason,
    probe: &Probe,
) -> Result<ResumeDecision, ResumeRefusal> {
    if meta.unfinished_rewind {
        return Err(ResumeRefusal::UnfinishedRewind);
    }
    if let Some(engine) = meta.other_engine {
        return Err(ResumeRefusal::OtherEngine(engine.to_owned()));
    }
    // Ids such as `cron-im-<uuid>` belong to the front program alone: the SDK rejects them, so it
    // has no transcript for them.
    let known = meta
        .sdk_session()
        .filter(|id| is_uuid(id))
        .and_then(|id| SessionArgument::parse(id).ok());
    match (known, probe) {
        (Some(_), Probe::Failed(why)) => Err(ResumeRefusal::ProbeFailed(why.clone())),
        (Some(id), Probe::Found) => {
            let at = if let ResumeReason::Rewind(entry) = reason {
                Some(entry.clone())
            } else {
                None
            };
            Ok(ResumeDecision::Start(Launch::Resume { id, at }))
        }
        (known, _) => without_transcript(meta, reason, known),
    }
}

fn without_transcript(
    meta: &ResumeFacts<'_>,
    reason: &ResumeReason,
    known: Option<SessionArgument>,
) -> Result<ResumeDecision, ResumeRefusal> {
    if let ResumeReason::Rewind(entry) = reason {
        return Err(ResumeRefusal::NothingToRewind(entry.clone()));
    }
    // A process that was only prepared registers the session, but writes its transcript with the
    // first prompt.
    if meta.registered && !meta.prepared {
        return Err(ResumeRefusal::TranscriptGone);
    }
    Ok(known.map_or(ResumeDecision::StartUnderNewId, |id| {
        ResumeDecision::Start(Launch::New { id })
    }))
}

impl ResumeDecision {
    /// Returns the launch; `unused` is the id for [`ResumeDecision::StartUnderNewId`].
    pub fn or_new(self, unused: SessionArgument) -> Launch {
        match self {
            ResumeDecision::Start(launch) => launch,
            ResumeDecision::StartUnderNewId => Launch::New { id: unused },
        }
    }
}

impl ResumeRefusal {
    /// Converts the refusal to an error about this session.
    pub fn to_error(&self, session: &SessionRef) -> Error {
        let id = &session.id;
        match self {
            ResumeRefusal::UnfinishedRewind => {
                Error::new(ErrorKind::Conflict, format!("session {id} cannot be resumed now"))
                    .because("a rewind was started and not finished")
                    .advising(Advice::check(session).also("the next change settles it"))
            }
            ResumeRefusal::OtherEngine(engine) => {
                Error::new(ErrorKind::Unsupported, format!("session {id} cannot be resumed with Claude"))
                    .because(format!("its conversation is with the engine `{}`", engine.escape_debug()))
                    .advising("resume it with that engine")
            }
            ResumeRefusal::ProbeFailed(why) => {
                Error::new(ErrorKind::Unavailable, format!("session {id} cannot be resumed now"))
                    .because(format!(
                        "its transcript could not be looked for, and creating it again could split it: {why}"
                    ))
                    .advising("make Claude's store readable and try again")
            }
            ResumeRefusal::TranscriptGone => {
                Error::new(ErrorKind::NotFound, format!("the transcript of session {id} is missing"))
                    .because("the SDK had stored it, so creating it again would lose the conversation")
                    .advising(Advice::Restore { session: None }.or("start a new session"))
            }
            ResumeRefusal::NothingToRewind(entry) => {
                Error::new(ErrorKind::NotFound, format!("session {id} cannot go back to {entry}"))
                    .because("it has no transcript that holds the entry")
                    .advising("start it without going back")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
    const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";
    const OLD: &str = "session-1738800000-abc123";

    const NEVER_ASKED: ResumeFacts<'_> = ResumeFacts {
        id: OWN,
        sdk_id: None,
        unified: true,
        registered: false,
        prepared: false,
        other_engine: None,
        unfinished_rewind: false,
    };
    const UNIFIED: ResumeFacts<'_> = ResumeFacts {
        sdk_id: Some(OWN),
        ..NEVER_ASKED
    };
    const TWO_IDS: ResumeFacts<'_> = ResumeFacts {
        id: OLD,
        sdk_id: Some(SDK),
        unified: false,
        ..NEVER_ASKED
    };
    const NEVER_ASKED_OLD: ResumeFacts<'_> = ResumeFacts {
        id: OLD,
        unified: false,
        ..NEVER_ASKED
    };

    fn id(text: &str) -> SessionArgument {
        SessionArgument::parse(text).unwrap()
    }

    fn entry() -> EntryArgument {
        EntryArgument::parse("m1").unwrap()
    }

    fn resume(text: &str) -> Result<ResumeDecision, ResumeRefusal> {
        Ok(ResumeDecision::Start(Launch::Resume {
            id: id(text),
            at: None,
        }))
    }

    fn rewind(text: &str) -> Result<ResumeDecision, ResumeRefusal> {
        Ok(ResumeDecision::Start(Launch::Resume {
            id: id(text),
            at: Some(entry()),
        }))
    }

    fn create(text: &str) -> Result<ResumeDecision, ResumeRefusal> {
        Ok(ResumeDecision::Start(Launch::New { id: id(text) }))
    }

    fn failed() -> Probe {
        Probe::Failed("permission denied".to_owned())
    }

    fn other_than_rewind() -> [ResumeReason; 3] {
        [
            ResumeReason::History,
            ResumeReason::Crash,
            ResumeReason::ConfigChange,
        ]
    }

    fn reasons() -> impl Iterator<Item = ResumeReason> {
        other_than_rewind()
            .into_iter()
            .chain([ResumeReason::Rewind(entry())])
    }

    #[test]
    fn unified_session_is_taken_up_under_its_own_id_for_all_four_uses() {
        for reason in other_than_rewind() {
            assert_eq!(decide(&UNIFIED, &reason, &Probe::Found), resume(OWN));
        }
        assert_eq!(
            decide(&UNIFIED, &ResumeReason::Rewind(entry()), &Probe::Found),
            rewind(OWN)
        );
    }

    #[test]
    fn session_of_two_ids_is_taken_up_under_the_one_that_the_sdk_knows() {
        for reason in other_than_rewind() {
            assert_eq!(decide(&TWO_IDS, &reason, &Probe::Found), resume(SDK));
        }
        assert_eq!(
            decide(&TWO_IDS, &ResumeReason::Rewind(entry()), &Probe::Found),
            rewind(SDK)
        );
    }

    #[test]
    fn seed_table_of_the_history_has_three_rows() {
        // The seed trusts the record; here the transcript that the record implies is found as well.
        assert_eq!(
            decide(&UNIFIED, &ResumeReason::History, &Probe::Found),
            resume(OWN)
        );
        assert_eq!(
            decide(&TWO_IDS, &ResumeReason::History, &Probe::Found),
            resume(SDK)
        );
        assert_eq!(
            decide(&NEVER_ASKED, &ResumeReason::History, &Probe::Absent),
            create(OWN)
        );
        let never_unified = decide(&NEVER_ASKED_OLD, &ResumeReason::History, &Probe::Absent);
        assert_eq!(
            never_unified,
            Ok(ResumeDecision::StartUnderNewId),
            "the SDK would not take its id"
        );
    }

    #[test]
    fn session_that_was_never_asked_anything_is_made_under_its_own_id() {
        for reason in other_than_rewind() {
            assert_eq!(decide(&NEVER_ASKED, &reason, &Probe::Absent), create(OWN));
        }
    }

    #[test]
    fn session_whose_id_the_sdk_would_not_take_is_made_under_a_new_one_whatever_was_found() {
        let cron = ResumeFacts {
            id: "cron-im-x",
            sdk_id: Some("cron-im-x"),
            ..UNIFIED
        };
        let option = ResumeFacts {
            sdk_id: Some("--dangerously-skip-permissions"),
            ..UNIFIED
        };
        for meta in [NEVER_ASKED_OLD, cron, option] {
            for probe in [Probe::Found, Probe::Absent, failed()] {
                let decision = decide(&meta, &ResumeReason::History, &probe).unwrap();
                assert_eq!(decision, ResumeDecision::StartUnderNewId, "{meta:?}");
                assert_eq!(decision.or_new(id(SDK)), Launch::New { id: id(SDK) });
            }
        }
        assert_eq!(
            decide(&UNIFIED, &ResumeReason::Crash, &Probe::Found)
                .unwrap()
                .or_new(id(SDK))
                .id(),
            &id(OWN)
        );
    }

    #[test]
    fn transcript_that_was_written_before_its_id_was_saved_is_taken_up() {
        for reason in other_than_rewind() {
            assert_eq!(decide(&NEVER_ASKED, &reason, &Probe::Found), resume(OWN));
        }
    }

    #[test]
    fn recorded_id_alone_does_not_prove_that_the_sdk_stored_the_session() {
        for reason in other_than_rewind() {
            assert_eq!(decide(&UNIFIED, &reason, &Probe::Absent), create(OWN));
            assert_eq!(decide(&TWO_IDS, &reason, &Probe::Absent), create(SDK));
        }
    }

    #[test]
    fn registered_session_is_never_made_again() {
        for meta in [UNIFIED, TWO_IDS, NEVER_ASKED, NEVER_ASKED_OLD] {
            let meta = ResumeFacts {
                registered: true,
                ..meta
            };
            for reason in other_than_rewind() {
                assert_eq!(
                    decide(&meta, &reason, &Probe::Absent),
                    Err(ResumeRefusal::TranscriptGone)
                );
            }
        }
        assert_eq!(
            decide(
                &ResumeFacts {
                    registered: true,
                    ..UNIFIED
                },
                &ResumeReason::Crash,
                &Probe::Found
            ),
            resume(OWN)
        );
    }

    #[test]
    fn prepared_session_is_made_even_if_a_warm_up_registered_it() {
        let prepared = ResumeFacts {
            registered: true,
            prepared: true,
            ..UNIFIED
        };
        assert_eq!(
            decide(&prepared, &ResumeReason::ConfigChange, &Probe::Absent),
            create(OWN)
        );
        assert_eq!(
            decide(&prepared, &ResumeReason::ConfigChange, &Probe::Found),
            resume(OWN)
        );
    }

    #[test]
    fn nothing_is_started_when_the_transcript_could_not_be_looked_for() {
        for meta in [UNIFIED, TWO_IDS, NEVER_ASKED] {
            for reason in reasons() {
                let why = ResumeRefusal::ProbeFailed("permission denied".to_owned());
                assert_eq!(decide(&meta, &reason, &failed()), Err(why));
            }
        }
    }

    #[test]
    fn going_back_needs_a_transcript() {
        for meta in [UNIFIED, TWO_IDS, NEVER_ASKED, NEVER_ASKED_OLD] {
            let refused = decide(&meta, &ResumeReason::Rewind(entry()), &Probe::Absent);
            assert_eq!(refused, Err(ResumeRefusal::NothingToRewind(entry())));
        }
    }

    #[test]
    fn other_engines_and_unfinished_rewinds_are_refused_whatever_was_found() {
        for reason in reasons() {
            for probe in [Probe::Found, Probe::Absent, failed()] {
                let codex = ResumeFacts {
                    other_engine: Some("codex"),
                    ..UNIFIED
                };
                let refused = decide(&codex, &reason, &probe);
                assert_eq!(refused, Err(ResumeRefusal::OtherEngine("codex".to_owned())));
                let pending = ResumeFacts {
                    unfinished_rewind: true,
                    ..UNIFIED
                };
                assert_eq!(
                    decide(&pending, &reason, &probe),
                    Err(ResumeRefusal::UnfinishedRewind)
                );
            }
        }
    }

    #[test]
    fn every_refusal_is_an_error_of_its_kind_that_names_the_session_and_the_next_step() {
        let session = SessionRef::new("myagents", OWN);
        for (refusal, kind) in [
            (ResumeRefusal::UnfinishedRewind, ErrorKind::Conflict),
            (
                ResumeRefusal::OtherEngine("codex".to_owned()),
                ErrorKind::Unsupported,
            ),
            (
                ResumeRefusal::ProbeFailed("permission denied".to_owned()),
                ErrorKind::Unavailable,
            ),
            (ResumeRefusal::TranscriptGone, ErrorKind::NotFound),
            (ResumeRefusal::NothingToRewind(entry()), ErrorKind::NotFound),
        ] {
            let error = refusal.to_error(&session);
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(OWN), "{error}");
            assert!(error.advice().is_some(), "{error}");
        }
    }
}
