//! A clock that only moves when a test advances it, and the date texts that the agents write.

/// 2026-10-05T08:00:00.000Z: the default start of generated sessions.
pub const MORNING: i64 = 1_791_187_200_000;

/// A clock in milliseconds since 1970 that a test advances.
#[derive(Clone, Debug)]
pub struct ManualClock {
    ms: i64,
}

impl ManualClock {
    /// Sets the clock to a time.
    pub fn at(ms: i64) -> ManualClock {
        ManualClock { ms }
    }

    /// Advances the clock and returns the new time as text.
    pub fn tick(&mut self, ms: i64) -> String {
        self.ms += ms;
        self.iso()
    }

    /// Returns the time in milliseconds.
    pub fn ms(&self) -> i64 {
        self.ms
    }

    /// Returns the time as `2026-10-05T08:00:00.000Z`.
    pub fn iso(&self) -> String {
        iso(self.ms)
    }
}

/// A date and time by fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Year, four digits.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Hour, 0 to 23.
    pub hour: i64,
    /// Minute.
    pub minute: i64,
    /// Second.
    pub second: i64,
    /// Millisecond.
    pub milli: i64,
}

/// Splits a time into fields, in UTC.
pub fn civil(ms: i64) -> Civil {
    let (days, within) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Counting from 1 March makes the leap day the last day of a year.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    Civil {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted + 2) / 5 + 1,
        hour: within / 3_600_000,
        minute: within / 60_000 % 60,
        second: within / 1000 % 60,
        milli: within % 1000,
    }
}

/// Formats a time like JavaScript's `toISOString`.
pub fn iso(ms: i64) -> String {
    let c = civil(ms);
    let Civil {
        year,
        month,
        day,
        hour,
        minute,
        second,
        milli,
    } = c;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Formats a time as in file names of the pi family: `:` and `.` become `-`.
pub fn file_stamp(ms: i64) -> String {
    iso(ms).replace([':', '.'], "-")
}

/// Formats a time like Go, with nanoseconds and an offset of whole hours.
pub fn rfc3339(ms: i64, nanos_below: u32, offset_hours: i64) -> String {
    let c = civil(ms + offset_hours * 3_600_000);
    let nanos = c.milli as u32 * 1_000_000 + nanos_below % 1_000_000;
    let fraction = format!("{nanos:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let zone = if offset_hours == 0 {
        "Z".to_owned()
    } else {
        format!("{offset_hours:+03}:00")
    };
    let Civil {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = c;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}{zone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_their_known_texts() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_771_237_230_000), "2026-02-16T10:20:30.000Z");
        assert_eq!(iso(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(MORNING), "2026-10-05T08:00:00.000Z");
        assert_eq!(file_stamp(1_771_237_230_000), "2026-02-16T10-20-30-000Z");
    }

    #[test]
    fn go_times_drop_trailing_zeros_and_keep_the_offset() {
        assert_eq!(
            rfc3339(1_771_237_230_900, 0, 9),
            "2026-02-16T19:20:30.9+09:00"
        );
        assert_eq!(rfc3339(1_771_237_230_000, 0, 0), "2026-02-16T10:20:30Z");
        assert_eq!(
            rfc3339(1_771_237_230_123, 456_789, -5),
            "2026-02-16T05:20:30.123456789-05:00"
        );
    }
}
