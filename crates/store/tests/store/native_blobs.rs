//! Large values of boswell's own sessions: stored completely in side files, verified when they are
//! read.

#![expect(
    clippy::disallowed_methods,
    reason = "tests plant files and fail by panicking"
)]

use boswell_store::repair::check;
use boswell_store::writer::AssistantMessage;
use boswell_store::{Draft, Home, NewSession, Part, WritableStore};

fn texts(store: &WritableStore, id: &str) -> Vec<String> {
    let session = store.session(id).unwrap();
    let context = session.context(session.tip().unwrap()).unwrap();
    context
        .items
        .iter()
        .map(|item| {
            session
                .render(item)
                .unwrap()
                .message
                .content
                .iter()
                .map(ToString::to_string)
                .collect()
        })
        .collect()
}

#[test]
fn a_text_of_a_million_characters_and_an_image_come_back_whole() {
    let home = tempfile::tempdir().unwrap();
    let store = Home::at(home.path()).sessions().unwrap();
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    let long = "会话".repeat(500_000);
    let image = "QUJD".repeat(1000);
    writer
        .append(Draft::user(long.clone()).with_id("long"))
        .unwrap();
    let parts = vec![Part::image(image.clone(), "image/png")];
    writer
        .append(Draft::answer(AssistantMessage {
            content: parts,
            ..AssistantMessage::default()
        }))
        .unwrap();
    let id = writer.reference().id.clone();
    let log = std::fs::read(writer.path()).unwrap();
    assert!(
        log.len() < 2_000_000 && !String::from_utf8_lossy(&log).contains(&image),
        "{}",
        log.len()
    );
    assert_eq!(
        std::fs::read_dir(home.path().join("blobs"))
            .unwrap()
            .count(),
        2
    );
    let shown = texts(&store, &id);
    assert!(shown[0].contains(&long) && shown[1].contains(&image));
    assert!(
        writer
            .append(Draft::user(long).with_id("long"))
            .unwrap()
            .deduplicated,
        "the same text again is the same entry"
    );
}

#[test]
fn a_blob_that_was_changed_is_reported_and_not_taken_for_the_text() {
    let home = tempfile::tempdir().unwrap();
    let store = Home::at(home.path()).sessions().unwrap();
    let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
    writer.append(Draft::user("x".repeat(600_000))).unwrap();
    let id = writer.reference().id.clone();
    let blob = std::fs::read_dir(home.path().join("blobs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(&blob, "y".repeat(600_000)).unwrap();
    let problems: Vec<_> = check(&store.session(&id).unwrap())
        .unwrap()
        .problems
        .iter()
        .map(|p| p.kind.word())
        .collect();
    assert_eq!(problems, ["missing_file"]);
    assert!(!texts(&store, &id)[0].contains("yyyy"));
}
