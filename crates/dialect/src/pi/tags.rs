//! Tags of boswell's own sessions: a record contains the tags that were added and removed, and the
//! whole list at that time.
//!
//! Several processes may tag a session concurrently without a lock, because a log is only appended
//! to. A record with the whole list alone would undo what another process appended since the list
//! was read. So the changes count, and they commute. The list is for two other readers: the first
//! release, which knows nothing else, and a reader that does not see every record (a long log read
//! from its two ends, a fork of one branch, a log with a damaged line). A tag in the list counts
//! unless an earlier record removed that tag, because then the list is older than the removal.
//!
//! The alternative was compare and retry under the append lock. It keeps the record as it was, but
//! starves next to an agent that appends all the time: every retry reads a log that may have
//! gigabytes, and holding the lock meanwhile blocks the agent.

use std::collections::HashSet;

use boswell_model::SessionMeta;
use boswell_model::json::{Json, Raw};

use super::js_values::filled;
use crate::Draft;

/// The `customType` of the record.
pub(super) const WORD: &str = "boswell.tags";

/// Returns the record that adds and removes tags of a session with the tags `now`. A tag in both
/// lists is added.
pub fn retag(now: &[String], add: &[String], remove: &[String]) -> Draft {
    let mut seen = HashSet::new();
    let removed: Vec<String> = remove
        .iter()
        .filter(|tag| !add.contains(tag))
        .cloned()
        .collect();
    let kept = now.iter().filter(|tag| !removed.contains(tag)).chain(add);
    let tags: Vec<String> = kept
        .filter(|tag| seen.insert(tag.as_str()))
        .cloned()
        .collect();
    // Both members are always written: they distinguish this record from a whole list of the first
    // release.
    Draft::custom(
        WORD,
        Json::object()
            .with("tags", tags)
            .with("added", add.to_vec())
            .with("removed", removed),
    )
}

/// Applies a record to the tags known so far.
pub(super) fn collect_meta(data: Raw<'_>, meta: &mut SessionMeta) {
    let texts = |key: &str| -> Vec<String> {
        let tags = data.get(key);
        tags.iter()
            .flat_map(|tags| tags.items())
            .filter_map(|tag| filled(Some(tag)))
            .collect()
    };
    let listed = texts("tags");
    if data.get("added").is_none() && data.get("removed").is_none() {
        return replace(listed, meta);
    }
    let (added, removed) = (texts("added"), texts("removed"));
    let gone: HashSet<&str> = removed
        .iter()
        .map(String::as_str)
        .filter(|tag| is_set(meta, tag))
        .collect();
    if !gone.is_empty() {
        meta.tags.retain(|tag| !gone.contains(tag.as_str()));
    }
    for tag in removed {
        meta.tag_states.insert(tag, false);
    }
    let unknown: Vec<String> = listed
        .into_iter()
        .filter(|tag| !meta.tag_states.contains_key(tag))
        .collect();
    for tag in unknown.into_iter().chain(added) {
        if !is_set(meta, &tag) {
            meta.tags.push(tag.clone());
            meta.tag_states.insert(tag, true);
        }
    }
}

/// Applies a complete list, as the first release wrote it: tags that are not in it are removed.
fn replace(listed: Vec<String>, meta: &mut SessionMeta) {
    for tag in std::mem::take(&mut meta.tags) {
        meta.tag_states.insert(tag, false);
    }
    meta.tag_states
        .extend(listed.iter().map(|tag| (tag.clone(), true)));
    meta.tags = listed;
}

fn is_set(meta: &SessionMeta, tag: &str) -> bool {
    meta.tag_states.get(tag) == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{entry, read, v3};
    use super::*;

    fn texts(tags: &[&str]) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    /// Returns the tags after these records.
    fn seen(data: &[&str]) -> Vec<String> {
        let record = |(number, data): (usize, &&str)| {
            let rest = format!(r#""customType":"boswell.tags","data":{data}"#);
            entry("custom", &number.to_string(), "", &rest)
        };
        read(
            Pi::BOSWELL,
            &v3(&data.iter().enumerate().map(record).collect::<Vec<_>>()),
        )
        .meta
        .tags
    }

    #[test]
    fn changes_made_by_two_who_did_not_see_each_other_both_count() {
        let (a, b) = (
            r#"{"tags":["x","a"],"added":["a"],"removed":[]}"#,
            r#"{"tags":["x","b"],"added":["b"],"removed":[]}"#,
        );
        assert_eq!(seen(&[r#"{"tags":["x"]}"#, a, b]), ["x", "a", "b"]);
        let gone = r#"{"tags":[],"added":[],"removed":["x"]}"#;
        assert_eq!(
            seen(&[r#"{"tags":["x"]}"#, gone, b]),
            ["b"],
            "a list older than the removal brings nothing back"
        );
        assert_eq!(seen(&[r#"{"tags":["x"]}"#, b, gone]), ["b"]);
        let again = r#"{"tags":["x"],"added":["x"],"removed":[]}"#;
        assert_eq!(
            seen(&[r#"{"tags":["x"]}"#, gone, b, again]),
            ["b", "x"],
            "who adds it again means it"
        );
    }

    #[test]
    fn whole_lists_of_the_first_release_replace_all_before_them() {
        assert_eq!(
            seen(&[r#"{"tags":["a","b"]}"#, r#"{"tags":["c","b"]}"#]),
            ["c", "b"]
        );
        let stale = r#"{"tags":["a","d"],"added":["d"],"removed":[]}"#;
        assert_eq!(
            seen(&[r#"{"tags":["a","b"]}"#, r#"{"tags":["b"]}"#, stale]),
            ["b", "d"]
        );
        assert_eq!(seen(&[stale, r#"{"tags":["b"]}"#]), ["b"]);
        assert!(seen(&[r#"{"tags":["a"]}"#, r#"{}"#]).is_empty());
        assert!(
            seen(&[
                r#"{"tags":7}"#,
                r#"{"tags":null,"added":"x","removed":{}}"#,
                "3",
                "[]"
            ])
            .is_empty()
        );
    }

    #[test]
    fn who_does_not_see_every_record_goes_by_the_list() {
        let last = r#"{"tags":["a","b","c"],"added":["c"],"removed":["d"]}"#;
        assert_eq!(seen(&[last]), ["a", "b", "c"]);
    }

    #[test]
    fn the_record_holds_changes_and_the_list_that_the_first_release_reads() {
        let draft = retag(
            &texts(&["a", "b"]),
            &texts(&["c", "a", "c"]),
            &texts(&["b", "a", "z"]),
        );
        let crate::Body::Custom {
            kind,
            data: Some(data),
        } = draft.body
        else {
            panic!()
        };
        assert_eq!(kind, WORD);
        let written = String::from_utf8(data.to_bytes()).unwrap();
        assert_eq!(
            written,
            r#"{"tags":["a","c"],"added":["c","a","c"],"removed":["b","z"]}"#
        );
    }
}
