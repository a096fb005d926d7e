//! A list, and the last session, if nothing changed.

use super::bed::Bed;
use crate::Outcome;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::measure::Job;
use crate::bench::table::{Row, Target};

/// The page of a list, queried from the file directly.
const PAGE: &str = "SELECT name, size, facts FROM session JOIN kept ON kept.session=session.id WHERE gone=0 ORDER BY mtime DESC LIMIT 50";

pub(crate) struct Refresh;

impl Group for Refresh {
    fn name(&self) -> &'static str {
        "refresh"
    }

    fn about(&self) -> &'static str {
        "`boswell list --limit 50` over 10,000 and 100,000 sessions of which none changed against `find -printf` of the same files, and against `sqlite3` asked for a page of the catalog; `boswell tree @last` against the list"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let ours = bed.job(lab, &["list", "--limit", "50"]);
        if ours.output_lines()? < 50 {
            return Err("boswell list printed less than a page".into());
        }
        let walk = walk(lab, &bed)?;
        let mut rows = vec![lab.compare(
            "list 50, against a stat walk",
            &ours,
            &walk,
            Some(Target::AtMost(3.0)),
        )?];
        let catalog = bed.home.join("catalog.db").display().to_string();
        if let Ok(page) = lab.program("sqlite3", &["-readonly", &catalog, PAGE]) {
            rows.push(lab.compare(
                "list 50, against a bare page",
                &ours,
                &page,
                Some(Target::AtMost(2.0)),
            )?);
        }
        // `tree` prints little of a session, so that finding it is what is measured.
        let last = bed.job(lab, &["tree", "@last"]);
        if last.output_lines()? == 0 {
            return Err("boswell tree @last printed nothing".into());
        }
        rows.push(lab.compare(
            "the last session, against list 50",
            &last,
            &ours,
            Some(Target::AtMost(2.0)),
        )?);
        let large = Bed::make_large(lab)?;
        let ours = large.job(lab, &["list", "--limit", "50"]);
        rows.push(lab.compare(
            "list 50 of 100,000, against a stat walk",
            &ours,
            &self::walk(lab, &large)?,
            None,
        )?);
        Ok(rows)
    }
}

fn walk(lab: &Lab, bed: &Bed) -> Outcome<Job> {
    let root = bed.root.display().to_string();
    lab.program(
        "find",
        &[&root, "-name", "*.jsonl", "-printf", "%s %T@ %C@ %i\n"],
    )
}
