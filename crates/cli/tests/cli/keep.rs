//! Keeping copies: a session that an agent deletes behind our back can be restored exactly.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use boswell_testkit::disk::{list, read, set_modified, write};

use crate::bench::Bench;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";
const SETTINGS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";

fn line(id: &str, number: usize, parent: Option<usize>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{id}-{parent}\""));
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"{id}-{number}\",\"timestamp\":\"2026-01-01T00:00:0{number}.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

/// Returns every file below a folder, in order.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in list(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

/// A client's folder with one session and every kind of side file, and secrets that must not be
/// copied.
struct Client<'b> {
    bench: &'b Bench,
    root: PathBuf,
}

impl Client<'_> {
    fn new(bench: &Bench) -> Client<'_> {
        let client = Client {
            bench,
            root: bench.home().join(".claude"),
        };
        for (key, text) in [
            (
                format!("projects/-w/{ID}.jsonl"),
                line(ID, 0, None, "why is the build red?"),
            ),
            (
                format!("projects/-w/{OTHER}.jsonl"),
                line(OTHER, 0, None, "other"),
            ),
            (
                format!("projects/-w/{ID}/subagents/agent-a1.jsonl"),
                line(ID, 1, None, "task"),
            ),
            (
                format!("projects/-w/{ID}/subagents/agent-a1.meta.json"),
                "{\"agentType\":\"x\"}".to_owned(),
            ),
            (
                format!("projects/-w/{ID}/tool-results/t.txt"),
                "long output".to_owned(),
            ),
            (
                format!("projects/-w/{ID}/custom-title.json"),
                "{\"customTitle\":\"Red\"}".to_owned(),
            ),
            (
                format!("projects/-w/{ID}/session.key"),
                "SECRET-1".to_owned(),
            ),
            (
                format!("file-history/{ID}/0123456789abcdef@v1"),
                "fn main() {}\n".to_owned(),
            ),
            (
                format!("tasks/{ID}/1.json"),
                "{\"subject\":\"mend it\"}".to_owned(),
            ),
            ("sessions/1.abc.key".to_owned(), "SECRET-2".to_owned()),
            (".credentials.json".to_owned(), "SECRET-3".to_owned()),
            ("settings.json".to_owned(), SETTINGS.to_owned()),
        ] {
            write(&client.root.join(key), text.as_bytes());
        }
        client
    }

    fn log(&self) -> PathBuf {
        self.root.join(format!("projects/-w/{ID}.jsonl"))
    }

    /// Makes a file this many days older.
    fn age(&self, path: &Path, days: i64) {
        let since = modified(path)
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        set_modified(path, since.as_millis() as i64 - days * 86_400_000);
    }

    /// Does what the client's own clean-up does.
    fn sweep(&self) {
        std::fs::remove_file(self.log()).unwrap();
        std::fs::remove_dir_all(self.root.join(format!("projects/-w/{ID}"))).unwrap();
        for folder in ["file-history", "tasks"] {
            std::fs::remove_dir_all(self.root.join(folder).join(ID)).unwrap();
        }
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
        let files = below(&self.root)
            .into_iter()
            .filter(|path| !path.ends_with("session.key"));
        files
            .map(|path| (path.clone(), read(&path), modified(&path)))
            .collect()
    }

    fn kept(&self, id: &str) -> serde_json::Value {
        let sessions = self
            .bench
            .run(["list", "--json"])
            .ends(0)
            .of_type("session");
        sessions
            .into_iter()
            .find(|session| session["id"] == id)
            .unwrap()["kept"]
            .clone()
    }
}

#[test]
fn what_the_agent_deletes_is_restored_with_its_side_files() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    client.age(&client.log(), 25);
    assert_eq!(client.kept(ID), false);
    let warned = bench.run(["stores"]).ends(0).text();
    assert!(
        warned.contains("1 sessions will be deleted by their agent within 7 days"),
        "{warned}"
    );
    bench.run(["keep", "on", "--apply"]).ends(0);
    assert_eq!(client.kept(ID), true);
    assert!(
        !bench
            .run(["stores"])
            .ends(0)
            .text()
            .contains("will be deleted")
    );
    let before = client.files();
    client.sweep();
    let status = bench
        .run(["keep", "status", "--json"])
        .ends(0)
        .of_type("keep");
    assert_eq!(
        status[0]["gone"],
        serde_json::json!([format!("claude:{ID}")])
    );
    let restored = bench.run(["restore", &format!("claude:{}", &ID[..8]), "--json"]);
    assert_eq!(
        restored.code,
        Some(2),
        "two sessions begin like that: {restored:?}"
    );
    bench
        .run(["restore", &format!("claude:{ID}"), "--json"])
        .ends(0);
    assert_eq!(client.files(), before, "bytes, names and times");
    bench.run(["show", ID]).ends(0);
    bench.run(["undo"]).ends(0);
    assert!(!client.log().exists(), "a restoration can be taken back");
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    bench
        .run(["restore", &format!("claude:{ID}")])
        .ends(3)
        .says("nothing of claude:");
}

