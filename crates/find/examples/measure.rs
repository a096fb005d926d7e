//! Measures how fast the index is built and answers, over a generated corpus.
//!
//! `cargo run --release -p boswell-find --example measure -- 1000 100 1` makes 1,000
//! sessions of 100 MB with seed 1 below the system's temporary folder, once, and prints
//! rates per second of CPU time.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads the clock and prints"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot be made may stop"
)]

#[path = "../src/tests/support.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod support;

use std::path::PathBuf;

use boswell_find::{Counting, Effort, Index, Order, Query, Source, SourceReader};

/// User and system time of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or("");
    let fields: Vec<f64> = after
        .split_whitespace()
        .filter_map(|f| f.parse().ok())
        .collect();
    // The first field after the name is a letter and did not parse.
    fields
        .get(10)
        .zip(fields.get(11))
        .map_or(0.0, |(user, system)| (user + system) / 100.0)
}

fn corpus(sessions: usize, mb: f64, seed: u64) -> PathBuf {
    let root = std::env::temp_dir().join(format!("boswell-measure-{sessions}-{mb}-{seed}"));
    if !root.join("manifest.json").exists() {
        boswell_testkit::bench_corpus::generate(&root, sessions, mb, seed, false);
    }
    root
}

/// Reads every file and finds its lines: what any reader pays at least.
fn baseline(sources: &[Source], reader: &dyn SourceReader) -> f64 {
    let before = cpu();
    let (mut buffer, mut lines) = (Vec::new(), 0);
    for source in sources {
        buffer.clear();
        reader.read(source, 0, source.len, &mut buffer).unwrap();
        lines += buffer.split(|byte| *byte == b'\n').count();
    }
    assert!(lines > 0);
    cpu() - before
}

fn answers(index: &Index, sources: &[Source], reader: &dyn SourceReader, folder: &std::path::Path) {
    let effort = Effort {
        workers: 2,
        go_on: &|| true,
    };
    let words = |text: &str| Query::parse(text, None).unwrap();
    let shaped = |mut query: Query, order: Order, limit: usize, counting: Counting| {
        (query.order, query.limit, query.counting) = (order, limit, counting);
        query
    };
    let newest = |text: &str| shaped(words(text), Order::Newest, 50, Counting::Exact);
    let queries = [
        ("rare word", words("zyxquorum")),
        ("rare in tool", words("qwortzblatt")),
        ("middle, best 20", words("deadlock")),
        ("middle, newest 50", newest("deadlock")),
        ("common, best 20", words("error")),
        ("common, newest 50", newest("error")),
        (
            "common, count",
            shaped(words("error"), Order::Newest, 0, Counting::Exact),
        ),
        ("phrase", words("\"flaky websocket reconnect\"")),
        ("zh 1", words("恢")),
        ("zh 2", words("会话")),
        ("zh 4", words("会话恢复")),
        ("substring", words("xquor")),
        ("two letters", words("er")),
        ("absent", words("nosuchwordatall")),
        ("regex, literal", Query::regex("dead.?lock in").unwrap()),
        (
            "regex, none",
            shaped(
                Query::regex(r"\d{5}-\d{5}").unwrap(),
                Order::Newest,
                20,
                Counting::Quick,
            ),
        ),
    ];
    for (name, query) in queries {
        let mut warm = Vec::new();
        let mut found = None;
        for _ in 0..5 {
            let start = std::time::Instant::now();
            found = Some(index.search(&query, sources, reader, &effort).unwrap());
            warm.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let start = std::time::Instant::now();
        let opened = Index::open(folder);
        opened.search(&query, sources, reader, &effort).unwrap();
        let fresh = start.elapsed().as_secs_f64() * 1e3;
        warm.sort_by(f64::total_cmp);
        let found = found.unwrap();
        println!(
            "{name:18} {:8.2} ms warm, {fresh:8.2} ms with opening: {} hits, {} sessions{}",
            warm[2],
            found.hits.len(),
            found.sessions.number,
            if found.sessions.exact {
                ""
            } else {
                " at least"
            },
        );
    }
}

fn main() {
    let numbers: Vec<f64> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let number = |index: usize, otherwise: f64| numbers.get(index).copied().unwrap_or(otherwise);
    let root = corpus(
        number(0, 1000.0) as usize,
        number(1, 100.0),
        number(2, 1.0) as u64,
    );
    let files = support::FolderSources::new(&root);
    let sources = files.sources(&root);
    let bytes: u64 = sources.iter().map(|source| source.len).sum();
    for round in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path());
        let least = baseline(&sources, &files);
        let (wall, before) = (std::time::Instant::now(), cpu());
        let progress = index
            .update(&mut sources.iter().cloned(), &files, &mut || true)
            .unwrap();
        let (spent, wall) = (cpu() - before, wall.elapsed().as_secs_f64());
        let size = index.size();
        assert!(progress.complete);
        println!(
            "build: {:.1} MB source, {:.1} MB text, {spent:.2} cpu-s, {wall:.2} s: {:.0} source-MB/cpu-s, {:.0} text-MB/cpu-s; reading and splitting alone {:.0}; index/text {:.3}, index/source {:.3}, {} segments, {} blocks",
            bytes as f64 / 1e6,
            size.text as f64 / 1e6,
            bytes as f64 / 1e6 / spent,
            size.text as f64 / 1e6 / spent,
            bytes as f64 / 1e6 / least,
            size.bytes as f64 / size.text as f64,
            size.bytes as f64 / bytes as f64,
            size.segments,
            size.blocks,
        );
        // A fourth number of 0 leaves the questions out, for profiles of the build alone.
        if round == 2 && number(3, 1.0) > 0.0 {
            answers(&index, &sources, &files, folder.path());
        }
    }
}
