//! Transforms records as xcsh and oh-my-pi do when they write them, so that boswell's records look
//! like theirs.
//!
//! Images become references to the agent's own blobs. xcsh also cuts long text, empties long
//! signatures and drops members that only a running answer needs; boswell stores such a record
//! whole, under the hash of what was written.
//!
//! Strings end at 500,000 characters, and images of 1024 or more base64 characters become blobs.

use boswell_model::Result;
use boswell_model::json::{Raw, Str, value_end};
use memchr::{memchr, memmem};

use super::externalize::{Edits, Moved, image, image_url, not_json, prefix, units_of};
use super::string_walk::{StringPosition, string_end, strings};
use super::{BlobId, LARGE_TEXT};

/// How xcsh ends a text that it cut.
const NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// Members that xcsh never writes, at any depth.
const TRANSIENT: [&str; 2] = ["partialJson", "jsonlEvents"];

/// The agent whose transformation is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// xcsh: images out, long text cut.
    Xcsh,
    /// oh-my-pi: images out. It cuts long text too where nothing signed it; text that is written
    /// whole it reads as well.
    Omp,
}

/// A record as an agent would write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persisted {
    /// The record.
    pub record: Vec<u8>,
    /// Images, for the agent's own blobs.
    pub blobs: Vec<(BlobId, Vec<u8>)>,
    /// Whether something is not in the record any more and in no blob of the agent either.
    pub lossy: bool,
}

/// Makes of a record what the agent would have written.
pub fn persisted(record: &[u8], habit: Habit) -> Result<Persisted> {
    let mut lossy = false;
    let mut record = std::borrow::Cow::Borrowed(record);
    if habit == Habit::Xcsh {
        while let Some((start, end)) = transient(&record) {
            record.to_mut().drain(start..end);
            lossy = true;
        }
    }
    let (mut edits, mut blobs, mut cut) = (Edits::default(), Vec::new(), false);
    let walked = strings(&record, &mut |place, start, end| {
        let token = record.get(start..end).unwrap_or(b"\"\"");
        let moved: Moved = match place {
            StringPosition::Image => image(token),
            StringPosition::ImageUrl => image_url(token).flatten(),
            StringPosition::Signature | StringPosition::Other => None,
        };
        if let Some((id, bytes, text)) = moved {
            edits.replace(start, end, &text);
            blobs.push((id, bytes));
        } else if let Some(short) = shortened(token, place)
            .filter(|_| habit == Habit::Xcsh && place != StringPosition::Image)
        {
            edits.replace(start, end, &short);
            cut = true;
        }
    });
    walked.map_err(|_| not_json())?;
    let mut record = edits.apply(&record);
    if cut {
        record = recounted(record);
    }
    Ok(Persisted {
        record,
        blobs,
        lossy: lossy || cut,
    })
}

/// Returns a long text as xcsh cuts it; `None` if it is short enough.
fn shortened(token: &[u8], place: StringPosition) -> Option<Vec<u8>> {
    // A string has at most as many units as its token has bytes.
    if token.len() <= LARGE_TEXT {
        return None;
    }
    let text = Str::trusted(token).to_wtf8();
    if units_of(&text) <= LARGE_TEXT {
        return None;
    }
    if place == StringPosition::Signature {
        return Some(Vec::new());
    }
    let mut kept = prefix(&text, LARGE_TEXT - NOTICE.len());
    // A high surrogate at the cut goes, also one that had no partner.
    if let [rest @ .., 0xED, 0xA0..=0xAF, _] = kept {
        kept = rest;
    }
    Some([kept, NOTICE.as_bytes()].concat())
}

