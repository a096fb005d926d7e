//! Side files of a Claude Code session: copies of files, memory, subagents, long outputs, its
//! index.

use std::path::PathBuf;

use boswell_testkit::corpus;
use boswell_testkit::disk::{read, write};

use crate::bench::Bench;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn project(bench: &Bench) -> PathBuf {
    bench.cwd().canonicalize().unwrap()
}

fn root(bench: &Bench) -> PathBuf {
    bench.home().join(".claude")
}

fn key(path: &str) -> String {
    path.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// Creates a session whose agent edited `f.txt` twice and created `new.txt`.
fn edited(bench: &Bench) -> PathBuf {
    let cwd = project(bench).display().to_string();
    let base = |uuid: &str, parent: &str, kind: &str, rest: &str| {
        let parent = if parent.is_empty() {
            "null".to_owned()
        } else {
            format!("\"{parent}\"")
        };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\",\"sessionId\":\"{ID}\",{rest}}}"
        )
    };
    let said = |uuid: &str, parent: &str, text: &str| {
        base(
            uuid,
            parent,
            "user",
            &format!("\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}"),
        )
    };
    let result = |uuid: &str, parent: &str, tool: &str| {
        base(
            uuid,
            parent,
            "user",
            &format!(
                "\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"ok\"}}]}},\"toolUseResult\":{tool}"
            ),
        )
    };
    let lines = [
        said("p1", "", "first"),
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"p1\",\"snapshot\":{\"messageId\":\"p1\",\"trackedFileBackups\":{}}}".to_owned(),
        "{\"type\":\"file-history-delta\",\"snapshotMessageId\":\"p1\",\"trackingPath\":\"f.txt\",\"backup\":{\"backupFileName\":\"f@v1\",\"version\":1}}".to_owned(),
        result("r1", "p1", &format!("{{\"filePath\":\"{cwd}/f.txt\",\"oldString\":\"one\",\"newString\":\"two\",\"originalFile\":\"one\\n\",\"replaceAll\":false}}")),
        "{\"type\":\"file-history-delta\",\"snapshotMessageId\":\"p1\",\"trackingPath\":\"new.txt\",\"backup\":{\"backupFileName\":null,\"version\":1}}".to_owned(),
        "{\"type\":\"file-history-delta\",\"snapshotMessageId\":\"p1\",\"trackingPath\":\"/etc/passwd\",\"backup\":{\"backupFileName\":\"../../x\",\"version\":1}}".to_owned(),
        result("r2", "r1", &format!("{{\"type\":\"create\",\"filePath\":\"{cwd}/new.txt\",\"content\":\"n\\n\"}}")),
        said("p2", "r2", "second"),
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"p2\",\"snapshot\":{\"messageId\":\"p2\",\"trackedFileBackups\":{\"f.txt\":{\"backupFileName\":\"f@v2\",\"version\":2},\"new.txt\":{\"backupFileName\":\"n@v2\",\"version\":2}}}}".to_owned(),
        result("r3", "p2", &format!("{{\"filePath\":\"{cwd}/f.txt\",\"oldString\":\"two\",\"newString\":\"three\",\"originalFile\":\"two\\n\",\"replaceAll\":false}}")),
    ];
    let log = root(bench).join(format!("projects/{}/{ID}.jsonl", key(&cwd)));
    write(&log, (lines.join("\n") + "\n").as_bytes());
    for (name, text) in [("f@v1", "one\n"), ("f@v2", "two\n"), ("n@v2", "n\n")] {
        write(
            &root(bench).join(format!("file-history/{ID}/{name}")),
            text.as_bytes(),
        );
    }
    write(&project(bench).join("f.txt"), b"three\n");
    write(&project(bench).join("new.txt"), b"n\n");
    log
}

