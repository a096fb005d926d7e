//! `list`: every filter, every order, and pages that cover everything once.

mod filters;
mod pages;

use boswell_testkit::TestHome;
use serde_json::Value;

use crate::bench::Bench;

/// Every member of a session in the contract.
const SESSION: &[&str] = &[
    "v",
    "type",
    "ref",
    "id",
    "agent",
    "dialect",
    "name",
    "title",
    "title_source",
    "summary",
    "first_prompt",
    "project",
    "status",
    "error",
    "tags",
    "metadata",
    "created",
    "last_active",
    "revision",
    "leaf",
    "messages",
    "turns",
    "entries",
    "tool_calls",
    "duration_ms",
    "kinds",
    "tokens",
    "cost_usd",
    "models",
    "git_branch",
    "permission_mode",
    "agent_version",
    "parent",
    "external_ids",
    "links",
    "path",
    "bytes",
    "problems",
    "live",
    "pinned",
    "kept",
    "archived",
    "expires",
    "subagents",
    "attachments",
    "resume",
];

fn home(seed: u64) -> (Bench, TestHome) {
    let bench = Bench::new();
    let work = bench.cwd();
    let home = TestHome::build_for(&bench.home(), work.to_str().unwrap(), seed);
    home.projects
        .iter()
        .for_each(|project| boswell_testkit::disk::make_dir(project.as_ref()));
    (bench, home)
}

fn rows(bench: &Bench, args: &[&str]) -> Vec<Value> {
    bench
        .run(["list", "--json"].iter().chain(args))
        .ends(0)
        .of_type("session")
}

