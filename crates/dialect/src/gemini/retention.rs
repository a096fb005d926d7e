//! When Gemini CLI deletes sessions: `general.sessionRetention` in its settings.

use boswell_model::Result;
use boswell_model::json::Raw;

use crate::Files;

/// Days after which sessions are deleted by default.
const DEFAULT_DAYS: u64 = 30;
const LIMIT: u64 = 16 << 20;

/// Returns the number of days without a change after which the program deletes a session; `None`
/// if the user turned that off.
pub(super) fn deletes_after(files: &dyn Files) -> Result<Option<u64>> {
    let bytes = files.settings("settings.json", LIMIT)?.unwrap_or_default();
    let retention = Raw::parse(bytes.trim_ascii())
        .ok()
        .and_then(|raw| raw.at(&["general", "sessionRetention"]));
    let Some(retention) = retention else {
        return Ok(Some(DEFAULT_DAYS));
    };
    if retention.get("enabled").and_then(|it| it.bool()) == Some(false) {
        return Ok(None);
    }
    let stated = retention.get("maxAge").and_then(|it| days(&it.text()?));
    Ok(Some(stated.unwrap_or(DEFAULT_DAYS)))
}

/// Parses a period such as `30d`, in whole days, at least one.
fn days(period: &str) -> Option<u64> {
    let unit = period.chars().next_back()?;
    let count: u64 = period.strip_suffix(unit)?.trim().parse().ok()?;
    let days = match unit {
        'h' => count / 24,
        'd' => count,
        'w' => count.checked_mul(7)?,
        'm' => count.checked_mul(30)?,
        _ => return None,
    };
    Some(days.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn sessions_live_thirty_days_unless_the_settings_say_otherwise() {
        for (settings, expected) in [
            ("", Some(30)),
            ("{}", Some(30)),
            (
                r#"{"general":{"sessionRetention":{"maxAge":"2w"}}}"#,
                Some(14),
            ),
            (
                r#"{"general":{"sessionRetention":{"maxAge":"3h"}}}"#,
                Some(1),
            ),
            (
                r#"{"general":{"sessionRetention":{"maxAge":"later"}}}"#,
                Some(30),
            ),
            (
                r#"{"general":{"sessionRetention":{"enabled":false}}}"#,
                None,
            ),
        ] {
            let mut files = MemoryFiles::default();
            files.put("settings.json", settings, None);
            assert_eq!(deletes_after(&files).unwrap(), expected, "{settings}");
        }
    }
}
