//! Scans objects, with an index of their quotes where that pays.

use super::{Fault, Member, Object, Quotes, scan_indexed, scan_object};

/// Shorter lines are scanned as fast without an index.
const WORTH_AN_INDEX: usize = 192;

/// How many members an entry has, about: a list that grows step by step is copied at every step.
const USUAL_MEMBERS: usize = 16;

/// The places of an object's members, and the scratch space for finding them: one serves a whole file.
#[derive(Debug, Default)]
pub struct Scanned {
    members: Vec<Member>,
    quotes: Quotes,
    indexed: bool,
    end: usize,
}

impl Scanned {
    /// Scans the object that starts at `bytes[0]` and gives where it ends.
    ///
    /// The index is made of all of `bytes`, so nothing much should stand behind the object.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        self.members.clear();
        self.members.reserve(USUAL_MEMBERS);
        self.indexed = bytes.len() >= WORTH_AN_INDEX && self.quotes.index(bytes);
        let end = if self.indexed {
            scan_indexed(bytes, &self.quotes, &mut self.members)
        } else {
            scan_object(bytes, &mut self.members)
        };
        self.end = *end.as_ref().unwrap_or(&0);
        end
    }

    /// The same without an index.
    pub fn scan_plainly(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        self.indexed = false;
        let end = scan_object(bytes, &mut self.members);
        self.end = *end.as_ref().unwrap_or(&0);
        end
    }

    /// The object that was scanned last, in the bytes that it was scanned in.
    pub fn object<'a>(&'a self, bytes: &'a [u8]) -> Object<'a> {
        let bytes = bytes.get(..self.end).unwrap_or(bytes);
        if self.indexed {
            Object::indexed(bytes, &self.members, &self.quotes)
        } else {
            Object::new(bytes, &self.members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_changes_nothing_of_what_is_found() {
        let long = "a\\\"b\\u00e9 会话 ".repeat(40);
        let text =
            format!(r#"{{"type":"message","message":{{"content":[{{"text":"{long}"}},"}}"],"n":1}},"id":"x"}} tail"#);
        let (mut with, mut without) = (Scanned::default(), Scanned::default());
        let end = with.scan(text.as_bytes()).unwrap();
        assert_eq!(without.scan_plainly(text.as_bytes()), Ok(end));
        let (with, without) = (with.object(text.as_bytes()), without.object(text.as_bytes()));
        assert_eq!(with.raw().bytes().len(), end);
        let found = |object: &Object<'_>| {
            let message = object.get("message").unwrap();
            let items = message.get("content").unwrap().items().map(|it| it.bytes().to_vec()).collect::<Vec<_>>();
            (items, message.get("n").unwrap().i64(), object.text("id").unwrap().into_owned())
        };
        assert_eq!(found(&with), found(&without));
        assert_eq!(found(&with).1, Some(1));
    }

    #[test]
    fn what_is_no_object_is_a_fault_with_and_without_index() {
        for text in [
            "",
            "[1]",
            "{\"a\":",
            &format!("{{\"a\":\"{}", "x".repeat(300)),
            &format!("{{\"{}\t\":1}}", "x".repeat(300)),
        ] {
            let mut scanned = Scanned::default();
            assert_eq!(scanned.scan(text.as_bytes()), Scanned::default().scan_plainly(text.as_bytes()), "{text}");
            assert!(scanned.object(text.as_bytes()).raw().bytes().is_empty(), "{text}");
        }
    }
}
