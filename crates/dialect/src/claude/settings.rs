//! `settings.json`, the client's settings file: the retention period of sessions
//! (`cleanupPeriodDays`, 30 days by default), and the hook that notifies boswell when a session
//! ends.
//!
//! When a session expires, and whether there is a copy, is computed by the application's
//! `sessions/expiry.rs`; the hook is added and removed by its `keep/hook.rs`.
//!
//! The file belongs to the user. A hook is added and removed as one range of bytes, so that
//! everything else stays unchanged.

use std::ops::Range;

use boswell_model::json::{Json, Member, Raw, RawKind, scan_object};
use boswell_model::{Advice, Error, ErrorKind, Result};

use crate::Files;

/// Key of the settings below the client's folder.
pub const SETTINGS: &str = "settings.json";
/// Days after which the client deletes sessions by default.
const DEFAULT_DAYS: u64 = 30;
const LIMIT: u64 = 16 << 20;

/// Returns the number of days without a change after which the client deletes a session.
pub(super) fn deletes_after(files: &dyn Files) -> Result<u64> {
    let bytes = files.settings(SETTINGS, LIMIT)?.unwrap_or_default();
    let days = Raw::parse(bytes.trim_ascii())
        .ok()
        .and_then(|raw| raw.get("cleanupPeriodDays")?.f64());
    // The client treats shorter periods as one day.
    Ok(days
        .filter(|days| *days >= 0.0)
        .map_or(DEFAULT_DAYS, |days| (days as u64).max(1)))
}

/// A settings file with the hook added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooked {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// The bytes that were inserted; empty if the hook was there already.
    pub inserted: Vec<u8>,
}

/// Settings with this group of hooks and nothing else.
fn new_settings(group: &[u8]) -> Hooked {
    let bytes = [
        &b"{\n  \"hooks\": {\n    \"SessionEnd\": [\n      "[..],
        group,
        b"\n    ]\n  }\n}\n",
    ]
    .concat();
    Hooked {
        inserted: bytes.clone(),
        bytes,
    }
}

/// Adds a hook that runs `command` whenever a session ends.
pub fn add_hook(settings: Option<&[u8]>, command: &str) -> Result<Hooked> {
    let hook = Json::object()
        .with("type", "command")
        .with("command", command)
        .with("timeout", 30);
    let group = Json::object().with("hooks", vec![hook]).to_bytes();
    let text = settings.unwrap_or_default();
    if text.trim_ascii().is_empty() {
        return Ok(new_settings(&group));
    }
    let whole =
        Raw::parse(text).map_err(|fault| not_settings(format!("not JSON at byte {}", fault.at)))?;
    if whole.get("disableAllHooks").and_then(|off| off.bool()) == Some(true) {
        return Err(not_settings(
            "hooks are switched off there: `disableAllHooks`",
        ));
    }
    let start = offset(text, whole.bytes());
    let (at, inserted) = match whole.get("hooks") {
        None => member(
            text,
            start,
            "hooks",
            &[b"{\"SessionEnd\":[", &group[..], b"]}"].concat(),
        )?,
        Some(hooks) => match hooks.get("SessionEnd") {
            None => member(
                text,
                offset(text, hooks.bytes()),
                "SessionEnd",
                &[b"[", &group[..], b"]"].concat(),
            )?,
            Some(groups) if has_command(groups, command) => {
                return Ok(Hooked {
                    bytes: text.to_vec(),
                    inserted: Vec::new(),
                });
            }
            Some(groups) => item(text, groups, &group)?,
        },
    };
    let (head, rest) = text.split_at(at);
    Ok(Hooked {
        bytes: [head, &inserted, rest].concat(),
        inserted,
    })
}

/// Removes the hook: exactly the inserted bytes, else the group of hooks that runs `command`.
/// Returns `None` if it is not there.
pub fn remove_hook(settings: &[u8], command: &str, inserted: &[u8]) -> Option<Vec<u8>> {
    let mut found = memchr::memmem::find_iter(settings, inserted);
    if let (false, Some(at), None) = (inserted.is_empty(), found.next(), found.next()) {
        let left = [settings.get(..at)?, settings.get(at + inserted.len()..)?].concat();
        if left.is_empty() || Raw::parse(&left).is_ok() {
            return Some(left);
        }
    }
    let groups = Raw::parse(settings).ok()?.get("hooks")?.get("SessionEnd")?;
    let items: Vec<Raw<'_>> = groups.items().collect();
    let index = items.iter().position(|group| runs(*group, command))?;
    // The comma goes with it: the one behind it, else the one before it.
    let spans: Vec<Range<usize>> = items.iter().map(|raw| span(settings, raw)).collect();
    let own = spans.get(index)?;
    let before = index.checked_sub(1).and_then(|index| spans.get(index));
    let (from, to) = match (before, spans.get(index + 1)) {
        (_, Some(next)) => (own.start, next.start),
        (Some(before), None) => (before.end, own.end),
        (None, None) => (own.start, own.end),
    };
    Some([settings.get(..from)?, settings.get(to..)?].concat())
}

fn span(settings: &[u8], raw: &Raw<'_>) -> Range<usize> {
    let start = offset(settings, raw.bytes());
    start..start + raw.bytes().len()
}

