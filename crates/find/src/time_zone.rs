//! The time zone of the user: which day a moment belongs to, and what a date without a zone means.
//!
//! Logs and JSON are in UTC. What a person reads or types is in this zone.

use std::sync::{Arc, OnceLock};

use boswell_model::Instant;
use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};

/// A time zone. The database of the system is read when the zone is first needed.
#[derive(Debug, Clone)]
pub struct TimeZone {
    source: Source,
    zone: Arc<OnceLock<jiff::tz::TimeZone>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Utc,
    /// The zone of the machine.
    System,
    /// A name of the time zone database, the path of a file of it, or a rule as POSIX writes it.
    Named(String),
}

impl Default for TimeZone {
    fn default() -> TimeZone {
        TimeZone::utc()
    }
}

impl TimeZone {
    /// Coordinated universal time.
    pub fn utc() -> TimeZone {
        TimeZone::from(Source::Utc)
    }

    /// The zone of the machine, such as `/etc/localtime`.
    pub fn system() -> TimeZone {
        TimeZone::from(Source::System)
    }

    /// The zone that the variable `TZ` names, read as the C library does: an empty or unknown one
    /// is UTC.
    pub fn of_variable(value: &str) -> TimeZone {
        let name = value.strip_prefix(':').unwrap_or(value);
        TimeZone::from(Source::Named(name.to_owned()))
    }

    /// The zone of that name, such as `Europe/Paris`; `None` if the machine knows no such zone.
    pub fn named(name: &str) -> Option<TimeZone> {
        find(name).map(|zone| TimeZone {
            source: Source::Named(name.to_owned()),
            zone: Arc::new(OnceLock::from(zone)),
        })
    }

    fn from(source: Source) -> TimeZone {
        TimeZone {
            source,
            zone: Arc::default(),
        }
    }

    fn zone(&self) -> &jiff::tz::TimeZone {
        self.zone.get_or_init(|| match &self.source {
            Source::Utc => jiff::tz::TimeZone::UTC,
            Source::System => file("/etc/localtime")
                .or_else(|| jiff::tz::TimeZone::try_system().ok())
                .unwrap_or(jiff::tz::TimeZone::UTC),
            Source::Named(name) => find(name).unwrap_or(jiff::tz::TimeZone::UTC),
        })
    }

