//! Every real file is read: no record is lost, no byte changes, and its damage is pinned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_testkit::{corpus, disk};

use crate::bench::{Bench, bless};
use crate::reference;

/// The expected report for every file. Rewritten by a run with `BOSWELL_BLESS=1`.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/damage.txt");

/// A real file, identified by its group and its path.
struct Real {
    name: String,
    path: PathBuf,
}

/// Returns the real files of one group; none, with a message, if the group is missing.
fn group(name: &str, variable: &str) -> Vec<Real> {
    let Some(root) = corpus::require_or_skip(variable) else {
        return Vec::new();
    };
    let named = |path: PathBuf| {
        let below: Vec<_> = path
            .strip_prefix(&root)
            .unwrap()
            .iter()
            .map(|part| part.to_string_lossy())
            .collect();
        Real {
            name: format!("{name}/{}", below.join("/")),
            path,
        }
    };
    let files: Vec<Real> = corpus::files(&root).into_iter().map(named).collect();
    assert!(!files.is_empty(), "{variable} names an empty folder");
    files
}

fn everything() -> Vec<Real> {
    let mut all = group("corpus", corpus::CORPUS);
    all.extend(group("captures", corpus::CAPTURES));
    all
}

/// Minimum number of compared files: with fewer, the corpus is another one, or the tests skip too
/// much.
const AT_LEAST: [(&str, &str, usize); 2] = [
    ("corpus/", corpus::CORPUS, 110),
    ("captures/", corpus::CAPTURES, 130),
];

/// Returns the real files that are lines of JSON or one JSON document.
fn logs() -> Vec<Real> {
    let mut all = everything();
    all.retain(|real| corpus::not_lines(&real.path, &disk::read(&real.path)).is_none());
    assert_enough(all.iter().map(|real| real.name.as_str()));
    all
}

/// Checks that an existing group was not skipped, completely or for the most part.
fn assert_enough<'a>(names: impl Iterator<Item = &'a str> + Clone) {
    for (group, variable, least) in AT_LEAST {
        let count = names.clone().filter(|name| name.starts_with(group)).count();
        let expected = if corpus::require_or_skip(variable).is_some() {
            least
        } else {
            0
        };
        assert!(
            count >= expected,
            "only {count} files of {group} were compared, {expected} are expected"
        );
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn every_real_file_shows_the_records_that_a_plain_scan_finds() {
    let bench = Bench::new();
    for Real { name, path: file } in logs() {
        let shown = bench
            .run(["show", path(&file), "--records", "--json"])
            .ends(0);
        let entries = shown.of_type("entry");
        assert_eq!(entries.len(), shown.lines().len(), "{name}: entries only");
        if is_composed(&dialect(&entries), &name) {
            continue;
        }
        let found = reference::scan(&dialect(&entries), &disk::read(&file));
        let expected = found.records - usize::from(found.header);
        assert_eq!(entries.len(), expected, "{name}: {found:?}");
    }
}

/// Whether the records of a log are made of parts of its file, or of several files, so that a scan
/// of the file says nothing about them. Their counts are pinned in `agents_corpus.txt` of the
/// dialects' tests.
fn is_composed(dialect: &str, name: &str) -> bool {
    matches!(dialect, "aider" | "auggie" | "openhands" | "vscode") || is_of_several_files(name)
}

/// Whether a file only names the files that a session consists of, as in Mistral Vibe 3.
fn is_of_several_files(name: &str) -> bool {
    name.ends_with("/CURRENT")
}

#[test]
fn every_real_file_opens_in_every_reading_command() {
    let bench = Bench::new();
    for Real { path: file, .. } in everything() {
        let file = path(&file);
        let options: [&[&str]; 2] = [&[], &["--raw", "--records"]];
        for options in options {
            let shown = bench.run([&["show", file], options].concat());
            if shown.code == Some(4) {
                // An unknown format is never shown as an empty conversation.
                shown.ends(4).says("so there is no conversation to show");
            } else {
                shown.ends(0);
            }
        }
        bench.run(["tree", file, "--json"]).ends(0).lines();
        // The context of a file from an unknown agent is unknown.
        let context = bench.run(["context", file, "--json"]);
        assert!(matches!(context.code, Some(0 | 2)), "{context:?}");
        context.lines();
        bench.run(["files", file, "--json"]).ends(0).lines();
        bench.run(["attachments", file, "--json"]).ends(0).lines();
    }
}

#[test]
fn every_real_file_is_exported_byte_for_byte() {
    let bench = Bench::new();
    for Real { name, path: file } in everything() {
        if is_of_several_files(&name) {
            continue;
        }
        let exported = bench
            .run(["export", path(&file), "--format", "jsonl"])
            .ends(0);
        assert!(
            exported.stdout == disk::read(&file),
            "{name} is not the same"
        );
    }
}

#[test]
fn the_damage_report_of_every_real_file_is_the_pinned_one() {
    let bench = Bench::new();
    let mut found = BTreeMap::new();
    for Real { name, path: file } in logs() {
        found.insert(name, report(&bench, &file));
    }
    let mut pinned = pinned();
    if bless() {
        let groups: Vec<_> = found
            .keys()
            .filter_map(|name| name.split('/').next().map(str::to_owned))
            .collect();
        pinned.retain(|name, _| !groups.iter().any(|group| name.starts_with(group.as_str())));
        pinned.extend(found);
        let lines: String = pinned
            .iter()
            .map(|(name, report)| format!("{name}\t{report}\n"))
            .collect();
        disk::write(Path::new(GOLDEN), format!("{HEADING}{lines}").as_bytes());
        return;
    }
    let mut wrong = Vec::new();
    for (name, report) in &found {
        match pinned.get(name) {
            Some(expected) if expected == report => {}
            Some(expected) => wrong.push(format!("{name}: {report}, pinned is {expected}")),
            // Listed, but not a failure: a new file in the corpus must not fail the pins of others.
            None => eprintln!(
                "NOT PINNED: {name}: {report}; look at it, then bless it with BOSWELL_BLESS=1"
            ),
        }
    }
    let is_here = |name: &String| {
        found
            .keys()
            .any(|other| name.split('/').next() == other.split('/').next())
    };
    let gone: Vec<_> = pinned
        .keys()
        .filter(|name| is_here(name) && !found.contains_key(*name))
        .collect();
    assert!(
        wrong.is_empty() && gone.is_empty(),
        "bless it with BOSWELL_BLESS=1 if this is right: {wrong:#?}, gone: {gone:#?}"
    );
    assert_enough(
        found
            .keys()
            .filter(|name| pinned.contains_key(*name))
            .map(String::as_str),
    );
}

const HEADING: &str = "# What `boswell check` finds in every real file: name, dialect, records shown, exit code, findings with their counts.\n";

fn pinned() -> BTreeMap<String, String> {
    let text = String::from_utf8(disk::read(Path::new(GOLDEN))).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        line.split_once('\t')
            .map(|(name, report)| (name.to_owned(), report.to_owned()))
            .unwrap()
    })
    .collect()
}

