//! `list`: every filter, every order, and pages that cover everything once.

use boswell_testkit::Home;
use serde_json::Value;

use crate::bench::Bench;

/// Every field of a session that the contract names.
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

fn home(seed: u64) -> (Bench, Home) {
    let bench = Bench::new();
    let work = bench.cwd();
    let home = Home::build_for(&bench.home(), work.to_str().unwrap(), seed);
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
fn pages_by_cursor_and_by_offset_cover_everything_once() {
    let (bench, _) = home(43);
    let all = refs(&rows(&bench, &["--hidden"]));
    assert!(all.len() > 40);
    for size in [7, all.len(), all.len() / 2] {
        let limit = size.to_string();
        let mut by_cursor = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut args = vec!["list", "--json", "--hidden", "--limit", &limit];
            if let Some(cursor) = &cursor {
                args.extend(["--cursor", cursor]);
            }
            let ran = bench.run(&args).ends(0);
            let found = refs(&ran.of_type("session"));
            assert!(
                !found.is_empty(),
                "a cursor was given out with nothing behind it"
            );
            let page = ran.lines().pop().unwrap();
            assert_eq!(
                (&page["type"], &page["shown"], &page["total"]),
                (&"page".into(), &found.len().into(), &all.len().into())
            );
            by_cursor.extend(found);
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(by_cursor, all, "by cursors of {size}");
        let by_offset: Vec<String> = (0..all.len())
            .step_by(size)
            .flat_map(|offset| {
                refs(&rows(
                    &bench,
                    &[
                        "--hidden",
                        "--limit",
                        &limit,
                        "--offset",
                        &offset.to_string(),
                    ],
                ))
            })
            .collect();
        assert_eq!(by_offset, all, "by offsets of {size}");
    }
    bench
        .run(["list", "--cursor", "pi:gone"])
        .ends(2)
        .says("fits no session of this list")
        .says("hint:");
    assert_eq!(rows(&bench, &["--limit", "0"]), Vec::<Value>::new());
    assert_eq!(rows(&bench, &["--offset", "100000"]), Vec::<Value>::new());
}

#[test]
fn since_and_until_part_the_list_in_two() {
    let (bench, _) = home(44);
    let all = rows(&bench, &["--hidden"]);
    let mut times: Vec<&str> = all.iter().map(|row| text(row, "last_active")).collect();
    times.sort_unstable();
    let middle = times[times.len() / 2];
    let since = rows(&bench, &["--hidden", "--since", middle]);
    let until = rows(&bench, &["--hidden", "--until", middle]);
    assert!(since.iter().all(|row| text(row, "last_active") >= middle));
    // A linked conversation is as recent as its most recent side.
    assert!(until.iter().all(|row| text(row, "last_active") < middle));
    let mut both = [refs(&since), refs(&until)].concat();
    let mut every = refs(&all);
    both.sort();
    every.sort();
    assert_eq!(both, every);
    assert_eq!(
        rows(&bench, &["--hidden", "--until", "1990-01-01"]).len(),
        0
    );
    assert_eq!(
        rows(&bench, &["--hidden", "--since", "2020-01-01"]).len(),
        all.len()
    );
    assert_eq!(
        rows(&bench, &["--hidden", "--since", "5200w"]).len(),
        all.len()
    );
}

#[test]
fn text_agent_status_and_model_choose_rows() {
    let (bench, _) = home(45);
    let all = rows(&bench, &["--hidden"]);
    let some = all
        .iter()
        .find(|row| text(row, "first_prompt").len() > 20)
        .unwrap();
    let word: String = text(some, "first_prompt").chars().take(12).collect();
    let found = rows(&bench, &["--hidden", "--match", &word.to_uppercase()]);
    assert!(
        refs(&found).contains(&text(some, "ref").to_owned()),
        "{word}"
    );
    let found = rows(&bench, &["--hidden", "--match", text(some, "ref")]);
    assert_eq!(refs(&found), [text(some, "ref")], "a ref finds its session");
    assert_eq!(
        rows(&bench, &["--match", "no such words anywhere"]).len(),
        0
    );
    bench
        .run(["list", "--match", "no such words anywhere"])
        .ends(0)
        .says("no session fits");
    for dialect in ["pi", "omp", "xcsh", "myagents", "oas", "codex"] {
        let of: Vec<_> = all
            .iter()
            .filter(|row| {
                let link = |link: &Value| {
                    link["ref"]
                        .as_str()
                        .unwrap()
                        .starts_with(&format!("{dialect}:"))
                };
                row["dialect"] == dialect
                    || row["agent"] == dialect
                    || row["links"].as_array().unwrap().iter().any(link)
            })
            .cloned()
            .collect();
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--agent", dialect])),
            refs(&of),
            "{dialect}"
        );
        assert!(!of.is_empty(), "{dialect}");
    }
    let completed = rows(&bench, &["--hidden", "--status", "completed"]);
    assert!(!completed.is_empty() && completed.iter().all(|row| row["status"] == "completed"));
    let sonnet = rows(&bench, &["--hidden", "--model", "sonnet"]);
    let has = |row: &Value| {
        row["models"]
            .as_array()
            .unwrap()
            .iter()
            .any(|model| model.as_str().unwrap().contains("sonnet"))
    };
    assert!(!sonnet.is_empty() && sonnet.iter().all(has));
    assert_eq!(rows(&bench, &["--agent", "nobody"]).len(), 0);
}

