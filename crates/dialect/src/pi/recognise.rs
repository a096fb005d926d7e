//! Recognises which program of the family wrote a file.

use boswell_model::json::{Object, RawKind};

use crate::{Match, Sample};

use super::{Flavour, Pi};

/// Rates how much a sample looks like a session of this flavour. The other flavours can read it
/// too, so their rating is `Maybe` where this one's is `Likely`.
pub(super) fn recognises(pi: Pi, sample: &Sample<'_>) -> Match {
    let headed = sample.records.iter().any(is_header);
    if !headed && (is_foreign(sample) || !sample.records.iter().any(is_own_entry)) {
        return Match::No;
    }
    match by_folder(sample.folders) {
        Some(flavour) if flavour == pi.flavour => Match::Certain,
        Some(_) => Match::Maybe,
        None if by_records(sample.records) == pi.flavour && headed => Match::Likely,
        None => Match::Maybe,
    }
}

/// Whether the record is a header: it has an ISO time. The DeepSeek harness writes almost the same
/// line, with `createdAt` in milliseconds.
fn is_header(record: &Object<'_>) -> bool {
    let is_text = |key: &str| record.get(key).is_some_and(|v| v.kind() == RawKind::String);
    record.get("type").is_some_and(|t| t.is("session")) && is_text("id") && is_text("timestamp")
}

/// Whether the record is an entry that only this family writes. Needed without a header: messages
/// of Droid look like those of pi, including the parents.
fn is_own_entry(record: &Object<'_>) -> bool {
    let Some(word) = record.text("type") else {
        return false;
    };
    let has = |key: &str| record.get(key).is_some();
    match word.as_ref() {
        "thinking_level_change" => has("thinkingLevel"),
        "model_change" => has("modelId") || has("model"),
        "compaction" => has("firstKeptEntryId") || has("firstKeptEntryIndex"),
        "branch_summary" => has("fromId") && has("summary"),
        "custom_message" => has("customType"),
        "message" => record.get("message").is_some_and(|message| {
            let role = message.get("role").and_then(|r| r.text());
            match role.as_deref() {
                Some("assistant") => {
                    message.get("usage").is_some() && message.get("provider").is_some()
                }
                Some("toolResult") => message.get("toolCallId").is_some(),
                Some("bashExecution") => true,
                _ => false,
            }
        }),
        _ => false,
    }
}

/// Whether the header belongs to another agent with a similar format: Droid or the DeepSeek
/// harness.
fn is_foreign(sample: &Sample<'_>) -> bool {
    let is = |r: &Object<'_>, word: &str| r.get("type").is_some_and(|t| t.is(word));
    sample
        .records
        .iter()
        .any(|r| is(r, "session_start") || (is(r, "session") && r.get("createdAt").is_some()))
}

/// Decides by the name of the nearest agent folder above the file, which is the strongest evidence.
fn by_folder(folders: &[String]) -> Option<Flavour> {
    folders.iter().enumerate().find_map(|(at, folder)| {
        let below_is_sessions = at
            .checked_sub(1)
            .and_then(|i| folders.get(i))
            .is_some_and(|f| f == "sessions");
        match folder.as_str() {
            ".pi" => Some(Flavour::Pi),
            ".omp" => Some(Flavour::Omp),
            ".xcsh" => Some(Flavour::Xcsh),
            "omp" if below_is_sessions => Some(Flavour::Omp),
            "xcsh" if below_is_sessions => Some(Flavour::Xcsh),
            "boswell" | ".boswell" if below_is_sessions => Some(Flavour::Boswell),
            _ => None,
        }
    })
}