#[test]
fn files_are_shown_compared_and_put_back_as_they_stood_at_a_prompt() {
    let bench = Bench::new();
    let log = edited(&bench);
    let before = read(&log);
    let at = bench
        .run(["files", ID, "--at", "p2", "--json"])
        .ends(0)
        .of_type("file");
    assert_eq!(
        at.iter()
            .map(|f| (&f["path"], &f["state"]))
            .collect::<Vec<_>>(),
        [
            (&"f.txt".into(), &"file".into()),
            (&"new.txt".into(), &"file".into())
        ]
    );
    let diff = bench
        .run(["files", ID, "--at", "p2", "--diff", "--json"])
        .ends(0)
        .of_type("file");
    assert!(
        diff[0]["diff"].as_str().unwrap().contains("three"),
        "{diff:?}"
    );
    assert_eq!(diff[1]["change"], "unchanged");
    bench
        .run(["checkout", ID, "p1"])
        .ends(2)
        .says("add `--apply` to do it");
    assert_eq!(read(&project(&bench).join("f.txt")), b"three\n");
    // Any entry after a prompt selects that prompt.
    bench
        .run(["checkout", "--apply", ID, "r1", "--json"])
        .ends(0);
    assert_eq!(read(&project(&bench).join("f.txt")), b"one\n");
    assert!(
        !project(&bench).join("new.txt").exists(),
        "it was not there at the first prompt"
    );
    bench.run(["undo"]).ends(0);
    assert_eq!(
        (
            read(&project(&bench).join("f.txt")),
            read(&project(&bench).join("new.txt"))
        ),
        (b"three\n".to_vec(), b"n\n".to_vec())
    );
    bench
        .run(["checkout", "--apply", ID, "p1", "new.txt"])
        .ends(0);
    assert!(project(&bench).join("f.txt").exists() && !project(&bench).join("new.txt").exists());
    assert_eq!(read(&log), before, "the session itself is not written");
}

#[test]
fn a_file_that_somebody_else_changed_stops_the_checkout() {
    let bench = Bench::new();
    edited(&bench);
    let mine = project(&bench).join("f.txt");
    write(&mine, b"my own work\n");
    bench
        .run(["checkout", "--apply", ID, "p1"])
        .ends(3)
        .says("by another program");
    assert_eq!(read(&mine), b"my own work\n");
    assert!(
        project(&bench).join("new.txt").exists(),
        "nothing is put back then"
    );
    bench
        .run(["checkout", "--apply", ID, "p1", "--force"])
        .ends(0);
    assert_eq!(read(&mine), b"one\n");
    bench.run(["undo"]).ends(0);
    assert_eq!(read(&mine), b"my own work\n");
    std::fs::remove_dir_all(root(&bench).join("file-history")).unwrap();
    let said = bench
        .run(["checkout", "--apply", ID, "p1", "f.txt", "--force"])
        .ends(0)
        .text();
    assert!(said.contains("its copy is missing"), "{said}");
    assert_eq!(read(&mine), b"my own work\n");
    bench.run(["files", ID, "--at", "nowhere"]).ends(2);
}

