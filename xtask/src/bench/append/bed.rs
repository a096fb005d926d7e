//! The environment of append benchmarks: a new store on a real disk, and a file for the baseline.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use boswell_store::{Draft, Home, NewSession, SessionWriter};

use super::super::lab::Lab;
use super::super::machine;
use crate::Outcome;

/// Length of the line of one entry.
const ENTRY: usize = 1_024;

pub(super) struct Bed {
    pub(super) home: PathBuf,
    /// An entry, and its line.
    pub(super) draft: Draft,
    pub(super) line: Vec<u8>,
    raw: PathBuf,
}

impl Bed {
    /// Creates an empty folder of that name, with a session.
    pub(super) fn make(lab: &Lab, name: &str) -> Outcome<(Bed, SessionWriter)> {
        if !machine::is_disk(&lab.data) {
            return Err(format!(
                "{} is in memory: syncs cost nothing there",
                lab.data.display()
            )
            .into());
        }
        let folder = lab.data.join("append").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let home = folder.join("home");
        let writer = Home::at(&home)
            .sessions()?
            .create(NewSession::in_project("/home/dev/proj/append"))?;
        // An entry with a parent is a little longer than the first one, so the second one is
        // measured.
        writer.append(Draft::user(""))?;
        let bare = last_line(&writer)?.len();
        let draft = Draft::user("x".repeat(ENTRY.saturating_sub(bare)));
        writer.append(draft.clone())?;
        let longer = last_line(&writer)?.len() - ENTRY;
        let draft = Draft::user("x".repeat(ENTRY.saturating_sub(bare + longer)));
        writer.append(draft.clone())?;
        let line = last_line(&writer)?;
        if line.len() != ENTRY {
            return Err(format!(
                "an entry of {ENTRY} bytes was wanted, it has {}",
                line.len()
            )
            .into());
        }
        Ok((
            Bed {
                home,
                draft,
                line,
                raw: folder.join("raw"),
            },
            writer,
        ))
    }

    /// Opens the baseline's file for appending.
    pub(super) fn open_raw(&self) -> Outcome<File> {
        Ok(OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.raw)?)
    }
}

fn last_line(writer: &SessionWriter) -> Outcome<Vec<u8>> {
    let log = std::fs::read(writer.path())?;
    Ok(log
        .split_inclusive(|byte| *byte == b'\n')
        .next_back()
        .unwrap_or_default()
        .to_vec())
}
