//! Sessions of the three generations of the app.

use boswell_dialect::myagents::MyAgents;
use boswell_dialect::{Dialect, LinkKind, Permissions, Runtime, SessionLink};
use boswell_model::Framing;

use super::{E2, ROWS, discover, index_of, log_of, only, read};

const E1: &str = "session-1738800000000-abc123";
const SDK: &str = "213793e6-5bf8-4c1c-9a52-08f5c0a0f002";

#[test]
fn first_era_has_two_ids() {
    let index = format!(
        r#"[{{"id":"{E1}","agentDir":"C:\\work","title":"T","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-01T00:00:00.000Z","sdkSessionId":"{SDK}"}}]"#
    );
    let location = only(discover(&[("sessions.json", &index), (&log_of(E1), ROWS)]));
    let meta = MyAgents.begin(&location);
    assert_eq!(
        (location.id.as_str(), location.framing),
        (E1, Framing::Lines)
    );
    assert_eq!(meta.project.as_deref(), Some("C:\\work"));
    let link = SessionLink {
        kind: LinkKind::Transcript,
        dialect: "claude",
        id: SDK.into(),
    };
    assert_eq!(MyAgents.links(&meta, E1), [link]);
}

#[test]
fn second_era_is_known_to_the_sdk_by_the_same_id() {
    let (location, session) = read(&index_of(r#","unifiedSession":true"#), ROWS);
    let link = SessionLink {
        kind: LinkKind::Transcript,
        dialect: "claude",
        id: E2.into(),
    };
    assert_eq!(MyAgents.links(&session.meta, E2), [link]);
    assert_eq!(
        MyAgents.resume(&session.meta, &location, Permissions::Asked),
        None,
        "the store resumes through the link"
    );
    assert_eq!(session.meta.status, None);
}

#[test]
fn third_era_may_run_on_codex_or_claude_code() {
    let of = |more: &str| {
        let (_, session) = read(&index_of(more), ROWS);
        MyAgents
            .links(&session.meta, E2)
            .into_iter()
            .map(|l| (l.dialect, l.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(r#","runtime":"codex","runtimeSessionId":"thread","sdkSessionId":"x""#),
        [("codex", "thread".into())]
    );
    assert_eq!(
        of(r#","runtime":"claude-code","runtimeSessionId":"r""#),
        [("claude", "r".into())]
    );
    assert_eq!(of(r#","runtime":"gemini","runtimeSessionId":"r""#), []);
    assert_eq!(
        of(r#","runtime":"builtin","runtimeSource":"managed-provider","runtimeSessionId":"t""#),
        [("codex", "t".into())]
    );
    assert_eq!(of(""), [], "never asked anything");
}
