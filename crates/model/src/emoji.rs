//! The Unicode property `Extended_Pictographic`, as a table of ranges.

/// Ranges of pictographs in ascending order, including reserved code points, from Unicode 16.
#[rustfmt::skip]
const PICTOGRAPHS: [(char, char); 78] = [
    ('\u{A9}', '\u{A9}'), ('\u{AE}', '\u{AE}'), ('\u{203C}', '\u{203C}'), ('\u{2049}', '\u{2049}'),
    ('\u{2122}', '\u{2122}'), ('\u{2139}', '\u{2139}'), ('\u{2194}', '\u{2199}'), ('\u{21A9}', '\u{21AA}'),
    ('\u{231A}', '\u{231B}'), ('\u{2328}', '\u{2328}'), ('\u{2388}', '\u{2388}'), ('\u{23CF}', '\u{23CF}'),
    ('\u{23E9}', '\u{23F3}'), ('\u{23F8}', '\u{23FA}'), ('\u{24C2}', '\u{24C2}'), ('\u{25AA}', '\u{25AB}'),
    ('\u{25B6}', '\u{25B6}'), ('\u{25C0}', '\u{25C0}'), ('\u{25FB}', '\u{25FE}'), ('\u{2600}', '\u{2605}'),
    ('\u{2607}', '\u{2612}'), ('\u{2614}', '\u{2685}'), ('\u{2690}', '\u{2705}'), ('\u{2708}', '\u{2712}'),
    ('\u{2714}', '\u{2714}'), ('\u{2716}', '\u{2716}'), ('\u{271D}', '\u{271D}'), ('\u{2721}', '\u{2721}'),
    ('\u{2728}', '\u{2728}'), ('\u{2733}', '\u{2734}'), ('\u{2744}', '\u{2744}'), ('\u{2747}', '\u{2747}'),
    ('\u{274C}', '\u{274C}'), ('\u{274E}', '\u{274E}'), ('\u{2753}', '\u{2755}'), ('\u{2757}', '\u{2757}'),
    ('\u{2763}', '\u{2767}'), ('\u{2795}', '\u{2797}'), ('\u{27A1}', '\u{27A1}'), ('\u{27B0}', '\u{27B0}'),
    ('\u{27BF}', '\u{27BF}'), ('\u{2934}', '\u{2935}'), ('\u{2B05}', '\u{2B07}'), ('\u{2B1B}', '\u{2B1C}'),
    ('\u{2B50}', '\u{2B50}'), ('\u{2B55}', '\u{2B55}'), ('\u{3030}', '\u{3030}'), ('\u{303D}', '\u{303D}'),
    ('\u{3297}', '\u{3297}'), ('\u{3299}', '\u{3299}'), ('\u{1F000}', '\u{1F0FF}'), ('\u{1F10D}', '\u{1F10F}'),
    ('\u{1F12F}', '\u{1F12F}'), ('\u{1F16C}', '\u{1F171}'), ('\u{1F17E}', '\u{1F17F}'), ('\u{1F18E}', '\u{1F18E}'),
    ('\u{1F191}', '\u{1F19A}'), ('\u{1F1AD}', '\u{1F1E5}'), ('\u{1F201}', '\u{1F20F}'), ('\u{1F21A}', '\u{1F21A}'),
    ('\u{1F22F}', '\u{1F22F}'), ('\u{1F232}', '\u{1F23A}'), ('\u{1F23C}', '\u{1F23F}'), ('\u{1F249}', '\u{1F3FA}'),
    ('\u{1F400}', '\u{1F53D}'), ('\u{1F546}', '\u{1F64F}'), ('\u{1F680}', '\u{1F6FF}'), ('\u{1F774}', '\u{1F77F}'),
    ('\u{1F7D5}', '\u{1F7FF}'), ('\u{1F80C}', '\u{1F80F}'), ('\u{1F848}', '\u{1F84F}'), ('\u{1F85A}', '\u{1F85F}'),
    ('\u{1F888}', '\u{1F88F}'), ('\u{1F8AE}', '\u{1F8FF}'), ('\u{1F90C}', '\u{1F93A}'), ('\u{1F93C}', '\u{1F945}'),
    ('\u{1F947}', '\u{1FAFF}'), ('\u{1FC00}', '\u{1FFFD}'),
];

/// Whether the character is an emoji, or is reserved for a future one.
pub(crate) fn is_pictographic(c: char) -> bool {
    let at = PICTOGRAPHS.partition_point(|(_, last)| *last < c);
    PICTOGRAPHS.get(at).is_some_and(|(first, _)| *first <= c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictographs_are_those_that_unicode_lists() {
        let listed = regex::Regex::new(r"^\p{Extended_Pictographic}$").unwrap();
        let mut buffer = [0; 4];
        for c in '\0'..=char::MAX {
            assert_eq!(
                is_pictographic(c),
                listed.is_match(c.encode_utf8(&mut buffer)),
                "U+{:04X}",
                c as u32
            );
        }
    }
}
