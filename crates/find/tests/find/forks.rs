//! Forks of agents that state only cumulative usage: every token counts once, for the session that
//! used it (dedupe).

use std::path::Path;
use std::time::{Duration, SystemTime};

use boswell_find::{By, Catalog, Prices, WantedRows};
use boswell_model::{Instant, Usage};
use boswell_store::store::Stores;
use boswell_testkit::files::Made;
use boswell_testkit::make::codex::{CodexShape, Taken, fork, rollout};
use boswell_testkit::{corpus, disk, jsonl};
use serde_json::Value;

const EVERY: [Taken; 4] = [
    Taken::Copied,
    Taken::WithoutHeader,
    Taken::OldTurns,
    Taken::Referred,
];

/// Input and output tokens.
type Spent = (u64, u64);

/// Returns input and output tokens of each request of a log, as the agent states them.
fn requests(bytes: &[u8]) -> Vec<Spent> {
    let stated = |line: &Value| {
        let newest = line["payload"]["info"].get("last_token_usage")?;
        Some((
            newest["input_tokens"].as_u64()?,
            newest["output_tokens"].as_u64()?,
        ))
    };
    jsonl::parse(bytes).iter().filter_map(stated).collect()
}

fn sum(requests: &[Spent]) -> Spent {
    requests.iter().fold((0, 0), |(sent, received), one| {
        (sent + one.0, received + one.1)
    })
}

fn spent(usage: &Usage) -> Spent {
    (
        usage.input.unwrap_or(0) + usage.cache_read.unwrap_or(0),
        usage.output.unwrap_or(0),
    )
}

/// Returns the usage of all sessions below a folder in the catalog's totals, and of each session by
/// itself.
fn counted(folder: &Path) -> (Spent, Vec<(String, Spent)>) {
    let mut stores = Stores::default();
    stores.add("codex", folder).unwrap();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(60);
    let now = Instant::from_millis(i64::try_from(now.as_millis()).unwrap());
    let mut catalog = Catalog::in_memory().unwrap();
    let mut entries = catalog.refresh(&stores, now).unwrap().entries;
    catalog
        .fill(&stores, &mut entries, WantedRows::Whole, 2, &|| true)
        .unwrap();
    let summaries: Vec<_> = entries
        .iter()
        .map(|e| e.summary(stores.get(e.store).unwrap()).unwrap())
        .collect();
    let totals: Vec<Spent> = [By::Total, By::Day, By::Project, By::Model]
        .into_iter()
        .map(|by| {
            let sums = catalog
                .tally(&stores, &entries, by, &|_| true)
                .unwrap()
                .sums(&Prices::default());
            sum(&sums
                .values()
                .map(|sum| spent(&sum.usage))
                .collect::<Vec<_>>())
        })
        .collect();
    assert!(totals.iter().all(|total| *total == totals[0]), "{totals:?}");
    let own = summaries
        .iter()
        .map(|it| (it.reference.id.clone(), spent(&it.meta.usage.total())))
        .collect();
    (totals[0], own)
}

fn written(sessions: &[&Made]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    sessions.iter().for_each(|made| {
        made.write_to(folder.path());
    });
    folder
}

/// Returns the usage of the last requests of a log, which are the fork's own.
fn own(made: &Made, turns: usize) -> Spent {
    let all = requests(made.bytes());
    sum(&all[all.len() - turns..])
}

#[test]
fn a_fork_counts_what_it_spent_itself_however_it_keeps_what_it_took() {
    for taken in EVERY {
        let parent = rollout(CodexShape::Plain, "/p", None, 1);
        let child = fork(&parent, 2, 2, taken, 2);
        let idle = fork(&parent, 3, 0, taken, 3);
        let folder = written(&[&parent, &child, &idle]);
        let (total, each) = counted(folder.path());
        let (first, second) = (sum(&requests(parent.bytes())), own(&child, 2));
        assert_eq!(total, sum(&[first, second]), "{taken:?}");
        let of = |made: &Made| each.iter().find(|(id, _)| *id == made.id).unwrap().1;
        assert_eq!(
            (of(&parent), of(&child), of(&idle)),
            (first, second, (0, 0)),
            "{taken:?}"
        );
    }
}

#[test]
fn chains_of_forks_count_once_with_and_without_their_middle() {
    for taken in [Taken::Copied, Taken::WithoutHeader] {
        let root = rollout(CodexShape::Tools, "/p", None, 4);
        let middle = fork(&root, 2, 2, taken, 5);
        let last = fork(&middle, 4, 1, taken, 6);
        let whole = [sum(&requests(root.bytes())), own(&middle, 2), own(&last, 1)];
        assert_eq!(
            counted(written(&[&root, &middle, &last]).path()).0,
            sum(&whole),
            "{taken:?}"
        );
        if taken == Taken::Copied {
            // The usage of the middle session is now only in the last one; the root still has its
            // own entry.
            assert_eq!(
                counted(written(&[&root, &last]).path()).0,
                sum(&whole),
                "{taken:?}"
            );
        }
    }
}