fn report(bench: &Bench, file: &Path) -> String {
    let entries = bench
        .run(["show", path(file), "--records", "--json", "--quiet"])
        .ends(0)
        .of_type("entry");
    let checked = bench.run(["check", path(file), "--json"]);
    let damage = checked.of_type("damage");
    let is_damage = |line: &serde_json::Value| line["severity"] == "damage";
    let code = i32::from(damage.iter().any(is_damage));
    assert_eq!(checked.code, Some(code), "{checked:?}");
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    damage
        .iter()
        .for_each(|line| *words.entry(line["problem"].as_str().unwrap()).or_default() += 1);
    let words: Vec<String> = words
        .into_iter()
        .map(|(word, count)| format!("{word}={count}"))
        .collect();
    let words = if words.is_empty() {
        "clean".to_owned()
    } else {
        words.join(" ")
    };
    format!(
        "{}\t{}\texit {code}\t{words}",
        dialect(&entries),
        entries.len()
    )
}

/// Returns the dialect of a file, as far as its entries show it.
fn dialect(entries: &[serde_json::Value]) -> String {
    let reference = entries
        .first()
        .and_then(|entry| entry["session"].as_str())
        .unwrap_or("-");
    reference.split(':').next().unwrap_or_default().to_owned()
}

/// The agents of the folders of real files, by the names of their dialects.
const AGENTS: [(&str, &str); 16] = [
    ("claude-code", "claude"),
    ("cline", "cline"),
    ("codex", "codex"),
    ("continue", "continue"),
    ("copilot-cli", "copilot"),
    ("droid", "droid"),
    ("gemini", "gemini"),
    ("iflow", "iflow"),
    ("kimi", "kimi"),
    ("kimi-cli", "kimi-cli"),
    ("kimi-code", "kimi"),
    ("openclaw", "openclaw"),
    ("pi", "pi"),
    ("qwen", "qwen"),
    ("roo", "roo"),
    ("vibe", "vibe"),
];

