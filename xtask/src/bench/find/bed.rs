//! Ten thousand sessions, and a home whose catalog and index cover them.

use std::path::PathBuf;

use crate::Outcome;
use crate::bench::data;
use crate::bench::lab::Lab;
use crate::bench::measure::Job;

pub(super) struct Bed {
    /// The root of the store.
    pub(super) root: PathBuf,
    /// Boswell's folder, kept between runs.
    pub(super) home: PathBuf,
}

impl Bed {
    /// Makes what is missing, and brings catalog and index up to date.
    pub(super) fn make(lab: &Lab) -> Outcome<Bed> {
        let bed = Bed {
            root: data::ten_thousand_sessions(&lab.data)?,
            home: lab.data.join("warm"),
        };
        std::fs::create_dir_all(&bed.home)?;
        bed.job(lab, &["index"]).output_lines()?;
        Ok(bed)
    }

    /// As above, with a hundred thousand sessions, which the catalog knows and no index covers.
    pub(super) fn make_large(lab: &Lab) -> Outcome<Bed> {
        let bed = Bed {
            root: data::hundred_thousand_sessions(&lab.data)?,
            home: lab.data.join("warm-100k"),
        };
        std::fs::create_dir_all(&bed.home)?;
        bed.job(lab, &["stats"]).output_lines()?;
        Ok(bed)
    }

    /// A run of boswell that finds what earlier runs kept.
    pub(super) fn job(&self, lab: &Lab, arguments: &[&str]) -> Job {
        let store = format!("claude={}", self.root.display());
        let arguments: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--store", &store])
            .collect();
        lab.boswell_at(&self.home, &arguments)
    }

    /// Bytes of all sessions.
    pub(super) fn bytes(&self) -> Outcome<u64> {
        let mut seen = crate::baseline::Split::default();
        crate::baseline::split(&self.root, &mut seen)?;
        Ok(seen.bytes)
    }
}
