//! Texts of files in the results of calls: what an agent recorded of a file before its edit, and
//! what a read returned.

use boswell_model::json::{Raw, RawKind};

use super::replay::SeenExtent;

/// How deep a record is searched.
const DEEPEST: usize = 8;
/// Reads with as many lines may be cut.
const CUT: usize = 2_000;

/// What the record of a result says about the file of its call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedText {
    /// Its text before the call.
    pub(super) before: Option<String>,
    /// Its text, as a read saw all of it.
    pub(super) seen: Option<String>,
    /// Some of its lines, as a read saw them.
    pub(super) part: Option<String>,
}

impl RecordedText {
    /// Searches the record with the result of a call.
    pub(super) fn of(record: &[u8], call: &str) -> RecordedText {
        let mut found = RecordedText::default();
        let Ok(raw) = Raw::parse(record) else {
            return found;
        };
        // A record may have the results of several calls.
        let own = (!call.is_empty())
            .then(|| part_of_call(raw, call, 0))
            .flatten();
        found.search(own.unwrap_or(raw), 0);
        if found == RecordedText::default() {
            found.search(raw, 0);
        }
        found
    }

    /// Returns what a read saw of the file, and how much that is. `shown` is what its tool printed.
    pub(super) fn shown(&self, shown: &str, is_whole: bool) -> (String, SeenExtent) {
        let certain = self.seen.clone().or_else(|| numbered(shown));
        if let Some(text) = certain.filter(|_| is_whole) {
            return (text, SeenExtent::Whole);
        }
        let part = self.part.clone().or_else(|| without_numbers(shown));
        match part {
            Some(part) => (part, SeenExtent::Part),
            None if is_whole => (shown.to_owned(), SeenExtent::Likely),
            None => (shown.to_owned(), SeenExtent::Part),
        }
    }

    fn search(&mut self, raw: Raw<'_>, depth: usize) {
        if depth > DEEPEST || *self != RecordedText::default() {
            return;
        }
        match raw.kind() {
            RawKind::Object => {
                self.look(&raw);
                for (_, member) in raw.members() {
                    self.search(member, depth + 1);
                }
            }
            RawKind::Array => raw.items().for_each(|item| self.search(item, depth + 1)),
            _ => {}
        }
    }

    fn look(&mut self, raw: &Raw<'_>) {
        let text = |key: &str| Some(raw.get(key)?.text()?.into_owned());
        let number = |key: &str| raw.get(key)?.u64();
        if let Some(before) = text("originalFile").or_else(|| text("originalContent")) {
            self.before = Some(before);
        } else if let (Some(before), Some(_)) = (text("before"), text("after")) {
            self.before = Some(before);
        } else if let Some(content) = text("content") {
            let (start, lines) = (number("startLine"), number("numLines"));
            let is_whole = start == Some(1) && lines == number("totalLines");
            match start.and(lines) {
                Some(_) if is_whole => self.seen = Some(content),
                Some(_) => self.part = Some(content),
                None => {}
            }
        }
    }
}

/// The part of a record that is about one call.
fn part_of_call<'r>(raw: Raw<'r>, call: &str, depth: usize) -> Option<Raw<'r>> {
    if depth > DEEPEST {
        return None;
    }
    match raw.kind() {
        RawKind::Object => {
            let keys = ["id", "callId", "callID", "call_id", "toolCallId"];
            let is_own = keys
                .iter()
                .any(|key| raw.get(key).is_some_and(|it| it.is(call)));
            if is_own && depth > 0 {
                return Some(raw);
            }
            let mut members = raw.members();
            members.find_map(|(_, member)| part_of_call(member, call, depth + 1))
        }
        RawKind::Array => raw
            .items()
            .find_map(|item| part_of_call(item, call, depth + 1)),
        _ => None,
    }
}

/// Returns the text of a file from the numbered lines that a read shows; `None` if they are not
/// numbered from 1, or may not be all.
fn numbered(shown: &str) -> Option<String> {
    let mut text = String::new();
    let mut lines = shown.lines();
    let mut count = 0;
    let mut rest = None;
    for line in lines.by_ref() {
        let Some(line) = numbered_line(line, count + 1) else {
            rest = Some(line);
            break;
        };
        count += 1;
        text.push_str(line);
        text.push('\n');
    }
    let rest = rest
        .into_iter()
        .chain(lines)
        .find(|line| !line.trim().is_empty());
    let is_end = rest.is_none_or(|line| line.starts_with("<system-reminder>"));
    (count > 0 && count < CUT && is_end).then_some(text)
}

/// Returns the lines that a read shows without their numbers, whatever they begin with; `None` if
/// most have none.
fn without_numbers(shown: &str) -> Option<String> {
    let mut text = String::new();
    let (mut all, mut numbered) = (0, 0);
    for line in shown.lines() {
        let digits = line.trim_start();
        let digits = digits.len()
            - digits
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let number = line.trim_start().get(..digits).unwrap_or_default();
        let bare = number.parse().ok().and_then(|it| numbered_line(line, it));
        all += 1;
        numbered += usize::from(bare.is_some());
        text.push_str(bare.unwrap_or(line));
        text.push('\n');
    }
    (numbered * 2 > all).then_some(text)
}

fn numbered_line(line: &str, number: usize) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(&number.to_string())?;
    ["→", "\t", " | ", "|", ": "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_before_an_edit_are_found_in_results_of_several_agents() {
        let before = |record: &str, call: &str| RecordedText::of(record.as_bytes(), call).before;
        let claude = r#"{"toolUseResult":{"filePath":"/a","oldString":"x","originalFile":"x\n"}}"#;
        assert_eq!(before(claude, "c").as_deref(), Some("x\n"));
        let two = r#"{"toolCalls":[{"id":"c1","resultDisplay":{"originalContent":"1"}},
                      {"id":"c2","resultDisplay":{"originalContent":"2"}}]}"#;
        assert_eq!(before(two, "c2").as_deref(), Some("2"));
        let part = r#"{"state":{"metadata":{"filediff":{"file":"a","before":"b","after":"c"}}}}"#;
        assert_eq!(before(part, "c").as_deref(), Some("b"));
    }

    #[test]
    fn only_a_read_from_the_first_line_to_the_last_is_the_text() {
        let seen = |record: &str| RecordedText::of(record.as_bytes(), "").seen;
        let whole = r#"{"toolUseResult":{"file":{"content":"a","startLine":1,"numLines":1,"totalLines":1}}}"#;
        assert_eq!(seen(whole).as_deref(), Some("a"));
        let cut = whole.replace("\"totalLines\":1", "\"totalLines\":9");
        assert_eq!(seen(&cut), None);
        let part = RecordedText::of(cut.as_bytes(), "").part;
        assert_eq!(part.as_deref(), Some("a"));
        assert_eq!(
            numbered("     1→a\n     2→\n\n<system-reminder>x").as_deref(),
            Some("a\n\n")
        );
        assert_eq!(numbered("     5\ta"), None);
        assert_eq!(numbered("1\ta\n(3 more lines)"), None);
        assert_eq!(without_numbers("  7→a\n  8→9\n").as_deref(), Some("a\n9\n"));
        assert_eq!(without_numbers("a\n9\n"), None);
    }
}
