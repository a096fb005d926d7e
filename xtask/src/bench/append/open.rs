//! A durable append by a program that exits after one entry, like a command line.

use std::io::Write;
use std::path::Path;

use boswell_store::{Home, SessionWriter, Wait};

use super::super::group::Group;
use super::super::in_turn::{compare, timed};
use super::super::lab::Lab;
use super::super::table::{Row, Target};
use super::bed::Bed;
use crate::Outcome;

const APPENDS: usize = 100;
const OTHER_SESSIONS: usize = 1_000;

pub(crate) struct AppendOpen;

impl Group for AppendOpen {
    fn name(&self) -> &'static str {
        "append-open"
    }

    fn about(&self) -> &'static str {
        "open the store, take the lease, append 1 KB durably, close, against open, `flock`, `write`, `fdatasync`, close; \
         wall time, median"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (bed, writer) = Bed::make(lab, "open")?;
        let id = writer.reference().id.clone();
        let log = writer.path();
        drop(writer);
        let mut ours = || {
            let draft = bed.draft.clone();
            let (time, done) = timed(|| {
                let writer: SessionWriter =
                    Home::at(&bed.home).sessions()?.writer(&id, Wait::No)?;
                writer.append(draft)?;
                writer.release()
            });
            done?;
            Ok(time)
        };
        let mut theirs = || {
            let (time, done) = timed(|| -> Outcome {
                let mut raw = bed.open_raw()?;
                raw.lock()?;
                raw.write_all(&bed.line)?;
                Ok(raw.sync_data()?)
            });
            done?;
            Ok(time)
        };
        let (size, target) = ((lab.repeats, APPENDS), Some(Target::AtMost(1.30)));
        let alone = compare("only session", size, &mut ours, &mut theirs, target)?;
        add_sessions(&log, &id)?;
        let among = compare("among 1,000 others", size, &mut ours, &mut theirs, target)?;
        Ok(vec![alone, among])
    }
}

/// Creates small sessions next to a log: finding a session must not depend on how many there are.
fn add_sessions(log: &Path, id: &str) -> Outcome {
    let name = log.file_name().ok_or("a log has a name")?.to_string_lossy();
    let text = std::fs::read_to_string(log)?;
    let header = text.lines().next().unwrap_or_default();
    for number in 0..OTHER_SESSIONS {
        let other = format!("00000000-0000-7000-8000-{number:012}");
        std::fs::write(
            log.with_file_name(name.replace(id, &other)),
            header.replace(id, &other) + "\n",
        )?;
    }
    Ok(())
}
