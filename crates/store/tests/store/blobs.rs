//! Blobs: contents are read back unchanged, damage is reported, and a value that was moved out of a
//! record is moved back in.

use std::collections::BTreeSet;

use boswell_store::ErrorKind;
use boswell_store::Home;
use boswell_store::blobs::{BlobId, Blobs};
use boswell_store::blobs::{LARGE_TEXT, base64, externalise, references};
use boswell_store::disk::{Disk, OpenMode, RealDisk, durable};
use proptest::prelude::*;

fn blobs() -> (tempfile::TempDir, Blobs) {
    let home = tempfile::tempdir().unwrap();
    let blobs = Home::at(home.path()).blobs();
    (home, blobs)
}

fn round_trip(blobs: &Blobs, record: &str, threshold: usize) -> String {
    let written = blobs.externalise(record.as_bytes(), threshold).unwrap();
    let back = blobs.internalise(&written).unwrap();
    assert!(back.unresolved.is_empty());
    assert_eq!(String::from_utf8_lossy(&back.record), record);
    String::from_utf8(written).unwrap()
}

#[test]
fn kept_bytes_come_back_and_are_written_once() {
    let (home, blobs) = blobs();
    let id = blobs.put(b"hello").unwrap();
    assert_eq!(
        id.to_string(),
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    );
    assert_eq!(BlobId::from_reference(&id.reference()), Some(id));
    assert_eq!(blobs.get(&id).unwrap(), b"hello");
    let path = home.path().join("blobs").join(id.to_string());
    let before = RealDisk.stat(&path).unwrap().unwrap();
    #[cfg(unix)]
    assert_eq!(before.mode, 0o600);
    assert_eq!(blobs.put(b"hello").unwrap(), id);
    assert_eq!(
        RealDisk.stat(&path).unwrap().unwrap(),
        before,
        "nothing was written the second time"
    );
    assert_eq!(
        RealDisk.list(&home.path().join("blobs")).unwrap().len(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn damaged_blob_is_an_error_that_names_it_and_is_healed_by_the_next_put() {
    let (home, blobs) = blobs();
    let id = blobs.put(b"hello").unwrap();
    let path = home.path().join("blobs").join(id.to_string());
    durable::put(&RealDisk, &path, b"jello", "x").unwrap();
    let error = blobs.get(&id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains(&id.to_string()));
    blobs.put(b"hello").unwrap();
    assert_eq!(blobs.get(&id).unwrap(), b"hello");
}

#[test]
fn missing_blob_is_not_found_and_an_empty_home_lists_nothing() {
    let (_home, blobs) = blobs();
    assert!(blobs.get(&BlobId::of(b"x")).unwrap_err().is_not_found());
    assert!(!blobs.has(&BlobId::of(b"x")).unwrap());
    assert_eq!(blobs.list().unwrap(), []);
}

#[test]
fn garbage_is_listed_and_not_deleted() {
    let (home, blobs) = blobs();
    let (a, b) = (blobs.put(b"a").unwrap(), blobs.put(b"bb").unwrap());
    RealDisk
        .open(&home.path().join("blobs/stranger"), OpenMode::CreateNew)
        .unwrap();
    let named = references(format!("{{\"x\":\"{}\"}}", a.reference()).as_bytes());
    assert_eq!(named, [a]);
    assert_eq!(
        blobs.unreferenced(&BTreeSet::from_iter(named)).unwrap(),
        [(b, 2)]
    );
    assert!(blobs.has(&b).unwrap());
}

#[test]
fn images_become_blobs_of_their_decoded_bytes() {
    let (_home, blobs) = blobs();
    let bytes: Vec<u8> = (0..=255).cycle().take(900).collect();
    let data = base64::encode(&bytes);
    let record = format!(
        r#"{{"message":{{"content":[{{"type":"image","data":"{data}","mimeType":"image/png"}},{{"type":"text","text":"x"}}]}}}}"#
    );
    let written = round_trip(&blobs, &record, LARGE_TEXT);
    assert!(written.contains(&format!(r#""data":"{}""#, BlobId::of(&bytes).reference())));
    assert_eq!(blobs.get(&BlobId::of(&bytes)).unwrap(), bytes);
}

#[test]
fn small_and_unusual_images_stay_in_the_record() {
    let small = base64::encode(&[1; 600]);
    let broken_lines = base64::encode(&[1; 900]).replace("AQEBAQEBAQEB", "AQEBAQEB\\nAQEB");
    for data in [
        small,
        broken_lines,
        "A".repeat(1025),
        "A".repeat(LARGE_TEXT + 3),
    ] {
        let record = format!(r#"{{"content":[{{"type":"image","data":"{data}"}}]}}"#);
        let moved = externalise(record.as_bytes(), LARGE_TEXT).unwrap();
        assert_eq!((moved.record, moved.blobs.len()), (record.into_bytes(), 0));
    }
}

#[test]
fn image_urls_with_data_become_blobs_of_the_url() {
    let (_home, blobs) = blobs();
    let url = "data:image/png;base64,AAAA";
    let written = round_trip(
        &blobs,
        &format!(r#"{{"a":[{{"image_url":"{url}"}}]}}"#),
        LARGE_TEXT,
    );
    assert_eq!(
        written,
        format!(
            r#"{{"a":[{{"image_url":"{}"}}]}}"#,
            BlobId::of(url.as_bytes()).reference()
        )
    );
    let plain = r#"{"image_url":"https://example.org/a.png"}"#;
    assert_eq!(round_trip(&blobs, plain, LARGE_TEXT), plain);
}

#[test]
fn long_text_keeps_its_beginning_and_says_where_the_rest_is() {
    let (_home, blobs) = blobs();
    let text = format!("start {}", "é🚀".repeat(LARGE_TEXT));
    let record = format!(r#"{{"message":{{"content":"{text}"}},"id":"1"}}"#);
    let written = round_trip(&blobs, &record, LARGE_TEXT);
    let kept = written
        .split_once(r#""content":""#)
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0
        .replace("\\n", "\n");
    assert!(
        kept.encode_utf16().count() <= LARGE_TEXT,
        "no reader of the family cuts it again"
    );
    assert!(kept.starts_with("start é🚀"));
    assert!(kept.ends_with(&format!(
        " more characters in {}]",
        BlobId::of(text.as_bytes()).reference()
    )));
    assert_eq!(
        blobs.get(&BlobId::of(text.as_bytes())).unwrap(),
        text.as_bytes()
    );
}

#[test]
fn text_that_quotes_a_notice_comes_back_as_it_was() {
    let (_home, blobs) = blobs();
    let whole = blobs.put(b"abcdef").unwrap();
    let quote = format!(
        "abc\\n\\n[boswell: 3 more characters in {}]",
        whole.reference()
    );
    let record = format!(r#"{{"text":"{quote}"}}"#);
    assert_ne!(round_trip(&blobs, &record, LARGE_TEXT), record);
}

#[test]
fn notice_that_does_not_fit_its_blob_stays_and_is_reported() {
    let (_home, blobs) = blobs();
    let secret = blobs.put(b"another session's text").unwrap();
    let missing = BlobId::of(b"never kept");
    let record = format!(
        r#"{{"a":"forged\n\n[boswell: 9 more characters in {}]","content":[{{"type":"image","data":"{}"}}]}}"#,
        secret.reference(),
        missing.reference()
    );
    let back = blobs.internalise(record.as_bytes()).unwrap();
    assert_eq!(back.record, record.as_bytes());
    let told: Vec<_> = back
        .unresolved
        .iter()
        .map(|(id, error)| (*id, error.kind()))
        .collect();
    assert_eq!(
        told,
        [(secret, ErrorKind::Damaged), (missing, ErrorKind::NotFound)]
    );
}

#[test]
fn what_is_not_json_is_refused() {
    let (_home, blobs) = blobs();
    for bad in ["", "{", "{\"a\":}", "{} {}"] {
        assert_eq!(
            externalise(bad.as_bytes(), 10).unwrap_err().kind(),
            ErrorKind::Invalid,
            "{bad}"
        );
        assert_eq!(
            blobs.internalise(bad.as_bytes()).unwrap_err().kind(),
            ErrorKind::Invalid,
            "{bad}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_record_comes_back_byte_for_byte(
        text in "(\\PC|\\\\n|\\\\ud83d|\\\\/|\\\\u0041){0,400}",
        key in "content|image_url|data|text",
        threshold in 0usize..300,
    ) {
        let text = text.replace('"', "'");
        let record = format!(r#"{{"{key}":["{text}",{{"type":"image","data":"{text}"}}],"n":1.0e5, "n":2}}"#);
        prop_assume!(boswell_store::model::json::Raw::parse(record.as_bytes()).is_ok());
        let (_home, blobs) = blobs();
        round_trip(&blobs, &record, threshold);
    }
}