/// Logs that are rightly recognised as something else than their folder says: part of the name,
/// what they are recognised as, and why.
const OTHERWISE: [(&str, &str, &str); 14] = [
    (
        "claude-code/getspecstory-session-system-only.jsonl",
        "qwen",
        "a file of Qwen Code in the wrong folder: it comes from the tests of a reader of Qwen Code",
    ),
    (
        "claude-code/ctx-neovate-session-1.jsonl",
        "unknown",
        "Neovate, an agent that is not known",
    ),
    ("old-2.0.76/", "-", "nothing was written to these sessions"),
    (
        "pi/agent-sessions-session-store-small.jsonl",
        "droid",
        "a file of Droid in the wrong folder",
    ),
    (
        "pi/ctx-pi-omp-v17.4.0-title-slot.jsonl",
        "omp",
        "oh-my-pi, of pi's family",
    ),
    (
        "pi/resume-fixtures-pi.jsonl",
        "unknown",
        "invented for a test: pi never wrote such records",
    ),
    (
        "openclaw/",
        "pi",
        "the lines of pi without a mark; only the folder of OpenClaw tells",
    ),
    (
        "kimi-cli/",
        "unknown",
        "`wire.jsonl` is what the screen showed, not the session",
    ),
    (
        "kimi-code/session_index.jsonl",
        "unknown",
        "the list of sessions",
    ),
    (
        "droid/agent-sessions-stream_json_large.jsonl",
        "unknown",
        "what the program prints, not a session",
    ),
    (
        "droid/ctx-factory_ai_droid.jsonl",
        "unknown",
        "the form in which another tool imports it",
    ),
    (
        "gemini/agent-sessions-schema_drift.json",
        "unknown",
        "invented for a test: Gemini CLI never wrote such a document",
    ),
    (
        "gemini/gemini-cli-agent-resume-session.json",
        "unknown",
        "answers of the model for a test of the program",
    ),
    (
        "roo/roo-task-1/api_conversation_history.json",
        "cline",
        "the file of Cline, of which Roo is a fork",
    ),
];

/// Whether a file is a log of a session, or could be: side files have names of their own.
fn may_be_log(name: &str) -> bool {
    let side_files = [
        "meta.json",
        "state.json",
        "sessions.json",
        "sessions-index.json",
        "custom-title.json",
        "archived.json",
        "projects.json",
        "workspaces.json",
        "kimi.json",
        "taskHistory.json",
        "task_metadata.json",
        "history_item.json",
        "ui_messages.json",
        "claude_messages.json",
    ];
    // Tables of databases, and the documents of Cline's new program.
    let tables = [
        "captures/codex/",
        "captures/cline/",
        "corpus/cline/cline-session",
    ];
    let is_table = tables.iter().any(|table| name.starts_with(table)) && name.ends_with(".json");
    !is_table
        && !side_files.iter().any(|end| name.ends_with(end))
        && !name.contains("vibe/unified/")
}

#[test]
fn every_real_file_is_recognised_as_one_of_its_folders_agent() {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, report) in pinned() {
        let folder = name.split('/').nth(1).unwrap_or_default();
        let Some((_, agent)) = AGENTS.iter().find(|(known, _)| *known == folder) else {
            continue;
        };
        let found = report.split('\t').next().unwrap_or_default();
        if found == *agent || !may_be_log(&name) {
            continue;
        }
        match OTHERWISE
            .iter()
            .find(|(part, dialect, _)| name.contains(part) && found == *dialect)
        {
            Some((part, ..)) => *seen.entry(part).or_default() += 1,
            None => wrong.push(format!("{name} is read as {found}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let unneeded = OTHERWISE
        .iter()
        .filter(|(part, ..)| !seen.contains_key(part));
    let unneeded: Vec<_> = unneeded.collect();
    assert!(unneeded.is_empty(), "{unneeded:#?}");
}

#[test]
fn the_pinned_reports_speak_of_each_file_once_and_in_words_of_the_contract() {
    let pinned = pinned();
    assert!(!pinned.is_empty());
    let page = include_str!("../../../../docs/cli.md");
    for (name, report) in pinned {
        let words = report.rsplit('\t').next().unwrap_or_default();
        for word in words.split(' ').filter(|word| *word != "clean") {
            let (word, count) = word.split_once('=').unwrap();
            assert!(
                count.parse::<usize>().is_ok_and(|count| count > 0),
                "{name}: {word}"
            );
            assert!(
                page.contains(&format!("`{word}`")),
                "{word} is not in docs/cli.md"
            );
        }
    }
}
