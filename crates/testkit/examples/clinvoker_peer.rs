//! Another process that works on a clinvoker store as the program itself does:
//! `clinvoker_peer SESSIONS COUNT ID…`.
//!
//! Each of COUNT updates takes the exclusive flock on `store.lock`, loads the index, counts a turn
//! in one of the documents, writes document and index through temporary files, releases the lock,
//! and then unlinks the lock file, which is the program's own defect.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for tests, which share no code with what they test"
)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let count: usize = arguments
        .next()
        .expect("a count")
        .parse()
        .expect("a number");
    let ids: Vec<String> = arguments.collect();
    let folder = Path::new(&folder);
    for number in 0..count {
        let lock = take(folder);
        update(folder, &ids[number % ids.len()], number);
        lock.unlock().expect("an unlocked file");
        drop(lock);
        let _ = fs::remove_file(folder.join("store.lock"));
        // Simulates other work of the program.
        std::thread::sleep(Duration::from_micros(700));
    }
    println!("{count}");
}

fn take(folder: &Path) -> File {
    let path = folder.join("store.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .expect("a lock file");
    file.lock().expect("a lock");
    file
}

fn update(folder: &Path, id: &str, number: usize) {
    let path = folder.join(format!("{id}.json"));
    let mut document: Value =
        serde_json::from_slice(&fs::read(&path).expect("a document")).expect("sound JSON");
    let turns = document["turn_count"].as_u64().unwrap_or(0) + 1;
    document["turn_count"] = json!(turns);
    document["last_used"] = json!(format!(
        "2026-03-01T10:00:{:02}.{:09}+09:00",
        number % 60,
        number + 1
    ));
    put(
        folder,
        &path,
        serde_json::to_string_pretty(&document)
            .expect("JSON")
            .as_bytes(),
    );
    let path = folder.join("index.json");
    let mut index: Value =
        serde_json::from_slice(&fs::read(&path).expect("an index")).expect("a sound index");
    index["index"][id]["LastUsed"] = document["last_used"].clone();
    put(folder, &path, index.to_string().as_bytes());
}

fn put(folder: &Path, path: &Path, bytes: &[u8]) {
    let temp = folder.join(format!(".tmp-{}", std::process::id()));
    let mut file = File::create(&temp).expect("a temporary file");
    file.write_all(bytes).expect("written bytes");
    file.sync_all().expect("a sync");
    drop(file);
    fs::rename(&temp, path).expect("a rename");
}
