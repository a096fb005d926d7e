//! Secret detection: finds credentials in text by known forms, known contexts, and values of names
//! such as `password`.
//!
//! It works on plain text and on the raw JSON of a log, including text that was escaped more than
//! once. It never changes a log: it reports where secrets are, and redacts copies. The tables of
//! forms are `rules.txt` and `vendors.txt`.

mod anchors;
mod assign;
mod class;
mod context;
mod escape;
mod rule;
mod secret_count;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use boswell_model::Result;

use anchors::Anchors;
use assign::{NAMES, Name};
use class::Runs;
use context::{CONTEXTS, Context, Seen};
use escape::Unescaped;
use rule::{Rule, RulePosition, Vendor};
pub use secret_count::SecretCount;

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Kind of the secret, such as `github-token`; `assigned` for a value that is assigned to a
    /// name.
    pub kind: &'static str,
    /// Byte range of the secret.
    pub range: Range<usize>,
}

impl Secret {
    fn new(kind: &'static str, range: Range<usize>) -> Secret {
        Secret { kind, range }
    }

    /// Returns the secret as it may be shown: enough to recognise it, not enough to use it.
    pub fn masked(&self, text: &[u8]) -> String {
        let secret = text.get(self.range.clone()).unwrap_or_default();
        // The first four bytes of a key are its issuer's prefix; of a short password they would be
        // half of it.
        let shown = secret
            .iter()
            .take((secret.len() / 8).min(4))
            .map(|byte| char::from(*byte));
        let shown: String = shown.filter(char::is_ascii_graphic).collect();
        format!("{shown}… ({} bytes)", secret.len())
    }
}

/// The meaning of an anchor word.
#[derive(Debug, Clone, Copy)]
enum Clue {
    Rule(usize, &'static str),
    Vendor(usize),
    Name(Name),
    Context(Context),
}

/// The detector with its compiled rules.
#[derive(Debug)]
pub struct Secrets {
    anchors: Anchors<Clue>,
    rules: Vec<Rule>,
    vendors: Vec<Vendor>,
}

/// Maximum number of escape levels that are decoded.
const DEPTH: usize = 4;

impl Secrets {
    /// Compiles the rules; reuse the value for many texts.
    pub fn new() -> Result<Secrets> {
        let (rules, vendors) = (rule::rules()?, rule::vendors()?);
        let mut words: Vec<(&'static str, Clue)> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            words.extend(
                rule.anchors()
                    .iter()
                    .map(|anchor| (*anchor, Clue::Rule(index, anchor))),
            );
        }
        for (index, vendor) in vendors.iter().enumerate() {
            words.extend(vendor.names.iter().map(|name| (*name, Clue::Vendor(index))));
        }
        words.extend(NAMES.iter().map(|(word, name)| (*word, Clue::Name(*name))));
        words.extend(
            CONTEXTS
                .iter()
                .map(|(word, context)| (*word, Clue::Context(*context))),
        );
        Ok(Secrets {
            anchors: Anchors::new(&words),
            rules,
            vendors,
        })
    }