/// Whether the settings contain the hook.
pub fn has_hook(settings: &[u8], command: &str) -> bool {
    let groups = Raw::parse(settings)
        .ok()
        .and_then(|raw| raw.get("hooks")?.get("SessionEnd"));
    groups.is_some_and(|groups| has_command(groups, command))
}

fn has_command(groups: Raw<'_>, command: &str) -> bool {
    groups.items().any(|group| runs(group, command))
}

fn runs(group: Raw<'_>, command: &str) -> bool {
    group.get("hooks").is_some_and(|hooks| {
        hooks
            .items()
            .any(|hook| hook.get("command").is_some_and(|c| c.is(command)))
    })
}

/// Returns the offset of `part` in `whole`.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize)
        .saturating_sub(whole.as_ptr() as usize)
        .min(whole.len())
}

/// Returns the position and the bytes that add a member to the object that starts at `start`.
fn member(text: &[u8], start: usize, key: &str, value: &[u8]) -> Result<(usize, Vec<u8>)> {
    let mut members: Vec<Member> = Vec::new();
    let object = text.get(start..).unwrap_or_default();
    scan_object(object, &mut members)
        .map_err(|_| not_settings("what should be an object is none"))?;
    let mut new = Vec::new();
    boswell_model::json::write_string(key.as_bytes(), &mut new);
    new.extend_from_slice(b": ");
    new.extend_from_slice(value);
    let Some((first, last)) = members.first().zip(members.last()) else {
        return Ok((start + 1, new));
    };
    let space = object.get(1..first.key_start).unwrap_or_default();
    Ok((start + last.end, [b",", space, &new].concat()))
}

/// Returns the position and the bytes that add an item to an array.
fn item(text: &[u8], array: Raw<'_>, value: &[u8]) -> Result<(usize, Vec<u8>)> {
    if array.kind() != RawKind::Array {
        return Err(not_settings("`SessionEnd` is not a list of hooks"));
    }
    let start = offset(text, array.bytes());
    let items: Vec<Raw<'_>> = array.items().collect();
    let Some((first, last)) = items.first().zip(items.last()) else {
        return Ok((start + 1, value.to_vec()));
    };
    let space = text
        .get(start + 1..offset(text, first.bytes()))
        .unwrap_or_default();
    Ok((
        offset(text, last.bytes()) + last.bytes().len(),
        [b",", space, value].concat(),
    ))
}

fn not_settings(why: impl Into<String>) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("no hook can be added to `{SETTINGS}`"),
    )
    .because(why.into())
    .advising(Advice::KeepByTimer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    const COMMAND: &str = "'/opt/bos well' keep run";

    #[test]
    fn a_hook_goes_in_and_out_and_all_other_bytes_stay() {
        for before in [
            "{}",
            "{ }\n",
            "{\"model\":\"x\"}",
            "{\n  \"model\": \"x\",\n  \"hooks\": {}\n}\n",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [ ]\n\t},\n\t\"é\": 1.50\n}",
            "{\"hooks\":{\"SessionEnd\":[]}}",
            "  {\"hooks\": {\"SessionEnd\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]} ] }}",
        ] {
            let hooked = add_hook(Some(before.as_bytes()), COMMAND).unwrap();
            let text = String::from_utf8(hooked.bytes.clone()).unwrap();
            assert!(
                Raw::parse(&hooked.bytes).is_ok() && has_hook(&hooked.bytes, COMMAND),
                "{text}"
            );
            assert_eq!(
                remove_hook(&hooked.bytes, COMMAND, &hooked.inserted).unwrap(),
                before.as_bytes(),
                "{text}"
            );
            let again = add_hook(Some(&hooked.bytes), COMMAND).unwrap();
            assert!(again.inserted.is_empty() && again.bytes == hooked.bytes);
            // Another program rewrote the file in the meantime.
            let other = text.replace(", ", ",").replace(": ", ":");
            let left = remove_hook(other.as_bytes(), COMMAND, b"something else").unwrap();
            assert!(
                Raw::parse(&left).is_ok() && !has_hook(&left, COMMAND),
                "{other}"
            );
        }
        let made = add_hook(None, COMMAND).unwrap();
        assert_eq!(
            remove_hook(&made.bytes, COMMAND, &made.inserted).unwrap(),
            b""
        );
        assert!(remove_hook(b"{}", COMMAND, &made.inserted).is_none());
    }

    #[test]
    fn settings_that_take_no_hook_are_refused_with_another_way() {
        for bad in [
            "[]",
            "{",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"SessionEnd\":{}}}",
            "{\"disableAllHooks\":true}",
        ] {
            let error = add_hook(Some(bad.as_bytes()), COMMAND).unwrap_err();
            assert!(error.advice() == Some(&Advice::KeepByTimer), "{bad}");
        }
    }

    #[test]
    fn sessions_are_deleted_after_the_days_that_the_settings_say() {
        for (settings, days) in [
            ("", 30),
            ("{", 30),
            ("{\"cleanupPeriodDays\":365}", 365),
            ("{\"cleanupPeriodDays\":0}", 1),
            ("{}", 30),
        ] {
            let mut files = MemoryFiles::default();
            files.put(SETTINGS, settings, None);
            assert_eq!(deletes_after(&files).unwrap(), days, "{settings}");
        }
    }
}