    fn at(&self, at: Instant) -> Zoned {
        // Years that a calendar cannot show are shown as its first or last.
        let stamp = Timestamp::from_millisecond(at.millis()).unwrap_or(if at.millis() < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        stamp.to_zoned(self.zone().clone())
    }

    /// Returns the day of a moment: `2026-01-31`.
    pub fn day(&self, at: Instant) -> String {
        self.at(at).strftime("%Y-%m-%d").to_string()
    }

    /// Returns the week of a moment, which begins on Monday: `2026-W05`.
    pub fn week(&self, at: Instant) -> String {
        self.at(at).strftime("%G-W%V").to_string()
    }

    /// Returns the month of a moment: `2026-01`.
    pub fn month(&self, at: Instant) -> String {
        self.at(at).strftime("%Y-%m").to_string()
    }

    /// Returns day and minute: `2026-01-31 17:05`.
    pub fn minute(&self, at: Instant) -> String {
        self.at(at).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the distance from UTC at that moment: `+08:00`.
    pub fn offset(&self, at: Instant) -> String {
        self.at(at).strftime("%:z").to_string()
    }

    /// Returns the start of the day `days` after the day of a moment.
    pub fn midnight(&self, at: Instant, days: i64) -> Instant {
        let start = jiff::Span::new()
            .try_days(days)
            .and_then(|span| self.at(at).checked_add(span))
            .and_then(|then| then.start_of_day());
        start.map_or(at, |then| instant(&then))
    }

    /// Parses what [`Instant::parse`] does, but a day or a time without an offset is in this zone.
    pub fn parse(&self, text: &str) -> Option<Instant> {
        let text = text.trim();
        let stated = Instant::parse(text)?;
        if has_offset(text) {
            return Some(stated);
        }
        let civil: DateTime = TimeZone::utc().at(stated).datetime();
        civil
            .to_zoned(self.zone().clone())
            .ok()
            .map(|zoned| instant(&zoned))
    }
}

fn instant(zoned: &Zoned) -> Instant {
    Instant::from_millis(zoned.timestamp().as_millisecond())
}

fn has_offset(text: &str) -> bool {
    let clock = text.get(10..).unwrap_or_default();
    clock.ends_with(['Z', 'z']) || clock.contains(['+', '-'])
}

fn find(name: &str) -> Option<jiff::tz::TimeZone> {
    if name.is_empty() {
        return None;
    }
    if name.eq_ignore_ascii_case("utc") {
        return Some(jiff::tz::TimeZone::UTC);
    }
    // A path into a database, as some systems set it: its end is the name.
    let name = match name.split_once("zoneinfo/") {
        Some((_, name)) if name.len() < 64 => name,
        _ => name,
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    let in_database = name.bytes().all(is_plain) && !name.starts_with('/');
    in_database
        .then(|| file(&format!("/usr/share/zoneinfo/{name}")))
        .flatten()
        .or_else(|| jiff::tz::TimeZone::get(name).ok())
        .or_else(|| jiff::tz::TimeZone::posix(name).ok())
}

/// Reads a zone from its file. A lookup by name lists the folders of all zones first, which takes
/// longer than all else that a status line does.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the system, not of a store, and read as a whole"
)]
fn file(path: &str) -> Option<jiff::tz::TimeZone> {
    let bytes = std::fs::read(path).ok()?;
    jiff::tz::TimeZone::tzif(path, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    #[test]
    fn days_weeks_and_minutes_are_local() {
        // A rule needs no database.
        let shanghai = TimeZone::of_variable("CST-8");
        let late = at("2026-01-31T18:30:00Z");
        assert_eq!(shanghai.minute(late), "2026-02-01 02:30");
        assert_eq!(shanghai.day(late), "2026-02-01");
        assert_eq!(shanghai.month(late), "2026-02");
        assert_eq!(shanghai.offset(late), "+08:00");
        assert_eq!(TimeZone::utc().day(late), "2026-01-31");
        // The first of January 2027 is a Friday of the last week of 2026.
        assert_eq!(TimeZone::utc().week(at("2027-01-01")), "2026-W53");
    }

    #[test]
    fn what_is_typed_without_an_offset_is_local() {
        let shanghai = TimeZone::of_variable("CST-8");
        let read = |text| shanghai.parse(text).map(Instant::to_rfc3339);
        let local = Some("2026-01-30T16:00:00.000Z".to_owned());
        assert_eq!(read("2026-01-31"), local);
        assert_eq!(read("2026-01-31T00:00"), local);
        assert_eq!(read("2026-01-31 00:00:00"), local);
        assert_eq!(read("2026-01-30T16:00:00Z"), local);
        assert_eq!(read("2026-01-30T17:00:00+01:00"), local);
        assert_eq!(read("2026-02-30"), None);
        let midnight = shanghai.midnight(at("2026-01-31T15:59:00Z"), 0);
        assert_eq!(Some(midnight.to_rfc3339()), local);
    }

    #[test]
    fn a_day_that_changes_the_clock_starts_at_its_own_midnight() {
        // In this rule the clock goes forward at two on the second Sunday of March.
        let york = TimeZone::of_variable("EST5EDT,M3.2.0,M11.1.0");
        let noon = at("2026-03-08T16:00:00Z");
        let day = york.midnight(noon, 1).millis() - york.midnight(noon, 0).millis();
        assert_eq!(day, 23 * 3_600_000);
    }

    #[test]
    fn an_unknown_zone_is_utc_in_the_variable_and_none_by_name() {
        let late = at("2026-01-31T18:30:00Z");
        for odd in ["", ":", "Nowhere/Land", "\u{0}", "a/../../b"] {
            let zone = TimeZone::of_variable(odd);
            assert_eq!(zone.minute(late), "2026-01-31 18:30", "{odd:?}");
            assert!(TimeZone::named(odd).is_none(), "{odd:?}");
        }
        assert!(TimeZone::named("UTC").is_some());
    }

    #[test]
    fn a_zone_from_its_file_is_the_one_of_that_name() {
        let late = at("2026-07-31T18:30:00Z");
        for name in ["Europe/Paris", "Asia/Shanghai", "America/New_York"] {
            let Ok(known) = jiff::tz::TimeZone::get(name) else {
                continue;
            };
            let zone = TimeZone::from(Source::System);
            assert!(zone.zone.set(known).is_ok());
            assert_eq!(TimeZone::of_variable(name).minute(late), zone.minute(late));
        }
    }

    #[test]
    fn times_beyond_the_calendar_do_not_fail() {
        for millis in [i64::MIN, i64::MAX] {
            let odd = Instant::from_millis(millis);
            assert!(!TimeZone::utc().minute(odd).is_empty());
            let _ = TimeZone::utc().midnight(odd, -1);
        }
    }
}
