//! Formats new JSON like the file that it is inserted into: compact, or with the same indentation.
//!
//! `gap` is the white space before the members of the object that a value is inserted into; without
//! a line end in it the value is printed compactly.

use boswell_model::json::Json;

/// Prints an array, with each item on a line of its own if the object around it is indented by
/// `gap`.
pub(crate) fn array(items: &[Vec<u8>], gap: &[u8]) -> Vec<u8> {
    let (inner, outer) = deeper(gap);
    wrapped(b'[', items, &inner, &outer, b']')
}

/// Prints an object, formatted in the same way.
pub(crate) fn object(members: &[(&str, Vec<u8>)], gap: &[u8]) -> Vec<u8> {
    let (inner, outer) = deeper(gap);
    let colon: &[u8] = if gap.is_empty() { b":" } else { b": " };
    let members: Vec<Vec<u8>> = members
        .iter()
        .map(|(key, value)| [Json::from(*key).to_bytes().as_slice(), colon, value].concat())
        .collect();
    wrapped(b'{', &members, &inner, &outer, b'}')
}

fn wrapped(open: u8, items: &[Vec<u8>], inner: &[u8], outer: &[u8], close: u8) -> Vec<u8> {
    let mut out = vec![open];
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        out.extend_from_slice(inner);
        out.extend_from_slice(item);
    }
    if !items.is_empty() {
        out.extend_from_slice(outer);
    }
    out.push(close);
    out
}

/// Returns the white space before a value one level deeper, and before its closing bracket.
fn deeper(gap: &[u8]) -> (Vec<u8>, Vec<u8>) {
    match gap.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => (
            [gap, gap.get(at + 1..).unwrap_or(b"")].concat(),
            gap.to_vec(),
        ),
        None => (Vec::new(), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_laid_out_like_the_object_around_them() {
        let items = [b"1".to_vec(), b"2".to_vec()];
        assert_eq!(array(&items, b"\n  "), b"[\n    1,\n    2\n  ]");
        assert_eq!(array(&items, b""), b"[1,2]");
        assert_eq!(
            object(&[("k", b"1".to_vec())], b"\n  "),
            b"{\n    \"k\": 1\n  }"
        );
        assert_eq!(array(&[], b"\n  "), b"[]");
    }
}
