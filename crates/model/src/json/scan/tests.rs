//! The scanner compared with `serde_json`, and on truncated and broken values.

use proptest::prelude::*;

use super::super::Object;
use super::*;

fn members_of(text: &str) -> Vec<(String, String)> {
    let mut members = Vec::new();
    let end = scan_object(text.as_bytes(), &mut members).unwrap();
    Object::new(&text.as_bytes()[..end], &members)
        .members()
        .map(|(k, v)| {
            (
                k.to_text().into_owned(),
                String::from_utf8(v.bytes().to_vec()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn members_of_nested_objects_are_not_mistaken_for_own_ones() {
    let found = members_of(r#"{ "a" : {"b":1,"c":[{"d":2}]} ,"e":[ ],"f":{},"g":"x\"}" }tail"#);
    let keys: Vec<_> = found
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        keys,
        [
            ("a", r#"{"b":1,"c":[{"d":2}]}"#),
            ("e", "[ ]"),
            ("f", "{}"),
            ("g", r#""x\"}""#)
        ]
    );
}

#[test]
fn a_value_a_million_levels_deep_is_scanned() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(value_end(deep.as_bytes(), 0), Ok(2_000_000));
    let mixed = format!("{}1{}", "{\"a\":[".repeat(70), "]}".repeat(70));
    assert_eq!(value_end(mixed.as_bytes(), 0), Ok(mixed.len()));
    let crossed = mixed.replacen("]}", "}]", 1);
    assert!(value_end(crossed.as_bytes(), 0).is_err());
}

#[test]
fn what_json_parse_refuses_is_refused() {
    for bad in [
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":-}",
        "{\"a\":+1}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\":\"\t\"}",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{,}",
        "{\"a\":tru}",
        "{\"a\":NaN}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":[1,]}",
    ] {
        assert!(
            scan_object(bad.as_bytes(), &mut Vec::new()).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn a_cut_value_is_truncated_at_every_byte() {
    let whole = r#"{"a":"x\u00e9\n","b":[1.5e+3,true,null],"c":{"d":-0}}"#;
    for cut in 1..whole.len() {
        let fault = scan_object(&whole.as_bytes()[..cut], &mut Vec::new()).unwrap_err();
        assert_eq!(fault.kind, SyntaxErrorKind::Truncated, "cut at {cut}");
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_mutated_json(base in any_json(), flip in any::<(u16, u8)>()) {
        let mut bytes = base.to_string().into_bytes();
        prop_assert_eq!(value_end(&bytes, 0), Ok(bytes.len()));
        let at = usize::from(flip.0) % bytes.len();
        bytes[at] = flip.1;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            let ours = value_end(&bytes, 0).is_ok_and(|end| end == bytes.len());
            // serde_json also accepts white space around a value and rejects lone surrogates; we
            // leave both to the caller.
            if !text.starts_with([' ', '\n', '\t', '\r']) && !text.ends_with([' ', '\n', '\t', '\r']) && !text.contains("\\u") {
                prop_assert_eq!(ours, theirs, "{}", text);
            }
        }
    }

    #[test]
    fn never_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = scan_object(&bytes, &mut Vec::new());
        let _ = value_end(&bytes, 0);
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e9f64..1e9).prop_map(Into::into),
        "[a-z\\\\\"\n☃𝄞]{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            proptest::collection::btree_map("[a-z]{0,4}", inner, 0..5)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}
