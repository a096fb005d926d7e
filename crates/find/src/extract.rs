//! Extracts the searchable text of a record: pieces of text, each with the [`Field`] it belongs to.
//!
//! Pieces come from what the dialect shows of a record ([`Dialect::view`]), so everything that a
//! user can read can be found. Two things are added that a view leaves out: parts of a tool result
//! that the agent stores only in `toolUseResult`, and every string of a record for which the
//! dialect shows no parts. Images and other base64 are left out.

use boswell_dialect::{Dialect, TextPiece};
use boswell_model::json::{Object, Raw, RawKind, Str};
use boswell_model::{EntryKind, Flags, Part, ToolInput, View};

/// The part of a conversation that a piece of text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Field {
    /// A prompt of the user.
    Prompt,
    /// An answer of the model.
    Answer,
    /// Thinking of the model.
    Thinking,
    /// The name and the arguments of a tool call.
    Call,
    /// The result of a tool call.
    Result,
    /// A title of the session, or a label or tag of an entry.
    Title,
    /// A summary that replaces older messages.
    Summary,
    /// A memory file of the agent.
    Memory,
    /// Text that the agent itself put into the conversation, and bookkeeping.
    Context,
}

impl Field {
    /// All fields.
    pub const ALL: [Field; 9] = [
        Field::Prompt,
        Field::Answer,
        Field::Thinking,
        Field::Call,
        Field::Result,
        Field::Title,
        Field::Summary,
        Field::Memory,
        Field::Context,
    ];

    /// Returns the name in options and output.
    pub fn word(self) -> &'static str {
        match self {
            Field::Prompt => "prompts",
            Field::Answer => "answers",
            Field::Thinking => "thinking",
            Field::Call => "calls",
            Field::Result => "results",
            Field::Title => "titles",
            Field::Summary => "summaries",
            Field::Memory => "memory",
            Field::Context => "context",
        }
    }

    /// Returns the weight of a hit in this field.
    pub(crate) fn weight(self) -> Weight {
        match self {
            Field::Title => Weight::Title,
            Field::Prompt | Field::Summary => Weight::Asked,
            _ => Weight::Plain,
        }
    }

    /// Returns the field with this name.
    pub fn named(word: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.word() == word)
    }
}

/// The weight of a field in ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// All other fields.
    Plain,
    /// Prompts and summaries.
    Asked,
    /// Titles.
    Title,
}

impl Weight {
    /// Returns the weight for a stored number; the largest for an unknown number, so that bounds
    /// stay upper bounds.
    pub(crate) fn numbered(number: u64) -> Weight {
        match number {
            0 => Weight::Plain,
            1 => Weight::Asked,
            _ => Weight::Title,
        }
    }

    /// Returns the factor by which the score of a hit is multiplied.
    pub(crate) fn factor(self) -> f64 {
        match self {
            Weight::Plain => 1.0,
            Weight::Asked => 1.05,
            Weight::Title => 1.1,
        }
    }
}

/// Calls `sink` with every piece of text of a record.
pub fn extract(
    dialect: &dyn Dialect,
    object: &Object<'_>,
    kind: EntryKind,
    flags: Flags,
    sink: &mut dyn FnMut(Field, &str),
) {
    let field = text_field(kind, flags);
    match dialect.powers().refine.text_pieces(object) {
        Some(parts) => {
            parts.iter().for_each(|part| part_text(*part, field, sink));
            if let Some(own) = object.get("toolUseResult") {
                let shown = |token: &[u8]| parts.iter().any(|part| says(*part, token));
                strings_but(own.bytes(), &shown, &mut |text| sink(Field::Result, text));
            }
        }
        None => extract_view(&dialect.view(object), object, kind, field, sink),
    }
}

fn extract_view(
    view: &View,
    object: &Object<'_>,
    kind: EntryKind,
    text_pieces: Field,
    sink: &mut dyn FnMut(Field, &str),
) {
    for part in &view.parts {
        view_part_text(part, text_pieces, sink);
    }
    if view.parts.is_empty() {
        match (kind, &view.remark) {
            // The remark contains words of the dialect around the title; only strings of the record
            // itself are searchable.
            (EntryKind::Title | EntryKind::Label | EntryKind::Tag, Some(remark)) => {
                strings(object.raw().bytes(), &mut |text| {
                    if !text.is_empty() && remark.contains(text) {
                        sink(Field::Title, text);
                    }
                });
            }
            (EntryKind::Header | EntryKind::Leaf, _) => {}
            _ => strings(object.raw().bytes(), &mut |text| sink(text_pieces, text)),
        }
        return;
    }
    if let Some(own) = object.get("toolUseResult") {
        strings(own.bytes(), &mut |text| {
            if !shown(view, text) {
                sink(Field::Result, text);
            }
        });
    }
    remark_text(view, object, text_pieces, sink);
}

