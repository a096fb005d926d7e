//! One very long session, written as it is made.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::claude_lines::ClaudeLines;
use super::pi_lines::PiLines;
use super::vocabulary::Vocabulary;
use crate::clock::MORNING;
use crate::rng::Rng;

/// The format of a long session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BigKind {
    /// The format of Claude Code.
    Claude,
    /// The format of pi, version 3, with a settings snapshot after each compaction, as in boswell's
    /// own sessions.
    Pi,
}

/// Facts about a generated long session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigSession {
    /// Id of the session.
    pub id: String,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of lines.
    pub lines: usize,
    /// Number of compactions.
    pub compactions: usize,
    /// Position of the last compaction's line.
    pub last_compaction: u64,
    /// Id of the first record that the last compaction preserves.
    pub first_kept: String,
    /// Number of times that the leaf moved back and another branch began.
    pub branches: usize,
    /// Id of the last record, which is the leaf.
    pub leaf: String,
}

/// The operations that both formats support, so that one plan generates both.
trait Turns {
    fn turn(&mut self) -> String;
    fn compact(&mut self, kept: &str);
    fn parent(&mut self) -> &mut Option<String>;
    fn out(&mut self) -> &mut Vec<u8>;
    fn lines(&self) -> usize;
    fn id(&self) -> &str;
}

impl Turns for PiLines<'_> {
    fn turn(&mut self) -> String {
        PiLines::turn(self).0
    }
    fn compact(&mut self, kept: &str) {
        self.compaction(kept);
        self.settings();
    }
    fn parent(&mut self) -> &mut Option<String> {
        &mut self.parent
    }
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }
    fn lines(&self) -> usize {
        self.lines
    }
    fn id(&self) -> &str {
        &self.id
    }
}

impl Turns for ClaudeLines<'_> {
    fn turn(&mut self) -> String {
        self.prompt("");
        let asked = self.parent.clone().unwrap_or_default();
        for _ in 0..self.rng.between(2, 9) {
            self.step(false, false);
        }
        asked
    }

    fn compact(&mut self, kept: &str) {
        let last = self.parent.take().unwrap_or_default();
        let summary = self.rng.uuid_v4();
        self.begin("system");
        let rest = format!(
            ",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"logicalParentUuid\":\"{last}\",\"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":175004,\"preservedSegment\":{{\"headUuid\":\"{kept}\",\"anchorUuid\":\"{summary}\",\"tailUuid\":\"{kept}\"}},\"preservedMessages\":{{\"anchorUuid\":\"{summary}\",\"uuids\":[\"{kept}\"],\"allUuids\":[\"{kept}\"]}}}}}}"
        );
        self.line(&rest);
        let boundary = self.parent.clone().unwrap_or_default();
        let time = self.clock.iso();
        let session = self.id.clone();
        self.line(&format!(
            "{{\"parentUuid\":\"{boundary}\",\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"This session is being continued.\"}},\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true,\"uuid\":\"{summary}\",\"timestamp\":\"{time}\",\"sessionId\":\"{session}\"}}"
        ));
        self.parent = Some(summary);
    }

    fn parent(&mut self) -> &mut Option<String> {
        &mut self.parent
    }
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }
    fn lines(&self) -> usize {
        self.lines
    }
    fn id(&self) -> &str {
        &self.id
    }
}

/// Writes one session of about `bytes` bytes to `path`, with about eight compactions, the last one
/// near the end, and branches.
///
/// Memory is bounded by one turn and the pool of words.
pub fn big_session(path: &Path, bytes: u64, kind: BigKind) -> BigSession {
    let vocabulary = Vocabulary::new(1);
    let rng = Rng::new(bytes ^ 0xb16);
    match kind {
        BigKind::Claude => {
            let mut log = ClaudeLines::new(&vocabulary, rng, "/home/dev/proj/big", MORNING);
            log.first_line();
            drive(&mut log, path, bytes)
        }
        BigKind::Pi => drive(
            &mut PiLines::new(&vocabulary, rng, "/home/dev/proj/big", MORNING),
            path,
            bytes,
        ),
    }
}