#[test]
fn here_and_project_choose_a_folder_and_what_is_below_it() {
    let (bench, home) = home(46);
    let all = rows(&bench, &["--hidden"]);
    for project in home.projects.iter().take(2) {
        let expected: Vec<_> = all
            .iter()
            .filter(|row| row["project"] == project.as_str())
            .cloned()
            .collect();
        assert!(!expected.is_empty(), "{project}");
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--project", project])),
            refs(&expected)
        );
        let mut here = bench.command(["list", "--json", "--hidden", "--here"]);
        here.current_dir(project);
        assert_eq!(
            refs(&crate::bench::finish(here).ends(0).of_type("session")),
            refs(&expected)
        );
        let name = project.rsplit('/').next().unwrap();
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--project", name])),
            refs(&expected),
            "relative to where we are"
        );
        let mut last = bench.command(["show", "@here", "--json"]);
        last.current_dir(project);
        crate::bench::finish(last).ends(0);
    }
    let below: Vec<_> = all
        .iter()
        .filter(|row| text(row, "project").starts_with(bench.cwd().to_str().unwrap()))
        .cloned()
        .collect();
    assert_eq!(
        refs(&rows(&bench, &["--hidden", "--project", "."])),
        refs(&below)
    );
    let projects = bench.run(["projects", "--json"]).ends(0).of_type("project");
    let counted: u64 = projects
        .iter()
        .map(|project| project["sessions"].as_u64().unwrap())
        .sum();
    assert_eq!(counted as usize, rows(&bench, &[]).len());
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
fn hidden_sessions_are_shown_only_when_asked_for() {
    let (bench, home) = home(48);
    let (usual, every) = (refs(&rows(&bench, &[])), rows(&bench, &["--hidden"]));
    let hidden: Vec<_> = every
        .iter()
        .filter(|row| !row["hidden"].is_null())
        .map(|row| text(row, "ref").to_owned())
        .collect();
    assert!(!hidden.is_empty());
    assert_eq!(usual.len() + hidden.len(), every.len());
    assert!(usual.iter().all(|r| !hidden.contains(r)));
    for planted in home.planted.iter().filter(|planted| planted.hidden) {
        assert!(
            hidden.contains(&format!("{}:{}", planted.dialect, planted.id)),
            "{planted:?}"
        );
    }
    assert_eq!(
        refs(&bench.run(["--json"]).ends(0).of_type("session")),
        usual,
        "no command means list"
    );
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
    // Something that stands in notes, in a file beside the log, and in no place at all.
    let noted = refs(&rows(&bench, &["--agent", "codex"]))[0].clone();
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
    // All stores, of which some are linked, and two that know nothing of others.
    for only in [&[][..], &["--store", &claude, "--store", &codex]] {
        for sort in ["active", "created", "messages", "size"] {
            let asked = |more: &[&str]| {
                let args = [&["--sort", sort, "--limit", "20"], only, more].concat();
                rows(&bench, &args)
            };
            // An empty text stands in everything, and has to be looked for.
            assert_eq!(asked(&[]), asked(&["--match", ""]), "{sort} {only:?}");
        }
    }
}

#[test]
fn pages_show_nothing_twice_in_any_order_while_sessions_grow() {
    let line = |number: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"timestamp\":\"2026-01-02T03:04:05.{number:03}Z\",\"cwd\":\"/p\",\"message\":{{\"role\":\"user\",\"content\":\"more and more\"}}}}\n"
        )
    };
    for sort in ["active", "created", "messages", "size", "name"] {
        let bench = Bench::new();
        let path = |session: usize| {
            format!(".claude/projects/-p/{session:08}-3333-4333-8333-333333333333.jsonl")
        };
        let mut texts: Vec<String> = (0..7)
            .map(|n| (0..=n).map(|at| line(n * 10 + at)).collect())
            .collect();
        texts.iter().enumerate().for_each(|(n, text)| {
            bench.plant(&path(n), text.as_bytes());
        });
        bench.run(["index", "-q"]).ends(0);
        let all = refs(&rows(&bench, &["--sort", sort]));
        let (mut seen, mut cursor): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let mut args = vec!["list", "--json", "--limit", "2", "--sort", sort];
            args.extend(cursor.iter().flat_map(|at| ["--cursor", at.as_str()]));
            let ran = bench.run(&args).ends(0);
            seen.extend(refs(&ran.of_type("session")));
            cursor = ran.lines().pop().unwrap()["cursor"]
                .as_str()
                .map(str::to_owned);
            if cursor.is_none() {
                break;
            }
            // All that was shown grows far beyond the rest, the one that the cursor names too.
            for shown in &seen {
                let number: usize = shown["claude:".len()..][..8].parse().unwrap();
                let more: String = (0..40).map(|at| line(200 + seen.len() * 50 + at)).collect();
                texts[number].push_str(&more);
                bench.plant(&path(number), texts[number].as_bytes());
            }
        }
        assert_eq!(seen, all, "by {sort}");
    }
}
