//! Mutates a valid input slightly.

use super::rng::Rng;

/// Maximum length of an input: longer ones find little more and cost rounds.
const LONGEST: usize = 128 * 1024;

/// Bytes with a meaning in JSON lines, and numbers at the limits of their types.
const TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\n",
    b"\r\n",
    b"\0",
    b"\0\0\0\0\0\0\0\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00",
    b"\\ud83d\\ude00",
    b"null",
    b"true",
    b"false",
    b"{}",
    b"[]",
    b"\"\"",
    b"}{",
    b"}\n{",
    b"-0",
    b"0",
    b"-1",
    b"1e400",
    b"1e-400",
    b"0.1",
    b"9007199254740993",
    b"9223372036854775808",
    b"18446744073709551616",
    b"NaN",
    b"\"id\":",
    b"\"parentId\":",
    b"\"parentUuid\":null,",
    b"\"uuid\":",
    b"\"type\":",
    b"\"type\":\"session\",",
    b"\"type\":\"message\",",
    b"\"type\":\"compaction\",",
    b"\"type\":\"summary\",",
    b"\"version\":3,",
    b"\"version\":99,",
    b"\"timestamp\":",
    b"\"message\":{",
    b"\"role\":",
    b"\"content\":[",
    b"\"usage\":{",
    b"../",
    b"-rf",
    b"\x1b[2J",
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":{\"a\":",
    "\u{4f1a}\u{8bdd}".as_bytes(),
    "\u{202e}".as_bytes(),
];

/// Writes a mutation of one of `pool` into `output`, which is cleared first.
pub(crate) fn mutate(pool: &[Vec<u8>], rng: &mut Rng, output: &mut Vec<u8>) {
    output.clear();
    if let Some(seed) = rng.pick(pool) {
        output.extend_from_slice(&seed[..seed.len().min(LONGEST)]);
    }
    for _ in 0..=rng.below(6) {
        step(pool, rng, output);
    }
    output.truncate(LONGEST);
}

fn step(pool: &[Vec<u8>], rng: &mut Rng, bytes: &mut Vec<u8>) {
    match rng.below(9) {
        0 => flip(rng, bytes),
        1 => bytes.truncate(rng.below(bytes.len() + 1)),
        2 => remove(rng, bytes),
        3 => repeat(rng, bytes),
        4 | 5 => insert_token(rng, bytes),
        6 => replace_by_token(rng, bytes),
        7 => splice(pool, rng, bytes),
        _ => swap_lines(rng, bytes),
    }
}

fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    let (at, bit) = (rng.below(bytes.len()), rng.below(8));
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << bit;
    }
}

/// Returns a range of at most `longest` bytes within `length`.
fn range(rng: &mut Rng, length: usize, longest: usize) -> std::ops::Range<usize> {
    let start = rng.below(length + 1);
    let size = rng.below((length - start).min(longest) + 1);
    start..start + size
}

fn remove(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let cut = range(rng, bytes.len(), 256);
    bytes.drain(cut);
}

fn repeat(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let part = bytes[range(rng, bytes.len(), 64)].to_vec();
    let at = rng.below(bytes.len() + 1);
    let times = 1 + rng.below(40);
    bytes.splice(at..at, part.repeat(times));
}

fn insert_token(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = rng.below(bytes.len() + 1);
    if let Some(token) = rng.pick(TOKENS) {
        bytes.splice(at..at, token.iter().copied());
    }
}

fn replace_by_token(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let old = range(rng, bytes.len(), 24);
    if let Some(token) = rng.pick(TOKENS) {
        bytes.splice(old, token.iter().copied());
    }
}

fn splice(pool: &[Vec<u8>], rng: &mut Rng, bytes: &mut Vec<u8>) {
    let Some(other) = rng.pick(pool) else {
        return;
    };
    let part = other[range(rng, other.len(), 4096)].to_vec();
    let place = range(rng, bytes.len(), 4096);
    bytes.splice(place, part);
}

fn swap_lines(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
    if !lines.is_empty() {
        lines.swap(a, b);
        *bytes = lines.concat();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutations(seed: u64, pool: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut rng = Rng::new(seed);
        let mut output = Vec::new();
        let mut all = Vec::new();
        for _ in 0..2_000 {
            mutate(pool, &mut rng, &mut output);
            all.push(output.clone());
        }
        all
    }

    #[test]
    fn same_seed_gives_the_same_inputs() {
        let pool = vec![
            b"{\"type\":\"session\"}\n{\"id\":1}\n".to_vec(),
            b"[1,2]\n".to_vec(),
        ];
        assert_eq!(mutations(7, &pool), mutations(7, &pool));
        assert_ne!(mutations(7, &pool), mutations(8, &pool));
    }

    #[test]
    fn empty_pool_and_empty_seed_still_give_inputs() {
        assert!(mutations(1, &[]).iter().any(|input| !input.is_empty()));
        assert!(
            mutations(1, &[Vec::new()])
                .iter()
                .any(|input| !input.is_empty())
        );
    }

    #[test]
    fn inputs_stay_bounded() {
        let pool = vec![vec![b'x'; 2 * LONGEST]];
        assert!(
            mutations(3, &pool)
                .iter()
                .take(50)
                .all(|input| input.len() <= LONGEST)
        );
    }
}