#[test]
fn a_session_past_the_age_of_clean_up_comes_back_with_a_time_that_lets_it_stay() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    let [log, side] = [
        client.log(),
        client
            .root
            .join(format!("projects/-w/{ID}/tool-results/t.txt")),
    ];
    for path in [&log, &side] {
        client.age(path, 40);
    }
    let (bytes, young) = (
        read(&log),
        client
            .root
            .join(format!("file-history/{ID}/0123456789abcdef@v1")),
    );
    client.age(&young, 3);
    let then = modified(&young);
    bench.run(["keep", "on", "--apply"]).ends(0);
    let is_new = |path: &Path| modified(path).elapsed().unwrap().as_secs() < 3_600;
    client.sweep();
    bench
        .run(["restore", &format!("claude:{ID}")])
        .ends(0)
        .says("2 files are dated today");
    assert_eq!(read(&log), bytes);
    assert!(
        is_new(&log) && is_new(&side),
        "the next clean-up passes them by"
    );
    assert_eq!(modified(&young), then, "what is safe has its own time");
    // As above for a session that was deleted through boswell, and with a shorter age.
    client.age(&log, 5);
    write(
        &client.root.join("settings.json"),
        b"{\"cleanupPeriodDays\": 4}",
    );
    bench
        .run(["delete", "--apply", &format!("claude:{ID}")])
        .ends(0);
    bench
        .run(["restore", &format!("claude:{ID}")])
        .ends(0)
        .says("dated today");
    assert!(is_new(&log));
    assert_eq!(read(&log), bytes);
}

/// Keeps a session, deletes it like its agent, and restores it; returns the file that a client
/// resumes.
pub(crate) fn restored(bench: &Bench) -> PathBuf {
    let client = Client::new(bench);
    bench.run(["keep", "on", "--apply"]).ends(0);
    client.sweep();
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    client.log()
}

#[test]
fn a_restored_session_has_the_context_that_it_had() {
    let bench = Bench::new();
    assert!(restored(&bench).is_file());
    let messages = bench
        .run(["context", ID, "--json"])
        .ends(0)
        .of_type("message");
    assert_eq!(messages[0]["content"][0]["text"], "why is the build red?");
    let subagents = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    assert!(
        subagents
            .iter()
            .any(|session| session["hidden"] == "subagent" && session["parent"] == ID)
    );
    assert_eq!(
        bench
            .run(["files", ID, "--json"])
            .ends(0)
            .of_type("checkpoint")
            .len(),
        1
    );
}

#[test]
fn keys_and_credentials_are_never_copied() {
    let bench = Bench::new();
    Client::new(&bench);
    bench.run(["keep", "on", "--apply"]).ends(0);
    let copied = below(&bench.own());
    for path in &copied {
        assert!(
            !String::from_utf8_lossy(&read(path)).contains("SECRET-"),
            "{}",
            path.display()
        );
    }
    let seen = copied.len();
    assert!(seen > 6, "{seen}");
}

#[test]
fn the_trigger_goes_into_the_settings_and_out_again_and_all_other_bytes_stay() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    let settings = client.root.join("settings.json");
    let shown = bench.run(["keep", "on"]).ends(2).says("--apply").text();
    assert!(
        shown.contains("SessionEnd") && shown.contains("keep run"),
        "{shown}"
    );
    assert_eq!(read(&settings), SETTINGS.as_bytes());
    assert!(!bench.own().join("keep.json").exists());
    bench.run(["keep", "on", "--apply"]).ends(0);
    let hooked: serde_json::Value = serde_json::from_slice(&read(&settings)).unwrap();
    let command = hooked["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(hooked["model"], "opus");
    let once = read(&settings);
    bench.run(["keep", "on", "--apply"]).ends(0);
    assert_eq!(read(&settings), once, "once is enough");
    // The command of the hook at the end of a session works.
    write(
        &client.log(),
        [
            read(&client.log()),
            line(ID, 2, Some(0), "more").into_bytes(),
        ]
        .concat()
        .as_slice(),
    );
    let ran = std::process::Command::new("sh")
        .args(["-c", &command])
        .env_clear()
        .status()
        .unwrap();
    assert!(ran.success());
    assert_eq!(
        bench
            .run(["keep", "status", "--json"])
            .ends(0)
            .of_type("keep")[0]["kept"],
        2
    );
    bench.run(["keep", "off"]).ends(0);
    assert_eq!(read(&settings), SETTINGS.as_bytes());
    bench.run(["keep", "off"]).ends(0).says("off already");
    std::fs::remove_file(&settings).unwrap();
    bench.run(["keep", "on", "--apply"]).ends(0);
    assert!(settings.exists());
    bench.run(["keep", "off"]).ends(0);
    assert!(
        !settings.exists(),
        "a file that was made for the hook goes with it"
    );
}

