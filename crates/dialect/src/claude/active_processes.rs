//! Lists running clients from the registry `sessions/<pid>.json`.
//!
//! The file of a killed client remains, so a process counts as active only if its start time
//! matches too. The `.key` files next to it contain a secret of that process and are never read.

use boswell_model::Result;
use boswell_model::json::Raw;

use crate::{ActiveProcess, Files};

/// A registry file is a few lines long.
const LIMIT: u64 = 1 << 20;

/// A client that was running when its registry file was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    /// Process id.
    pub pid: u32,
    /// Id of the session that the client has open.
    pub session_id: String,
    /// Start time of the process as the kernel reports it: field 22 of `/proc/<pid>/stat`.
    pub proc_start: Option<String>,
    /// Working folder of the process.
    pub cwd: Option<String>,
    /// `busy` or `idle`.
    pub status: Option<String>,
    /// Version of the client.
    pub version: Option<String>,
}

/// Reads a registry file.
pub fn parse(bytes: &[u8]) -> Option<LiveProcess> {
    let raw = Raw::parse(bytes).ok()?;
    let text = |key: &str| {
        let value = raw.get(key)?;
        value
            .text()
            .map(|text| text.into_owned())
            .or_else(|| value.i64().map(|number| number.to_string()))
    };
    Some(LiveProcess {
        pid: raw
            .get("pid")?
            .u64()
            .and_then(|pid| u32::try_from(pid).ok())?,
        session_id: text("sessionId")?,
        proc_start: text("procStart"),
        cwd: text("cwd"),
        status: text("status"),
        version: text("version"),
    })
}

/// Returns the clients in the registry. Files of other programs and unreadable files are skipped.
pub(super) fn registered(files: &dyn Files) -> Result<Vec<ActiveProcess>> {
    let mut found = Vec::new();
    for info in files.list("sessions")? {
        let is_small = info.is_file() && info.size <= LIMIT;
        if info
            .stem(".json")
            .is_none_or(|pid| pid.parse::<u32>().is_err())
            || !is_small
        {
            continue;
        }
        // The file may be gone by now: a client removes it when it ends.
        let Ok(bytes) = files.read(&info.key, 0, usize::try_from(LIMIT).unwrap_or(usize::MAX))
        else {
            continue;
        };
        found.extend(parse(&bytes).map(|it| ActiveProcess {
            pid: it.pid,
            session: it.session_id,
            started: it.proc_start,
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn the_registry_names_clients_and_its_keys_are_never_read() {
        let mut files = MemoryFiles::default();
        files.put(
            "sessions/42.json",
            r#"{"pid":42,"sessionId":"s","procStart":"7"}"#,
            None,
        );
        files.put(
            "sessions/42.0123.key",
            r#"{"pid":43,"sessionId":"secret"}"#,
            None,
        );
        files.put("sessions/notes.json", r#"{"pid":44,"sessionId":"x"}"#, None);
        files.put("sessions/45.json", "garbage", None);
        let found = registered(&files).unwrap();
        assert_eq!(
            found,
            [ActiveProcess {
                pid: 42,
                session: "s".into(),
                started: Some("7".into())
            }]
        );
    }

    #[test]
    fn a_registry_file_is_read_whatever_form_the_start_time_has() {
        let of = |start: &str| {
            parse(
                format!(
                    r#"{{"pid":42,"sessionId":"s","procStart":{start},"cwd":"/w","status":"busy"}}"#
                )
                .as_bytes(),
            )
        };
        assert_eq!(of("\"991\"").unwrap().proc_start.as_deref(), Some("991"));
        assert_eq!(of("991").unwrap().proc_start.as_deref(), Some("991"));
        assert_eq!(of("null").unwrap().proc_start, None);
        assert_eq!(of("null").unwrap().pid, 42);
        for bad in [
            "",
            "{}",
            "[]",
            r#"{"pid":"x","sessionId":"s"}"#,
            r#"{"pid":1}"#,
            r#"{"pid":99999999999,"sessionId":"s"}"#,
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
