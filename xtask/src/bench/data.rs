//! The data of the read groups, made once and kept in `target/bench`.
//!
//! The two functions at the end are the only place that knows how sessions are made. They are to call
//! `boswell_testkit::bench_corpus` (`big_session` and `generate`), which writes known markers too; what stands there
//! now is the plainest Claude-shaped log that lets the groups run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Outcome;

pub(crate) const SESSIONS: usize = 1_000;
const SESSIONS_MEGABYTES: u64 = 100;
const GIGABYTE: u64 = 1 << 30;

/// One Claude session of 1 GB.
pub(crate) fn gigabyte_session(data: &Path) -> Outcome<PathBuf> {
    let folder = data.join("big");
    let project = folder.join(".claude").join("projects").join("-srv-project");
    let file = project.join("00000000-0000-4000-8000-000000000000.jsonl");
    once(&folder, || make_session(&file, GIGABYTE))?;
    Ok(file)
}

/// The root of a Claude store with a thousand sessions.
pub(crate) fn thousand_sessions(data: &Path) -> Outcome<PathBuf> {
    let folder = data.join("c100");
    let root = folder.join(".claude");
    once(&folder, || make_store(&root))?;
    Ok(root)
}

/// Makes what belongs into `folder`, unless an earlier run finished doing so.
fn once(folder: &Path, make: impl FnOnce() -> Outcome) -> Outcome {
    let stamp = folder.with_extension("complete");
    if stamp.exists() {
        return Ok(());
    }
    println!("bench: generating {}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    make()?;
    std::fs::write(stamp, "")?;
    Ok(())
}

fn make_store(root: &Path) -> Outcome {
    let each = SESSIONS_MEGABYTES * 1_000_000 / SESSIONS as u64;
    for number in 0..SESSIONS {
        let project = root.join("projects").join(format!("-srv-project-{}", number % 40));
        make_session(&project.join(format!("{number:08}-0000-4000-8000-000000000000.jsonl")), each)?;
    }
    Ok(())
}

fn make_session(file: &Path, bytes: u64) -> Outcome {
    let id = file.file_stem().unwrap_or_default().to_string_lossy();
    std::fs::create_dir_all(file.parent().unwrap_or(file))?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut parent = "null".to_owned();
    let mut written = 0;
    for number in 0_u64.. {
        if written >= bytes {
            break;
        }
        let uuid = format!("\"{number:08x}-0000-4000-9000-000000000000\"");
        let line = record(number, &uuid, &parent, &id);
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
        parent = uuid;
    }
    out.flush()?;
    Ok(())
}

/// Prompts and answers in turn, mostly short; every 50th carries a tool's worth of text.
fn record(number: u64, uuid: &str, parent: &str, session: &str) -> String {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let words = if number.is_multiple_of(50) { 1_500 } else { 5 + (number * 7 % 60) as usize };
    let text = "the reconnect test is flaky, \\\"again\\\"\\n ".repeat(words);
    let second = number % 60;
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/srv/project\",\"sessionId\":\"{session}\",\"version\":\"2.0.1\",\
         \"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\
         \"uuid\":{uuid},\"timestamp\":\"2026-01-01T00:00:{second:02}.000Z\"}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_made_line_is_one_json_object() {
        for number in [0, 1, 50, 99] {
            let line = record(number, "\"u\"", "null", "s");
            let value: serde_json::Value = serde_json::from_str(&line).expect("a JSON line");
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(value["uuid"], "u");
        }
    }
}
