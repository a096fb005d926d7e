//! Changes members of a document and keeps every other byte: unknown fields, times, layout.

use boswell_model::json::{Member, Raw, Str, scan_object};
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::go_json;

/// The members of a document in the order in which Go writes them.
const ORDER: [&str; 16] = [
    "id",
    "backend",
    "created_at",
    "last_used",
    "working_dir",
    "backend_session_id",
    "model",
    "initial_prompt",
    "status",
    "turn_count",
    "token_usage",
    "tags",
    "title",
    "parent_id",
    "error_message",
    "metadata",
];

/// The white space before each member of a newly written document.
pub(crate) const LAYOUT: &[u8] = b"\n  ";

/// A document while it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    before: Vec<u8>,
    object: Vec<u8>,
    after: Vec<u8>,
}

impl Edit {
    /// Parses a document. Fails if it is not a JSON object, because a change would lose its
    /// contents.
    pub(crate) fn of(bytes: &[u8]) -> Result<Edit> {
        let damaged = |why: String| {
            Error::new(
                ErrorKind::Damaged,
                "the session's document is not a JSON object, so it cannot be changed",
            )
            .because(why)
            .advising(Advice::Check { session: None })
        };
        let raw = Raw::parse(bytes).map_err(|fault| damaged(fault.to_string()))?;
        let start = bytes.len() - bytes.trim_ascii_start().len();
        let end = start + raw.bytes().len();
        scan_object(raw.bytes(), &mut Vec::new()).map_err(|fault| damaged(fault.to_string()))?;
        let part = |range: std::ops::Range<usize>| bytes.get(range).unwrap_or(b"").to_vec();
        Ok(Edit {
            before: part(0..start),
            object: raw.bytes().to_vec(),
            after: part(end..bytes.len()),
        })
    }

    /// Returns a new document with these members.
    pub(crate) fn new(members: &[(&str, Vec<u8>)]) -> Edit {
        let members: Vec<Vec<u8>> = members
            .iter()
            .map(|(key, value)| [LAYOUT, &go_json::string(key), b": ", value].concat())
            .collect();
        let object = [b"{".as_slice(), &members.join(&b','), b"\n}"].concat();
        Edit {
            before: Vec::new(),
            object,
            after: Vec::new(),
        }
    }

