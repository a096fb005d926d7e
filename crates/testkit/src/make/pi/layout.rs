//! Folder and file names of the pi family, and the fixed-size title line of newer oh-my-pi files.

use serde_json::json;

use crate::clock;
use crate::make::pi::PiFlavour;

/// The project folder, and the folders that some agents abbreviate.
#[derive(Clone, Copy, Debug)]
pub struct PiLayout<'a> {
    /// The project folder.
    pub cwd: &'a str,
    /// The home folder.
    pub home: &'a str,
    /// The folder for temporary files.
    pub tmp: &'a str,
}

impl<'a> PiLayout<'a> {
    /// Returns the layout of a project on a machine whose home is `/home/dev`.
    pub fn of(cwd: &'a str) -> PiLayout<'a> {
        PiLayout {
            cwd,
            home: "/home/dev",
            tmp: "/tmp",
        }
    }

    /// Returns the folder below `sessions/` in which this flavour stores the project's sessions.
    pub fn folder(&self, flavour: PiFlavour) -> String {
        match flavour {
            PiFlavour::Pi | PiFlavour::Omp => pi_folder(self.cwd),
            PiFlavour::Xcsh => xcsh_folder(self.cwd, self.home, self.tmp),
        }
    }
}

fn dashes(path: &str) -> String {
    path.replace(['/', '\\', ':'], "-")
}

/// Encodes a project folder like pi and oh-my-pi: always absolute, between double dashes.
pub fn pi_folder(cwd: &str) -> String {
    let bare = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", dashes(bare))
}

/// Encodes a project folder like xcsh: relative to the home, else to the temporary folder, else
/// like pi.
pub fn xcsh_folder(cwd: &str, home: &str, tmp: &str) -> String {
    let inside = |base: &str| {
        let rest = cwd.strip_prefix(base)?;
        if rest.is_empty() {
            Some("")
        } else {
            rest.strip_prefix('/')
                .filter(|rest| !rest.starts_with(".."))
        }
    };
    if let Some(rest) = inside(home) {
        return format!("-{}", dashes(rest));
    }
    match inside(tmp) {
        Some("") => "-tmp".to_owned(),
        Some(rest) => format!("-tmp-{}", dashes(rest)),
        None => pi_folder(cwd),
    }
}

/// Returns the name of a session file: the creation time and the session's id.
pub fn file_name(ms: i64, id: &str) -> String {
    format!("{}_{id}.jsonl", clock::file_stamp(ms))
}

/// Returns the id of an xcsh session: 42 bits of time since 2015 and a 22-bit counter.
pub fn snowflake(ms: i64, sequence: u64) -> String {
    let since = (ms - 1_420_070_400_000).max(0).unsigned_abs();
    format!("{:016x}", (since << 22) | (sequence & 0x3f_ffff))
}

/// Returns the title line of newer oh-my-pi files: 256 bytes with its newline, so that a rename can
/// overwrite it in place.
///
/// The newline is not included; panics if the title does not fit.
pub fn title_slot(title: &str, source: Option<&str>, updated_at: &str) -> String {
    let mut slot = json!({"type": "title", "v": 1, "title": title});
    if let Some(source) = source {
        slot["source"] = json!(source);
    }
    slot["updatedAt"] = json!(updated_at);
    slot["pad"] = json!("");
    let empty = slot.to_string();
    assert!(
        empty.len() <= 255,
        "the title does not fit its slot: {title}"
    );
    slot["pad"] = json!(" ".repeat(255 - empty.len()));
    slot.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_each_flavour_does() {
        assert_eq!(pi_folder("/srv/pi"), "--srv-pi--");
        assert_eq!(pi_folder("C:\\src\\x"), "--C--src-x--");
        assert_eq!(
            xcsh_folder("/home/u/proj/pi", "/home/u", "/tmp"),
            "-proj-pi"
        );
        assert_eq!(xcsh_folder("/home/u", "/home/u", "/tmp"), "-");
        assert_eq!(
            xcsh_folder("/home/user2/x", "/home/u", "/tmp"),
            "--home-user2-x--"
        );
        assert_eq!(xcsh_folder("/tmp", "/home/u", "/tmp"), "-tmp");
        assert_eq!(xcsh_folder("/tmp/a/b", "/home/u", "/tmp"), "-tmp-a-b");
        assert_eq!(xcsh_folder("/srv/pi", "/home/u", "/tmp"), "--srv-pi--");
    }

    #[test]
    fn snowflakes_match_the_published_value() {
        assert_eq!(snowflake(1_771_237_230_000, 0x1234), "1470cb256c001234");
        assert_eq!(
            file_name(1_771_237_230_000, "1470cb256c001234"),
            "2026-02-16T10-20-30-000Z_1470cb256c001234.jsonl"
        );
    }

    #[test]
    fn a_title_slot_is_255_bytes_and_a_newline_whatever_the_title() {
        for title in ["", "会话恢复", "a \"quoted\" one"] {
            let slot = title_slot(title, Some("user"), "2026-08-20T15:12:20.989Z");
            assert_eq!(slot.len(), 255);
            let value: serde_json::Value = serde_json::from_str(&slot).unwrap();
            assert_eq!(value["title"], title);
        }
    }
}
