//! Finds keys and passwords in what a session says: known shapes, and values of telling names that look like chance.
//!
//! Works on text and on JSON as it stands in a log alike. It never changes a log: it says where secrets are, and blackens a copy.

mod guess;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use boswell_model::{Error, ErrorKind, Result};
use regex::bytes::Regex;

use shapes::{SHAPES, Shape};

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is, such as `github-token`; `assigned` for the value of a telling name.
    pub kind: &'static str,
    /// Where the secret itself stands.
    pub range: Range<usize>,
}

impl Secret {
    /// The secret as it may be shown: enough to recognise it, not enough to use it.
    pub fn masked(&self, text: &[u8]) -> String {
        let secret = text.get(self.range.clone()).unwrap_or_default();
        let shown: String =
            secret.iter().take(4).map(|byte| char::from(*byte)).filter(char::is_ascii_graphic).collect();
        format!("{shown}… ({} bytes)", secret.len())
    }
}

/// Looks for secrets.
#[derive(Debug)]
pub struct Secrets {
    anchors: AhoCorasick,
    patterns: Vec<Regex>,
}

impl Secrets {
    /// Gets ready to look. Worth keeping for many texts.
    pub fn new() -> Result<Secrets> {
        let wrong = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Internal, "a shape of a secret cannot be looked for").because(error.to_string())
        };
        let names = guess::NAMES.iter().copied();
        let anchors = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(SHAPES.iter().map(|shape| shape.anchor).chain(names))
            .map_err(|error| wrong(&error))?;
        let patterns = SHAPES
            .iter()
            .map(|shape| Regex::new(&format!("^(?-u:{})", shape.pattern)).map_err(|error| wrong(&error)))
            .collect::<Result<_>>()?;
        Ok(Secrets { anchors, patterns })
    }

    /// Every secret of a text, in order, none inside another.
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        let mut found: Vec<Secret> = Vec::new();
        for anchor in self.anchors.find_overlapping_iter(text) {
            let secret = match SHAPES.get(anchor.pattern().as_usize()) {
                Some(shape) if text.get(anchor.range()) == Some(shape.anchor.as_bytes()) => self
                    .patterns
                    .get(anchor.pattern().as_usize())
                    .and_then(|regex| shaped(text, anchor.start(), shape, regex)),
                Some(_) => None,
                None => guess::value_after(text, anchor.end()).map(|range| Secret { kind: "assigned", range }),
            };
            found.extend(secret);
        }
        // Longer ones first where they begin together; a known shape before a guess.
        found.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end), it.kind == "assigned"));
        let mut end = 0;
        found.retain(|it| {
            let apart = it.range.start >= end;
            end = if apart { it.range.end } else { end };
            apart
        });
        found
    }

    /// The text with every secret blackened.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for secret in found {
            // Patterns match ASCII alone, so that their ends are ends of characters.
            let (Some(before), true) = (text.get(at..secret.range.start), text.is_char_boundary(secret.range.end))
            else {
                continue;
            };
            out.push_str(before);
            out.push_str(&format!("[{} removed]", secret.kind));
            at = secret.range.end;
        }
        out.push_str(text.get(at..).unwrap_or(""));
        Cow::Owned(out)
    }
}

fn shaped(text: &[u8], anchor: usize, shape: &Shape, pattern: &Regex) -> Option<Secret> {
    let from = anchor.saturating_sub(shape.lead);
    (from..=anchor).filter(|start| shape.inside || begins_a_word(text, *start)).find_map(|start| {
        let rest = text.get(start..)?;
        let groups = pattern.captures(rest)?;
        let (whole, secret) = (groups.get(0)?, groups.get(1).or_else(|| groups.get(0))?);
        let goes_on = rest.get(whole.end()).is_some_and(|byte| byte.is_ascii_alphanumeric());
        let chance = guess::bits(secret.as_bytes()) >= shape.chance;
        let range = start + secret.start()..start + secret.end();
        (chance && !goes_on && !is_placeholder(secret.as_bytes())).then_some(Secret { kind: shape.kind, range })
    })
}

/// Whether a word can begin here: not in the middle of a longer one, but right behind an escape such as `\n`.
fn begins_a_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| text.get(before)) else { return true };
    if !before.is_ascii_alphanumeric() && *before != b'_' {
        return true;
    }
    let backslashes =
        |end: usize| text.get(..end).unwrap_or_default().iter().rev().take_while(|b| **b == b'\\').count();
    if matches!(before, b'n' | b'r' | b't' | b'b' | b'f') && backslashes(at - 1) % 2 == 1 {
        return true;
    }
    let escape = at.checked_sub(6).and_then(|from| text.get(from..at));
    escape.is_some_and(|it| it.starts_with(b"\\u") && it.iter().skip(2).all(u8::is_ascii_hexdigit))
        && backslashes(at - 5) % 2 == 1
}

