//! Excluded projects: no command lists, searches, keeps or serves them, and derived data is removed
//! immediately.

mod derived_files;
mod scope;

use std::path::{Path, PathBuf};

use boswell_dialect::claude::project_key;
use boswell_testkit::disk;

use crate::bench::{Bench, Ran};
use crate::keep::below;

/// A word that is one term of the index and occurs nowhere else.
const SECRET: &str = "zanzibarword";
const OPEN: &str = "quokkaword";

const HIDDEN: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const SHOWN: &str = "bbbbbbbb-0002-4001-8001-000000000002";

fn claude_log(id: &str, cwd: &Path, text: &str, at: &str) -> String {
    let cwd = serde_json::json!(cwd.display().to_string());
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text} please\"}},\"uuid\":\"{id}-u\",\"timestamp\":\"{at}\",\"cwd\":{cwd},\"sessionId\":\"{id}\"}}\n"
    )
}

/// A home with a project that will be excluded and one that will not, each with a session, memory
/// and history.
struct World {
    bench: Bench,
}

impl World {
    fn new() -> World {
        let world = World {
            bench: Bench::new(),
        };
        // The hidden one is the newest, so that `@last` would select it.
        world.plant(
            &world.project("secret"),
            HIDDEN,
            SECRET,
            "2026-01-02T00:00:00.000Z",
        );
        world.plant(
            &world.project("open"),
            SHOWN,
            OPEN,
            "2026-01-01T00:00:00.000Z",
        );
        let asked = |text: &str, project: &str, id: &str| {
            let project = world.project(project).display().to_string();
            serde_json::json!({"display": text, "project": project, "sessionId": id, "timestamp": 1_767_225_600_000_u64})
        };
        let gone = "cccccccc-0003-4001-8001-000000000003";
        let history = [
            asked(SECRET, "secret", HIDDEN),
            asked(SECRET, "secret", gone),
            asked(OPEN, "open", SHOWN),
        ];
        let history: Vec<String> = history.iter().map(|line| format!("{line}\n")).collect();
        world
            .bench
            .plant(".claude/history.jsonl", history.concat().as_bytes());
        world
    }

    fn project(&self, name: &str) -> PathBuf {
        let path = self.bench.home().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    fn plant(&self, project: &Path, id: &str, text: &str, at: &str) -> PathBuf {
        let key = project_key(&project.display().to_string());
        let memory = format!(".claude/projects/{key}/memory/MEMORY.md");
        self.bench.plant(&memory, format!("# {text}\n").as_bytes());
        self.bench
            .plant(&format!(".claude/file-history/{id}/0@v1"), text.as_bytes());
        self.bench.plant(
            &format!(".claude/projects/{key}/{id}.jsonl"),
            claude_log(id, project, text, at).as_bytes(),
        )
    }

    fn log(&self, project: &str, id: &str) -> PathBuf {
        let key = project_key(&self.project(project).display().to_string());
        self.bench
            .home()
            .join(format!(".claude/projects/{key}/{id}.jsonl"))
    }

    fn settings(&self, text: &str) {
        self.bench
            .plant(".config/boswell/config.toml", text.as_bytes());
    }

    fn exclude(&self) {
        self.settings("exclude = [\"~/secret\"]\n");
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args)
    }

