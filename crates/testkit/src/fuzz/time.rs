//! Times: a parsed time can be printed, and a printed one can be parsed.

use boswell_model::Instant;

use crate::clock::iso;

/// 0002-01-01 and 9999-12-31: the valid years with four digits.
const FIRST: i64 = -62_104_060_800_000;
const LAST: i64 = 253_402_300_799_999;

/// Each line as a text, and eight bytes as milliseconds.
pub(super) fn time(bytes: &[u8]) {
    for line in bytes
        .split(|byte| *byte == b'\n' || *byte == b'"')
        .take(200)
    {
        if let Some(instant) = Instant::parse(&String::from_utf8_lossy(line)) {
            prints(instant);
        }
    }
    for eight in bytes.chunks_exact(8).take(50) {
        let millis = i64::from_le_bytes(eight.try_into().unwrap_or_default());
        prints(Instant::from_millis(millis));
        prints(Instant::from_millis(millis % LAST));
    }
}

fn prints(instant: Instant) {
    let text = instant.to_rfc3339();
    if (FIRST..=LAST).contains(&instant.millis()) {
        assert_eq!(text, iso(instant.millis()), "two ways to print agree");
        assert_eq!(Instant::parse(&text), Some(instant), "{text} reads back");
    }
}