#[test]
fn memory_is_changed_with_undo_and_never_through_a_link() {
    let bench = Bench::new();
    let folder = root(&bench).join(format!(
        "projects/{}/memory",
        key(&project(&bench).display().to_string())
    ));
    write(&folder.join("MEMORY.md"), b"# index\n");
    bench
        .run([
            "memory",
            "add",
            "build",
            "use make -j2: it is fast",
            "--agent",
            "claude",
        ])
        .ends(0);
    let page = String::from_utf8(read(&folder.join("build.md"))).unwrap();
    assert!(
        page.starts_with("---\nname: build\n") && page.ends_with("use make -j2: it is fast\n"),
        "{page}"
    );
    assert!(
        String::from_utf8(read(&folder.join("MEMORY.md")))
            .unwrap()
            .contains("(build.md)"),
        "the index leads to it"
    );
    bench
        .run(["memory", "check"])
        .ends(0)
        .says("no problems found");
    bench.run(["undo"]).ends(0);
    assert!(!folder.join("build.md").exists());
    assert_eq!(read(&folder.join("MEMORY.md")), b"# index\n");
    bench
        .run([
            "memory", "rm", "MEMORY", "--apply", "--agent", "claude", "--json",
        ])
        .ends(0);
    assert!(!folder.join("MEMORY.md").exists());
    bench.run(["undo"]).ends(0);
    bench
        .run(["memory", "rm", "nothing", "--apply", "--agent", "claude"])
        .ends(2)
        .says("has no page");
    bench
        .run(["memory", "add", "../x", "text", "--agent", "claude"])
        .ends(2);
    // A change of boswell's own memory can be undone too.
    bench.run(["memory", "add", "own", "a fact"]).ends(0);
    bench.run(["undo"]).ends(0);
    assert!(!bench.run(["memory"]).ends(0).text().contains("own.md"));
    let elsewhere = bench.home().join("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    bench
        .run(["memory", "edit", "MEMORY", "gone", "--agent", "claude"])
        .ends(2)
        .says("is a link");
    assert_eq!(read(&elsewhere.join("MEMORY.md")), b"# index\n");
}

#[test]
fn memory_check_finds_what_is_wrong_and_what_nobody_loads() {
    let bench = Bench::new();
    let main = project(&bench);
    std::fs::create_dir_all(main.join(".git/worktrees/w")).unwrap();
    let tree = bench.tmp().canonicalize().unwrap().join("w");
    write(
        &tree.join(".git"),
        format!("gitdir: {}/.git/worktrees/w\n", main.display()).as_bytes(),
    );
    write(&main.join("src/here.rs"), b"");
    let memory = |path: &std::path::Path| {
        root(&bench).join(format!(
            "projects/{}/memory",
            key(&path.display().to_string())
        ))
    };
    let mut index =
        "- [gone](gone.md)\n- `src/here.rs` holds it, `src/gone.rs:12` does not, `https://x/y.rs` is elsewhere\n"
            .to_owned();
    index += "the build takes two minutes here\n";
    index += &"\n".repeat(200);
    index += "## Far below\n- The build takes two minutes here.\n";
    write(&memory(&main).join("MEMORY.md"), index.as_bytes());
    write(&memory(&tree).join("MEMORY.md"), b"only here\n");
    let problems = |args: &[&str]| {
        let found = bench
            .run(["memory"].iter().chain(args).chain(&["--json"]))
            .ends(0)
            .of_type("memory_problem");
        found
            .iter()
            .map(|it| {
                (
                    it["problem"].as_str().unwrap().to_owned(),
                    it["detail"].as_str().unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let found = problems(&["check"]);
    let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(
        words,
        ["dead_link", "long_index", "repeated", "missing_file"],
        "{found:?}"
    );
    assert!(
        found[1].1.contains("`Far below` (line 204)") && found[3].1.contains("src/gone.rs"),
        "{found:?}"
    );
    write(&root(&bench).join(format!("projects/{}/{ID}.jsonl", key(tree.to_str().unwrap()))), format!("{{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n", tree.display()).as_bytes());
    let projects = bench.run(["projects", "--json"]).ends(0).of_type("project");
    assert_eq!(
        projects[0]["repository"],
        main.to_str().unwrap(),
        "a worktree belongs to its repository"
    );
    let listed = bench
        .run(["list", "--project", main.to_str().unwrap(), "--json"])
        .ends(0)
        .of_type("session");
    assert_eq!(
        listed.len(),
        1,
        "sessions of worktrees are the repository's"
    );
    let in_tree = problems(&[tree.to_str().unwrap(), "check"]);
    assert!(
        in_tree
            .iter()
            .any(|(word, text)| word == "orphaned" && text.contains("is not loaded")),
        "{in_tree:?}"
    );
    // Memory added in a worktree is stored where all checkouts find it.
    bench
        .run([
            "memory",
            "add",
            "fact",
            "shared",
            "--agent",
            "claude",
            "--project",
            tree.to_str().unwrap(),
        ])
        .ends(0);
    assert!(memory(&main).join("fact.md").exists());
    write(
        &root(&bench).join("projects/-srv-gone/memory/MEMORY.md"),
        b"lost\n",
    );
    let all = problems(&["all", "check"]);
    assert!(
        all.iter()
            .any(|(word, text)| word == "orphaned" && text.contains("boswell move")),
        "{all:?}"
    );
}

#[test]
fn the_index_of_an_old_client_is_written_from_the_truth_and_can_be_taken_back() {
    let bench = Bench::new();
    edited(&bench);
    let index = root(&bench).join(format!(
        "projects/{}/sessions-index.json",
        key(&project(&bench).display().to_string())
    ));
    let old = b"{\"version\":1,\"entries\":[{\"sessionId\":\"bbbbbbbb-0001-4001-8001-000000000001\"}],\"future\":7}";
    write(&index, old);
    bench.run(["index", "--native"]).ends(0).says("--apply");
    assert_eq!(read(&index), old);
    bench
        .run(["index", "--native", "--apply", "--json"])
        .ends(0);
    let new: serde_json::Value = serde_json::from_slice(&read(&index)).unwrap();
    assert_eq!(
        (new["entries"].as_array().unwrap().len(), &new["future"]),
        (1, &7.into())
    );
    assert_eq!(new["entries"][0]["sessionId"], ID);
    assert_eq!(new["entries"][0]["firstPrompt"], "first");
    assert!(
        new["entries"][0]["fullPath"]
            .as_str()
            .unwrap()
            .ends_with(&format!("{ID}.jsonl"))
    );
    let stores = bench.run(["stores", "--json"]).ends(0).of_type("store");
    let claude = stores
        .iter()
        .find(|store| store["dialect"] == "claude")
        .unwrap();
    assert!(
        !claude["warnings"].to_string().contains("stale_index"),
        "{claude}"
    );
    bench
        .run(["index", "--native", "--apply"])
        .ends(0)
        .says("match their logs");
    bench.run(["undo"]).ends(0);
    assert_eq!(read(&index), old);
}

#[test]
fn summaries_that_boswell_keeps_stand_in_the_index_of_an_old_client() {
    let bench = Bench::new();
    edited(&bench);
    let index = root(&bench).join(format!(
        "projects/{}/sessions-index.json",
        key(&project(&bench).display().to_string())
    ));
    write(&index, b"{\"version\":1,\"entries\":[]}");
    let kept = bench
        .run(["summarize", ID, "--json"])
        .ends(0)
        .of_type("summary")[0]["summary"]
        .clone();
    assert!(!kept.as_str().unwrap().is_empty());
    bench.run(["index", "--native", "--apply"]).ends(0);
    let written = || -> serde_json::Value { serde_json::from_slice(&read(&index)).unwrap() };
    assert_eq!(written()["entries"][0]["summary"], kept);
    bench
        .run(["index", "--native", "--apply"])
        .ends(0)
        .says("match their logs");
    // A source without notes removes none.
    bench
        .run([
            "index",
            "--native",
            "--apply",
            "--home",
            bench.tmp().to_str().unwrap(),
        ])
        .ends(0)
        .says("match their logs");
    assert_eq!(written()["entries"][0]["summary"], kept);
}

#[test]
fn spilled_output_is_shown_in_its_place() {
    let bench = Bench::new();
    let log = root(&bench).join(format!("projects/-w/{ID}.jsonl"));
    let line = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{ID}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"<persisted-output>cut\"}}]}},\"toolUseResult\":{{\"persistedOutputPath\":\"/elsewhere/projects/-old/{ID}/tool-results/b1.txt\"}}}}\n"
    );
    write(&log, line.as_bytes());
    write(
        &root(&bench).join(format!("projects/-w/{ID}/tool-results/b1.txt")),
        b"line 1\nline 999\n",
    );
    assert!(
        bench
            .run(["show", ID, "--tools=full"])
            .ends(0)
            .text()
            .contains("line 999")
    );
    assert!(!bench.run(["show", ID]).ends(0).text().contains("line 999"));
}

#[test]
fn subagents_of_real_sessions_stand_below_the_calls_that_started_them() {
    let Some(captures) = corpus::require_or_skip("BOSWELL_CAPTURES") else {
        return;
    };
    for (capture, count) in [
        ("subagent", 2),
        ("subnested", 2),
        ("subbg", 1),
        ("old-2.1.17", 1),
        ("old-2.1.150", 1),
    ] {
        let bench = Bench::new();
        let store = format!(
            "claude={}",
            captures.join("claude-code").join(capture).display()
        );
        let run = |args: &[&str]| bench.run(["--store", &store].iter().chain(args)).ends(0);
        let session = format!("claude:{ID}");
        let lines = run(&["show", &session, "--subagents", "--json"]).of_type("entry");
        let of_agent = |line: &serde_json::Value| {
            line["session"]
                .as_str()
                .unwrap()
                .starts_with("claude:agent-")
        };
        let mut agents: Vec<&str> = lines
            .iter()
            .filter(|line| of_agent(line))
            .map(|line| line["session"].as_str().unwrap())
            .collect();
        agents.dedup();
        let mut once = agents.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), count, "{capture}: {agents:?}");
        // The result is in place: the call is directly before it, and the conversation continues
        // after it.
        let first = lines.iter().position(of_agent).unwrap();
        assert_eq!(
            lines[first - 1]["content"][0]["type"],
            "tool_call",
            "{capture}"
        );
        assert!(!of_agent(lines.last().unwrap()), "{capture}");
        let text = run(&["show", &session, "--subagents"]).text();
        assert!(
            text.contains("  │ ") && text.contains("⤷ subagent agent-"),
            "{capture}"
        );
        assert_eq!(
            text.contains("  │   │ "),
            capture == "subnested",
            "{capture}"
        );
        assert!(
            run(&["show", &session]).text().contains("--subagents"),
            "{capture}"
        );
    }
}