/// What a remark takes from the record and no part of the view repeats: the name of a skill, the
/// message of a failure. The words around it are the dialect's and are not searched.
fn remark_text(
    view: &View,
    object: &Object<'_>,
    text_pieces: Field,
    sink: &mut dyn FnMut(Field, &str),
) {
    // A part that is shown as JSON was handed over string by string.
    let is_json = |part: &Part| matches!(part, Part::Other { .. });
    let Some(remark) = &view.remark else { return };
    if view.parts.iter().any(is_json) {
        return;
    }
    strings(object.raw().bytes(), &mut |text| {
        if !text.is_empty() && remark.contains(text) && !shown(view, text) {
            sink(text_pieces, text);
        }
    });
}

fn part_text(part: TextPiece<'_>, text_pieces: Field, sink: &mut dyn FnMut(Field, &str)) {
    match part {
        TextPiece::Text(text) => sink(text_pieces, &text.to_text()),
        TextPiece::Thinking(text) => sink(Field::Thinking, &text.to_text()),
        TextPiece::Call(name, input) => {
            sink(
                Field::Call,
                &name.map(|name| name.to_text()).unwrap_or_default(),
            );
            strings(input, &mut |text| sink(Field::Call, text));
        }
        TextPiece::Result(text) => sink(Field::Result, &text.to_text()),
        TextPiece::Other(json) => strings(json, &mut |text| sink(text_pieces, text)),
    }
}

/// Returns whether `part` already contains the JSON string `token`; both are compared in their
/// escaped form, without decoding.
fn says(part: TextPiece<'_>, token: &[u8]) -> bool {
    let (TextPiece::Text(said) | TextPiece::Result(said)) = part else {
        return false;
    };
    let (said, token) = (
        said.escaped(),
        token
            .strip_prefix(b"\"")
            .and_then(|t| t.strip_suffix(b"\""))
            .unwrap_or(token),
    );
    // A match that begins in the middle of an escape sequence is another text.
    let whole = |at: usize| at.checked_sub(1).and_then(|before| said.get(before)) != Some(&b'\\');
    if said.starts_with(token) || said.ends_with(token) && whole(said.len() - token.len()) {
        return true;
    }
    let begin = token.get(..token.len().min(24)).unwrap_or(token);
    let mut places = memchr::memmem::find_iter(said, begin).take(64);
    places.any(|at| whole(at) && said.get(at..).is_some_and(|rest| rest.starts_with(token)))
}

fn text_field(kind: EntryKind, flags: Flags) -> Field {
    match kind {
        _ if flags.has(Flags::SUMMARY) => Field::Summary,
        EntryKind::User if flags.has(Flags::HIDDEN) => Field::Context,
        EntryKind::User => Field::Prompt,
        EntryKind::Assistant => Field::Answer,
        EntryKind::ToolResult | EntryKind::Shell => Field::Result,
        EntryKind::Compaction | EntryKind::BranchSummary => Field::Summary,
        EntryKind::Title | EntryKind::Label | EntryKind::Tag => Field::Title,
        _ => Field::Context,
    }
}

fn view_part_text(part: &Part, text_pieces: Field, sink: &mut dyn FnMut(Field, &str)) {
    match part {
        Part::Text(text) => sink(text_pieces, text),
        Part::Thinking { text, .. } => sink(Field::Thinking, text),
        Part::Call { name, input, .. } => {
            sink(Field::Call, name);
            call_input(input, sink);
        }
        Part::Result { text, .. } => sink(Field::Result, text),
        Part::Other { json, .. } => strings(json.as_bytes(), &mut |text| sink(text_pieces, text)),
        _ => {}
    }
}

/// Arguments are JSON in most calls. Free-form tools take plain text (Codex's `apply_patch`), and a
/// call that was interrupted has the beginning of its JSON: both are searched as they are shown.
fn call_input(input: &ToolInput, sink: &mut dyn FnMut(Field, &str)) {
    let is_nested = |raw: Raw<'_>| matches!(raw.kind(), RawKind::Object | RawKind::Array);
    if input.json().is_some_and(is_nested) {
        strings(input.text().as_bytes(), &mut |text| sink(Field::Call, text));
    } else {
        sink(Field::Call, input.text());
    }
}

/// Whether a text that the agent keeps twice is in what is shown already.
fn shown(view: &View, text: &str) -> bool {
    view.parts.iter().any(|part| match part {
        Part::Result { text: shown, .. } | Part::Text(shown) => {
            holds(shown.as_bytes(), text.as_bytes())
        }
        _ => false,
    })
}

