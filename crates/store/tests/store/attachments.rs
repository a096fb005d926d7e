//! Attachments: bytes are read back unchanged, names cannot escape the folder, nothing is replaced.

use boswell_store::blobs::{ATTACHMENT_TYPE, Attachment, Attachments};
use boswell_store::disk::{RealDisk, durable};
use boswell_store::model::Instant;
use boswell_store::model::json::{Json, Raw};
use boswell_store::operations::ImportLimits;
use boswell_store::{Draft, ErrorKind, Home, NewSession};

#[test]
fn attachments_are_recorded_extracted_and_replace_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let attachments = Home::at(folder.path()).attachments();
    let at = Instant::from_millis(7);
    let one = attachments.add(b"one", "../notes.txt", None, at).unwrap();
    let two = attachments
        .add(b"two", "notes.txt", Some("text/plain"), at)
        .unwrap();
    let json = one.to_json().to_bytes();
    assert_eq!(
        Attachment::from_json(Raw::parse(&json).unwrap()),
        Some(one.clone())
    );
    assert_eq!(attachments.read(&two).unwrap(), b"two");
    let out = folder.path().join("out");
    let written = attachments.extract(&[one.clone(), two], &out);
    let paths: Vec<_> = written.into_iter().map(Result::unwrap).collect();
    assert_eq!(paths, [out.join("notes.txt"), out.join("notes-2.txt")]);
    assert_eq!(
        durable::read(&RealDisk, &paths[1]).unwrap().unwrap(),
        b"two"
    );
    let again = attachments.extract(&[one], &out);
    assert_eq!(again[0].as_ref().unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn refused_attachments_leave_no_blob() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Home::at(folder.path()).blobs();
    let attachments = Attachments::new(blobs.clone());
    let long = "x".repeat(300);
    for (name, mime) in [
        ("", None),
        ("a\0", None),
        (long.as_str(), None),
        ("a.png", Some("image/png")),
    ] {
        let error = attachments
            .add(b"not a picture", name, mime, Instant::from_millis(0))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{name}");
    }
    assert_eq!(blobs.list().unwrap(), []);
}

#[test]
fn attachments_of_a_session_are_listed_with_their_entries() {
    let folder = tempfile::tempdir().unwrap();
    let attachments = Home::at(folder.path()).attachments();
    let store = Home::at(folder.path()).sessions().unwrap();
    let writer = store.create(NewSession::in_project("/project")).unwrap();
    let one = attachments
        .add(b"one", "a.txt", None, Instant::from_millis(1))
        .unwrap();
    writer.append(Draft::user("see the file")).unwrap();
    let kept = writer
        .append(Draft::custom(ATTACHMENT_TYPE, one.to_json()))
        .unwrap();
    let session = writer.session().unwrap();
    assert_eq!(Attachments::list(&session).unwrap(), [(kept.entry, one)]);
}

#[test]
fn attachments_come_along_from_another_home() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, own) = (
        Home::at(one.path()).sessions().unwrap(),
        Home::at(other.path()).sessions().unwrap(),
    );
    let theirs = Home::at(one.path()).attachments();
    let writer = from.create(NewSession::in_project("/project")).unwrap();
    let file = theirs
        .add("附件".as_bytes(), "a.txt", None, Instant::from_millis(1))
        .unwrap();
    writer.append(Draft::user("see the file")).unwrap();
    writer
        .append(Draft::custom(ATTACHMENT_TYPE, file.to_json()))
        .unwrap();
    let source = writer.session().unwrap();
    let (new, limits) = (NewSession::in_project("/project"), ImportLimits::default());
    let imported = own
        .import_whole(&from, &source, new, Json::object(), limits)
        .unwrap();
    let listed = Attachments::list(&imported.writer.session().unwrap()).unwrap();
    let ours = Home::at(other.path()).attachments();
    assert_eq!(ours.read(&listed[0].1).unwrap(), "附件".as_bytes());
}
