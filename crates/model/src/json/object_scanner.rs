//! Scans objects, with an outline of them where that pays.

use super::{Member, Object, Outline, SyntaxError, scan_object};

/// Shorter lines are scanned as fast without an outline.
const WORTH_AN_OUTLINE: usize = 192;

/// How many members an entry has, about: a list that grows step by step is copied at every step.
const USUAL_MEMBERS: usize = 16;

/// The places of an object's members, and the scratch space for finding them: one
/// serves a whole file.
#[derive(Debug, Default)]
pub struct Scanned {
    members: Vec<Member>,
    outline: Outline,
    outlined: bool,
    end: usize,
}

impl Scanned {
    /// Scans the object that starts at `bytes[0]` and gives where it ends.
    ///
    /// The outline is made of all of `bytes`, so nothing much should stand behind the object.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, SyntaxError> {
        self.members.clear();
        self.members.reserve(USUAL_MEMBERS);
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

    /// The same without an outline.
    pub fn scan_plainly(&mut self, bytes: &[u8]) -> Result<usize, SyntaxError> {
        self.outlined = false;
        let end = scan_object(bytes, &mut self.members);
        self.end = *end.as_ref().unwrap_or(&0);
        end
    }

    /// The object that was scanned last, in the bytes that it was scanned in.
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
