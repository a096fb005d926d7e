//! How MyAgents takes up a conversation with the Claude SDK: what seed 001 says, and what the newest version does.
//!
//! The SDK takes `sessionId` (begin a session under this id) or `resume` (go on with one), never both; `resumeSessionAt`
//! goes with `resume` only. A wrong choice costs the user the model's memory of the conversation, or fails with "already
//! in use".

use super::id::is_uuid;

/// What the row of a session says about its identity.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity<'a> {
    /// The session's own id.
    pub id: &'a str,
    /// The SDK's id, once it has told one.
    pub sdk: Option<&'a str>,
    /// Whether the session was born under the rule that both ids are one.
    pub unified: bool,
    /// The engine; none stands for the built-in one.
    pub runtime: Option<&'a str>,
    /// Whether a rewind was begun and not finished.
    pub has_intent: bool,
}

/// Why the app starts the SDK for a session (seed 001 names these four).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Situation<'a> {
    /// The user opens a session of the history.
    History,
    /// The user rewound it; the SDK shall forget what comes after this message.
    Rewind {
        /// The SDK's id of the last message that stays.
        keep: &'a str,
    },
    /// The engine's process died.
    Crash,
    /// Servers or settings changed, so the engine starts anew.
    Restart,
}

/// What to ask of the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Go on with this session, perhaps only up to a message.
    Resume {
        /// The SDK's session.
        session: String,
        /// The last message that stays.
        at: Option<String>,
    },
    /// Begin a session under this id.
    Create {
        /// The id.
        session: String,
    },
    /// Begin a session under an id that is yet to be made.
    CreateNew,
    /// Do not start.
    Refuse(Refusal),
}

/// Why the app does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A rewind must be finished or taken back first.
    PendingRewind,
    /// The conversation is held by another engine.
    OtherEngine,
    /// Nobody can say whether the SDK knows the session; to create it would fork the conversation.
    ProbeFailed,
}

/// What a look at the SDK's own store found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// A transcript with at least one message.
    Found,
    /// None.
    Absent,
    /// The look failed.
    Failed,
}

impl<'a> Identity<'a> {
    /// The id under which the SDK knows the session, or would: its own word, else the shared id.
    pub fn sdk_session(&self) -> Option<&'a str> {
        self.sdk.or_else(|| self.unified.then_some(self.id))
    }
}

/// What seed 001 says: for a session of the history the row decides, for one in memory whether the SDK has it.
pub fn by_seed(identity: Identity<'_>, situation: Situation<'_>, registered: bool) -> Choice {
    let known = match (identity.unified, identity.sdk) {
        (true, Some(_)) => Some(identity.id),
        (_, sdk) => sdk,
    };
    let known = match situation {
        Situation::History => known,
        _ => registered.then(|| known.unwrap_or(identity.id)),
    };
    let at = if let Situation::Rewind { keep } = situation { Some(keep.to_owned()) } else { None };
    match known {
        Some(session) => Choice::Resume { session: session.to_owned(), at },
        None => Choice::Create { session: identity.id.to_owned() },
    }
}

