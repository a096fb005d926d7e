//! The engine's command that takes a session up again, as the newest version of the app would decide it.

use boswell_model::{Error, ErrorKind, Result};

use crate::{LinkKind, Located, ResumeCommand, SessionLink};

use super::resume_choice::{Choice, Identity, Probe, Refusal, Situation, by_probe};
use super::row::{PENDING, Row};

/// The command for a session of the built-in engine; none for one of another engine, which has its own.
///
/// `probe` looks for the engine's transcript. Only ids are passed on, never what else a row says.
pub(super) fn resume(located: &Located, probe: &dyn Fn(&SessionLink) -> Probe) -> Result<Option<ResumeCommand>> {
    let Some(row) = located.row.as_deref().and_then(Row::parse) else { return Ok(None) };
    let text = |key: &str| row.0.get(key).and_then(|v| v.text()).filter(|text| !text.is_empty());
    let (sdk, runtime) = (text("sdkSessionId"), row.runtime());
    let identity = Identity {
        id: &located.id,
        sdk: sdk.as_deref(),
        unified: row.0.get("unifiedSession").and_then(|v| v.bool()) == Some(true),
        runtime: Some(&runtime),
        has_intent: row.0.get(PENDING).is_some_and(|v| !v.is_null()),
    };
    let found = identity.sdk_session().map_or(Probe::Absent, |session| {
        probe(&SessionLink { kind: LinkKind::Transcript, dialect: "claude", id: session.to_owned() })
    });
    let words: Vec<String> = match by_probe(identity, Situation::History, found) {
        Choice::Resume { session, .. } => vec!["--resume".to_owned(), session],
        Choice::Create { session } => vec!["--session-id".to_owned(), session],
        Choice::CreateNew => Vec::new(),
        Choice::Refuse(Refusal::OtherEngine) => return Ok(None),
        Choice::Refuse(refusal) => return Err(refused(&located.id, refusal)),
    };
    let argv = std::iter::once("claude".to_owned()).chain(words).collect();
    Ok(Some(ResumeCommand { argv, cwd: text("agentDir").map(std::borrow::Cow::into_owned) }))
}

fn refused(id: &str, refusal: Refusal) -> Error {
    let error = Error::new(ErrorKind::Conflict, format!("session {id} cannot be resumed now"));
    match refusal {
        Refusal::PendingRewind => error
            .because("a rewind was begun and not finished")
            .hinting(format!("see how far it came with `boswell check myagents:{id}`; the next change settles it")),
        Refusal::ProbeFailed | Refusal::OtherEngine => error
            .because("nobody can say whether the engine knows it, and to begin it anew would part the conversation")
            .hinting("make Claude's store readable and try again"),
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use super::*;

    const OWN: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
    const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";

    fn words(id: &str, more: &str, probe: Probe) -> Result<Option<String>> {
        let located = Located {
            id: id.into(),
            key: None,
            framing: Framing::Lines,
            size: 0,
            modified: None,
            identity: None,
            row: Some(format!(r#"{{"id":"{id}","agentDir":"/p"{more}}}"#).into_bytes()),
            hidden: None,
            owner: None,
        };
        Ok(resume(&located, &|_| probe)?.map(|command| command.argv.join(" ")))
    }

    fn said(id: &str, more: &str, probe: Probe) -> String {
        words(id, more, probe).unwrap().unwrap()
    }

    #[test]
    fn unified_legacy_never_asked_and_prepared_sessions_are_taken_up_as_the_app_would() {
        let unified = format!(r#","sdkSessionId":"{OWN}","unifiedSession":true"#);
        assert_eq!(said(OWN, &unified, Probe::Found), format!("claude --resume {OWN}"));
        let legacy = format!(r#","sdkSessionId":"{SDK}""#);
        assert_eq!(said("session-1-a", &legacy, Probe::Found), format!("claude --resume {SDK}"));
        assert_eq!(said("session-1-a", "", Probe::Absent), "claude", "never asked, and no id that the engine takes");
        let never = r#","unifiedSession":true"#;
        assert_eq!(said(OWN, never, Probe::Absent), format!("claude --session-id {OWN}"));
        let prepared = r#","unifiedSession":true,"materializationState":"prepared""#;
        assert_eq!(said(OWN, prepared, Probe::Absent), format!("claude --session-id {OWN}"));
        assert_eq!(said(OWN, prepared, Probe::Found), format!("claude --resume {OWN}"));
    }

    #[test]
    fn a_rewind_under_way_and_a_failed_look_stop_it_and_other_engines_have_their_own_command() {
        let pending = r#","unifiedSession":true,"pendingConversationMutation":{}"#;
        assert_eq!(words(OWN, pending, Probe::Found).unwrap_err().kind(), ErrorKind::Conflict);
        assert!(words(OWN, r#","unifiedSession":true"#, Probe::Failed).is_err());
        assert_eq!(words(OWN, r#","runtime":"codex""#, Probe::Found).unwrap(), None);
    }
}
