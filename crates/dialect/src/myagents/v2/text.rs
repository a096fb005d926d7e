//! A string that grows by appends, whose length counts in UTF-16 units.

use boswell_model::json::Str;

/// A string in the escaped form of its JSON token.
///
/// Appends join escaped forms, so that half a surrogate pair and the other half become one
/// character, as they do in the app.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    escaped: Vec<u8>,
    units: u64,
}

impl Text {
    /// Returns the text of a string token.
    pub(super) fn of(text: Str<'_>) -> Self {
        let mut out = Text::default();
        out.append(text);
        out
    }

    /// Appends a string token.
    pub(super) fn append(&mut self, text: Str<'_>) {
        self.units += units(text.escaped());
        self.escaped.extend_from_slice(text.escaped());
    }

    /// Returns its length in UTF-16 units.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Writes the string token.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(&self.escaped);
        out.push(b'"');
    }
}

/// Returns the number of UTF-16 units of an escaped string.
fn units(escaped: &[u8]) -> u64 {
    let (mut at, mut units) = (0, 0);
    while let Some(byte) = escaped.get(at) {
        let (bytes, count) = match byte {
            b'\\' if escaped.get(at + 1) == Some(&b'u') => (6, 1),
            b'\\' => (2, 1),
            0x80..=0xBF => (1, 0),
            0xF0.. => (1, 2),
            _ => (1, 1),
        };
        at += bytes;
        units += count;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_utf16_units_however_a_character_is_written() {
        for (escaped, count) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("字", 1),
            ("🔑", 2),
            (r"\ud83d\udd11", 2),
            (r"\n\\\u0041", 3),
            (r"\ud83d", 1),
        ] {
            assert_eq!(units(escaped.as_bytes()), count, "{escaped}");
        }
    }

    #[test]
    fn halves_of_a_pair_that_are_appended_one_after_the_other_are_one_character() {
        let mut text = Text::of(Str::trusted(br#""\ud83d""#));
        text.append(Str::trusted(br#""\udd11""#));
        let mut token = Vec::new();
        text.write(&mut token);
        assert_eq!(Str::trusted(&token).to_text(), "🔑");
        assert_eq!(text.units(), 2);
    }
}
