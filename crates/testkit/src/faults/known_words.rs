//! Normalises data that varies between runs: new ids, times and hashes, and their sort order.

use std::collections::{HashMap, HashSet};

use super::lab::FaultLab;
use super::state::files;

/// Words of the fixture, which are not normalised.
#[derive(Debug, Default)]
pub(super) struct Known {
    words: HashSet<String>,
    /// Files of the fixture: most of them are unchanged after every trial and need not be
    /// normalised again.
    files: HashMap<String, (Vec<u8>, String)>,
}

impl Known {
    /// Collects every word of the live fixture.
    pub(super) fn of(place: &FaultLab) -> Result<Known, String> {
        let mut known = Known::default();
        let fixture = files(&place.live(), |_| true);
        for (path, bytes) in &fixture {
            known.learn(path);
            known.learn(&String::from_utf8_lossy(bytes));
        }
        for args in [
            &["list", "--hidden", "--json"][..],
            &["ops", "--json"],
            &["check", "--json"],
        ] {
            known.learn(&place.run(args)?.stdout);
        }
        for (path, bytes) in fixture {
            let text = known.text(&path, &bytes);
            known.files.insert(path, (bytes, text));
        }
        Ok(known)
    }

    pub(super) fn content(&self, path: &str, bytes: &[u8]) -> String {
        match self.files.get(path) {
            Some((same, text)) if same == bytes => text.clone(),
            _ => self.text(path, bytes),
        }
    }

    fn text(&self, path: &str, bytes: &[u8]) -> String {
        if path.ends_with(MAP_BY_ID)
            && let Ok(serde_json::Value::Object(map)) = serde_json::from_slice(bytes)
        {
            return self.sorted_members(&map);
        }
        self.normal(&String::from_utf8_lossy(bytes))
    }

    /// Returns a map whose keys are ids, one member per line. Sorted after the ids were normalised,
    /// because the order of new random ids varies.
    fn sorted_members(&self, map: &serde_json::Map<String, serde_json::Value>) -> String {
        let mut members: Vec<String> = map
            .iter()
            .map(|(key, value)| match value {
                serde_json::Value::Object(inner) => {
                    format!("{key}: {}", self.sorted_members(inner).replace('\n', ", "))
                }
                other => self.normal(&format!("{key}: {other}")),
            })
            .map(|line| self.normal(&line))
            .collect();
        members.sort();
        members.join("\n")
    }

    /// Returns a line of `ops`. Its files are sorted by path, and the order of new random ids
    /// varies.
    pub(super) fn operation_shown(&self, line: &str) -> String {
        let Ok(mut operation) = serde_json::from_str::<serde_json::Value>(line) else {
            return self.normal(line);
        };
        // The files are compared themselves; the sizes of clinvoker's vary with the digits of a
        // time.
        for size in ["before", "after", "appended"] {
            let files = operation["files"].as_array_mut().into_iter().flatten();
            files
                .filter(|file| file[size].is_number())
                .for_each(|file| file[size] = "some".into());
        }
        let files = operation["files"]
            .as_array_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let mut files: Vec<String> = files
            .iter()
            .map(|file| self.normal(&file.to_string()))
            .collect();
        files.sort();
        format!(
            "{} {}",
            self.normal(&operation.to_string()),
            files.join(" ")
        )
    }

    fn learn(&mut self, text: &str) {
        self.words
            .extend(words(text).filter(|word| varies(word)).map(str::to_owned));
    }

    pub(super) fn normal(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (head, tail) = rest.split_at(word);
            out.push_str(if varies(head) && !self.words.contains(head) {
                "•"
            } else {
                head
            });
            let gap = tail.find(is_word).unwrap_or(tail.len());
            out.push_str(&tail[..gap]);
            rest = &tail[gap..];
        }
        out
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// Whether a word is an id, time or hash; short numbers are counts and must be equal.
fn varies(word: &str) -> bool {
    word.len() >= 8 && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// clinvoker's index: an object with one member per session, in the order of their ids.
const MAP_BY_ID: &str = ".clinvk/sessions/index.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_and_times_are_made_equal_and_everything_else_stays() {
        let mut known = Known::default();
        known.learn("id 01a1e494-c409-7567-92ec-2f04c3325c8d");
        let text = "01a1e494-c409-7567-92ec-2f04c3325c8d at 2026-11-16T13:35:47.020Z said \"hello\" 12 times to b1946ac92492d234";
        assert_eq!(
            known.normal(text),
            "01a1e494-c409-7567-92ec-2f04c3325c8d at • said \"hello\" 12 times to •"
        );
    }

    #[test]
    fn where_a_new_id_sorts_in_an_index_makes_no_difference() {
        let mut known = Known::default();
        known.learn("5555555555555555");
        let before =
            br#"{"1234567890abcdef":{"Status":"active"},"5555555555555555":{"Status":"done"}}"#;
        let behind =
            br#"{"5555555555555555":{"Status":"done"},"fedcba0987654321":{"Status":"active"}}"#;
        let torn = br#"{"5555555555555555":{"Status":"done"},"fedcba0987654321":{"Status":"act"#;
        let path = "d/home/.clinvk/sessions/index.json";
        assert_eq!(known.text(path, before), known.text(path, behind));
        assert_ne!(known.text(path, before), known.text(path, torn));
        assert_ne!(
            known.text(path, before),
            known.text(path, br#"{"5555555555555555":{"Status":"done"}}"#)
        );
    }

    #[test]
    fn files_of_an_operation_are_compared_in_any_order() {
        let mut known = Known::default();
        known.learn("/s/5555555555555555.jsonl");
        let shown =
            |files: &str| known.operation_shown(&format!(r#"{{"op":"1","files":[{files}]}}"#));
        let (mine, new) = (
            r#"{"path":"/s/5555555555555555.jsonl","after":1}"#,
            r#"{"path":"/s/1234567890abcdef.jsonl","after":2}"#,
        );
        assert_eq!(
            shown(&format!("{mine},{new}")),
            shown(&format!("{new},{mine}"))
        );
        assert_ne!(shown(&format!("{mine},{new}")), shown(mine));
        assert_ne!(shown(mine), shown(new));
    }
}
