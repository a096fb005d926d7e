//! The forms of credentials, by issuer.

mod joined;
mod named;
mod placed;
mod signed;

use super::{Credential, draw};
use crate::Rng;

use joined::joined;
use signed::SIGNED;

pub(super) use named::assigned;
pub(super) use placed::placed;

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const DIGIT: &str = "0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ALPHA: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) fn keys(rng: &mut Rng) -> Vec<Credential> {
    let mut keys: Vec<Credential> = SIGNED
        .iter()
        .map(|(issuer, sign, letters, count)| {
            plain(issuer, format!("{sign}{}", body(rng, letters, *count)))
        })
        .collect();
    keys.extend(joined(rng));
    keys
}

/// Returns the random part of a key. Its ends are letters, so that quotes and dots around it are
/// not part of it, and it contains a digit.
fn body(rng: &mut Rng, letters: &str, count: usize) -> String {
    let ends: String = letters
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let digits: String = letters.chars().filter(char::is_ascii_digit).collect();
    let digit = if digits.is_empty() {
        draw(rng, &ends, 1)
    } else {
        draw(rng, &digits, 1)
    };
    format!(
        "{}{digit}{}{}",
        draw(rng, &ends, 1),
        draw(rng, letters, count - 3),
        draw(rng, &ends, 1)
    )
}

fn plain(issuer: &'static str, text: String) -> Credential {
    Credential {
        issuer,
        secret: text.clone(),
        text,
        joins: true,
    }
}