/// The first member that is never written, with the comma that belongs to it.
fn transient(record: &[u8]) -> Option<(usize, usize)> {
    if !TRANSIENT
        .iter()
        .any(|key| memmem::find(record, key.as_bytes()).is_some())
    {
        return None;
    }
    let space = |at: usize| {
        let rest = record.get(at..).unwrap_or_default();
        at + rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let mut at = 0;
    while let Some(step) = record.get(at..).and_then(|rest| memchr(b'"', rest)) {
        let (start, end) = (at + step, string_end(record, at + step));
        let colon = space(end);
        // Only a key is followed by a colon.
        let is_key = record.get(colon) == Some(&b':');
        if is_key
            && TRANSIENT
                .iter()
                .any(|key| Str::trusted(record.get(start..end).unwrap_or(b"\"\"")).is(key))
        {
            let value = value_end(record, space(colon + 1)).ok()?;
            return Some(with_comma(record, start, value, space(value)));
        }
        at = end;
    }
    None
}

fn with_comma(record: &[u8], start: usize, end: usize, next: usize) -> (usize, usize) {
    if record.get(next) == Some(&b',') {
        return (start, next + 1);
    }
    let before = record.get(..start).unwrap_or_default().trim_ascii_end();
    (
        if before.ends_with(b",") {
            before.len() - 1
        } else {
            start
        },
        end,
    )
}

/// Sets the line counts of mentioned files after a cut.
fn recounted(mut record: Vec<u8>) -> Vec<u8> {
    let mut edits = Vec::new();
    let base = record.as_ptr() as usize;
    let files = Raw::trusted(&record).at(&["message", "files"]);
    for file in files.iter().flat_map(|files| files.items()) {
        let (content, count) = (
            file.get("content").and_then(|text| text.text()),
            file.get("lineCount"),
        );
        if let (Some(content), Some(count)) = (content, count.filter(|count| count.f64().is_some()))
            && content.ends_with(NOTICE)
        {
            let start = (count.bytes().as_ptr() as usize).saturating_sub(base);
            edits.push((
                start,
                start + count.bytes().len(),
                content.split('\n').count().to_string(),
            ));
        }
    }
    for (start, end, count) in edits.into_iter().rev() {
        record.splice(start..end, count.into_bytes());
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(record: &[u8], path: &[&str]) -> String {
        Raw::parse(record)
            .unwrap()
            .at(path)
            .unwrap()
            .text()
            .unwrap()
            .into_owned()
    }

    fn message(member: &str, units: usize) -> Vec<u8> {
        format!(
            r#"{{"type":"message","message":{{"{member}":"{}"}}}}"#,
            "x".repeat(units)
        )
        .into_bytes()
    }

    #[test]
    fn xcsh_cuts_text_of_more_than_half_a_million_units() {
        for (units, cut) in [(499_999, false), (500_000, false), (500_001, true)] {
            let record = message("content", units);
            let made = persisted(&record, Habit::Xcsh).unwrap();
            assert_eq!((made.lossy, made.record == record), (cut, !cut), "{units}");
        }
        let made = persisted(&message("content", 600_000), Habit::Xcsh).unwrap();
        let short = text(&made.record, &["message", "content"]);
        assert_eq!(
            (short.len(), short.strip_suffix(NOTICE).unwrap().len()),
            (500_000, 499_953)
        );
        assert!(
            !persisted(&message("content", 600_000), Habit::Omp)
                .unwrap()
                .lossy,
            "oh-my-pi gets it whole"
        );
    }

    #[test]
    fn no_character_is_cut_in_two() {
        // 499,952 units before a character of two: its first half would be the last unit that fits.
        let long = format!(
            r#"{{"content":"{}🦀{}"}}"#,
            "x".repeat(499_952),
            "y".repeat(100_000)
        );
        let short = text(
            &persisted(long.as_bytes(), Habit::Xcsh).unwrap().record,
            &["content"],
        );
        assert_eq!(short.strip_suffix(NOTICE).unwrap().len(), 499_952);
        let lone = format!(
            r#"{{"content":"{}\ud83e{}"}}"#,
            "x".repeat(499_952),
            "y".repeat(100_000)
        );
        let short = text(
            &persisted(lone.as_bytes(), Habit::Xcsh).unwrap().record,
            &["content"],
        );
        assert_eq!(short.strip_suffix(NOTICE).unwrap().len(), 499_952);
    }

    #[test]
    fn long_signatures_are_emptied_and_short_ones_stay() {
        for key in ["thinkingSignature", "thoughtSignature", "textSignature"] {
            let made = persisted(&message(key, 600_000), Habit::Xcsh).unwrap();
            assert_eq!(
                (text(&made.record, &["message", key]).as_str(), made.lossy),
                ("", true),
                "{key}"
            );
            assert!(
                !persisted(&message(key, 500_000), Habit::Xcsh)
                    .unwrap()
                    .lossy
            );
        }
    }

    #[test]
    fn images_go_to_the_blobs_of_the_agent_from_1024_characters_on() {
        let block = |data: &str, under: &str| {
            format!(
                r#"{{"message":{{"{under}":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}}}"#
            )
        };
        let made = |record: &str| persisted(record.as_bytes(), Habit::Xcsh).unwrap();
        assert!(made(&block(&"A".repeat(1023), "content")).blobs.is_empty());
        let large = made(&block(&"A".repeat(1024), "content"));
        assert_eq!(
            large.blobs,
            [(BlobId::of(&[0; 768]), vec![0; 768])],
            "of the decoded bytes"
        );
        assert!(
            !large.lossy
                && memmem::find(&large.record, large.blobs[0].0.reference().as_bytes()).is_some()
        );
        assert!(
            made(&block(&"A".repeat(1024), "images")).blobs.is_empty(),
            "only directly in content"
        );
        let url = "data:image/png;base64,AAAA";
        let small = made(&format!(r#"{{"input":[{{"image_url":"{url}"}}]}}"#));
        assert_eq!(
            small.blobs,
            [(BlobId::of(url.as_bytes()), url.as_bytes().to_vec())],
            "of the whole URL, at any length"
        );
    }

    #[test]
    fn what_only_a_running_answer_needs_is_dropped_at_any_depth() {
        for (before, after) in [
            (r#"{"partialJson":1}"#, "{}"),
            (r#"{"a":1,"partialJson":"x}\"","b":2}"#, r#"{"a":1,"b":2}"#),
            (
                r#"{"a":[{"b":1,"partialJson":{"c":[1]},"jsonlEvents":[]}]}"#,
                r#"{"a":[{"b":1}]}"#,
            ),
            (
                r#"{"a":"partialJson","b":"\"partialJson\":"}"#,
                r#"{"a":"partialJson","b":"\"partialJson\":"}"#,
            ),
        ] {
            let made = persisted(before.as_bytes(), Habit::Xcsh).unwrap();
            assert_eq!(String::from_utf8(made.record).unwrap(), after);
            assert_eq!(made.lossy, before != after);
        }
    }

    #[test]
    fn mentioned_files_count_the_lines_that_are_left() {
        let content = "line\\n".repeat(120_000);
        let record = format!(
            r#"{{"message":{{"files":[{{"path":"a","content":"x","lineCount":1}},{{"content":"{content}","lineCount":120001}}]}}}}"#
        );
        let made = persisted(record.as_bytes(), Habit::Xcsh).unwrap().record;
        let files: Vec<_> = Raw::parse(&made)
            .unwrap()
            .at(&["message", "files"])
            .unwrap()
            .items()
            .collect();
        assert_eq!(files[0].get("lineCount").unwrap().i64(), Some(1));
        let lines = files[1]
            .get("content")
            .unwrap()
            .text()
            .unwrap()
            .split('\n')
            .count();
        assert_eq!(
            files[1].get("lineCount").unwrap().i64(),
            i64::try_from(lines).ok()
        );
        assert!(lines < 120_000);
    }
}
