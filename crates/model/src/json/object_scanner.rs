//! The entry point for scanning JSON objects: chooses between two scanners and keeps their buffers.
//!
//! Long lines are scanned with an [`Outline`], built from a SIMD bitmap of quotes, so that later
//! lookups jump over strings and containers. Short lines, and lines that the bitmap rejects, are
//! scanned byte by byte. Both scanners accept the same input, find the same members and report the
//! same errors; the outline only saves time.
//!
//! One [`Scanned`] is reused for all lines of a file: its vectors keep their capacity.

use super::{Member, Object, Outline, SyntaxError, scan_object};

/// Lines with fewer bytes are scanned as fast without an outline.
const WORTH_AN_OUTLINE: usize = 192;

/// The initial capacity for members. Typical entries have fewer, so that the vector is not grown
/// and copied during the scan.
const USUAL_MEMBERS: usize = 16;

/// The byte ranges of an object's members, and the buffers for finding them. One value serves a
/// whole file.
#[derive(Debug, Default)]
pub struct Scanned {
    members: Vec<Member>,
    outline: Outline,
    /// Whether `outline` describes the object scanned last. If false, `outline` may still contain
    /// data of an earlier line and must not be used.
    outlined: bool,
    /// The index after the object scanned last; 0 if that scan failed, so that `object` is empty.
    end: usize,
}

impl Scanned {
    /// Scans the object that starts at `bytes[0]` and returns the index after it.
    ///
    /// The outline is built for all of `bytes`, not only for the object: pass one line, not the
    /// rest of a file.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, SyntaxError> {
        self.members.clear();
        self.members.reserve(USUAL_MEMBERS);
        // The outline scanner assumes an opening brace; anything else is an error that
        // `scan_object` reports.
        self.outlined = bytes.len() >= WORTH_AN_OUTLINE
            && bytes.first() == Some(&b'{')
            && self.outline.begin(bytes);
        let end = if self.outlined {
            self.outline.scan(bytes, &mut self.members)
        } else {
            scan_object(bytes, &mut self.members)
        };
        self.end = *end.as_ref().unwrap_or(&0);
        end
    }

    /// Scans as [`Scanned::scan`] does, but never builds an outline. For objects that are followed
    /// by many other bytes, or that are read only once.
    pub fn scan_plainly(&mut self, bytes: &[u8]) -> Result<usize, SyntaxError> {
        self.outlined = false;
        let end = scan_object(bytes, &mut self.members);
        self.end = *end.as_ref().unwrap_or(&0);
        end
    }

    /// Returns the object scanned last. `bytes` must be the slice that was passed to the scan.
    pub fn object<'a>(&'a self, bytes: &'a [u8]) -> Object<'a> {
        let bytes = bytes.get(..self.end).unwrap_or(bytes);
        if self.outlined {
            Object::outlined(bytes, &self.members, &self.outline)
        } else {
            Object::new(bytes, &self.members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_changes_nothing_of_what_is_found() {
        let long = "a\\\"b\\u00e9 会话 ".repeat(40);
        let text = format!(
            r#"{{"type":"message","message":{{"content":[{{"text":"{long}"}},"}}"],"n":1}},"id":"x"}} tail"#
        );
        let (mut with, mut without) = (Scanned::default(), Scanned::default());
        let end = with.scan(text.as_bytes()).unwrap();
        assert_eq!(without.scan_plainly(text.as_bytes()), Ok(end));
        let (with, without) = (
            with.object(text.as_bytes()),
            without.object(text.as_bytes()),
        );
        assert_eq!(with.raw().bytes().len(), end);
        let found = |object: &Object<'_>| {
            let message = object.get("message").unwrap();
            let items = message
                .get("content")
                .unwrap()
                .items()
                .map(|it| it.bytes().to_vec())
                .collect::<Vec<_>>();
            (
                items,
                message.get("n").unwrap().i64(),
                object.text("id").unwrap().into_owned(),
            )
        };
        assert_eq!(found(&with), found(&without));
        assert_eq!(found(&with).1, Some(1));
    }

    #[test]
    fn an_object_of_very_many_members_has_all_of_them() {
        for count in [1, 16_383, 16_384, 16_385, 40_000] {
            let members: Vec<String> = (0..count).map(|n| format!("\"k{n}\":{n}")).collect();
            let text = format!(
                "{{\"first\":{{\"a\":\"{}\"}},\"many\":{{{}}},\"last\":{{}}}}",
                "x".repeat(200),
                members.join(",")
            );
            let mut scanned = Scanned::default();
            scanned.scan(text.as_bytes()).unwrap();
            let object = scanned.object(text.as_bytes());
            let many = object.get("many").unwrap();
            assert!(
                many.members()
                    .map(|(_, value)| value.i64())
                    .eq((0..count).map(Some)),
                "{count}"
            );
            assert_eq!(object.get("first").unwrap().members().count(), 1);
            assert_eq!(object.get("last").unwrap().members().count(), 0);
        }
    }

    #[test]
    fn what_is_no_object_is_a_fault_with_and_without_outline() {
        for text in [
            "",
            "[1]",
            "{\"a\":",
            &format!("{{\"a\":\"{}", "x".repeat(300)),
            &format!("{{\"{}\t\":1}}", "x".repeat(300)),
        ] {
            let mut scanned = Scanned::default();
            assert_eq!(
                scanned.scan(text.as_bytes()),
                Scanned::default().scan_plainly(text.as_bytes()),
                "{text}"
            );
            assert!(
                scanned.object(text.as_bytes()).raw().bytes().is_empty(),
                "{text}"
            );
        }
    }
}
