//! Numbers of things, for people.

use std::fmt::Display;

/// A number with the right form of its noun: `1 session`, `2 sessions`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let noun = if number == N::from(1) { one } else { many };
    format!("{number} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_plural() {
        assert_eq!(count(0_usize, "copy", "copies"), "0 copies");
        assert_eq!(count(1_u64, "copy", "copies"), "1 copy");
        assert_eq!(count(2_u64, "copy", "copies"), "2 copies");
    }
}
