//! The engine's command that resumes a session, as the newest version of the app would choose it.

use boswell_model::{Result, SessionRef};

use crate::resume_decision::{
    Probe, ResumeDecision, ResumeFacts, ResumeReason, ResumeRefusal, decide,
};
use crate::uuid::is_uuid;
use crate::{LinkKind, ResumeCommand, SessionLink, SessionLocation};

use super::row::{PENDING, Row};

/// The name of the Claude SDK engine in a row.
const BUILTIN: &str = "builtin";

fn transcript(session: &str) -> SessionLink {
    SessionLink {
        kind: LinkKind::Transcript,
        dialect: "claude",
        id: session.to_owned(),
    }
}

/// Returns the command for a session of the built-in engine; `None` for other engines, which have
/// their own.
///
/// `probe` looks for the engine's transcript. Only ids are passed to the command, no other data of
/// a row.
pub(super) fn resume(
    location: &SessionLocation,
    probe: &dyn Fn(&SessionLink) -> Probe,
) -> Result<Option<ResumeCommand>> {
    let Some(row) = location.row.as_deref().and_then(Row::parse) else {
        return Ok(None);
    };
    let text = |key: &str| row.0.get(key)?.text().filter(|text| !text.is_empty());
    let flag = |key: &str| row.0.get(key).and_then(|value| value.bool()) == Some(true);
    let usable = text("sdkSessionId").filter(|id| is_uuid(id));
    // Without an id that the engine takes, the app creates the engine's session under its own id,
    // if the engine takes that one.
    let own = is_uuid(&location.id) && usable.is_none();
    let (sdk, runtime) = (usable, row.runtime());
    let meta = ResumeFacts {
        id: &location.id,
        sdk_id: sdk.as_deref(),
        unified: own || flag("unifiedSession"),
        // The app writes the SDK's id into the row before there is a transcript, so the id alone
        // proves nothing; a prepared row is only hidden.
        registered: false,
        prepared: false,
        other_engine: Some(runtime.as_str()).filter(|runtime| *runtime != BUILTIN),
        unfinished_rewind: row.0.get(PENDING).is_some_and(|v| !v.is_null()),
    };
    let found = match meta.sdk_session() {
        Some(session) => probe(&transcript(session)),
        None => Probe::Absent,
    };
    let words: Vec<String> = match decide(&meta, &ResumeReason::History, &found) {
        Ok(ResumeDecision::Start(launch)) => launch.argv()?,
        Ok(ResumeDecision::StartUnderNewId) => Vec::new(),
        Err(ResumeRefusal::OtherEngine(_)) => return Ok(None),
        Err(refusal) => return Err(refusal.to_error(&SessionRef::new("myagents", &location.id))),
    };
    let argv = std::iter::once("claude".to_owned()).chain(words).collect();
    Ok(Some(ResumeCommand {
        argv,
        cwd: text("agentDir").map(std::borrow::Cow::into_owned),
    }))
}

#[cfg(test)]
mod tests {
    use boswell_model::{ErrorKind, Framing};

    use super::*;

    const OWN: &str = "7924d439-b04f-4c1c-9a52-08f5c0a0f001";
    const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";

    fn words(id: &str, more: &str, probe: Probe) -> Result<Option<String>> {
        let location = SessionLocation {
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
        Ok(resume(&location, &|_| probe.clone())?.map(|command| command.argv.join(" ")))
    }

    fn said(id: &str, more: &str, probe: Probe) -> String {
        words(id, more, probe).unwrap().unwrap()
    }

    #[test]
    fn unified_legacy_never_asked_and_prepared_sessions_are_taken_up_as_the_app_would() {
        let unified = format!(r#","sdkSessionId":"{OWN}","unifiedSession":true"#);
        assert_eq!(
            said(OWN, &unified, Probe::Found),
            format!("claude --resume {OWN}")
        );
        let legacy = format!(r#","sdkSessionId":"{SDK}""#);
        assert_eq!(
            said("session-1-a", &legacy, Probe::Found),
            format!("claude --resume {SDK}")
        );
        assert_eq!(
            said("session-1-a", "", Probe::Absent),
            "claude",
            "never asked, and no id that the engine takes"
        );
        let never = r#","unifiedSession":true"#;
        assert_eq!(
            said(OWN, never, Probe::Absent),
            format!("claude --session-id {OWN}")
        );
        let prepared = r#","unifiedSession":true,"materializationState":"prepared""#;
        assert_eq!(
            said(OWN, prepared, Probe::Absent),
            format!("claude --session-id {OWN}")
        );
        assert_eq!(
            said(OWN, prepared, Probe::Found),
            format!("claude --resume {OWN}")
        );
    }

    #[test]
    fn a_built_in_row_without_a_usable_sdk_id_is_created_under_its_own_uuid() {
        let new = format!("claude --session-id {OWN}");
        for row in [
            "",
            r#","sdkSessionId":"cron-im-7""#,
            r#","sdkSessionId":"""#,
        ] {
            assert_eq!(said(OWN, row, Probe::Absent), new, "{row}");
        }
        let found = format!("claude --resume {OWN}");
        assert_eq!(
            said(OWN, "", Probe::Found),
            found,
            "the engine has it already"
        );
        assert_eq!(said("cron-im-7", "", Probe::Absent), "claude");
    }

    #[test]
    fn a_rewind_under_way_and_a_failed_look_stop_it_and_other_engines_have_their_own_command() {
        let pending = r#","unifiedSession":true,"pendingConversationMutation":{}"#;
        assert_eq!(
            words(OWN, pending, Probe::Found).unwrap_err().kind(),
            ErrorKind::Conflict
        );
        let failed = words(
            OWN,
            r#","unifiedSession":true"#,
            Probe::Failed("permission denied".to_owned()),
        );
        assert!(
            failed
                .unwrap_err()
                .reason()
                .unwrap()
                .contains("permission denied")
        );
        assert_eq!(
            words(OWN, r#","runtime":"codex""#, Probe::Found).unwrap(),
            None
        );
    }
}
