//! An index of one line: where its strings and containers end, and the members of inner objects.
//!
//! [`Raw`](super::Raw) uses it to skip a string or container in one step instead of reading its
//! bytes again. The outline is built in the scan that validates the line: [`Outline::begin`]
//! computes the quote bitmap, [`Outline::scan`] records containers and members in file order, so
//! that lookups are binary searches by start index.
//!
//! Its memory is bounded (`MOST_CONTAINERS`, `MOST_INNER`). What exceeds a bound is not recorded
//! and lookups return `None`; the caller then walks over the bytes. An outline never decides
//! whether a line is valid.

use super::quote_bitmap::QuoteIter;
use super::scan::{Guide, SyntaxError, SyntaxErrorKind, scan};
use super::{Member, QuoteBitmap};

/// Indexes are stored as `u32`; longer lines are rare and are scanned without an outline.
const LONGEST: usize = u32::MAX as usize;

/// The maximal number of recorded containers. Without a bound a line of brackets would need eight
/// bytes of memory per byte of input.
const MOST_CONTAINERS: usize = 1 << 16;

/// The maximal number of recorded members of inner objects, for the same reason.
const MOST_INNER: usize = 1 << 14;

/// The outline of a line that is one object. Its vectors are reused, so one value serves a whole
/// file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    quotes: QuoteBitmap,
    /// Objects and arrays at every depth, sorted by `start`.
    containers: Vec<Container>,
    /// Members of the objects that are themselves members of the line's object, sorted by
    /// `key_start`. Agents nest the interesting fields one level deep (`message.content`).
    inner: Vec<Member>,
}

/// The byte range of an object or array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Container {
    /// Index of the opening bracket.
    pub(super) start: u32,
    /// The index after the closing bracket. While the container is open: the number of its parent
    /// container, which makes the vector its own stack.
    pub(super) end: u32,
}

impl Outline {
    /// Computes the quote bitmap of a line. Returns false if the line must be scanned byte by byte:
    /// it is too long, or the bitmap rejects it.
    pub(super) fn begin(&mut self, line: &[u8]) -> bool {
        line.len() < LONGEST && self.quotes.index(line)
    }

    /// Scans the line that was passed to [`Outline::begin`], and records containers and members.
    pub(super) fn scan(
        &mut self,
        line: &[u8],
        members: &mut Vec<Member>,
    ) -> Result<usize, SyntaxError> {
        self.containers.clear();
        self.inner.clear();
        let (containers, inner) = (&mut self.containers, &mut self.inner);
        let mut pen = Pen {
            quotes: self.quotes.sweep(),
            containers,
            inner,
            around: 0,
            unnoted: 0,
        };
        scan(line, 0, Some(members), &mut pen)
    }

    /// Whether every byte of the line is ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.quotes.is_ascii()
    }

    /// Returns the index after the string whose opening quote is at `at`.
    #[inline]
    pub(super) fn string_end(&self, at: usize) -> usize {
        self.quotes
            .next(at + 1)
            .map_or(usize::MAX, |quote| quote + 1)
    }

    /// Returns the index after the container that begins at `at`, if it was recorded.
    #[inline]
    pub(super) fn container_end(&self, at: usize) -> Option<usize> {
        let found = self
            .containers
            .binary_search_by(|container| (container.start as usize).cmp(&at))
            .ok()?;
        self.containers
            .get(found)
            .map(|container| container.end as usize)
    }

    /// Returns the members of the inner object from `start` to `end`, which must be the value of a
    /// member of the line's object. `None` if there were too many members to record.
    #[inline]
    pub(super) fn inner_of(&self, start: usize, end: usize) -> Option<&[Member]> {
        // A full vector may have dropped members, of this object or of another.
        if self.inner.len() == MOST_INNER {
            return None;
        }
        let from = self
            .inner
            .partition_point(|member| member.key_start < start);
        let to = self.inner.partition_point(|member| member.key_start < end);
        self.inner.get(from..to)
    }
}

/// The [`Guide`] that records containers and members during the scan.
struct Pen<'o> {
    quotes: QuoteIter<'o>,
    containers: &'o mut Vec<Container>,
    inner: &'o mut Vec<Member>,
    /// The number of the innermost recorded container that is open.
    around: u32,
    /// How many containers are open inside it that were not recorded, because the vector was full.
    unnoted: usize,
}

