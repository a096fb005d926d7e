//! The rows of a host's list, mirrored in boswell's home.
//!
//! One file per host, replaced as a whole. It is derived data: without it the host is asked.

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::lines::{LineCutter, is_of_type, succeeded, with_host};
use super::row::{HostRow, shorten};
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::app::AppState;
use crate::system::{put_derived, read_text};

/// The folder of the mirrors in boswell's home.
const FOLDER: &str = "hosts";
/// A longer line is no session of a list.
const LONGEST: usize = 4 << 20;
/// More lines that are none of an answer are not skipped.
const JUNK: usize = 1000;
/// More rows are not kept.
const MOST: usize = 1_000_000;

/// The rows of a host as of a time.
#[derive(Debug, Clone)]
pub(crate) struct Mirror {
    pub(crate) at: Instant,
    pub(crate) rows: Vec<HostRow>,
}

impl AppState {
    /// Returns what is mirrored of a host; `None` if nothing is, or it was another machine's.
    pub(crate) fn mirror(&self, host: &Host) -> Option<Mirror> {
        let text = read_text(&path(self.home.as_deref()?, host)).ok()?;
        let mut lines = text.lines();
        let header = Raw::parse(lines.next()?.as_bytes()).ok()?;
        let is_own = header.get("type")?.is("mirror") && header.get("ssh")?.is(&host.ssh);
        let at = Instant::parse(&header.get("at")?.text()?)?;
        if !is_own {
            return None;
        }
        let row = |line: &str| HostRow::parse(line.as_bytes().to_vec(), &host.name);
        let mut rows: Vec<HostRow> = lines.filter_map(row).collect();
        shorten(&mut rows);
        Some(Mirror { at, rows })
    }

    /// Asks a host for its rows, and replaces what is mirrored of it.
    pub(crate) fn update_mirror(&self, host: &Host) -> Result<Mirror> {
        let rows = rows_of(host)?;
        let mirror = Mirror {
            at: self.clock.now(),
            rows,
        };
        self.keep_mirror(host, &mirror);
        Ok(mirror)
    }

    fn keep_mirror(&self, host: &Host, mirror: &Mirror) {
        // As with the catalog: a home that does not exist is not made for what is derived.
        let Some(home) = self.home.as_deref().filter(|home| home.is_dir()) else {
            return;
        };
        let header = Json::object()
            .with("v", 1)
            .with("type", "mirror")
            .with("ssh", host.ssh.as_str())
            .with("at", mirror.at.to_rfc3339());
        let mut bytes = header.to_bytes();
        for row in &mirror.rows {
            bytes.push(b'\n');
            bytes.extend_from_slice(&row.line);
        }
        bytes.push(b'\n');
        // A home that cannot be written only costs the time of asking again.
        let _ = put_derived(&path(home, host), &bytes);
    }
}

/// Asks a host for all sessions that its list shows.
fn rows_of(host: &Host) -> Result<Vec<HostRow>> {
    let words = ["list", "--json"].map(str::to_owned);
    let call = Call {
        words: &words,
        columns: None,
        limits: Limits::SHORT,
    };
    let mut cutter = LineCutter::new(host).up_to(LONGEST);
    let mut rows = Vec::new();
    let mut is_whole = false;
    let mut junk = 0;
    let ended = ssh::run(host, &call, &mut |piece| {
        cutter.add(piece, &mut |line| {
            is_whole |= is_of_type(line, "page");
            match with_host(line, &host.name) {
                Some(line) => rows.extend(HostRow::parse(line, &host.name)),
                None => junk += 1,
            }
            Ok(rows.len() < MOST && junk < JUNK)
        })
    })?;
    succeeded(host, &ended, &[0])?;
    if !is_whole && rows.len() < MOST {
        let what = format!("the list of {} has no end", host.name);
        return Err(Error::new(ErrorKind::Unavailable, what)
            .because("its last line is missing")
            .advising(format!("update boswell on {}", host.name)));
    }
    shorten(&mut rows);
    Ok(rows)
}

/// The file of a host. The name of a destination may have characters that a file name cannot.
fn path(home: &Path, host: &Host) -> PathBuf {
    let mut name = String::new();
    for byte in host.name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    home.join(FOLDER).join(format!("{name}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_never_a_path() {
        for (name, file) in [
            ("box", "box.jsonl"),
            ("me@10.0.0.7", "me%4010%2e0%2e0%2e7.jsonl"),
            ("..", "%2e%2e.jsonl"),
        ] {
            let host = Host::of_destination(name).unwrap();
            let path = path(Path::new("/h"), &host);
            assert_eq!(path, Path::new("/h/hosts").join(file));
        }
    }
}
