//! Visits all strings of a record in one pass, with the place of each.
//!
//! The pass has no recursion: a record may be nested to any depth, and costs time in proportion to
//! its length.

use boswell_model::json::{Raw, Str, SyntaxError};
use memchr::memchr2;

/// The place of a string in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringPosition {
    /// The `data` of an image that is an item of an array under `content`.
    Image,
    /// Under the key `image_url`; items of an array count as under the key of the array.
    ImageUrl,
    /// Under a key that holds the signature of a provider.
    Signature,
    /// Anywhere else.
    Other,
}

const SIGNATURES: [&str; 3] = ["thinkingSignature", "thoughtSignature", "textSignature"];

/// Calls `visit` with the place, start and end of every string value of a record, quotes included.
///
/// Strings are visited when it is known what they are: the data of an image at
/// the end of its object.
pub(super) fn strings(
    record: &[u8],
    visit: &mut dyn FnMut(StringPosition, usize, usize),
) -> Result<(), SyntaxError> {
    Raw::parse(record)?;
    let mut walk = StringWalk {
        bytes: record,
        open: Vec::new(),
        visit,
    };
    let mut at = 0;
    while let Some(byte) = record.get(at) {
        at = match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => at + 1,
            b'{' | b'[' => walk.enter(*byte == b'{', at),
            b'}' | b']' => walk.leave(at),
            b'"' => walk.string(at),
            _ => walk.plain(at),
        };
    }
    Ok(())
}

type Range = (usize, usize);

#[derive(Default)]
struct Open {
    object: bool,
    /// The key of the value that comes now; that of an array is the nearest one above it.
    key: Option<Range>,
    wants_key: bool,
    /// An array that is itself the value of `content`.
    content: bool,
    /// An object directly in such an array.
    block: bool,
    image: bool,
    data: Option<Range>,
}

struct StringWalk<'a> {
    bytes: &'a [u8],
    open: Vec<Open>,
    visit: &'a mut dyn FnMut(StringPosition, usize, usize),
}

impl StringWalk<'_> {
    fn enter(&mut self, object: bool, at: usize) -> usize {
        let (key, own, content) = match self.open.last() {
            Some(parent) => (parent.key, parent.object, parent.content),
            None => (None, false, false),
        };
        self.value(None);
        self.open.push(Open {
            object,
            wants_key: object,
            key: if object { None } else { key },
            content: !object && own && self.key_is(key, "content"),
            block: object && content,
            ..Open::default()
        });
        at + 1
    }

    fn leave(&mut self, at: usize) -> usize {
        if let Some(Open {
            image,
            data: Some((start, end)),
            ..
        }) = self.open.pop()
        {
            (self.visit)(
                if image {
                    StringPosition::Image
                } else {
                    StringPosition::Other
                },
                start,
                end,
            );
        }
        at + 1
    }

    fn string(&mut self, start: usize) -> usize {
        let end = string_end(self.bytes, start);
        match self.open.last_mut() {
            Some(open) if open.object && open.wants_key => {
                open.key = Some((start, end));
                open.wants_key = false;
            }
            _ => self.value(Some((start, end))),
        }
        end
    }

    fn plain(&mut self, start: usize) -> usize {
        self.value(None);
        let rest = self.bytes.get(start..).unwrap_or(b"");
        let len = rest
            .iter()
            .position(|b| matches!(b, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'));
        start + len.unwrap_or(rest.len()).max(1)
    }

    /// Records a value of the innermost container; `text` is its token if it is a string.
    fn value(&mut self, text: Option<Range>) {
        let key = self.open.last().and_then(|open| open.key);
        let block = self.open.last().is_some_and(|open| open.block);
        let (is_type, is_data) = (
            block && self.key_is(key, "type"),
            block && self.key_is(key, "data"),
        );
        let image = is_type && text.is_some_and(|range| self.text_is(range, "image"));
        let mut visited = text;
        if let Some(open) = self.open.last_mut() {
            open.wants_key = open.object;
            if is_type {
                open.image = image;
            }
            if is_data {
                // Of a doubled key every reader takes the last, so the one before is just a string.
                visited = std::mem::replace(&mut open.data, text);
            }
        }
        if let Some((start, end)) = visited {
            let is = |text| !is_data && self.key_is(key, text);
            let place = if is("image_url") {
                StringPosition::ImageUrl
            } else if SIGNATURES.iter().any(|key| is(key)) {
                StringPosition::Signature
            } else {
                StringPosition::Other
            };
            (self.visit)(place, start, end);
        }
    }

    fn key_is(&self, key: Option<Range>, text: &str) -> bool {
        key.is_some_and(|range| self.text_is(range, text))
    }

    fn text_is(&self, (start, end): Range, text: &str) -> bool {
        self.bytes
            .get(start..end)
            .is_some_and(|token| Str::trusted(token).is(text))
    }
}

/// Returns the end of the string that starts at `start`, in JSON that is known to be well formed.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += step;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(record: &str) -> Vec<(StringPosition, String)> {
        let mut found = Vec::new();
        strings(record.as_bytes(), &mut |place, start, end| {
            found.push((place, record[start + 1..end - 1].to_owned()))
        })
        .unwrap();
        found
    }

    #[test]
    fn an_image_is_known_whatever_the_order_of_its_members() {
        let both = found(
            r#"{"content":[{"type":"image","data":"A"},{"data":"B","x":[1,{"y":null}],"type":"image"}]}"#,
        );
        let images: Vec<_> = both
            .iter()
            .filter(|(place, _)| *place == StringPosition::Image)
            .map(|(_, text)| text)
            .collect();
        assert_eq!(images, ["A", "B"]);
    }

    #[test]
    fn what_only_resembles_an_image_is_a_string() {
        for record in [
            r#"{"content":{"type":"image","data":"A"}}"#,
            r#"{"content":[[{"type":"image","data":"A"}]]}"#,
            r#"{"images":[{"type":"image","data":"A"}]}"#,
            r#"{"content":[{"type":"text","data":"A"}]}"#,
            r#"{"content":[{"type":"image","data":"A","data":1}]}"#,
            r#"{"content":[{"type":"image","type":"text","data":"A"}]}"#,
        ] {
            assert!(
                found(record).contains(&(StringPosition::Other, "A".to_owned())),
                "{record}"
            );
        }
    }

    #[test]
    fn items_of_an_array_stand_under_its_key() {
        let all = found(r#"{"a":{"image_url":["x",{"y":"z"},"v"]},"image_url":"w"}"#);
        let urls: Vec<_> = all
            .iter()
            .filter(|(place, _)| *place == StringPosition::ImageUrl)
            .map(|(_, text)| text)
            .collect();
        assert_eq!(urls, ["x", "v", "w"]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!(
            "{}\"x\"{}",
            "{\"content\":[".repeat(100_000),
            "]}".repeat(100_000)
        );
        assert_eq!(found(&deep), [(StringPosition::Other, "x".to_owned())]);
    }
}
