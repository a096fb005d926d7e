//! Measures how fast the index is built and answers, over a generated corpus.
//!
//! `cargo run --release -p boswell-find --example measure -- 1000 100 1` makes 1,000 sessions of 100 MB with seed 1 below the
//! system's temporary folder, once, and prints rates per second of CPU time.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement reads the clock and prints")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made may stop")]

#[path = "../src/tests/support.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod support;

use std::path::PathBuf;

use boswell_find::Index;

/// User and system time of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or("");
    let fields: Vec<f64> = after.split_whitespace().filter_map(|f| f.parse().ok()).collect();
    // The first field after the name is a letter and did not parse.
    fields.get(10).zip(fields.get(11)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}

fn corpus(sessions: usize, mb: f64, seed: u64) -> PathBuf {
    let root = std::env::temp_dir().join(format!("boswell-measure-{sessions}-{mb}-{seed}"));
    if !root.join("manifest.json").exists() {
        boswell_testkit::bench_corpus::generate(&root, sessions, mb, seed, false);
    }
    root
}

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |index: usize, otherwise: f64| numbers.get(index).copied().unwrap_or(otherwise);
    let root = corpus(number(0, 1000.0) as usize, number(1, 100.0), number(2, 1.0) as u64);
    let files = support::FolderSources::new(&root, &support::PLAIN);
    let sources = files.sources(&root);
    let bytes: u64 = sources.iter().map(|source| source.len).sum();
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path());
        let (wall, before) = (std::time::Instant::now(), cpu());
        let progress = index.update(&mut sources.iter().cloned(), &files, &mut || true).unwrap();
        let (spent, wall) = (cpu() - before, wall.elapsed().as_secs_f64());
        let size = index.size();
        assert!(progress.complete);
        println!(
            "build: {:.1} MB source, {:.1} MB text, {:.2} cpu-s, {:.2} s: {:.0} source-MB/cpu-s, {:.0} text-MB/cpu-s; index/text {:.3}, index/source {:.3}, {} segments, {} blocks",
            bytes as f64 / 1e6,
            size.text as f64 / 1e6,
            spent,
            wall,
            bytes as f64 / 1e6 / spent,
            size.text as f64 / 1e6 / spent,
            size.bytes as f64 / size.text as f64,
            size.bytes as f64 / bytes as f64,
            size.segments,
            size.blocks,
        );
    }
}