    /// Returns the bytes of the document.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.before.as_slice(), &self.object, &self.after].concat()
    }

    /// Returns the value of a member.
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'_>> {
        go_json::member(Raw::trusted(&self.object), key)
    }

    /// Returns the white space before the first member, which shows how the document is formatted.
    pub(crate) fn gap(&self) -> &[u8] {
        self.members()
            .first()
            .and_then(|first| self.object.get(1..first.key_start))
            .unwrap_or(b"")
    }

    /// Sets a member; a new one is added where Go would write it.
    pub(crate) fn set(&mut self, key: &str, value: &[u8]) {
        let members = self.members();
        let found = members.iter().rev().find(|member| self.is(member, key));
        let (from, to, with) = match found {
            Some(member) => (member.start, member.end, value.to_vec()),
            None => self.addition(key, value, &members),
        };
        self.object.splice(from..to, with);
    }

    /// Sets a string member.
    pub(crate) fn set_text(&mut self, key: &str, text: &str) {
        if self.get(key).is_none_or(|value| !value.is(text)) {
            self.set(key, &go_json::string(text));
        }
    }

    /// Removes a member. Keys are compared as in Go, which ignores case: clinvoker would read any
    /// spelling.
    pub(crate) fn remove(&mut self, key: &str) {
        let members = Raw::trusted(&self.object).members();
        let names: Vec<String> = members
            .map(|(name, _)| name.to_text().into_owned())
            .filter(|name| go_json::is_key(name, key))
            .collect();
        for name in names {
            // Cannot fail: the object was scanned before.
            if let Ok(without) = boswell_model::json::remove_member(&self.object, &name) {
                self.object = without;
            }
        }
    }

    fn addition(&self, key: &str, value: &[u8], members: &[Member]) -> (usize, usize, Vec<u8>) {
        let mine = ORDER
            .iter()
            .position(|known| *known == key)
            .unwrap_or(ORDER.len());
        let is_before =
            |member: &&Member| ORDER.iter().take(mine).any(|known| self.is(member, known));
        let Some(first) = members.first() else {
            return (
                1,
                1,
                [go_json::string(key).as_slice(), b":", value].concat(),
            );
        };
        let gap = self.gap();
        let colon = self.object.get(first.key_end..first.start).unwrap_or(b":");
        let member = [go_json::string(key).as_slice(), colon, value].concat();
        match members.iter().rev().find(is_before) {
            Some(before) => (
                before.end,
                before.end,
                [b",".as_slice(), gap, &member].concat(),
            ),
            None => (
                first.key_start,
                first.key_start,
                [member.as_slice(), b",", gap].concat(),
            ),
        }
    }

    fn is(&self, member: &Member, key: &str) -> bool {
        let name = self.object.get(member.key_start..member.key_end);
        name.is_some_and(|name| go_json::is_key(&Str::trusted(name).to_text(), key))
    }

    fn members(&self) -> Vec<Member> {
        let mut members = Vec::new();
        // Cannot fail: the object was scanned before.
        let _ = scan_object(&self.object, &mut members);
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\n{\n  \"id\": \"a\",\n  \"last_used\": \"2026-01-31T23:45:41.123456789+09:00\",\n  \"later\": {\"x\" :1.0},\n  \"tags\": [\n    \"\\u003cold\\u003e\"\n  ]\n}\n";

    fn edited(change: impl FnOnce(&mut Edit)) -> String {
        let mut edit = Edit::of(DOCUMENT.as_bytes()).unwrap();
        change(&mut edit);
        String::from_utf8(edit.bytes()).unwrap()
    }

    #[test]
    fn only_what_is_set_changes_and_goes_where_go_would_write_it() {
        assert_eq!(
            edited(|edit| edit.set_text("status", "active")),
            DOCUMENT.replace("\n  \"later\"", "\n  \"status\": \"active\",\n  \"later\"")
        );
        assert_eq!(
            edited(|edit| edit.set_text("title", "<会>")),
            DOCUMENT.replace("  ]\n}", "  ],\n  \"title\": \"\\u003c会\\u003e\"\n}")
        );
        assert_eq!(
            edited(|edit| edit.set_text("id", "a")),
            DOCUMENT,
            "the same text is not written anew"
        );
        assert_eq!(edited(|edit| edit.remove("nothing")), DOCUMENT);
        assert_eq!(
            edited(|edit| edit.remove("tags")),
            "\n{\n  \"id\": \"a\",\n  \"last_used\": \"2026-01-31T23:45:41.123456789+09:00\",\n  \"later\": {\"x\" :1.0}\n}\n"
        );
    }

    #[test]
    fn of_doubled_keys_the_last_one_is_changed_and_other_layouts_are_kept() {
        let mut edit = Edit::of(br#"{"title":"a","title":"b"}"#).unwrap();
        edit.set_text("title", "c");
        edit.set_text("backend", "codex");
        assert_eq!(
            edit.bytes(),
            br#"{"backend":"codex","title":"a","title":"c"}"#
        );
        let mut empty = Edit::of(b" {}").unwrap();
        empty.set_text("title", "x");
        assert_eq!(empty.bytes(), br#" {"title":"x"}"#);
    }

    #[test]
    fn keys_in_another_case_are_changed_where_they_are() {
        let mut edit = Edit::of(br#"{"ID":"a","Title":"old","TAGS":["x"]}"#).unwrap();
        assert!(edit.get("title").is_some_and(|title| title.is("old")));
        edit.set_text("title", "new");
        edit.remove("tags");
        edit.set_text("backend", "codex");
        assert_eq!(
            edit.bytes(),
            br#"{"ID":"a","backend":"codex","Title":"new"}"#
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bytes in [&b"{\"id\":"[..], b"[]", b"", b"null", b"\xEF\xBB\xBF{}"] {
            assert_eq!(Edit::of(bytes).unwrap_err().kind(), ErrorKind::Damaged);
        }
    }

    #[test]
    fn a_new_document_is_indented_as_go_does() {
        let edit = Edit::new(&[("id", b"\"a\"".to_vec()), ("turn_count", b"1".to_vec())]);
        assert_eq!(edit.bytes(), b"{\n  \"id\": \"a\",\n  \"turn_count\": 1\n}");
        assert_eq!(edit.gap(), b"\n  ");
    }
}
