//! Searches in a fresh process.

use std::io::Write;

use boswell_testkit::bench_corpus::{CJK, COMMON, MIDDLE, PHRASE, RARE};

use super::bed::Bed;
use super::fast_resume;
use crate::Outcome;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::table::{Row, Target};

/// What a search may take, on the machine where the limit was set. There fast-resume took 280 ms
/// with its own look at every file, for its 2 to 9 percent of the text.
const ALLOWED: f64 = 0.060;
/// The same limit as a part of what fast-resume takes in this run, on any machine.
const PART_OF_FAST_RESUME: Target = Target::AtMost(0.2);
/// The time of the same program until an appended line is found.
const ALLOWED_AFTER_APPEND: f64 = 0.40;

pub(crate) struct Search;

impl Group for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn about(&self) -> &'static str {
        "`boswell search` in a fresh process over 10,000 indexed sessions, CPU with the look at every file included, against the 60 ms allowed; and against fast-resume's search with its own look in the same run, which finds a fiftieth of the text"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let phrase = format!("\"{PHRASE}\"");
        let cases = [
            ("rare word", vec![RARE]),
            ("middling word", vec![MIDDLE]),
            ("common word", vec![COMMON]),
            ("four ideographs", vec![CJK]),
            ("phrase", vec![phrase.as_str()]),
            ("substring", vec!["--substring", "ebsocket reconn"]),
        ];
        let mut rows = Vec::new();
        for (case, words) in cases {
            let ours = bed.job(lab, &[&["search"], words.as_slice()].concat());
            if ours.output_lines()? == 0 {
                return Err(format!("boswell search found nothing: {case}").into());
            }
            rows.push(lab.allowed(case, &ours, ALLOWED, Target::AtMost(1.0))?);
        }
        rows.push(after_append(lab, &bed)?);
        for (case, word) in [
            ("rare word", RARE),
            ("common word", COMMON),
            ("four ideographs", CJK),
        ] {
            let case = format!("{case}, against fast-resume");
            let ours = bed.job(lab, &["search", word]);
            let theirs = fast_resume::search(lab, &bed.root, word)?;
            rows.push(lab.compare(&case, &ours, &theirs, Some(PART_OF_FAST_RESUME))?);
        }
        Ok(rows)
    }
}

/// Appends one line to a session, and measures the search that finds it.
fn after_append(lab: &Lab, bed: &Bed) -> Outcome<Row> {
    let session = bed
        .root
        .join("projects/-home-dev-grown/00000000-0000-4000-8000-00000000aaaa.jsonl");
    let word = "quibblewortzfind";
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"00000000-0000-4000-8000-00000000aaaa","timestamp":"2026-11-01T00:00:00.000Z","cwd":"/home/dev/grown","message":{{"role":"user","content":"{word}"}}}}"#
    );
    if let Some(folder) = session.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::File::create(&session)?.write_all(format!("{line}\n").as_bytes())?;
    let mut ours = bed.job(lab, &["search", word]);
    ours.before = Some((session.clone(), format!("{line}\n")));
    let row = lab.allowed(
        "append a line, then find it",
        &ours,
        ALLOWED_AFTER_APPEND,
        Target::AtMost(0.25),
    );
    std::fs::remove_file(session)?;
    row
}
