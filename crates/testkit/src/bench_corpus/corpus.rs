//! Many sessions of many sizes, with markers of known frequency.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use super::claude_lines::ClaudeLines;
use super::vocabulary::Vocabulary;
use super::{CJK, MIDDLE, PHRASE, RARE};
use crate::disk;
use crate::make::claude::project_key;
use crate::rng::Rng;

/// 2026-11-01T00:00:00Z: sessions are in the 240 days before.
const END: i64 = 1_793_491_200_000;

/// What was written, to check recall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Number of sessions.
    pub sessions: usize,
    /// Total number of bytes.
    pub bytes: u64,
    /// Number of lines, before any damage.
    pub lines: usize,
    /// The seed.
    pub seed: u64,
    /// The sessions that contain [`RARE`], in user text.
    pub rare: Vec<String>,
    /// The sessions that contain [`super::RARE_TOOL`], only in a tool's output.
    pub rare_tool: Vec<String>,
    /// Number of sessions that contain [`MIDDLE`].
    pub deadlock: usize,
    /// Number of sessions that contain [`PHRASE`].
    pub phrase: usize,
    /// Number of sessions that contain [`CJK`].
    pub cjk: usize,
}

impl Manifest {
    fn write(&self, out: &Path) {
        let text = format!("{:#}\n", self.to_json());
        disk::write(&out.join("manifest.json"), text.as_bytes());
    }

    fn to_json(&self) -> Value {
        json!({
            "rare": self.rare, "rare_tool": self.rare_tool, "deadlock": self.deadlock, "phrase": self.phrase,
            "cjk": self.cjk, "sessions": self.sessions, "bytes": self.bytes, "lines": self.lines, "seed": self.seed,
        })
    }
}

/// Writes a home folder with `sessions` sessions in Claude's format of `mb` megabytes in total, and
/// a `manifest.json`.
///
/// With `damage` some files get a torn tail, a run of NULs, or a BOM and CR LF, and one gets a line
/// of 60 MB (of 60 % of `mb`, if that is less). Markers are near the start of a session, so damage
/// does not remove them.
pub fn generate(out: &Path, sessions: usize, mb: f64, seed: u64, damage: bool) -> Manifest {
    let vocabulary = Vocabulary::new(seed);
    let mut rng = Rng::for_part(seed, "corpus");
    let count = ((sessions as f64).sqrt() as usize).max(5);
    let projects: Vec<String> = (0..count)
        .map(|number| project(number, &vocabulary, &mut rng))
        .collect();
    let sizes = sizes(sessions, mb, &mut rng);
    let (rare, rare_tool) = (sample(&mut rng, sessions, 3), sample(&mut rng, sessions, 2));
    let mut manifest = Manifest {
        sessions,
        seed,
        ..Manifest::default()
    };
    for (number, size) in sizes.into_iter().enumerate() {
        let cwd = rng.pick(&projects).clone();
        let begun = END - 60_000 * rng.below(60 * 24 * 240) as i64;
        let mut log = ClaudeLines::new(&vocabulary, Rng::new(rng.next_u64()), &cwd, begun);
        let extra = extra(&mut rng, rare.contains(&number), &log.id, &mut manifest);
        let marked = rare_tool.contains(&number);
        if marked {
            manifest.rare_tool.push(log.id.clone());
        }
        session(&mut log, size, &extra, marked);
        manifest.lines += log.lines;
        if damage {
            log.out = damaged(log.out, number, mb);
        }
        manifest.bytes += log.out.len() as u64;
        write(&log, out, &cwd);
    }
    manifest.write(out);
    manifest
}

/// Bytes of each session: few are very long, and all together have `mb` megabytes.
fn sizes(sessions: usize, mb: f64, rng: &mut Rng) -> Vec<usize> {
    let drawn: Vec<f64> = (0..sessions).map(|_| rng.lognormal(0.0, 1.25)).collect();
    let scale = mb * 1e6 / drawn.iter().sum::<f64>();
    let sizes = drawn
        .iter()
        .map(|size| (size * scale).max(2_500.0) as usize);
    sizes.collect()
}

fn project(number: usize, vocabulary: &Vocabulary, rng: &mut Rng) -> String {
    let name = vocabulary.name(rng);
    let kind = rng.pick(&["api", "web", "cli", "infra", "lib"]);
    format!("/home/dev/proj/{name}-{kind}-{number}")
}

/// Writes the transcript to where Claude Code keeps it below the home folder `out`.
fn write(log: &ClaudeLines<'_>, out: &Path, cwd: &str) {
    let folder = out.join(".claude/projects").join(project_key(cwd));
    let path = folder.join(format!("{}.jsonl", log.id));
    disk::write(&path, &log.out);
    disk::set_modified(&path, log.clock.ms());
}