fn drive(log: &mut dyn Turns, path: &Path, bytes: u64) -> BigSession {
    let mut file = create(path);
    let mut big = BigSession {
        id: log.id().to_owned(),
        bytes: 0,
        lines: 0,
        compactions: 0,
        last_compaction: 0,
        first_kept: String::new(),
        branches: 0,
        leaf: String::new(),
    };
    // Seven compactions at equal distances, and one just before the end, so that a reader from the
    // end has little to read.
    let near_end = bytes - (bytes / 50).min(2_000_000);
    let mut compactions = Schedule::at((1..8).map(|part| bytes / 8 * part).chain([near_end]));
    let mut forks = Schedule::at((1..5).map(|part| bytes / 5 * part + bytes / 40));
    let mut recent: Vec<String> = Vec::new();
    while big.bytes < bytes {
        recent.push(log.turn());
        flush(log, &mut file, &mut big);
        if forks.is_due(big.bytes) {
            *log.parent() = recent.last().cloned();
            big.branches += 1;
        }
        if compactions.is_due(big.bytes) {
            big.compactions += 1;
            big.last_compaction = big.bytes;
            big.first_kept = recent.last().cloned().unwrap_or_default();
            log.compact(&big.first_kept);
            flush(log, &mut file, &mut big);
        }
        let old = recent.len().saturating_sub(4);
        recent.drain(..old);
    }
    file.flush().expect("the last bytes can be written");
    (big.lines, big.leaf) = (log.lines(), log.parent().clone().unwrap_or_default());
    big
}

fn create(path: &Path) -> BufWriter<fs::File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("the folder can be made");
    }
    let file = fs::File::create(path).expect("the file can be made");
    BufWriter::with_capacity(1 << 20, file)
}

/// Sizes of the file at which something is due, the next one last.
struct Schedule(Vec<u64>);

impl Schedule {
    fn at(sizes: impl IntoIterator<Item = u64>) -> Schedule {
        let mut sizes: Vec<u64> = sizes.into_iter().collect();
        sizes.reverse();
        Schedule(sizes)
    }

    /// Whether the file has grown past the next size, which then is done with.
    fn is_due(&mut self, bytes: u64) -> bool {
        let due = self.0.last().is_some_and(|&at| bytes > at);
        if due {
            self.0.pop();
        }
        due
    }
}

fn flush(log: &mut dyn Turns, file: &mut BufWriter<fs::File>, big: &mut BigSession) {
    file.write_all(log.out()).expect("the bytes can be written");
    big.bytes += log.out().len() as u64;
    log.out().clear();
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{disk, jsonl};

    fn check(kind: BigKind, own: &str, parent: &str) {
        let root = disk::scratch(own);
        let path = root.join("big.jsonl");
        let big = big_session(&path, 4_000_000, kind);
        let bytes = disk::read(&path);
        assert_eq!(bytes.len() as u64, big.bytes);
        assert!((4_000_000..4_600_000).contains(&big.bytes));
        let lines = jsonl::parse(&bytes);
        assert_eq!(lines.len(), big.lines);
        assert_eq!((big.compactions, big.branches), (8, 4));
        assert!(big.last_compaction > 3_900_000);
        assert_eq!(lines.last().unwrap()[own], big.leaf.as_str());
        let mut children: HashMap<&str, usize> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for line in lines.iter().skip(1) {
            if let Some(parent) = line[parent].as_str() {
                assert!(seen.contains(parent), "{kind:?}");
                *children.entry(parent).or_default() += 1;
            }
            assert!(
                seen.insert(line[own].as_str().unwrap()),
                "{kind:?} repeats an id"
            );
        }
        assert!(children.values().filter(|&&count| count > 1).count() >= 3);
        let at = &bytes[big.last_compaction as usize..];
        let text = String::from_utf8_lossy(jsonl::lines(at)[0]).into_owned();
        assert!(text.contains("compact") && text.contains(&big.first_kept));
        assert_eq!(big_session(&path, 4_000_000, kind), big);
        disk::remove(&root);
    }

    #[test]
    fn a_long_pi_session_is_sound() {
        check(BigKind::Pi, "id", "parentId");
    }

    #[test]
    fn a_long_claude_session_is_sound() {
        check(BigKind::Claude, "uuid", "parentUuid");
    }
}