    /// Returns every secret of a text, in order and without overlaps.
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        self.find_in(text, false)
    }

    /// As [`Secrets::find`], for a text that was cut off: at its end the beginning of a key counts
    /// as a secret.
    pub fn find_in_beginning(&self, text: &[u8]) -> Vec<Secret> {
        self.find_in(text, true)
    }

    fn find_in(&self, text: &[u8], cut: bool) -> Vec<Secret> {
        let mut found = self.find_plain(text, cut);
        let mut level = Cow::Borrowed(text);
        let mut maps: Vec<Unescaped> = Vec::new();
        while maps.len() < DEPTH && escape::hides_text(&level) {
            let inner = Unescaped::of(&level);
            level = Cow::Owned(inner.text.clone());
            maps.push(inner);
            let outer = |range: Range<usize>| {
                maps.iter()
                    .rev()
                    .fold(range, |range, map| map.source(&range))
            };
            found.extend(self.find_plain(&level, cut).into_iter().map(|it| Secret {
                range: outer(it.range),
                kind: it.kind,
            }));
        }
        apart(found)
    }

    fn by_rule(
        &self,
        index: usize,
        runs: &mut Runs<'_>,
        range: &Range<usize>,
        cut: bool,
    ) -> Option<Secret> {
        let rule = self.rules.get(index)?;
        let place = RulePosition {
            start: range.start,
            end: range.end,
            cut,
        };
        Some(Secret::new(rule.kind, rule.matches(runs, &place)?))
    }

    fn find_plain(&self, text: &[u8], cut: bool) -> Vec<Secret> {
        let mut runs = Runs::of(text);
        let mut found: Vec<Secret> = Vec::new();
        let mut seen = Seen::default();
        let mut covered = 0;
        self.anchors.each(text, &mut |range, clue| match clue {
            // Nothing else is searched inside a secret that was found, which keeps long runs cheap.
            // A key that follows without a gap begins inside the run that ends the first one.
            Clue::Rule(index, word)
                if range.end > covered && text.get(range.clone()) == Some(word.as_bytes()) =>
            {
                if let Some(secret) = self.by_rule(index, &mut runs, &range, cut) {
                    covered = secret.range.end;
                    found.push(secret);
                }
            }
            Clue::Rule(..) => {}
            Clue::Vendor(index) => {
                if let Some(vendor) = self.vendors.get(index) {
                    let value = assign::of_vendor(text, &range, &vendor.forms);
                    found.extend(value.map(|range| Secret::new(vendor.kind, range)));
                }
            }
            Clue::Name(name) => {
                let value = assign::secret(text, &range, name);
                found.extend(value.map(|range| Secret::new("assigned", range)));
            }
            Clue::Context(context) => context::find(text, context, &range, &mut seen),
        });
        context::discord(text, &mut seen.found);
        for (kind, range) in seen.found {
            found.push(Secret::new(kind, range));
        }
        found
    }

    /// Returns the text with every secret removed.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_into(text, false, &mut SecretCount::default())
    }

    /// As [`Secrets::redact`], and adds the removed secrets to a count. `cut` means that the text
    /// is the beginning of a longer one.
    pub fn redact_into<'t>(
        &self,
        text: &'t str,
        cut: bool,
        count: &mut SecretCount,
    ) -> Cow<'t, str> {
        let found = self.find_in(text.as_bytes(), cut);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for secret in found {
            // Secrets begin and end at ASCII bytes, so their ends are character boundaries.
            let (Some(before), true) = (
                text.get(at..secret.range.start),
                text.is_char_boundary(secret.range.end),
            ) else {
                continue;
            };
            out.push_str(before);
            out.push_str(&format!("[{} removed]", secret.kind));
            at = secret.range.end;
            count.add(
                secret.kind,
                text.as_bytes().get(secret.range).unwrap_or_default(),
            );
        }
        out.push_str(text.get(at..).unwrap_or(""));
        Cow::Owned(out)
    }
}

/// Sorts secrets and merges those that overlap; the kind of a known form takes precedence over a
/// guess.
fn apart(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|it| {
        (
            it.range.start,
            std::cmp::Reverse(it.range.end),
            guessed(it.kind),
        )
    });
    let mut out: Vec<Secret> = Vec::with_capacity(found.len());
    for it in found {
        match out
            .last_mut()
            .filter(|last| it.range.start < last.range.end)
        {
            Some(last) => {
                // No byte of either may remain.
                last.range.end = last.range.end.max(it.range.end);
                if guessed(last.kind) && !guessed(it.kind) {
                    last.kind = it.kind;
                }
            }
            None => out.push(it),
        }
    }
    out
}

fn guessed(kind: &str) -> bool {
    matches!(
        kind,
        "assigned" | "bearer-token" | "cookie" | "password-in-command"
    )
}
