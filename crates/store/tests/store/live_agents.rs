//! Sessions that their agent has open.

#![expect(
    clippy::disallowed_methods,
    reason = "tests plant files and fail by panicking"
)]

use std::process::{Command, Stdio};

use boswell_store::{Draft, ErrorKind, Home, Store, Wait};

#[test]
fn a_session_that_its_agent_has_open_is_not_driven_but_can_be_labelled() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agent/sessions/--work--");
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("2026-02-16T10-20-30-000Z_1470cb256c001234.jsonl");
    let header = r#"{"type":"session","version":3,"id":"1470cb256c001234","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    let prompt = r#"{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-02-16T10:20:31.000Z","message":{"role":"user","content":"hi","timestamp":1}}"#;
    std::fs::write(&log, format!("{header}\n{prompt}\n")).unwrap();
    let store = Store::in_folder(
        boswell_dialect::by_name("xcsh").unwrap(),
        home.path().join("agent"),
    );
    let store = Home::at(home.path()).writable(store);
    // A process that has the log open for appending, like xcsh.
    let open = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    let mut agent = Command::new("sleep")
        .arg("30")
        .stdout(Stdio::from(open))
        .spawn()
        .unwrap();
    let refused = store.writer("1470cb256c001234", Wait::No).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    assert!(
        refused.to_string().contains(&agent.id().to_string()),
        "{refused}"
    );
    let label = boswell_store::Body::Label {
        target: "a1b2c3d4".into(),
        label: Some("start".into()),
    };
    store
        .annotate("1470cb256c001234", Draft::new(label))
        .unwrap();
    agent.kill().unwrap();
    agent.wait().unwrap();
    store
        .writer("1470cb256c001234", Wait::No)
        .unwrap()
        .append(Draft::user("again"))
        .unwrap();
}
