//! Ten thousand sessions, and a home whose catalog and index cover them.

use std::path::PathBuf;

use crate::Outcome;
use crate::bench::data;
use crate::bench::lab::{Lab, Scale};
use crate::bench::measure::Job;

pub(crate) struct Bed {
    /// The root of the store.
    pub(crate) root: PathBuf,
    /// Boswell's home, reused between runs.
    pub(crate) home: PathBuf,
}

impl Bed {
    /// Creates missing data, and updates catalog and index.
    pub(crate) fn make(lab: &Lab) -> Outcome<Bed> {
        let bed = Bed {
            root: match lab.scale {
                Scale::Full => data::ten_thousand_sessions(&lab.data)?,
                Scale::Small => data::hundred_sessions(&lab.data)?,
            },
            home: lab.data.join(match lab.scale {
                Scale::Full => "warm",
                Scale::Small => "warm-small",
            }),
        };
        std::fs::create_dir_all(&bed.home)?;
        bed.job(lab, &["index"]).output_lines()?;
        Ok(bed)
    }

    /// As above, with a hundred thousand sessions in the catalog and no index.
    pub(crate) fn make_large(lab: &Lab) -> Outcome<Bed> {
        let bed = Bed {
            root: match lab.scale {
                Scale::Full => data::hundred_thousand_sessions(&lab.data)?,
                Scale::Small => data::thousand_sessions(&lab.data)?,
            },
            home: lab.data.join(match lab.scale {
                Scale::Full => "warm-100k",
                Scale::Small => "warm-1k",
            }),
        };
        std::fs::create_dir_all(&bed.home)?;
        bed.job(lab, &["stats"]).output_lines()?;
        Ok(bed)
    }

    /// Returns a run of boswell with the data of earlier runs.
    pub(crate) fn job(&self, lab: &Lab, arguments: &[&str]) -> Job {
        let store = format!("claude={}", self.root.display());
        let arguments: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--store", &store])
            .collect();
        lab.boswell_at(&self.home, &arguments)
    }

    /// Returns the bytes of all sessions.
    pub(super) fn bytes(&self) -> Outcome<u64> {
        let mut seen = crate::baseline::Split::default();
        crate::baseline::split(&self.root, &mut seen)?;
        Ok(seen.bytes)
    }
}
