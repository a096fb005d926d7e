//! Words with a Zipf distribution, and fast generation of prose and code from them.

use crate::rng::Rng;

const ENGLISH: &str = "the a to of and in is for that this with on it as be are was by from or an at not we can will file \
    function code test error build run return value type string list should when if then else use add fix update remove \
    check call path line output input result config server client request response user session message index search query \
    data table column row key token cache lock thread async await promise import export module package version install \
    deploy docker container image network port http json parse format render component state props hook effect database \
    migration schema commit branch merge rebase conflict diff patch review refactor rename move copy delete create read \
    write open close start stop restart retry timeout failed success warning info debug trace stack panic exception \
    handler route endpoint auth login password permission role admin policy encrypt hash sign verify";

const CODE: &[&str] = &[
    "fn main() {",
    "let mut v = Vec::new();",
    "if err != nil {",
    "return Err(e.into());",
    "def test_parse(self):",
    "import os, sys",
    "const x = await fetch(url);",
    "export default function App() {",
    "    self.assertEqual(a, \"b\")",
    "SELECT id, name FROM users WHERE id = ?;",
    "git rebase -i HEAD~3",
    "npm run build && npm test",
    "cargo build --release",
    "}",
    "});",
    "#[derive(Debug, Clone)]",
    "match self.state {",
];

const POOL: usize = 400_000;

/// A pool of words in one long text; prose consists of slices of it.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    pool: String,
    starts: Vec<u32>,
}

impl Vocabulary {
    /// Creates the words, which are always the same, and the pool, which depends on the seed.
    pub fn new(seed: u64) -> Vocabulary {
        let words = words();
        let mut total = 0.0;
        let summed: Vec<f64> = (0..words.len())
            .map(|rank| {
                total += (rank as f64 + 2.7).powf(-1.05);
                total
            })
            .collect();
        let mut rng = Rng::for_part(seed, "vocabulary");
        let (mut pool, mut starts) = (String::new(), Vec::with_capacity(POOL));
        for _ in 0..POOL {
            let drawn = rng.unit() * total;
            let rank = summed
                .partition_point(|&sum| sum < drawn)
                .min(words.len() - 1);
            starts.push(pool.len() as u32);
            pool.push_str(&words[rank]);
            pool.push(' ');
        }
        Vocabulary {
            words,
            pool,
            starts,
        }
    }

    /// Returns a word of the middle ranks, for names.
    pub fn name(&self, rng: &mut Rng) -> &str {
        &self.words[170 + rng.below(4_800)]
    }

    /// Returns some adjacent words.
    pub fn run(&self, rng: &mut Rng, count: usize) -> &str {
        let first = rng.below(POOL - count - 1);
        let (start, end) = (
            self.starts[first] as usize,
            self.starts[first + count] as usize,
        );
        &self.pool[start..end - 1]
    }

    /// Appends about this many bytes of prose to `out`.
    pub fn prose(&self, rng: &mut Rng, bytes: usize, out: &mut String) {
        let end = out.len() + bytes.max(20);
        while out.len() < end {
            let count = rng.between(6, 40);
            let sentence = self.run(rng, count);
            out.push(sentence.as_bytes()[0].to_ascii_uppercase().into());
            out.push_str(&sentence[1..]);
            out.push_str(rng.word(&[". ", ". ", ".\n", ": ", ".\n\n- "]));
        }
        out.truncate(end);
    }

    /// Appends about this many bytes of numbered lines of code to `out`.
    pub fn code(&self, rng: &mut Rng, bytes: usize, out: &mut String) {
        let end = out.len() + bytes.max(20);
        let mut number = rng.between(1, 400);
        while out.len() < end {
            out.push_str(&format!("{number:6}\t"));
            number += 1;
            if rng.id_source(0.35) {
                out.push_str(rng.word(CODE));
            } else {
                (0..rng.below(4)).for_each(|_| out.push_str("    "));
                out.push_str(self.run(rng, 1));
                out.push_str(rng.word(&[" = ", "(", ".", ": "]));
                let count = rng.between(1, 8);
                out.push_str(self.run(rng, count));
                out.push_str(rng.word(&[")", ";", "", ","]));
            }
            out.push('\n');
        }
        out.truncate(end);
    }
}

fn words() -> Vec<String> {
    let mut rng = Rng::new(7);
    let mut words: Vec<String> = ENGLISH.split_whitespace().map(str::to_owned).collect();
    let mut seen: std::collections::HashSet<String> = words.iter().cloned().collect();
    while words.len() < 20_000 {
        let mut word = String::new();
        for _ in 0..rng.between(2, 4) {
            word.push(char::from(*rng.pick(b"bcdfghjklmnprstvwz")));
            word.push(char::from(*rng.pick(b"aeiou")));
        }
        if rng.id_source(0.3) {
            word.push(char::from(*rng.pick(b"bcdfghjklmnprstvwz")));
        }
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_code_have_the_length_asked_and_repeat_for_a_seed() {
        let make = || {
            let (vocabulary, mut rng, mut out) = (Vocabulary::new(1), Rng::new(2), String::new());
            vocabulary.prose(&mut rng, 5_000, &mut out);
            assert_eq!(out.len(), 5_000);
            vocabulary.code(&mut rng, 7_000, &mut out);
            assert_eq!(out.len(), 12_000);
            out
        };
        assert_eq!(make(), make());
    }

    #[test]
    fn frequent_words_are_frequent() {
        let vocabulary = Vocabulary::new(1);
        let count = |word: &str| vocabulary.pool.split(' ').filter(|w| *w == word).count();
        assert!(count("the") > 4 * count("error"));
        assert!(count("error") > 500);
    }
}
