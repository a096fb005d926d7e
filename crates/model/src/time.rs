//! Timestamps as agents write them, in milliseconds.

/// A point in time: milliseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    /// Creates an instant from milliseconds since 1970.
    pub fn from_millis(millis: i64) -> Self {
        Instant(millis)
    }

    /// Returns the milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Parses RFC 3339 with any fraction and offset, also `YYYY-MM-DD` and times without an offset,
    /// which count as UTC.
    ///
    /// Years 0000–9999. Go's zero time `0001-01-01T00:00:00Z` means "never" and gives `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.trim().as_bytes();
        let year = number(bytes.get(0..4)?)?;
        let month = number(bytes.get(5..7)?)?;
        let day = number(bytes.get(8..10)?)?;
        if bytes.get(4) != Some(&b'-')
            || bytes.get(7) != Some(&b'-')
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in(year, month)
        {
            return None;
        }
        let mut millis = days_from_civil(year, month, day) * 86_400_000;
        if bytes.len() > 10 {
            millis += time_of_day(bytes.get(10..)?)?;
        }
        (year > 1).then_some(Instant(millis))
    }

    /// Formats as RFC 3339 in UTC with milliseconds, as ECMAScript's `toISOString` does.
    pub fn to_rfc3339(self) -> String {
        let mut text = Vec::with_capacity(24);
        self.write_rfc3339(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Appends the text of [`to_rfc3339`](Instant::to_rfc3339) to `out`.
    pub fn write_rfc3339(self, out: &mut Vec<u8>) {
        let days = self.0.div_euclid(86_400_000);
        let rest = self.0.rem_euclid(86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second, millis) = (
            rest / 3_600_000,
            rest / 60_000 % 60,
            rest / 1000 % 60,
            rest % 1000,
        );
        if let 0..=9999 = year {
            let ([y1, y2], [y3, y4]) = (digits(year / 100), digits(year % 100));
            let ([m1, m2], [d1, d2], [h1, h2]) = (digits(month), digits(day), digits(hour));
            let ([n1, n2], [s1, s2], [_, f1], [f2, f3]) = (
                digits(minute),
                digits(second),
                digits(millis / 100),
                digits(millis % 100),
            );
            out.extend_from_slice(&[
                y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1,
                s2, b'.', f1, f2, f3, b'Z',
            ]);
        } else {
            let text = format!(
                "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
            );
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Returns the two decimal digits of a number below 100.
fn digits(number: i64) -> [u8; 2] {
    let number = u8::try_from(number).unwrap_or(0);
    [b'0' + number / 10, b'0' + number % 10]
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// The offset from UTC that ends a time, in minutes.
fn offset_minutes(bytes: &[u8]) -> Option<i64> {
    match bytes.first() {
        None | Some(b'Z' | b'z') => Some(0),
        Some(sign @ (b'+' | b'-')) => {
            let hours = number(bytes.get(1..3)?)?;
            let minutes = hours * 60 + bytes.get(4..6).and_then(number).unwrap_or(0);
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        Some(_) => None,
    }
}

fn time_of_day(bytes: &[u8]) -> Option<i64> {
    if !matches!(bytes.first(), Some(b'T' | b't' | b' ')) || bytes.get(3) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (number(bytes.get(1..3)?)?, number(bytes.get(4..6)?)?);
    let mut at = 6;
    let mut second = 0;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b':') {
        second = number(bytes.get(7..9)?)?;
        at = 9;
        if bytes.get(at) == Some(&b'.') {
            let digits = bytes
                .get(at + 1..)?
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
            let text = bytes.get(at + 1..at + 1 + digits)?;
            fraction = (0..3).fold(0, |value, i| {
                value * 10 + text.get(i).map_or(0, |b| i64::from(b - b'0'))
            });
            at += 1 + digits;
        }
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let offset = offset_minutes(bytes.get(at..)?)?;
    Some(((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, b| {
        b.is_ascii_digit().then(|| value * 10 + i64::from(b - b'0'))
    })
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar, computed with
/// years that start in March and eras of 400 years.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_found_in_real_files_are_read() {
        for (text, millis) in [
            ("2025-11-20T23:33:50.805Z", 1_763_681_630_805),
            ("2025-01-01T00:00:01Z", 1_735_689_601_000),
            ("2026-01-31T23:35:40.9+09:00", 1_769_870_140_900),
            ("2026-01-31T23:35:41.123456789+09:00", 1_769_870_141_123),
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59.999Z", -1),
        ] {
            assert_eq!(Instant::parse(text), Some(Instant(millis)), "{text}");
        }
        for bad in [
            "",
            "yesterday",
            "2026-02-30T00:00:00Z",
            "2026-13-01",
            "0001-01-01T00:00:00Z",
            "2026-01-01T99:00:00Z",
            "2026-01-01X",
        ] {
            assert_eq!(Instant::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printed_instants_read_back(millis in -50_000_000_000_000i64..250_000_000_000_000) {
            prop_assert_eq!(Instant::parse(&Instant(millis).to_rfc3339()), Some(Instant(millis)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = Instant::parse(&text);
        }
    }
}