/// Decides by small differences between the programs; pi if there are none.
fn by_records(records: &[Object<'_>]) -> Flavour {
    let header = records.iter().find(|r| is_header(r));
    let id = header.and_then(|h| h.text("id"));
    let id = id.as_deref().unwrap_or("");
    let has_any = |words: &[&str]| records.iter().any(|record| is_one_of(record, words));
    let states = |key: &str| header.is_some_and(|header| header.get(key).is_some());
    if has_any(&[
        "title",
        "title_change",
        "model_usage",
        "credential_pin",
        "reset_boundary",
    ]) {
        return Flavour::Omp;
    }
    if is_snowflake(id) || states("titleSource") || has_any(&["context_change"]) {
        return Flavour::Xcsh;
    }
    if is_nanoid(id) || states("title") || records.iter().any(is_role_model) {
        return Flavour::Omp;
    }
    Flavour::Pi
}

fn is_one_of(record: &Object<'_>, words: &[&str]) -> bool {
    let word = record.text("type");
    word.is_some_and(|word| words.contains(&word.as_ref()))
}

/// Whether a record sets a model for a role, which pi has no field for.
fn is_role_model(record: &Object<'_>) -> bool {
    let word = record.get("type");
    word.is_some_and(|word| word.is("model_change")) && record.get("model").is_some()
}

fn is_snowflake(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_nanoid(id: &str) -> bool {
    let alphabet = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    id.len() == 21 && id.bytes().all(alphabet) && id.bytes().any(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::super::fixture::{HEADER, assistant, entry, user};
    use super::*;

    fn likeness(pi: Pi, folders: &[&str], lines: &[String]) -> Match {
        let folders: Vec<String> = folders.iter().map(|f| (*f).to_owned()).collect();
        let scanned: Vec<_> = lines
            .iter()
            .map(|line| {
                let mut members = Vec::new();
                scan_object(line.as_bytes(), &mut members).unwrap();
                members
            })
            .collect();
        let records: Vec<_> = lines
            .iter()
            .zip(&scanned)
            .map(|(l, m)| Object::new(l.as_bytes(), m))
            .collect();
        recognises(
            pi,
            &Sample {
                name: "x.jsonl",
                folders: &folders,
                records: &records,
            },
        )
    }

    fn which(folders: &[&str], lines: &[String]) -> &'static str {
        let all = [Pi::PI, Pi::OMP, Pi::XCSH, Pi::BOSWELL];
        let likely: Vec<_> = all
            .iter()
            .filter(|p| likeness(**p, folders, lines) > Match::Maybe)
            .collect();
        assert!(likely.len() <= 1);
        likely.first().map_or("none", |p| p.word())
    }

    #[test]
    fn the_folder_says_it_first() {
        let lines = [HEADER.to_owned()];
        assert_eq!(
            which(&["--p--", "sessions", "agent", ".pi", "u"], &lines),
            "pi"
        );
        assert_eq!(
            which(&["--p--", "sessions", "agent", ".omp"], &lines),
            "omp"
        );
        assert_eq!(which(&["-p", "sessions", "agent", ".xcsh"], &lines), "xcsh");
        assert_eq!(which(&["-p", "sessions", "xcsh", "share"], &lines), "xcsh");
        assert_eq!(
            which(&["-p", "sessions", "boswell", "share"], &lines),
            "boswell"
        );
        assert_eq!(
            which(&["boswell", "work"], &lines),
            "pi",
            "a project of that name is no home"
        );
    }

    #[test]
    fn habits_say_it_else() {
        let header = |from: &str, to: &str| vec![HEADER.replace(from, to)];
        assert_eq!(which(&[], &header("x", "x")), "pi");
        assert_eq!(which(&[], &header("\"S\"", "\"1470cb256c001234\"")), "xcsh");
        assert_eq!(
            which(&[], &header("\"S\"", "\"V1StGXR8_Z5jdHi6B-myT\"")),
            "omp"
        );
        assert_eq!(
            which(&[], &header("\"cwd\"", "\"titleSource\":\"user\",\"cwd\"")),
            "xcsh"
        );
        let slot = r#"{"type":"title","v":1,"title":""}"#.to_owned();
        assert_eq!(which(&[], &[slot, HEADER.to_owned()]), "omp");
        let change = entry("model_change", "1", "", r#""model":"p/m""#);
        assert_eq!(which(&[], &[HEADER.to_owned(), change]), "omp");
    }

    #[test]
    fn a_file_that_lost_its_header_is_possible() {
        assert_eq!(
            likeness(Pi::PI, &[], &[assistant("1", "", "a")]),
            Match::Maybe
        );
        assert_eq!(
            likeness(Pi::PI, &[".pi"], &[assistant("1", "", "a")]),
            Match::Certain
        );
        assert_eq!(
            likeness(Pi::PI, &[], &[user("1", "", "a")]),
            Match::No,
            "others write such lines too"
        );
        assert_eq!(likeness(Pi::PI, &[], &[]), Match::No);
        let timeless = r#"{"type":"session","id":"S"}"#.to_owned();
        assert_eq!(
            likeness(Pi::PI, &[], &[timeless.clone(), assistant("1", "", "a")]),
            Match::Maybe
        );
        assert_eq!(likeness(Pi::PI, &[], &[timeless]), Match::No);
    }

    #[test]
    fn the_look_alikes_are_told_apart() {
        let droid = r#"{"type":"session_start","id":"d","title":"t","cwd":"/tmp"}"#.to_owned();
        assert_eq!(
            likeness(Pi::PI, &[], &[droid, user("1", "d", "a")]),
            Match::No
        );
        let deepseek =
            r#"{"type":"session","version":0,"id":"f","createdAt":1783352171511,"cwd":"/p"}"#
                .to_owned();
        let turn = r#"{"type":"turn/start","seq":1,"time":1,"data":{}}"#.to_owned();
        assert_eq!(likeness(Pi::PI, &[], &[deepseek, turn]), Match::No);
    }
}