fn sample(rng: &mut Rng, among: usize, count: usize) -> HashSet<usize> {
    let mut found = HashSet::new();
    while found.len() < count.min(among) {
        found.insert(rng.below(among));
    }
    found
}

fn extra(rng: &mut Rng, rare: bool, id: &str, manifest: &mut Manifest) -> String {
    let mut extra = Vec::new();
    if rare {
        manifest.rare.push(id.to_owned());
        extra.push(RARE.to_owned());
    }
    if rng.id_source(0.05) {
        manifest.deadlock += 1;
        extra.push(format!("{MIDDLE} in worker pool"));
    }
    if rng.id_source(0.01) {
        manifest.phrase += 1;
        extra.push(PHRASE.to_owned());
    }
    if rng.id_source(0.02) {
        manifest.cjk += 1;
        extra.push(format!("请检查{CJK}的问题"));
    }
    extra.join(" ")
}

fn session(log: &mut ClaudeLines<'_>, target: usize, extra: &str, mut marked: bool) {
    log.first_line();
    let mut first = true;
    while first || marked || log.out.len() < target {
        log.prompt(if first { extra } else { "" });
        first = false;
        for _ in 0..log.rng.between(2, 9) {
            if log.step(target < 60_000, marked) {
                marked = false;
            }
            if log.out.len() > target + target / 50 && log.lines > 6 {
                break;
            }
        }
    }
}

fn damaged(mut bytes: Vec<u8>, number: usize, mb: f64) -> Vec<u8> {
    match number % 50 {
        7 => bytes.truncate(bytes.len() - 5 - number % 290),
        13 => {
            let middle = bytes.len() / 2;
            bytes.splice(middle..middle, [0; 512]);
        }
        29 => {
            let text = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
            bytes = format!("\u{feff}{text}").into_bytes();
        }
        _ if number == 21 => {
            let length = (mb * 0.6e6).min(60e6) as usize;
            let pad = "x".repeat(length);
            bytes.extend_from_slice(
                format!("{{\"type\":\"long-line\",\"pad\":\"{pad}\"}}\n").as_bytes(),
            );
        }
        _ => {}
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::RARE_TOOL;
    use super::*;
    use crate::{corpus, jsonl};

    fn holding(root: &Path, word: &str) -> Vec<String> {
        let files = corpus::files(&root.join(".claude"));
        let with = files
            .iter()
            .filter(|path| String::from_utf8_lossy(&disk::read(path)).contains(word));
        with.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    }

    fn sorted(mut ids: Vec<String>) -> Vec<String> {
        ids.sort();
        ids
    }

    #[test]
    fn markers_are_where_the_manifest_says_with_and_without_damage() {
        for damage in [false, true] {
            let root = disk::scratch(if damage {
                "bench-damaged"
            } else {
                "bench-sound"
            });
            let manifest = generate(&root, 120, 3.0, 1, damage);
            assert_eq!(sorted(holding(&root, RARE)), sorted(manifest.rare.clone()));
            assert_eq!(manifest.rare.len(), 3);
            assert_eq!(
                sorted(holding(&root, RARE_TOOL)),
                sorted(manifest.rare_tool.clone())
            );
            assert_eq!(manifest.rare_tool.len(), 2);
            assert_eq!(holding(&root, MIDDLE).len(), manifest.deadlock);
            assert_eq!(holding(&root, PHRASE).len(), manifest.phrase);
            assert_eq!(holding(&root, CJK).len(), manifest.cjk);
            assert!(
                (2.5e6..7e6).contains(&(manifest.bytes as f64)),
                "{} bytes",
                manifest.bytes
            );
            disk::remove(&root);
        }
    }

    #[test]
    fn a_sound_corpus_is_json_whose_parents_are_found_and_repeats_for_a_seed() {
        let root = disk::scratch("bench-json");
        let manifest = generate(&root, 30, 1.0, 2, false);
        let mut lines = 0;
        for path in corpus::files(&root.join(".claude")) {
            let parsed = jsonl::parse(&disk::read(&path));
            lines += parsed.len();
            let mut seen = HashSet::new();
            for line in parsed.iter().skip(1) {
                assert!(
                    line["parentUuid"]
                        .as_str()
                        .is_none_or(|parent| seen.contains(parent))
                );
                seen.insert(line["uuid"].as_str().unwrap().to_owned());
            }
        }
        assert_eq!(lines, manifest.lines);
        let again = disk::scratch("bench-again");
        assert_eq!(generate(&again, 30, 1.0, 2, false), manifest);
        let bytes = |root: &Path| {
            corpus::files(root)
                .iter()
                .map(|path| disk::read(path))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(&root), bytes(&again));
        disk::remove(&root);
        disk::remove(&again);
    }
}
