//! Edits one member of a record and leaves all other bytes unchanged.

use super::{Member, Object, SyntaxError, scan_object};

/// Replaces the value of the member at `path`, or adds the member at the end of its object if it is
/// missing.
///
/// Of duplicate keys the last one is changed, because that is the one which readers use.
pub fn set_member(record: &[u8], path: &[&str], value: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let Some((key, rest)) = path.split_first() else {
        return Ok(value.to_vec());
    };
    let mut members = Vec::new();
    let end = scan_object(record, &mut members)?;
    match find(record, &members, key) {
        Some(found) => {
            let inner = record.get(found.start..found.end).unwrap_or(b"");
            let changed = set_member(inner, rest, value)?;
            Ok(replace(record, found.start, found.end, &changed))
        }
        None => {
            let nested = rest
                .iter()
                .rev()
                .fold(value.to_vec(), |inner, key| wrap(key, &inner));
            Ok(insert_at_end(record, end, &members, key, &nested))
        }
    }
}

/// Adds a member at the end, even if the object already has a member of that name.
pub fn insert_member(record: &[u8], key: &str, value: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let mut members = Vec::new();
    let end = scan_object(record, &mut members)?;
    Ok(insert_at_end(record, end, &members, key, value))
}

/// Removes every member of that name together with one comma. Returns the bytes unchanged if there
/// is none.
pub fn remove_member(record: &[u8], key: &str) -> Result<Vec<u8>, SyntaxError> {
    let mut out = record.to_vec();
    loop {
        let mut members = Vec::new();
        scan_object(&out, &mut members)?;
        let Some(index) = members.iter().position(|m| key_is(&out, m, key)) else {
            return Ok(out);
        };
        let (from, to) = match (
            members.get(index),
            members.get(index + 1),
            index.checked_sub(1).and_then(|i| members.get(i)),
        ) {
            (Some(it), Some(next), _) => (it.key_start, next.key_start),
            (Some(it), None, Some(before)) => (before.end, it.end),
            (Some(it), None, None) => (it.key_start, it.end),
            (None, _, _) => return Ok(out),
        };
        out.drain(from..to);
    }
}

fn find(record: &[u8], members: &[Member], key: &str) -> Option<Member> {
    members
        .iter()
        .rev()
        .find(|m| key_is(record, m, key))
        .copied()
}

fn key_is(record: &[u8], member: &Member, key: &str) -> bool {
    Object::new(record, std::slice::from_ref(member))
        .get(key)
        .is_some()
}

fn replace(record: &[u8], start: usize, end: usize, with: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(record.len() + with.len());
    out.extend_from_slice(record.get(..start).unwrap_or(b""));
    out.extend_from_slice(with);
    out.extend_from_slice(record.get(end..).unwrap_or(b""));
    out
}

fn insert_at_end(
    record: &[u8],
    end: usize,
    members: &[Member],
    key: &str,
    value: &[u8],
) -> Vec<u8> {
    let mut member = Vec::new();
    let at = match members.last() {
        Some(last) => {
            member.push(b',');
            last.end
        }
        None => end.saturating_sub(1),
    };
    super::write_string(key.as_bytes(), &mut member);
    member.push(b':');
    member.extend_from_slice(value);
    replace(record, at, at, &member)
}

fn wrap(key: &str, inner: &[u8]) -> Vec<u8> {
    let mut out = vec![b'{'];
    super::write_string(key.as_bytes(), &mut out);
    out.push(b':');
    out.extend_from_slice(inner);
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_the_named_value_changes() {
        let record = br#"{ "a" : 1.0,"m":{"x" : "\u0041","y":2},"a":3 }"#;
        assert_eq!(
            text(set_member(record, &["a"], b"4").unwrap()),
            r#"{ "a" : 1.0,"m":{"x" : "\u0041","y":2},"a":4 }"#
        );
        assert_eq!(
            text(set_member(record, &["m", "y"], b"null").unwrap()),
            r#"{ "a" : 1.0,"m":{"x" : "\u0041","y":null},"a":3 }"#
        );
        assert_eq!(
            text(set_member(record, &["n", "o"], b"1").unwrap()),
            r#"{ "a" : 1.0,"m":{"x" : "\u0041","y":2},"a":3,"n":{"o":1} }"#
        );
    }

    #[test]
    fn members_can_be_added_and_taken_out_at_every_place() {
        assert_eq!(text(insert_member(b"{}", "k", b"1").unwrap()), r#"{"k":1}"#);
        let record = br#"{"a":1, "b":2, "c":3}"#;
        assert_eq!(
            text(remove_member(record, "a").unwrap()),
            r#"{"b":2, "c":3}"#
        );
        assert_eq!(
            text(remove_member(record, "b").unwrap()),
            r#"{"a":1, "c":3}"#
        );
        assert_eq!(
            text(remove_member(record, "c").unwrap()),
            r#"{"a":1, "b":2}"#
        );
        assert_eq!(
            text(remove_member(record, "z").unwrap()),
            text(record.to_vec())
        );
        assert_eq!(text(remove_member(br#"{"a":1,"a":2}"#, "a").unwrap()), "{}");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(set_member(b"[1]", &["a"], b"1").is_err());
        assert!(set_member(br#"{"a":5}"#, &["a", "b"], b"1").is_err());
    }
}
