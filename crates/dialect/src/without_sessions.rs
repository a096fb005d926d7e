//! Removes the data of some sessions from shared files; every other byte stays.

use std::ops::Range;

use boswell_model::json::{Raw, RawKind, remove_member, set_member};

/// Returns the lines for which `speaks` is false. A line that is not JSON is removed if it contains
/// one of the ids: it may be the rest of a line about that session.
pub(crate) fn lines(bytes: &[u8], ids: &[String], speaks: impl Fn(Raw<'_>) -> bool) -> Vec<u8> {
    let mut left = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let goes = match Raw::parse(line.trim_ascii()) {
            Ok(raw) => speaks(raw),
            Err(_) => mentions(line, ids),
        };
        if !goes {
            left.extend_from_slice(line);
        }
    }
    left
}

/// Whether one of the ids occurs in these bytes.
pub(crate) fn mentions(bytes: &[u8], ids: &[String]) -> bool {
    ids.iter()
        .filter(|id| !id.is_empty())
        .any(|id| memchr::memmem::find(bytes, id.as_bytes()).is_some())
}

/// Removes the items for which `speaks` is true from an array of a document; `None` if the document
/// does not contain the array.
///
/// `path` leads to the array; it is empty if the document itself is the array.
pub(crate) fn items(
    bytes: &[u8],
    path: &[&str],
    speaks: impl Fn(Raw<'_>) -> bool,
) -> Option<Vec<u8>> {
    let root = Raw::parse(bytes).ok()?;
    let array = root
        .at(path)
        .filter(|array| array.kind() == RawKind::Array)?;
    let mut places = Vec::new();
    for item in array.items() {
        places.push((place_in(bytes, item), !speaks(item)));
    }
    let (Some((first, _)), Some((last, _))) = (places.first(), places.last()) else {
        return Some(bytes.to_vec());
    };
    if !places.iter().any(|(_, stays)| *stays) {
        let whole = place_in(bytes, array);
        return Some([bytes.get(..whole.start)?, b"[]", bytes.get(whole.end..)?].concat());
    }
    let mut out = bytes.get(..first.start)?.to_vec();
    let (mut before, mut any) = (first.start, false);
    for (place, stays) in &places {
        if *stays {
            // An item is removed together with the separator before it.
            if any {
                out.extend_from_slice(bytes.get(before..place.start)?);
            }
            out.extend_from_slice(bytes.get(place.clone())?);
            any = true;
        }
        before = place.end;
    }
    out.extend_from_slice(bytes.get(last.end..)?);
    Some(out)
}

fn place_in(bytes: &[u8], part: Raw<'_>) -> Range<usize> {
    let start = part.bytes().as_ptr().addr();
    let start = start.wrapping_sub(bytes.as_ptr().addr());
    start..start.wrapping_add(part.bytes().len())
}

/// Removes the members with these names from the object at `member` of a document; `None` if the
/// document does not contain the object.
pub(crate) fn members(bytes: &[u8], member: &str, ids: &[String]) -> Option<Vec<u8>> {
    let rows = Raw::parse(bytes)
        .ok()?
        .get(member)
        .filter(|rows| rows.kind() == RawKind::Object)?;
    let mut left = rows.bytes().to_vec();
    for id in ids {
        // A key may occur twice; every occurrence is removed.
        while Raw::parse(&left).ok()?.get(id).is_some() {
            left = remove_member(&left, id).ok()?;
        }
    }
    if left == rows.bytes() {
        Some(bytes.to_vec())
    } else {
        set_member(bytes, &[member], &left).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, path: &[&str], gone: &[&str]) -> Option<String> {
        let is_gone = |item: Raw<'_>| {
            item.get("id")
                .is_some_and(|id| gone.iter().any(|it| id.is(it)))
        };
        items(text.as_bytes(), path, is_gone).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn items_go_with_one_separator_each_and_all_other_bytes_stay() {
        let all = "[\n  {\"id\":\"a\"},\n  {\"id\":\"b\",\"n\":1.0},\n  {\"id\":\"c\"}\n]\n";
        for (gone, want) in [
            (
                &["a"][..],
                "[\n  {\"id\":\"b\",\"n\":1.0},\n  {\"id\":\"c\"}\n]\n",
            ),
            (&["b"], "[\n  {\"id\":\"a\"},\n  {\"id\":\"c\"}\n]\n"),
            (
                &["c"],
                "[\n  {\"id\":\"a\"},\n  {\"id\":\"b\",\"n\":1.0}\n]\n",
            ),
            (&["a", "b"], "[\n  {\"id\":\"c\"}\n]\n"),
            (&["a", "b", "c"], "[]\n"),
            (&["x"], all),
        ] {
            assert_eq!(left(all, &[], gone).as_deref(), Some(want), "{gone:?}");
        }
        let below = r#"{"v":1,"rows":[{"id":"a"}, {"id":"b"}],"z":2}"#;
        assert_eq!(
            left(below, &["rows"], &["a"]).as_deref(),
            Some(r#"{"v":1,"rows":[{"id":"b"}],"z":2}"#)
        );
        assert_eq!(
            left(r#"{"rows":[]}"#, &["rows"], &["a"]).as_deref(),
            Some(r#"{"rows":[]}"#)
        );
        assert_eq!(left("{\"rows\":1}", &["rows"], &["a"]), None);
        assert_eq!(left("[{", &[], &["a"]), None);
    }

    #[test]
    fn lines_and_members_go_and_a_damaged_line_goes_if_it_mentions_the_session() {
        let ids = ["gone".to_owned()];
        let log =
            "{\"s\":\"gone\",\"t\":\"x\"}\n{\"s\":\"other\"}\n{\"s\":\"gone\",\"torn\n{\"torn\n";
        let text = lines(log.as_bytes(), &ids, |raw| {
            raw.get("s").is_some_and(|it| it.is("gone"))
        });
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\"s\":\"other\"}\n{\"torn\n"
        );
        let rows = r#"{"version":1,"index":{"gone":{"T":1},"b":{}},"later":2}"#;
        let want = r#"{"version":1,"index":{"b":{}},"later":2}"#;
        assert_eq!(
            members(rows.as_bytes(), "index", &ids).as_deref(),
            Some(want.as_bytes())
        );
        assert_eq!(
            members(want.as_bytes(), "index", &ids).as_deref(),
            Some(want.as_bytes())
        );
        assert_eq!(members(b"{\"index\":null}", "index", &ids), None);
    }
}