    fn ids(&self) -> Vec<String> {
        let listed = self
            .run(&["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session");
        listed
            .iter()
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns the files in boswell's home that contain a text.
    fn own_files_with(&self, text: &str) -> Vec<PathBuf> {
        let holds = |path: &PathBuf| memmem(&disk::read(path), text.as_bytes());
        below(&self.bench.own()).into_iter().filter(holds).collect()
    }

    fn objects(&self) -> usize {
        below(&self.bench.own())
            .iter()
            .filter(|path| path.to_string_lossy().contains("vault/objects"))
            .count()
    }
}

fn memmem(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn no_command_shows_anything_of_an_excluded_project() {
    let world = World::new();
    let commands: &[&[&str]] = &[
        &["list"],
        &["list", "--json"],
        &["list", "--hidden"],
        &["list", "--hidden", "--json"],
        &["projects"],
        &["projects", "--json"],
        &["search", SECRET],
        &["search", "--json", "please"],
        &["prompts"],
        &["prompts", SECRET],
        &["stats", "--by", "project"],
        &["check"],
        &["check", "--json"],
        &["secrets"],
        &["memory", "all", "show"],
        &["memory", "all", "search", "word"],
        &["memory", "all", "check"],
        &["show", "@last"],
        &["tree", "@last"],
        &["context", "@last"],
        &["export", "@last"],
        &["resume", "@last", "--print"],
        &["continue", "--print"],
        &["files", "@last"],
        &["attachments", "@last"],
        &["summarize"],
        &["summarize", "--all"],
        &["index"],
        &["index", "--native"],
        &["keep", "run"],
        &["keep", "status"],
        &["stores", "--json"],
        &["stores", "--pairs"],
        &["doctor"],
        &["clean", "--agent", "claude", "--older-than", "1d"],
        &["clean", "--agent", "claude", "--leftovers"],
        &["archive", "--older-than", "1d"],
        &["__complete"],
    ];
    // Without the exclusion, these commands show the project: a list that is empty for another
    // reason proves nothing.
    let telling = commands.iter().filter(|args| {
        let ran = world.run(args);
        let said = format!("{}{}", ran.text(), ran.stderr);
        said.contains(SECRET) || said.contains(HIDDEN) || said.contains("/secret")
    });
    assert!(telling.count() >= 20, "the sessions are there to be found");
    world.exclude();
    for args in commands {
        let ran = world.run(args);
        let said = format!("{}{}", ran.text(), ran.stderr);
        assert!(
            !said.contains(SECRET) && !said.contains(&HIDDEN[..8]) && !said.contains("/secret"),
            "{args:?} tells of an excluded project: {ran:?}"
        );
    }
    let stores = world.run(&["stores", "--json"]).ends(0).of_type("store");
    let store = stores.iter().find(|it| it["dialect"] == "claude").unwrap();
    assert_eq!(store["sessions"], 1, "counts leave it out too");
    let report = world.run(&["doctor", "--json"]).ends(0).of_type("report");
    let claude = report[0]["stores"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["dialect"] == "claude")
        .unwrap()
        .clone();
    assert_eq!(claude["sessions"], 1);
    let sum = world.run(&["stats", "--json"]).ends(0).of_type("stat");
    assert_eq!(sum[0]["sessions"], 1);
}

#[test]
fn a_whole_ref_and_a_path_find_it_with_a_note_and_the_beginning_of_an_id_does_not() {
    let world = World::new();
    world.exclude();
    let log = world.log("secret", HIDDEN);
    for name in [format!("claude:{HIDDEN}"), log.display().to_string()] {
        let shown = world
            .run(&["show", &name])
            .ends(0)
            .says("of an excluded project");
        assert!(shown.text().contains(SECRET), "{shown:?}");
    }
    for name in [&HIDDEN[..8], HIDDEN, &format!("claude:{}", &HIDDEN[..12])] {
        world.run(&["show", name]).ends(2);
    }
    // A session that is named in full can be changed, too.
    world
        .run(&["rename", &format!("claude:{HIDDEN}"), "named"])
        .ends(0);
    world.run(&["undo"]).ends(0);
    assert!(world.run(&["show", "@last"]).ends(0).text().contains(OPEN));
}

#[test]
fn an_agents_own_index_of_an_excluded_project_is_left_as_it_is() {
    let world = World::new();
    world.exclude();
    let index =
        |project: &str, id: &str| world.log(project, id).with_file_name("sessions-index.json");
    let stale = b"{\"version\":1,\"entries\":[]}";
    disk::write(&index("secret", HIDDEN), stale);
    disk::write(&index("open", SHOWN), stale);
    world.run(&["index", "--native", "--apply"]).ends(0);
    assert_eq!(disk::read(&index("secret", HIDDEN)), stale);
    assert_ne!(
        disk::read(&index("open", SHOWN)),
        stale,
        "the others are written"
    );
}

#[test]
fn patterns_that_mean_nothing_are_refused_with_their_line() {
    let world = World::new();
    world.settings("color = \"never\"\nexclude = [\n  \"~/a\",\n  \"secret\",\n]\n");
    world
        .run(&["list"])
        .ends(2)
        .says("line 4")
        .says("`exclude` has an item")
        .says("depends on the folder");
    world.settings("exclude = \"~/a\"\n");
    world
        .run(&["list"])
        .ends(2)
        .says("line 1")
        .says("must be like `exclude = [");
    world.settings("");
    world.run(&["config", "--exclude", "secret"]).ends(2);
    assert_eq!(
        disk::read(&world.bench.home().join(".config/boswell/config.toml")),
        b"",
        "nothing is written"
    );
    world
        .run(&["--read-only", "config", "--exclude", "~/secret"])
        .ends(2);
    world
        .run(&["config", "--include", "~/secret"])
        .ends(2)
        .says("is not excluded");
}

#[test]
fn processes_that_exclude_at_the_same_time_lose_nothing_of_each_other() {
    let world = World::new();
    world.settings("# mine\ncolor = \"never\"\n");
    let children: Vec<_> = (0..8)
        .map(|number| {
            world
                .bench
                .command(["config", "--exclude", &format!("~/p{number}")])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = String::from_utf8(disk::read(
        &world.bench.home().join(".config/boswell/config.toml"),
    ))
    .unwrap();
    assert!(
        (0..8).all(|number| text.contains(&format!("~/p{number}\""))),
        "{text}"
    );
    assert!(text.contains("# mine\ncolor = \"never\"\n"), "{text}");
}
