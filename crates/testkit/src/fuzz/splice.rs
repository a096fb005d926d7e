//! Changing one member keeps every other byte, and the result is a valid record.

use boswell_model::json::{Member, Object, insert_member, remove_member, scan_object, set_member};

/// Removing a key that occurs a thousand times rescans a thousand times, which finds nothing new.
const LONGEST: usize = 8 << 10;
const VALUE: &[u8] = br#"{"new":[1,"x"]}"#;

/// Tests the first lines that are records.
pub(super) fn splice(bytes: &[u8]) {
    for line in bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() <= LONGEST)
        .take(16)
    {
        let mut members = Vec::new();
        match scan_object(line, &mut members) {
            Ok(end) => record(&line[..end], &members),
            Err(_) => {
                assert!(
                    set_member(line, &["k"], VALUE).is_err()
                        && insert_member(line, "k", VALUE).is_err()
                );
                assert!(
                    remove_member(line, "k").is_err(),
                    "what is no record is not changed"
                );
            }
        }
    }
}

fn record(record: &[u8], members: &[Member]) {
    let object = Object::new(record, members);
    let mut keys: Vec<String> = object
        .members()
        .take(6)
        .map(|(key, _)| key.to_text().into_owned())
        .collect();
    keys.push("a key that nobody has".to_owned());
    for key in &keys {
        let is_it = |member: &Member| {
            Object::new(record, std::slice::from_ref(member))
                .get(key)
                .is_some()
        };
        set(
            record,
            members.iter().rev().find(|member| is_it(member)),
            key,
        );
        remove(record, &others(record, members, &is_it), key);
        insert(record, members, key);
        nested(record, key);
    }
}

/// Returns raw keys and values of all members except those with one name.
fn others<'a>(
    record: &'a [u8],
    members: &[Member],
    is_it: &dyn Fn(&Member) -> bool,
) -> Vec<(&'a [u8], &'a [u8])> {
    let pair = |m: &Member| (&record[m.key_start..m.key_end], &record[m.start..m.end]);
    members
        .iter()
        .filter(|member| !is_it(member))
        .map(pair)
        .collect()
}

fn pairs(record: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut members = Vec::new();
    assert_eq!(
        scan_object(record, &mut members),
        Ok(record.len()),
        "the result is one record"
    );
    others(record, &members, &|_| false)
}

fn set(record: &[u8], there: Option<&Member>, key: &str) {
    let Ok(changed) = set_member(record, &[key], VALUE) else {
        unreachable_error()
    };
    assert_eq!(get(&changed, key), Some(VALUE.to_vec()));
    if let Some(member) = there {
        let expected = [&record[..member.start], VALUE, &record[member.end..]].concat();
        assert!(changed == expected, "only the value changed");
    }
    // Setting the same value again changes nothing.
    assert!(set_member(&changed, &[key], VALUE).is_ok_and(|again| again == changed));
}

fn remove(record: &[u8], expected: &[(&[u8], &[u8])], key: &str) {
    let Ok(changed) = remove_member(record, key) else {
        unreachable_error()
    };
    assert!(
        pairs(&changed) == expected,
        "all other members stay as they were"
    );
}

fn insert(record: &[u8], members: &[Member], key: &str) {
    let Ok(changed) = insert_member(record, key, VALUE) else {
        unreachable_error()
    };
    let (before, after) = (others(record, members, &|_| false), pairs(&changed));
    assert!(
        after.len() == before.len() + 1 && after.starts_with(&before),
        "members before it stay as they were"
    );
    assert_eq!(get(&changed, key), Some(VALUE.to_vec()));
}

/// Nested paths go through objects and stop at other values.
fn nested(record: &[u8], key: &str) {
    if let Ok(changed) = set_member(record, &[key, "deep", "deeper"], VALUE) {
        let mut members = Vec::new();
        assert!(scan_object(&changed, &mut members).is_ok());
        let found = Object::new(&changed, &members)
            .raw()
            .at(&[key, "deep", "deeper"])
            .map(|raw| raw.bytes().to_vec());
        assert_eq!(found.as_deref(), Some(VALUE));
    }
}

fn get(record: &[u8], key: &str) -> Option<Vec<u8>> {
    let mut members = Vec::new();
    scan_object(record, &mut members).ok()?;
    Object::new(record, &members)
        .get(key)
        .map(|value| value.bytes().to_vec())
}

#[expect(
    clippy::panic,
    reason = "a fuzz target says what it found by panicking"
)]
fn unreachable_error() -> ! {
    panic!("a record that was scanned is refused")
}