/// Returns whether `text` contains `part`. Most often they are equal; and preparing a search for a
/// long text costs more than searching for its first bytes.
fn holds(text: &[u8], part: &[u8]) -> bool {
    if text.starts_with(part) || text.ends_with(part) {
        return true;
    }
    let begin = part.get(..part.len().min(24)).unwrap_or(part);
    memchr::memmem::find_iter(text, begin)
        .take(64)
        .any(|at| text.get(at..).is_some_and(|rest| rest.starts_with(part)))
}

/// Calls `sink` with every string and number of a JSON text, and with every key that is not a plain
/// word: maps may be keyed by paths.
///
/// It goes from quote to quote, so nesting costs nothing. Bytes that are not valid JSON yield some
/// of their text, never a panic.
fn strings(json: &[u8], sink: &mut dyn FnMut(&str)) {
    strings_but(json, &|_| false, sink);
}

/// As [`strings`], without the tokens for which `skip` returns true; it receives tokens in their
/// escaped form.
fn strings_but(json: &[u8], skip: &dyn Fn(&[u8]) -> bool, sink: &mut dyn FnMut(&str)) {
    let mut at = 0;
    while let Some(step) = json.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let start = at + step;
        numbers(json.get(at..start).unwrap_or(b""), skip, sink);
        let end = string_end(json, start);
        let token = json.get(start..end).unwrap_or(b"\"\"");
        let is_key = json
            .get(end..)
            .and_then(|rest| rest.iter().find(|b| !b.is_ascii_whitespace()))
            == Some(&b':');
        if !(is_key && is_plain_key(token) || skip(token)) {
            sink(&Str::trusted(token).to_text());
        }
        at = end;
    }
    numbers(json.get(at..).unwrap_or(b""), skip, sink);
}

fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(step) = json
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += step;
        if json.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

fn is_plain_key(token: &[u8]) -> bool {
    token.len() <= 42
        && token
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'"' | b'_' | b'-' | b'$'))
}

fn numbers(between: &[u8], skip: &dyn Fn(&[u8]) -> bool, sink: &mut dyn FnMut(&str)) {
    if !between.iter().any(u8::is_ascii_digit) {
        return;
    }
    let part_of_number =
        |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
    for part in between
        .split(|b| !part_of_number(b))
        .filter(|part| part.iter().any(u8::is_ascii_digit))
    {
        if !skip(part) {
            sink(std::str::from_utf8(part).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(json: &str) -> Vec<String> {
        let mut found = Vec::new();
        strings(json.as_bytes(), &mut |text| found.push(text.to_owned()));
        found
    }

    #[test]
    fn strings_and_numbers_are_found_at_any_depth_and_plain_keys_are_not() {
        assert_eq!(
            all(
                r#"{"command":"ls \"a\"\n","n":[1.5,{"deep":["会\u8bdd",-2]}],"src/main.rs":{"add":true}}"#
            ),
            ["ls \"a\"\n", "1.5", "会话", "-2", "src/main.rs"]
        );
        let deep = format!("{}\"x\"{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(all(&deep), ["x"]);
    }

    #[test]
    fn what_is_kept_twice_is_left_out_only_where_it_is_the_same_text() {
        let said = |said: &'static str| TextPiece::Result(Str::trusted(said.as_bytes()));
        assert!(says(said(r#""one two three""#), br#""two""#) && says(said(r#""a 1.5""#), b"1.5"));
        assert!(says(said(r#""line\nnext""#), br#""\nnext""#));
        // A backslash and the letter n, as opposed to a line end.
        assert!(!says(said(r#""dir\\next""#), br#""\next""#));
        assert!(!says(said(r#""one""#), br#""one more""#));
        assert!(!says(TextPiece::Thinking(Str::trusted(b"\"x\"")), b"\"x\""));
    }

    #[test]
    fn arguments_that_are_plain_text_are_found_whole() {
        let found = |input: &str| {
            let mut found = Vec::new();
            call_input(&input.into(), &mut |_, text| found.push(text.to_owned()));
            found
        };
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n-    say(\"old\")\n+    say(\"new\")\n";
        assert_eq!(found(patch), [patch]);
        assert_eq!(found(r#"{"cmd":"ls -la"}"#), ["ls -la"]);
        assert_eq!(found(r#"{"cmd":"ls -"#), [r#"{"cmd":"ls -"#]);
        assert_eq!(found("const x = 1"), ["const x = 1"]);
        assert_eq!(found("true"), ["true"]);
    }

    #[test]
    fn fields_are_named_once() {
        for field in Field::ALL {
            assert_eq!(Field::named(field.word()), Some(field));
        }
        assert_eq!(Field::named("nothing"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_looked_through(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut count = 0;
            strings(&bytes, &mut |_| count += 1);
            prop_assert!(count <= bytes.len());
        }
    }
}