/// Whether it stands in the place of a real one.
fn is_placeholder(secret: &[u8]) -> bool {
    let upper = secret.to_ascii_uppercase();
    ["XXXXXX", "YOUR_", "YOUR-", "PLACEHOLDER", "......", "REDACTED"]
        .iter()
        .any(|word| memchr::memmem::find(&upper, word.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use boswell_testkit::Rng;

    use super::*;

    const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const HEX: &str = "0123456789abcdef";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    fn some(rng: &mut Rng, letters: &str, count: usize) -> String {
        (0..count).map(|_| char::from(letters.as_bytes()[(rng.next_u64() % letters.len() as u64) as usize])).collect()
    }

    /// Keys as their makers write them, one of each kind.
    fn keys(rng: &mut Rng) -> Vec<String> {
        let prefixed = [
            ("sk-ant-api03-", ALNUM, 95),
            ("sk-proj-", ALNUM, 120),
            ("sk-", ALNUM, 48),
            ("AKIA", UPPER, 16),
            ("ghp_", ALNUM, 36),
            ("gho_", ALNUM, 36),
            ("glpat-", ALNUM, 20),
            ("xoxb-1234567890-", ALNUM, 24),
            ("sk_live_", ALNUM, 24),
            ("AIza", ALNUM, 35),
            ("GOCSPX-", ALNUM, 28),
            ("npm_", ALNUM, 36),
            ("pypi-AgEIcHlwaS5vcmc", ALNUM, 120),
            ("dop_v1_", HEX, 64),
            ("hf_", ALNUM, 34),
            ("shpat_", HEX, 32),
            ("hvs.", ALNUM, 90),
            ("lin_api_", ALNUM, 40),
            ("gsk_", ALNUM, 52),
            ("key-", HEX, 32),
            ("SK", HEX, 32),
            ("https://ci:", ALNUM, 20),
        ];
        let mut keys: Vec<String> =
            prefixed.iter().map(|(lead, letters, n)| format!("{lead}{}", some(rng, letters, *n))).collect();
        if let Some(url) = keys.last_mut() {
            url.push_str("@example.com/x");
        }
        keys.push(format!("github_pat_{}_{}", some(rng, ALNUM, 22), some(rng, ALNUM, 59)));
        keys.push(format!("SG.{}.{}", some(rng, ALNUM, 22), some(rng, ALNUM, 43)));
        keys.push(format!("eyJ{}.eyJ{}.{}", some(rng, ALNUM, 33), some(rng, ALNUM, 80), some(rng, ALNUM, 43)));
        keys.push(format!("aws_secret_access_key = {}", some(rng, ALNUM, 40)));
        let body: Vec<String> = (0..8).map(|_| some(rng, ALNUM, 64)).collect();
        keys.push(format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", body.join("\n")));
        keys
    }

    #[test]
    fn keys_of_known_shapes_are_found_in_text_and_inside_json() {
        let secrets = Secrets::new().unwrap();
        let (mut asked, mut missed) = (0, Vec::new());
        for seed in 0..40 {
            let mut rng = Rng::for_part(seed, "secrets");
            for key in keys(&mut rng) {
                for around in ["export KEY={}\n", "{}", "see \"{}\", then", "会话{}。", "line\n{}\nnext"] {
                    let text = around.replace("{}", &key);
                    let json = String::from_utf8(boswell_model::json::Json::from(text.as_str()).to_bytes()).unwrap();
                    for text in [text, json] {
                        asked += 1;
                        let redacted = secrets.redact(&text);
                        let core = &key[key.len() / 2..key.len() / 2 + 8];
                        if secrets.find(text.as_bytes()).is_empty() || redacted.contains(core) {
                            missed.push(text);
                        }
                    }
                }
            }
        }
        assert!(missed.len() * 20 <= asked, "missed {} of {asked}: {:?}", missed.len(), &missed[..missed.len().min(5)]);
    }

    #[test]
    fn what_only_looks_like_a_key_is_left_alone() {
        let secrets = Secrets::new().unwrap();
        for text in [
            "commit 3f786850e387550fdab836ed7e6dc881de23001b and sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "id 0199a1b2-5678-7abc-8def-0123456789ab",
            "set ANTHROPIC_API_KEY=sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "task-management-and-other-long-words-with-dashes",
            "postgres://user:${PASSWORD}@db/x and http://localhost:8080/@scope",
            "std::collections::HashMap.entry(key).or_insert_with(Vec::new)",
            "disk-sk-abcdefghij",
        ] {
            assert_eq!(secrets.find(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn a_masked_secret_cannot_be_used() {
        let secrets = Secrets::new().unwrap();
        let text = "token ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
        let found = secrets.find(text.as_bytes());
        assert_eq!(found[0].masked(text.as_bytes()), "ghp_… (40 bytes)");
        assert_eq!(secrets.redact(text), "token [github-token removed]");
    }
}
