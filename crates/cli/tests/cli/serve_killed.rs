//! Servers and clients that are killed: nothing is lost, nothing is there twice.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::demo::Demo;
use crate::serve::Serving;

/// How many entries are written while the server is killed.
const ENTRIES: usize = 10_000;
/// How often the server is killed.
const KILLS: usize = 5;

/// Returns the ref of a new session.
fn new_session(demo: &Demo) -> String {
    let made = demo.run(&["new", "--json"]).ends(0).of_type("session");
    made[0]["ref"].as_str().unwrap().to_owned()
}

/// Connects to a server; `None` while it does not run.
fn connect(address: &str) -> Option<TcpStream> {
    let stream = TcpStream::connect(address).ok()?;
    let limit = Some(Duration::from_secs(30));
    stream.set_read_timeout(limit).unwrap();
    Some(stream)
}

/// Appends numbered entries in another process, and returns it.
fn write_numbers(demo: &Demo, session: &str) -> std::process::Child {
    let mut command = demo.command(&["append", session, "--durability", "os", "--quiet"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        for number in 0..ENTRIES {
            let line = format!("{{\"role\":\"user\",\"text\":\"{number}\"}}\n");
            if input.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    child
}

/// What a page knows about a session that it follows.
#[derive(Default)]
struct Followed {
    last: Option<String>,
    seen: Vec<String>,
}

impl Followed {
    /// Reads events until there are enough, or the connection ends.
    fn read(&mut self, serving: &Serving, path: &str, until: usize) {
        let Some(mut stream) = connect(&serving.address) else {
            return;
        };
        let last = self.last.as_ref();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n"));
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{}\r\n",
            serving.address,
            serving.token,
            last.unwrap_or_default()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let (mut id, mut name) = (None, String::new());
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            match line.split_once(": ") {
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", data)) => {
                    let data: Value = serde_json::from_str(data).unwrap();
                    assert_ne!(name, "reset", "the log was not replaced");
                    if name == "entry" {
                        self.seen.push(data["text"].as_str().unwrap().to_owned());
                    }
                }
                // An event counts once it is whole.
                _ if line.is_empty() && id.is_some() => {
                    self.last = id.take();
                    if self.seen.len() >= until {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_follower_sees_each_entry_once_and_in_order_while_the_server_is_killed() {
    let demo = Demo::new();
    let session = new_session(&demo);
    let path = format!("/v1/sessions/{session}/events");
    let mut serving = Serving::start(&demo, &["--port", "0"]);
    let mut followed = Followed::default();
    // The place before the first entry.
    followed.read(&serving, &path, 0);
    let mut writer = write_numbers(&demo, &session);
    for round in 1..=KILLS {
        followed.read(&serving, &path, round * ENTRIES / (KILLS + 1));
        serving.kill();
        serving = Serving::start(&demo, &[]);
    }
    while followed.seen.len() < ENTRIES {
        let before = followed.seen.len();
        followed.read(&serving, &path, ENTRIES);
        assert!(followed.seen.len() > before, "{before} of {ENTRIES} came");
    }
    assert!(writer.wait().unwrap().success());
    let wanted: Vec<String> = (0..ENTRIES).map(|number| number.to_string()).collect();
    assert!(followed.seen == wanted, "lost, doubled or out of order");
}

/// Sends one append, and returns its status; `None` if the connection ended before the answer.
fn append(serving: &Serving, session: &str, number: usize, waits: bool) -> Option<u16> {
    let mut stream = connect(&serving.address)?;
    let body = format!(
        "[{{\"role\":\"user\",\"text\":\"{number}a\"}},{{\"role\":\"assistant\",\"text\":\"{number}b\"}}]"
    );
    let request = format!(
        "POST /v1/sessions/{session}/entries HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Idempotency-Key: turn-{number}\r\nPrefer: wait=5\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        serving.address,
        serving.write_token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    if !waits {
        // A client that is killed leaves its connection like this.
        return None;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.get(9..12)?.parse().ok()
}

#[test]
fn appends_with_keys_survive_the_death_of_client_and_server() {
    const TURNS: usize = 40;
    let demo = Demo::new();
    let session = new_session(&demo);
    let start = || Serving::start(&demo, &["--port", "0", "--write"]);
    let mut serving = start();
    for number in 0..TURNS {
        if number % 5 == 1 {
            // The client dies before it gets its answer.
            let _ = append(&serving, &session, number, false);
        }
        if number % 8 == 3 {
            // The server dies while the request is on its way.
            let _ = append(&serving, &session, number, false);
            serving.kill();
            serving = start();
        }
        let mut tries = 0;
        while append(&serving, &session, number, true) != Some(201) {
            tries += 1;
            assert!(tries < 100, "turn {number} is not accepted");
        }
    }
    drop(serving);
    let entries = demo.run(&["show", &session, "--json"]).of_type("entry");
    let texts: Vec<&str> = entries
        .iter()
        .filter_map(|it| it["text"].as_str())
        .collect();
    let wanted: Vec<String> = (0..TURNS)
        .flat_map(|number| [format!("{number}a"), format!("{number}b")])
        .collect();
    assert_eq!(texts, wanted);
}

/// Files below a folder that contain a text.
fn files_with(folder: &std::path::Path, text: &[u8]) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(boswell_testkit::disk::list(&path));
        } else if boswell_testkit::disk::read(&path)
            .windows(text.len())
            .any(|it| it == text)
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_purged_session_is_gone_from_answers_cache_and_disk_while_it_is_followed() {
    const SECRET: &str = "heliotrope-7741";
    let demo = Demo::new();
    let session = new_session(&demo);
    demo.run(&["append", &session, "--user", SECRET]).ends(0);
    let serving = Serving::start(&demo, &["--port", "0"]);
    let entries = format!("/v1/sessions/{session}/entries");
    assert!(serving.lines(&entries).contains(SECRET));
    assert!(
        serving
            .lines(&format!("/v1/search?q={SECRET}"))
            .contains(&session)
    );
    // A page has the session open: its stream is told.
    let mut stream = connect(&serving.address).unwrap();
    let request = format!(
        "GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        serving.address, serving.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.any(|line| line.unwrap() == "event: session"));
    demo.run(&["delete", &session, "--purge", "--apply"])
        .ends(0);
    assert!(lines.any(|line| line.unwrap() == "event: gone"));
    assert_eq!(serving.status(&entries), 404);
    assert!(
        !serving
            .lines(&format!("/v1/search?q={SECRET}"))
            .contains(&session)
    );
    let left = files_with(&demo.root.join("own"), SECRET.as_bytes());
    assert!(left.is_empty(), "{left:?}");
}