fn refs(rows: &[Value]) -> Vec<String> {
    rows.iter()
        .map(|row| row["ref"].as_str().unwrap().to_owned())
        .collect()
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

#[test]
fn a_session_has_every_field_of_the_contract_and_unknown_is_null() {
    let (bench, _) = home(41);
    for row in rows(&bench, &["--hidden"]) {
        for field in SESSION {
            assert!(row.get(field).is_some(), "{} lacks {field}", row["ref"]);
        }
        for field in ["input", "output", "cache_read", "cache_write", "reasoning"] {
            assert!(
                row["tokens"].get(field).is_some(),
                "{} lacks tokens.{field}",
                row["ref"]
            );
        }
        for link in row["links"].as_array().unwrap() {
            assert!(
                link["ref"].is_string()
                    && link.get("path").is_some()
                    && link.get("drift").is_some(),
                "{link}"
            );
        }
        for field in ["created", "last_active"] {
            let time = text(&row, field);
            assert!(
                row[field].is_null() || time.len() == 24 && time.ends_with('Z'),
                "{time}"
            );
        }
        assert!(
            row["resume"].is_null()
                || row["resume"]["argv"].is_array() && row["resume"].get("cwd").is_some(),
            "{row}"
        );
        assert!(!text(&row, "name").is_empty());
        if row["dialect"] == "clinvoker" {
            assert!(
                row["messages"].is_null(),
                "its documents hold no messages, so nobody counted them: {row}"
            );
        }
    }
}

#[test]
fn the_list_agrees_with_what_was_planted_and_with_show() {
    let (bench, home) = home(42);
    let listed = rows(&bench, &["--hidden"]);
    for planted in home.planted.iter().filter(|planted| !planted.hidden) {
        let wanted = format!("{}:{}", planted.dialect, planted.id);
        let Some(row) = listed.iter().find(|row| row["ref"] == wanted.as_str()) else {
            continue;
        };
        assert_eq!(row["path"], planted.path.to_str().unwrap());
        if !matches!(planted.dialect, "clinvoker" | "claude" | "codex") && row["messages"].is_u64()
        {
            assert_eq!(
                row["messages"], planted.messages,
                "{wanted} {}",
                planted.note
            );
        }
        if let Some(title) = planted
            .title
            .as_deref()
            .filter(|_| matches!(planted.dialect, "myagents" | "clinvoker"))
        {
            assert_eq!(row["title"], title, "{wanted}");
        }
        if row["entries"].is_u64() {
            let shown = bench
                .run(["show", &wanted, "--records", "--json"])
                .ends(0)
                .of_type("entry")
                .len();
            assert_eq!(row["entries"], shown, "{wanted} {}", planted.note);
        }
    }
}

#[test]
fn every_order_is_kept_and_every_order_shows_the_same_sessions() {
    let (bench, _) = home(47);
    let mut all = refs(&rows(&bench, &["--hidden"]));
    all.sort();
    for (sort, field, falls) in [
        ("active", "last_active", true),
        ("created", "created", true),
        ("messages", "messages", true),
        ("size", "bytes", true),
        ("name", "name", false),
    ] {
        let found = rows(&bench, &["--hidden", "--sort", sort]);
        for pair in found.windows(2) {
            let (a, b) = (&pair[0][field], &pair[1][field]);
            let fine = match field {
                "messages" | "bytes" => a.as_u64() >= b.as_u64(),
                "name" => a.as_str().unwrap().to_lowercase() <= b.as_str().unwrap().to_lowercase(),
                // A linked conversation is as recent as its most recent side.
                _ => {
                    !falls
                        || a.as_str() >= b.as_str()
                        || !pair[0]["links"].as_array().unwrap().is_empty()
                }
            };
            assert!(
                fine,
                "{sort}: {a} before {b} ({} and {})",
                pair[0]["ref"], pair[1]["ref"]
            );
        }
        let mut found = refs(&found);
        found.sort();
        assert_eq!(found, all, "{sort}");
    }
}

#[test]
fn last_is_the_first_of_the_list() {
    let (bench, _) = home(49);
    let first = &rows(&bench, &["--limit", "1"])[0];
    let shown = bench
        .run(["show", "@last", "--records", "--json"])
        .ends(0)
        .lines();
    let session = &shown[0]["session"];
    let mut sides = vec![first["ref"].clone()];
    sides.extend(
        first["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| link["ref"].clone()),
    );
    assert!(sides.contains(session), "{session} is not {sides:?}");
}

#[test]
fn a_list_says_of_a_session_that_it_is_active_and_then_that_it_ended() {
    let bench = Bench::new();
    let session = bench
        .run(["new", "--title", "life"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let status = || bench.run(["list", "--json"]).ends(0).of_type("session")[0]["status"].clone();
    assert_eq!(status(), "active");
    bench.run(["append", &session, "--user", "hi"]).ends(0);
    assert_eq!(status(), "active");
    bench.run(["close", &session]).ends(0);
    assert_eq!(status(), "completed");
}

#[test]
fn keys_of_a_row_say_what_the_whole_row_says() {
    let (bench, _) = home(44);
    // A text in notes, one in a side file, and one that occurs nowhere.
    let noted = refs(&rows(&bench, &["--agent", "oas"]))[0].clone();
    bench.run(["rename", &noted, "named in a note"]).ends(0);
    let of_claude = rows(&bench, &[])
        .into_iter()
        .find(|row| row["dialect"] == "claude")
        .unwrap();
    let side_files = of_claude["path"]
        .as_str()
        .unwrap()
        .trim_end_matches(".jsonl")
        .to_owned();
    boswell_testkit::disk::write(
        std::path::Path::new(&format!("{side_files}/archived.json")),
        br#"{"archived":true}"#,
    );
    let store = |dialect: &str| {
        format!(
            "{dialect}={}",
            bench.home().join(format!(".{dialect}")).display()
        )
    };
    let (claude, codex) = (store("claude"), store("codex"));
    // All stores, some of which are linked, and two stores without links.
    for only in [&[][..], &["--store", &claude, "--store", &codex]] {
        for sort in ["active", "created", "messages", "size"] {
            let asked = |more: &[&str]| {
                let args = [&["--sort", sort, "--limit", "20"], only, more].concat();
                rows(&bench, &args)
            };
            // The empty text matches everything, and forces the slow path.
            assert_eq!(asked(&[]), asked(&["--match", ""]), "{sort} {only:?}");
        }
    }
}