/// What the newest version does: it asks the SDK's store instead of its own memory.
///
/// The row is no proof that the SDK has a transcript, so the candidate is looked up first; if it is not there, a session
/// is created under the same id. A prepared row goes the same way: it is only hidden.
pub fn by_probe(identity: Identity<'_>, situation: Situation<'_>, probe: Probe) -> Choice {
    if identity.has_intent {
        return Choice::Refuse(Refusal::PendingRewind);
    }
    if identity.runtime.is_some_and(|runtime| runtime != "builtin") {
        return Choice::Refuse(Refusal::OtherEngine);
    }
    // Ids such as `cron-im-<uuid>` are the app's own; the SDK refuses what is not a bare UUID.
    let Some(session) = identity.sdk_session().filter(|id| is_uuid(id)) else { return Choice::CreateNew };
    let at = if let Situation::Rewind { keep } = situation { Some(keep.to_owned()) } else { None };
    match probe {
        Probe::Found => Choice::Resume { session: session.to_owned(), at },
        Probe::Absent => Choice::Create { session: session.to_owned() },
        Probe::Failed => Choice::Refuse(Refusal::ProbeFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
    const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";
    const OLD: &str = "session-1738800000-abc123";

    const UNIFIED: Identity<'_> = Identity { id: OWN, sdk: Some(OWN), unified: true, runtime: None, has_intent: false };
    const LEGACY: Identity<'_> = Identity { id: OLD, sdk: Some(SDK), unified: false, ..UNIFIED };
    const NEVER: Identity<'_> = Identity { id: OWN, sdk: None, unified: true, ..UNIFIED };
    const NEVER_OLD: Identity<'_> = Identity { id: OLD, sdk: None, unified: false, ..UNIFIED };

    fn resume(session: &str) -> Choice {
        Choice::Resume { session: session.to_owned(), at: None }
    }

    fn create(session: &str) -> Choice {
        Choice::Create { session: session.to_owned() }
    }

    #[test]
    fn seed_table_of_the_history_has_three_rows() {
        assert_eq!(by_seed(UNIFIED, Situation::History, false), resume(OWN));
        assert_eq!(by_seed(LEGACY, Situation::History, false), resume(SDK));
        assert_eq!(by_seed(NEVER, Situation::History, false), create(OWN));
        assert_eq!(by_seed(NEVER_OLD, Situation::History, false), create(OLD));
    }

    #[test]
    fn seed_resumes_in_memory_only_what_the_sdk_has_registered() {
        for situation in [Situation::Crash, Situation::Restart] {
            assert_eq!(by_seed(UNIFIED, situation, true), resume(OWN));
            assert_eq!(by_seed(LEGACY, situation, true), resume(SDK));
            assert_eq!(by_seed(NEVER, situation, true), resume(OWN), "registered before the row was told");
            assert_eq!(by_seed(UNIFIED, situation, false), create(OWN));
        }
        let rewind = Situation::Rewind { keep: "m1" };
        assert_eq!(by_seed(UNIFIED, rewind, true), Choice::Resume { session: OWN.into(), at: Some("m1".into()) });
        assert_eq!(by_seed(UNIFIED, rewind, false), create(OWN), "the cut goes with resume only");
    }

    #[test]
    fn newest_version_asks_the_sdk_store_in_all_four_situations() {
        for situation in [Situation::History, Situation::Crash, Situation::Restart] {
            assert_eq!(by_probe(UNIFIED, situation, Probe::Found), resume(OWN));
            assert_eq!(by_probe(LEGACY, situation, Probe::Found), resume(SDK));
            assert_eq!(by_probe(NEVER, situation, Probe::Found), resume(OWN), "a transcript proves it");
            assert_eq!(by_probe(NEVER, situation, Probe::Absent), create(OWN), "also a prepared one");
            assert_eq!(by_probe(UNIFIED, situation, Probe::Absent), create(OWN));
            assert_eq!(by_probe(NEVER_OLD, situation, Probe::Found), Choice::CreateNew);
            assert_eq!(by_probe(LEGACY, situation, Probe::Failed), Choice::Refuse(Refusal::ProbeFailed));
        }
        let rewind = by_probe(LEGACY, Situation::Rewind { keep: "m1" }, Probe::Found);
        assert_eq!(rewind, Choice::Resume { session: SDK.into(), at: Some("m1".into()) });
    }

    #[test]
    fn newest_version_refuses_other_engines_and_unfinished_rewinds() {
        let codex = Identity { runtime: Some("codex"), ..UNIFIED };
        assert_eq!(by_probe(codex, Situation::History, Probe::Found), Choice::Refuse(Refusal::OtherEngine));
        let pending = Identity { has_intent: true, ..UNIFIED };
        assert_eq!(by_probe(pending, Situation::History, Probe::Found), Choice::Refuse(Refusal::PendingRewind));
        let cron = Identity { id: "cron-im-x", sdk: Some("cron-im-x"), ..UNIFIED };
        assert_eq!(by_probe(cron, Situation::History, Probe::Found), Choice::CreateNew);
    }
}