impl Guide for Pen<'_> {
    #[inline(always)]
    fn string_end(&mut self, bytes: &[u8], _at: usize) -> Result<usize, SyntaxError> {
        // The scanner asks for every string in file order, so the next quote is the opening one. It
        // cannot be out of step: outside strings a quote begins a string, and a backslash is an
        // error.
        self.quotes.next();
        let end = self.quotes.next().ok_or(SyntaxError {
            at: bytes.len(),
            kind: SyntaxErrorKind::Truncated,
        })?;
        Ok(end + 1)
    }

    #[inline(always)]
    fn opened(&mut self, at: usize) {
        let number = self.containers.len();
        if number == MOST_CONTAINERS {
            self.unnoted += 1;
            return;
        }
        // Neither cast truncates: `begin` rejects lines of 4 GiB and more.
        self.containers.push(Container {
            start: at as u32,
            end: self.around,
        });
        self.around = number as u32;
    }

    #[inline(always)]
    fn closed(&mut self, end: usize) {
        // Once the vector is full, every further container is unrecorded, so those close first.
        if self.unnoted > 0 {
            self.unnoted -= 1;
        } else if let Some(container) = self.containers.get_mut(self.around as usize) {
            self.around = std::mem::replace(&mut container.end, end as u32);
        }
    }

    #[inline(always)]
    fn inner(&mut self, member: Member) {
        if self.inner.len() < MOST_INNER {
            self.inner.push(member);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Object, Raw, Scanned, Str};
    use super::*;

    /// Returns the end of every container of a text, looked up by its start.
    fn ends(text: &str) -> Vec<Option<usize>> {
        let mut outline = Outline::default();
        assert!(outline.begin(text.as_bytes()));
        assert_eq!(
            outline.scan(text.as_bytes(), &mut Vec::new()),
            Ok(text.len())
        );
        text.char_indices()
            .filter(|(_, c)| "{[".contains(*c))
            .map(|(at, _)| outline.container_end(at))
            .collect()
    }

    #[test]
    fn every_container_is_found_by_its_start() {
        let text = r#"{"a":[1,{"b":[]},{"c":{}}],"d":{"e":[[2]]}}"#;
        let close = |nth: &str| text.rfind(nth).unwrap() + nth.len();
        let found: Vec<usize> = ends(text).into_iter().map(Option::unwrap).collect();
        assert_eq!(found[0], text.len());
        assert_eq!(found[1], close("]") - "],\"d\":{\"e\":[[2]]".len() + 1);
        assert_eq!(&found[2..6], [16, 15, 25, 24]);
        assert_eq!(
            &found[6..],
            [text.len() - 1, text.len() - 2, text.len() - 3]
        );
    }

    #[test]
    fn containers_without_room_are_not_found_and_the_others_are() {
        let many = "[],".repeat(MOST_CONTAINERS) + "[[]]";
        let text = format!("{{\"a\":[{many}],\"z\":[7]}}");
        let found = ends(&text);
        assert_eq!(found[0], Some(text.len()));
        assert_eq!(found[1], Some(text.len() - ",\"z\":[7]}".len()));
        assert_eq!(found[2], Some(8));
        assert_eq!(found.last(), Some(&None));
    }

    /// Returns every key and value of a record, at any depth.
    fn all(of: &Object<'_>) -> Vec<Vec<u8>> {
        let mut found = vec![of.raw().bytes().to_vec()];
        let mut open: Vec<(Str<'_>, Raw<'_>)> = of.members().collect();
        while let Some((key, value)) = open.pop() {
            found.extend([key.escaped().to_vec(), value.bytes().to_vec()]);
            open.extend(value.items().map(|item| (Str::trusted(b""), item)));
            open.extend(value.members());
        }
        found
    }

    /// Generates a line of a log; some lines are similar, some have other members, some are
    /// damaged.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let text = prop_oneof![Just(3usize), Just(36), Just(200), 0usize..90];
        let kind = prop_oneof![
            Just("user"),
            Just("assistant"),
            Just("a\\\"}],{["),
            Just("\\\\"),
            Just("会话")
        ];
        let shape = prop_oneof![6 => Just(0), 2 => 1..4];
        (text, kind, shape, proptest::option::weighted(0.3, (any::<u16>(), damage()))).prop_map(
            |(len, kind, shape, damage)| {
                let (id, text) = ("0123456789abcdef".repeat(2), "x\\n".repeat(len));
                let space = if shape == 1 { " " } else { "" };
                let extra = if shape == 2 { r#""isMeta":true,"n":[[],{},[1,-2.5e3]],"# } else { "" };
                let content = match shape {
                    3 => format!(r#""{text}""#),
                    _ => format!(r#"[{{"type":"text","text":"{text}"}},{{"id":"{id}","input":{{"a":[null]}}}}]"#),
                };
                let mut line = format!(
                    r#"{{"id":"{id}","side":false,"kind":{space}"{kind}",{extra}"at":"{id}","message":{{"role":"{kind}","content":{content},"usage":{{"n":{len}}}}},"end":"{id}{id}{id}"}}"#
                )
                .into_bytes();
                if let Some((at, byte)) = damage {
                    let at = usize::from(at) % line.len();
                    line[at] = byte;
                }
                line
            },
        )
    }

    fn damage() -> impl Strategy<Value = u8> {
        prop_oneof![
            Just(b'"'),
            Just(b'\\'),
            Just(b' '),
            Just(b'}'),
            Just(b'{'),
            Just(b','),
            Just(b'\t'),
            any::<u8>()
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_reused_outline_finds_what_a_fresh_byte_by_byte_scan_finds(lines in proptest::collection::vec(line(), 1..60)) {
            let mut with = Scanned::default();
            for line in &lines {
                let mut without = Scanned::default();
                let end = without.scan_plainly(line);
                prop_assert_eq!(with.scan(line), end, "{}", String::from_utf8_lossy(line));
                let (with, without) = (with.object(line), without.object(line));
                prop_assert_eq!(all(&with), all(&without));
            }
        }
    }
}
