//! Parses and formats times for users.

pub use boswell_find::TimeZone;
use boswell_model::{Error, ErrorKind, Instant, Result};

const DAY: i64 = 86_400_000;

/// Parses `2026-01-31`, a full RFC 3339 time, or an age such as `30m`, `12h`, `7d`, `2w`; also
/// `today` and `yesterday`. Days, and times without an offset, are those of `zone`.
pub fn parse(text: &str, now: Instant, zone: &TimeZone) -> Result<Instant> {
    match text {
        "now" => return Ok(now),
        "today" => return Ok(zone.midnight(now, 0)),
        "yesterday" => return Ok(zone.midnight(now, -1)),
        _ => {}
    }
    let unit = match text.chars().last() {
        Some('m') => Some(60_000),
        Some('h') => Some(3_600_000),
        Some('d') => Some(DAY),
        Some('w') => Some(7 * DAY),
        _ => None,
    };
    let count = text
        .get(..text.len().saturating_sub(1))
        .and_then(|digits| digits.parse::<i64>().ok());
    if let (Some(unit), Some(count)) = (unit, count)
        && count >= 0
    {
        return Ok(Instant::from_millis(
            now.millis().saturating_sub(count.saturating_mul(unit)),
        ));
    }
    zone.parse(text).ok_or_else(|| {
        Error::new(ErrorKind::Invalid, format!("`{}` is not a valid time", text.escape_debug())).advising(
            "write a date such as 2026-01-31, a time such as 2026-01-31T10:00, today, yesterday, or an age such as 12h, 7d, 2w",
        )
    })
}

/// Parses a duration such as `10s`, `500ms`, `2m`, `30d`.
pub fn span(text: &str) -> Result<std::time::Duration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => Some(1),
        "s" | "" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        "w" => Some(604_800_000),
        _ => None,
    };
    let span = millis
        .zip(count.parse::<u64>().ok())
        .and_then(|(unit, count)| count.checked_mul(unit));
    span.map(std::time::Duration::from_millis).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not a valid duration", text.escape_debug()),
        )
        .advising("write 500ms, 10s, 2m, 12h or 30d")
    })
}

/// Formats how long ago a time is in one short word; as a date if it is older than a month.
pub fn ago(then: Instant, now: Instant, zone: &TimeZone) -> String {
    let seconds = (now.millis() - then.millis()) / 1000;
    match seconds {
        i64::MIN..0 => zone.day(then),
        0..60 => "now".to_owned(),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => zone.day(then),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_dates_and_words_are_read() {
        let now = Instant::parse("2026-03-10T12:30:00Z").unwrap();
        let read = |text| parse(text, now, &TimeZone::utc()).unwrap().to_rfc3339();
        assert_eq!(read("7d"), "2026-03-03T12:30:00.000Z");
        assert_eq!(read("90m"), "2026-03-10T11:00:00.000Z");
        assert_eq!(read("yesterday"), "2026-03-09T00:00:00.000Z");
        assert_eq!(read("2026-01-31"), "2026-01-31T00:00:00.000Z");
        for bad in ["", "d", "soon", "-3d", "2026-02-30"] {
            assert!(parse(bad, now, &TimeZone::utc()).is_err(), "{bad}");
        }
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let now = Instant::parse("2026-03-10T17:30:00Z").unwrap();
        // Eight hours east of UTC, where it is the eleventh already.
        let zone = TimeZone::of_variable("CST-8");
        let read = |text| parse(text, now, &zone).unwrap().to_rfc3339();
        assert_eq!(read("today"), "2026-03-10T16:00:00.000Z");
        assert_eq!(read("yesterday"), "2026-03-09T16:00:00.000Z");
        assert_eq!(read("2026-03-11"), "2026-03-10T16:00:00.000Z");
        assert_eq!(read("2026-03-11T01:30"), "2026-03-10T17:30:00.000Z");
        assert_eq!(read("2026-03-10T17:30:00Z"), "2026-03-10T17:30:00.000Z");
    }

    #[test]
    fn spans_are_read() {
        assert_eq!(span("10s").unwrap().as_millis(), 10_000);
        assert_eq!(span("500ms").unwrap().as_millis(), 500);
        assert_eq!(span("30d").unwrap().as_secs(), 30 * 86_400);
        for bad in ["", "s", "-1s", "1y", "99999999999999999999d"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_are_short() {
        let now = Instant::parse("2026-03-10T12:30:00Z").unwrap();
        let show = |text| ago(Instant::parse(text).unwrap(), now, &TimeZone::utc());
        assert_eq!(show("2026-03-10T12:29:30Z"), "now");
        assert_eq!(show("2026-03-10T10:00:00Z"), "2h ago");
        assert_eq!(show("2026-03-01T10:00:00Z"), "9d ago");
        assert_eq!(show("2025-03-01T10:00:00Z"), "2025-03-01");
        assert_eq!(show("2027-03-01T10:00:00Z"), "2027-03-01");
    }
}
