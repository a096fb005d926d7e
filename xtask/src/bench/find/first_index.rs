//! The first index of all sessions.

use super::bed::Bed;
use super::fast_resume;
use crate::Outcome;
use crate::bench::data;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::table::{self, Row, Target};

/// Required speed of the first index, in megabytes of source per CPU second.
const DEMANDED: f64 = 230.0;
/// The same if the catalog is filled on the way.
const DEMANDED_WITH_CATALOG: f64 = 170.0;
const MOST_MEMORY: u64 = 200_000_000;
const MOST_MEMORY_LONG_LINE: u64 = 250_000_000;

pub(crate) struct FirstIndex;

impl Group for FirstIndex {
    fn name(&self) -> &'static str {
        "first-index"
    }

    fn about(&self) -> &'static str {
        "`boswell index` of 10,000 Claude sessions (1.1 GB, all text), first without and then with a catalog that knows them, and its size, against the rates and sizes allowed; and against the first index of fast-resume, in turn in the same run, which covers what was said (a fiftieth of the bytes)"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let megabytes = bed.bytes()? as f64 / 1e6;
        let mut ours = bed.job(lab, &["index", "--json"]);
        ours.forget = Some(bed.home.join("index"));
        let rate = megabytes / lab.cpu(&ours)?;
        let least = megabytes / lab.cpu(&lab.split(&bed.root))?;
        let mut cold = bed.job(lab, &["index"]);
        cold.forget = Some(bed.home.clone());
        let cold_rate = megabytes / lab.cpu(&cold)?;
        let peer = fast_resume::first_index(lab, &bed.root)?;
        let target = Target::AtMost(0.9);
        let mut rows = lab.compare_wall("against fast-resume", (&cold, &peer), target)?;
        let (text, bytes) = sizes(&ours.output()?)?;
        rows.extend([
            row(
                "catalog and index together",
                cold_rate,
                DEMANDED_WITH_CATALOG,
                Target::AtLeast(1.0),
            ),
            row(
                "source-MB per CPU second, index alone",
                rate,
                DEMANDED,
                Target::AtLeast(1.0),
            ),
            Row {
                target: None,
                ..row(
                    "the same against reading and splitting",
                    rate,
                    least,
                    Target::AtLeast(1.0),
                )
            },
            size("index / text", bytes, text, 0.11),
            size("index / source", bytes, megabytes * 1e6, 0.06),
            lab.peak("peak memory", &ours, MOST_MEMORY)?,
            long_line(lab)?,
        ]);
        Ok(rows)
    }
}

fn long_line(lab: &Lab) -> Outcome<Row> {
    let store = data::damaged_sessions(&lab.data)?;
    let store = format!("claude={}", store.display());
    let index = lab.boswell(&["index", "--store", &store]);
    let case = "peak memory with a line of 60 MB";
    lab.peak(case, &index, MOST_MEMORY_LONG_LINE)
}

fn row(case: &str, ours: f64, baseline: f64, target: Target) -> Row {
    Row {
        case: case.to_owned(),
        ours: format!("{ours:.0} MB/s"),
        baseline: format!("{baseline:.0} MB/s"),
        ratio: ours / baseline,
        target: Some(target),
    }
}

fn size(case: &str, ours: f64, whole: f64, most: f64) -> Row {
    Row {
        case: case.to_owned(),
        ours: table::mebibytes(ours as u64),
        baseline: table::mebibytes(whole as u64),
        ratio: ours / whole,
        target: Some(Target::AtMost(most)),
    }
}

/// Returns the sizes of text and index in bytes, from the command's JSON.
fn sizes(said: &str) -> Outcome<(f64, f64)> {
    let line: serde_json::Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    let number = |key: &str| {
        line[key]
            .as_f64()
            .ok_or_else(|| format!("boswell index states no {key}"))
    };
    Ok((number("text_bytes")?, number("index_bytes")?))
}
