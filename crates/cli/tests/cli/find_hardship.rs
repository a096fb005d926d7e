//! Search under adverse conditions: killed indexers, full disks, garbage, files that change without
//! a new time.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::find_bench::{Bench, Ran};
use boswell_testkit::bench_corpus::{self, CJK, MIDDLE};
use boswell_testkit::rng::Rng;
use boswell_testkit::{corpus, disk};

const ID: &str = "33333333-3333-4333-8333-333333333333";

fn planted(sessions: usize, mb: f64) -> Bench {
    let bench = Bench::new();
    bench_corpus::generate(&bench.home(), sessions, mb, 5, false);
    bench
}

fn found(ran: &Ran) -> BTreeSet<String> {
    let hits = ran.lines.iter().filter(|line| line["type"] == "hit");
    hits.map(|hit| {
        hit["session"]
            .as_str()
            .unwrap()
            .trim_start_matches("claude:")
            .to_owned()
    })
    .collect()
}

fn search(bench: &Bench, text: &str) -> Ran {
    bench.run(&["search", "--json", "--limit", "100000", "--substring", text])
}

/// Returns the logs that contain a text, found without boswell.
fn holding(bench: &Bench, text: &str) -> BTreeSet<String> {
    let with = corpus::files(&bench.claude())
        .into_iter()
        .filter(|log| holds(&disk::read(log), text));
    with.map(|log| log.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

fn prompt(text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"{ID}\",\"cwd\":\"/p\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn log(bench: &Bench) -> PathBuf {
    bench.claude().join(format!("projects/-p/{ID}.jsonl"))
}

fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Runs a shell command in the environment of the program.
fn shell(bench: &Bench, script: &str) -> std::process::Output {
    let mut command = std::process::Command::new("sh");
    let inner = bench.command(&[]);
    command
        .arg("-c")
        .arg(script)
        .env_clear()
        .current_dir(bench.cwd())
        .stdin(Stdio::null());
    command.envs(
        inner
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    command.output().unwrap()
}

#[test]
fn an_indexer_killed_at_any_moment_leaves_answers_right() {
    let bench = planted(60, 1.2);
    let mut rng = Rng::new(17);
    let mut killed = 0;
    let logs = corpus::files(&bench.claude());
    for round in 0..50 {
        let word = format!("killround{round}x");
        append(&logs[rng.below(logs.len())], &prompt(&word));
        if round % 10 == 9 {
            // Catalog and index are created again from nothing, in one run.
            let _ = std::fs::remove_dir_all(bench.own());
        }
        let verb: &[&str] = if round % 2 == 0 {
            &["index", "-q"]
        } else {
            &["search", MIDDLE]
        };
        let mut child = bench
            .command(verb)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(60_000) as u64));
        killed += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        for text in [word.as_str(), MIDDLE] {
            let ran = search(&bench, text);
            assert_eq!(
                found(&ran),
                holding(&bench, text),
                "{text} in round {round}: {}",
                ran.stderr
            );
        }
    }
    assert!(
        killed > 10,
        "only {killed} were still running when they were killed"
    );
    assert_eq!(bench.run(&["index", "--json"]).lines[0]["complete"], true);
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_costs_time_and_no_answer() {
    let bench = planted(80, 2.0);
    for blocks in [0, 8, 64, 512] {
        // Without the signal, a write beyond the limit fails as on a full disk.
        let limited = |args: &str| {
            let program = env!("CARGO_BIN_EXE_boswell");
            shell(
                &bench,
                &format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {args}"),
            )
        };
        for text in [MIDDLE, CJK] {
            let output = limited(&format!("search --json --limit 100000 --substring {text}"));
            let ran = Ran::of(&output);
            assert_eq!(
                found(&ran),
                holding(&bench, text),
                "{blocks} blocks: {}",
                ran.stderr
            );
        }
        let listed = limited("list --json");
        assert!(
            listed.status.success(),
            "{}",
            String::from_utf8_lossy(&listed.stderr)
        );
        assert_eq!(Ran::of(&listed).stdout.lines().count(), 81);
        // Leftovers of the full disk have no effect once there is space again.
        assert_eq!(found(&search(&bench, MIDDLE)), holding(&bench, MIDDLE));
        let _ = std::fs::remove_dir_all(bench.own());
    }
}

/// A small mounted file system, which is unmounted on drop.
#[cfg(target_os = "linux")]
struct SmallDisk(PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    /// Mounts it; `None` if the user may not mount.
    fn mount(folder: PathBuf, kilobytes: usize) -> Option<SmallDisk> {
        std::fs::create_dir_all(&folder).unwrap();
        let options = format!("size={kilobytes}k,mode=0700");
        let mut mount = std::process::Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&folder);
        let mounted = mount.stdout(Stdio::null()).stderr(Stdio::null()).status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(SmallDisk(folder))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_fills_up_while_indexing_costs_time_and_no_answer() {
    let bench = planted(80, 2.0);
    let mut filled = 0;
    // From a size without space for a table to one with space for everything.
    for kilobytes in [16, 64, 128, 256, 512, 4096] {
        let Some(disk) = SmallDisk::mount(bench.own(), kilobytes) else {
            eprintln!(
                "SKIPPED: nobody may mount a file system here; a limit on the size of files stands for it"
            );
            return;
        };
        let indexed = bench.run(&["index", "--json"]);
        filled += usize::from(indexed.code != 0 || !indexed.stderr.is_empty());
        for text in [MIDDLE, CJK] {
            let ran = search(&bench, text);
            assert_eq!(
                found(&ran),
                holding(&bench, text),
                "{text}, {kilobytes} KB: {}",
                ran.stderr
            );
        }
        let listed = bench.run(&["list", "--json"]);
        assert_eq!(
            (listed.code, listed.lines.len()),
            (0, 81),
            "{kilobytes} KB: {}",
            listed.stderr
        );
        let stats = bench.run(&["stats", "--json"]);
        assert_eq!(
            stats.lines[0]["sessions"], 80,
            "{kilobytes} KB: {}",
            stats.stderr
        );
        drop(disk);
    }
    assert!(filled > 1, "the small ones had room for everything");
    assert_eq!(bench.run(&["index", "--json"]).lines[0]["complete"], true);
}

#[test]
fn garbage_in_place_of_catalog_and_segments_while_searches_run_changes_no_answer() {
    let bench = planted(40, 1.0);
    assert_eq!(bench.run(&["index"]).code, 0);
    let wanted = holding(&bench, MIDDLE);
    let mut rng = Rng::new(23);
    for round in 0..25 {
        let child = (bench.command(&["search", "--json", "--limit", "100000", MIDDLE]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(20_000) as u64));
        let files = corpus::files(&bench.own());
        if let Some(file) = files.get(rng.below(files.len().max(1))) {
            let garbage: Vec<u8> = (0..30_000).map(|_| rng.below(256) as u8).collect();
            let side_files = bench.cwd().join("garbage");
            disk::write(&side_files, &garbage);
            std::fs::rename(&side_files, file).unwrap();
        }
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(found(&ran), wanted, "round {round}: {}", ran.stderr);
        assert_eq!(
            found(&search(&bench, MIDDLE)),
            wanted,
            "after round {round}"
        );
    }
}

#[test]
fn text_that_was_replaced_behind_unchanged_times_is_found_and_the_old_is_not() {
    let bench = Bench::new();
    let log = log(&bench);
    disk::write(&log, prompt("aardvarkone").as_bytes());
    disk::set_modified(&log, 1_700_000_000_000);
    let indexed = || {
        assert_eq!(bench.run(&["index"]).code, 0);
    };
    indexed();
    // In place, with the same length and the old modification time.
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&log)
        .unwrap();
    let mut bytes = String::new();
    file.read_to_string(&mut bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(bytes.replace("aardvarkone", "bullfinchtw").as_bytes())
        .unwrap();
    drop(file);
    disk::set_modified(&log, 1_700_000_000_000);
    assert_eq!(
        (
            found(&search(&bench, "bullfinch")).len(),
            search(&bench, "aardvark").code
        ),
        (1, 1)
    );
    indexed();
    // Truncated and grown again beyond its old length.
    std::fs::File::create(&log).unwrap();
    append(&log, &prompt(&format!("chaffinch {}", "x".repeat(400))));
    disk::set_modified(&log, 1_700_000_000_000);
    assert_eq!(
        (
            found(&search(&bench, "chaffinch")).len(),
            search(&bench, "bullfinch").code
        ),
        (1, 1)
    );
    indexed();
    // Deleted and created again, for which most file systems reuse the inode.
    let len = disk::read(&log).len();
    std::fs::remove_file(&log).unwrap();
    let remake = prompt("dunnock");
    disk::write(
        &log,
        format!("{}{}\n", remake, " ".repeat(len - remake.len() - 1)).as_bytes(),
    );
    disk::set_modified(&log, 1_700_000_000_000);
    assert_eq!(
        (
            found(&search(&bench, "dunnock")).len(),
            search(&bench, "chaffinch").code
        ),
        (1, 1)
    );
    // The store itself may be removed too.
    std::fs::remove_dir_all(bench.claude()).unwrap();
    assert_eq!(search(&bench, "dunnock").code, 1);
}

#[test]
fn text_before_and_after_a_line_of_sixty_megabytes_is_found() {
    let bench = Bench::new();
    let long = format!(
        "{{\"type\":\"odd\",\"pad\":\"{}\"}}\n",
        "x".repeat(60 << 20)
    );
    let all = [
        prompt("beforehand").as_str(),
        &long,
        prompt("afterwards").as_str(),
    ]
    .concat();
    disk::write(&log(&bench), all.as_bytes());
    for _ in 0..2 {
        for text in ["beforehand", "afterwards"] {
            let ran = search(&bench, text);
            assert_eq!(found(&ran).len(), 1, "{text}: {}", ran.stderr);
            assert_eq!(ran.lines.last().unwrap()["complete"], true);
        }
        assert_eq!(bench.run(&["index", "--json"]).lines[0]["complete"], true);
    }
}

#[test]
fn a_purged_session_leaves_no_hit_and_no_word_in_boswells_folder() {
    let bench = Bench::new();
    let made = bench.run(&["new", "--dialect", "boswell", "--project", "/p", "--json"]);
    let session = made.lines[0]["ref"].as_str().unwrap().to_owned();
    assert_eq!(
        bench
            .run(&["append", &session, "--user", "unmistakableword and more"])
            .code,
        0
    );
    let other = bench.run(&["new", "--dialect", "boswell", "--project", "/p", "--json"]);
    let other = other.lines[0]["ref"].as_str().unwrap().to_owned();
    assert_eq!(
        bench
            .run(&["append", &other, "--user", "something else"])
            .code,
        0
    );
    assert_eq!(bench.run(&["index"]).code, 0);
    assert_eq!(search(&bench, "unmistakable").code, 0);
    let with_word = || {
        corpus::files(&bench.own())
            .into_iter()
            .find(|file| holds(&disk::read(file), "unmistakableword"))
    };
    assert!(with_word().is_some());
    assert_eq!(
        bench.run(&["delete", "--apply", &session, "--purge"]).code,
        0
    );
    assert_eq!(with_word(), None);
    assert_eq!(search(&bench, "unmistakable").code, 1);
    assert_eq!(search(&bench, "something else").code, 0);
}

#[test]
fn ten_thousand_sessions_are_listed_searched_and_counted_within_bounds() {
    stays_within_bounds(10_000);
}

#[test]
#[ignore = "makes 100,000 files, which takes minutes; run it with --ignored"]
fn a_hundred_thousand_sessions_are_listed_searched_and_counted_within_bounds() {
    stays_within_bounds(100_000);
}

/// One session in a thousand contains the word.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "how long it takes is part of the promise"
)]
fn stays_within_bounds(sessions: usize) {
    let bench = Bench::new();
    for number in 0..sessions {
        let id = format!("{number:08x}-3333-4333-8333-333333333333");
        let folder = bench.claude().join(format!("projects/-p{}", number % 300));
        let word = if number % 1000 == 7 {
            "needleword"
        } else {
            "hay"
        };
        disk::write(
            &folder.join(format!("{id}.jsonl")),
            prompt(&format!("{word} number{number}"))
                .replace(ID, &id)
                .as_bytes(),
        );
    }
    let by_hand = format!("{sessions}");
    for (args, wanted) in [
        (&["index", "-q"][..], 1),
        (&["list", "--limit", "50"], 51),
        (&["search", "--limit", "200", "needleword"], sessions / 1000),
        (&["stats", "--by", "day"], 2),
    ] {
        let start = std::time::Instant::now();
        // The limit is 1.5 GB of address space; the program needs far less.
        let script = format!(
            "ulimit -v 1500000; exec {} {}",
            env!("CARGO_BIN_EXE_boswell"),
            args.join(" ")
        );
        let output = shell(&bench, &script);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let lines = String::from_utf8(output.stdout).unwrap().lines().count();
        assert!(lines >= wanted, "{args:?}: {lines} lines");
        let allowed = Duration::from_millis(3 * sessions as u64);
        assert!(
            start.elapsed() < allowed,
            "{args:?} took {:?}",
            start.elapsed()
        );
        eprintln!("{sessions} sessions: {args:?} took {:?}", start.elapsed());
    }
    assert_eq!(found(&search(&bench, "needleword")).len(), sessions / 1000);
    assert_eq!(
        bench.run(&["stats", "--json"]).lines[0]["sessions"].to_string(),
        by_hand
    );
}