#[test]
fn settings_behind_a_link_are_not_written_and_a_timer_takes_the_hooks_place() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    let settings = client.root.join("settings.json");
    let real = bench.home().join("dotfiles.json");
    std::fs::rename(&settings, &real).unwrap();
    std::os::unix::fs::symlink(&real, &settings).unwrap();
    bench.run(["keep", "on", "--apply"]).ends(0);
    assert_eq!(read(&real), SETTINGS.as_bytes());
    let units = bench.home().join(".config/systemd/user");
    assert!(
        String::from_utf8(read(&units.join("boswell-keep.service")))
            .unwrap()
            .contains("keep run")
    );
    assert_eq!(
        bench
            .run(["keep", "status", "--json"])
            .ends(0)
            .of_type("keep")[0]["trigger"],
        "timer"
    );
    bench.run(["keep", "off"]).ends(0);
    assert_eq!(below(&units), [] as [PathBuf; 0]);
}

#[test]
fn any_command_keeps_what_changed_and_a_log_that_grew_is_not_stored_again() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    // Random data does not compress: the stored size equals the counted one.
    let noise: String = (0..3_000_000u32)
        .map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 27) as u8 % 26))
        .collect();
    write(&client.log(), line(ID, 0, None, &noise).as_bytes());
    bench.run(["keep", "on", "--apply"]).ends(0);
    let stored = || {
        below(&bench.own().join("vault/objects"))
            .iter()
            .map(|path| read(path).len())
            .sum::<usize>()
    };
    let before = stored();
    write(
        &client.log(),
        [
            read(&client.log()),
            line(ID, 1, Some(0), "a little more").into_bytes(),
        ]
        .concat()
        .as_slice(),
    );
    assert_eq!(client.kept(ID), false);
    bench.run(["projects"]).ends(0);
    assert_eq!(client.kept(ID), true, "the command before kept it");
    let added = stored() - before;
    assert!(added < 1_100_000, "{added} bytes were stored for a line");
    let whole = read(&client.log());
    std::fs::remove_file(client.log()).unwrap();
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    assert_eq!(read(&client.log()), whole);
}

#[test]
fn a_log_that_was_rewritten_or_emptied_does_not_cost_the_copy_before() {
    let bench = Bench::new();
    let client = Client::new(&bench);
    let first = read(&client.log());
    bench.run(["keep", "on", "--apply"]).ends(0);
    write(&client.log(), b"");
    bench.run(["keep", "run"]).ends(0);
    std::fs::remove_file(client.log()).unwrap();
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    assert_eq!(
        read(&client.log()),
        first,
        "an empty file says nothing worth keeping"
    );
}

#[test]
fn purging_one_session_leaves_the_copies_of_others() {
    let bench = Bench::new();
    Client::new(&bench);
    bench.run(["keep", "on", "--apply"]).ends(0);
    let own = bench
        .run(["new", "--title", "t"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    bench.run(["delete", "--apply", "--purge", &own]).ends(0);
    let status = bench
        .run(["keep", "status", "--json"])
        .ends(0)
        .of_type("keep");
    assert_eq!(status[0]["kept"], 2, "copies of others stay");
}

#[test]
fn without_an_agent_that_deletes_there_is_nothing_to_keep_and_it_says_so() {
    let bench = Bench::new();
    bench
        .run(["keep", "on", "--apply"])
        .ends(2)
        .says("no agent on this machine deletes sessions");
    bench
        .run(["keep", "status"])
        .ends(0)
        .says("nothing to keep");
    bench.run(["--read-only", "keep", "run"]).ends(2);
}
