//! The scanner compared with serde_json: both must agree on what is JSON and on its values.

use boswell_model::json::{Json, Object, Raw, Str, scan_object, value_end, write_string};
use serde_json::Value;
use serde_json::value::RawValue;

/// How many offsets of one input are tried: each may cost the whole input.
const OFFSETS: usize = 48;

/// Every line and the whole input.
pub(super) fn scanner(bytes: &[u8]) {
    one(bytes);
    bytes.split(|byte| *byte == b'\n').take(400).for_each(one);
    for at in 0..bytes.len().min(OFFSETS) {
        if let Ok(end) = value_end(bytes, at) {
            assert!(
                at < end && end <= bytes.len(),
                "a value has a length and stays inside"
            );
            assert!(
                Raw::parse(&bytes[at..end]).is_ok(),
                "a value that was found is one"
            );
        }
    }
    let _ = value_end(bytes, bytes.len() + 7);
}

fn one(bytes: &[u8]) {
    let parsed = Raw::parse(bytes);
    // Bytes that are not UTF-8 are content here, as for agents, which decode them to U+FFFD before
    // they parse.
    let text = String::from_utf8_lossy(bytes);
    // `RawValue` checks syntax only: lone surrogates, great depth and large numbers must pass.
    let reference = serde_json::from_str::<&RawValue>(&text);
    assert_eq!(
        parsed.is_ok(),
        reference.is_ok(),
        "verdicts differ: {parsed:?} and {reference:?}"
    );
    scan(bytes);
    let (Ok(raw), Ok(reference)) = (parsed, reference) else {
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(raw.bytes()),
        reference.get(),
        "the value is where serde_json finds it"
    );
    walk(raw, 0);
    // Fails on lone surrogates, depth beyond 128 and numbers beyond a double; otherwise both must
    // agree.
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        same(raw, &value);
        let printed = Json::from(raw).to_bytes();
        assert_eq!(
            printed,
            raw.bytes(),
            "a value that was read is printed as it was"
        );
    }
}

fn scan(bytes: &[u8]) {
    let mut members = Vec::new();
    let scanned = scan_object(bytes, &mut members);
    match bytes.first() {
        Some(b'{') => assert_eq!(scanned, value_end(bytes, 0), "both ways find the same end"),
        _ => assert!(scanned.is_err()),
    }
    let Ok(end) = scanned else { return };
    let mut from = 1;
    for member in &members {
        assert!(
            from <= member.key_start && member.key_start < member.key_end,
            "members stand in order"
        );
        assert!(member.key_end < member.start && member.start < member.end && member.end < end);
        from = member.end;
    }
    let object = Object::new(&bytes[..end], &members);
    for (key, _) in object.members().take(20) {
        let key = key.to_text();
        let last = object.members().filter(|(name, _)| name.is(&key)).last();
        let (found, last) = (object.get(&key), last.map(|(_, value)| value));
        assert_eq!(
            found.map(|value| value.bytes()),
            last.map(|value| value.bytes()),
            "the last of doubled keys counts"
        );
        assert_eq!(
            object.raw().get(&key).map(|value| value.bytes()),
            last.map(|value| value.bytes())
        );
    }
}

/// Calls all accessors, a few levels down.
fn walk(raw: Raw<'_>, depth: usize) {
    let _ = (raw.bool(), raw.f64(), raw.i64(), raw.u64(), raw.kind());
    if let Some(text) = raw.string() {
        string(text);
    }
    if depth < 6 {
        raw.items().for_each(|item| walk(item, depth + 1));
        for (key, value) in raw.members() {
            string(key);
            walk(value, depth + 1);
        }
    }
}

fn string(token: Str<'_>) {
    let wtf8 = token.to_wtf8();
    let mut printed = Vec::new();
    write_string(&wtf8, &mut printed);
    assert!(Raw::parse(&printed).is_ok(), "a printed string is JSON");
    // Bytes that are not UTF-8 cannot be printed; all others must round-trip.
    if std::str::from_utf8(token.escaped()).is_ok() {
        assert_eq!(
            Str::trusted(&printed).to_wtf8(),
            wtf8,
            "a printed string reads back"
        );
    }
}

/// Checks that the value equals that of serde_json. `Value` is never deeper than 128.
fn same(raw: Raw<'_>, value: &Value) {
    match value {
        Value::Null => assert!(raw.is_null()),
        Value::Bool(truth) => assert_eq!(raw.bool(), Some(*truth)),
        Value::Number(number) => {
            assert!(raw.f64().is_some());
            if let Some(whole) = number.as_i64() {
                assert_eq!(raw.i64(), Some(whole));
            }
        }
        Value::String(text) => assert_eq!(raw.text().as_deref(), Some(text.as_str())),
        Value::Array(items) => {
            assert_eq!(raw.items().count(), items.len());
            raw.items()
                .zip(items)
                .for_each(|(raw, value)| same(raw, value));
        }
        Value::Object(object) => {
            // Looking up a key scans the object, so not every key of a large one.
            for (key, value) in object.iter().take(50) {
                let found = raw.get(key);
                assert!(found.is_some(), "the key {key:?} is not found");
                found.into_iter().for_each(|found| same(found, value));
            }
        }
    }
}