#[test]
fn what_a_lost_parent_spent_counts_once_among_its_forks() {
    let parent = rollout(CodexShape::Plain, "/p", None, 7);
    let (one, two) = (
        fork(&parent, 2, 1, Taken::Copied, 8),
        fork(&parent, 3, 1, Taken::Copied, 9),
    );
    let (total, each) = counted(written(&[&one, &two]).path());
    assert_eq!(
        total,
        sum(&[sum(&requests(parent.bytes())), own(&one, 1), own(&two, 1)])
    );
    assert_eq!(
        each.iter().find(|(id, _)| *id == one.id).unwrap().1,
        own(&one, 1)
    );
}

#[test]
fn siblings_that_spend_the_same_are_two_and_copies_of_a_file_are_one() {
    let parent = rollout(CodexShape::Plain, "/p", None, 10);
    let one = fork(&parent, 3, 2, Taken::Copied, 11);
    let folder = written(&[&parent, &one]);
    let once = counted(folder.path()).0;
    // An archived copy keeps its id.
    disk::write(
        &folder
            .path()
            .join(one.main.replacen("sessions/", "archived_sessions/", 1)),
        one.bytes(),
    );
    assert_eq!(counted(folder.path()).0, once);
    // Another fork with the same numbers is another session.
    let duplicate = one.id.replacen(&one.id[24..], "123456789abc", 1);
    let text = String::from_utf8(one.bytes().to_vec()).unwrap();
    disk::write(
        &folder.path().join(one.main.replace(&one.id, &duplicate)),
        text.replace(&one.id, &duplicate).as_bytes(),
    );
    assert_eq!(counted(folder.path()).0, sum(&[once, own(&one, 2)]));
}

#[test]
fn strangers_with_equal_numbers_are_counted_apart() {
    let one = rollout(
        CodexShape::Plain,
        "/p",
        Some("019d7e3d-0164-79d1-af76-e4ee6689b94f"),
        12,
    );
    let two = rollout(
        CodexShape::Plain,
        "/p",
        Some("019d7e3d-0164-79d1-af76-e4ee6689b950"),
        12,
    );
    let spent = sum(&requests(one.bytes()));
    assert_eq!(
        counted(written(&[&one, &two]).path()).0,
        sum(&[spent, spent])
    );
}

#[test]
fn copies_of_other_agents_count_once_next_to_forks() {
    let folder = written(&[&rollout(CodexShape::Plain, "/p", None, 13)]);
    let alone = counted(folder.path()).0;
    let line = r#"{"type":"assistant","uuid":"u","requestId":"r","timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"m","model":"x","content":[],"usage":{"input_tokens":3,"output_tokens":5}}}"#;
    for id in [
        "00000000-0000-4000-8000-000000000001",
        "00000000-0000-4000-8000-000000000002",
    ] {
        disk::write(
            &folder.path().join(format!("claude/projects/-p/{id}.jsonl")),
            format!("{line}\n").as_bytes(),
        );
    }
    let mut stores = Stores::default();
    stores.add("codex", folder.path()).unwrap();
    stores.add("claude", folder.path().join("claude")).unwrap();
    let mut catalog = Catalog::in_memory().unwrap();
    let mut entries = catalog
        .refresh(&stores, Instant::from_millis(i64::MAX >> 22))
        .unwrap()
        .entries;
    catalog
        .fill(&stores, &mut entries, WantedRows::Whole, 1, &|| true)
        .unwrap();
    assert_eq!(entries.len(), 3);
    let sums = catalog
        .tally(&stores, &entries, By::Total, &|_| true)
        .unwrap()
        .sums(&Prices::default());
    assert_eq!(spent(&sums[""].usage), sum(&[alone, (3, 5)]));
}

#[test]
fn real_sessions_cost_what_their_requests_add_up_to() {
    let Some(root) = corpus::require_or_skip("BOSWELL_CORPUS") else {
        return;
    };
    let mut compared = 0;
    for path in corpus::files(&root.join("codex")) {
        let bytes = disk::read(&path);
        // Every total that was not stated before, with the increase that the agent states.
        let mut seen = std::collections::HashSet::new();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        // The first versions stated the total without an envelope.
        let bare = |payload: &Value| serde_json::json!({"total_token_usage": payload});
        let infos = lines
            .map(|line| line["payload"].clone())
            .filter(|it| it["type"] == "token_count");
        let infos = infos.map(|it| it.get("info").cloned().unwrap_or_else(|| bare(&it)));
        let infos = infos.filter(|info| info["total_token_usage"].is_object());
        let new = infos.filter(|info| seen.insert(info["total_token_usage"].to_string()));
        // A log without its beginning: what was spent there is in its first total alone.
        let is_cut = !text
            .lines()
            .next()
            .unwrap_or("")
            .contains("\"session_meta\"");
        let newest = new.enumerate().map(|(at, info)| {
            let newest = info
                .get("last_token_usage")
                .filter(|_| at > 0 || !is_cut)
                .unwrap_or(&info["total_token_usage"]);
            (
                newest["input_tokens"].as_u64().unwrap_or(0),
                newest["output_tokens"].as_u64().unwrap_or(0),
            )
        });
        let honest = sum(&newest.collect::<Vec<_>>());
        let folder = tempfile::tempdir().unwrap();
        let name = format!(
            "sessions/rollout-2026-01-01T00-00-00-019d7e3d-0164-79d1-af76-e4ee6689b9{compared:02}.jsonl"
        );
        disk::write(&folder.path().join(name), &bytes);
        let (total, _) = counted(folder.path());
        assert_eq!(total, honest, "{}", path.display());
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}
