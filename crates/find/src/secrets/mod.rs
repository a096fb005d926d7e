//! Finds keys and passwords in what a session contains: known forms, known places, and
//! values of telling names.
//!
//! Works on text and on JSON as it is in a log alike, also where a text was escaped more than once.
//! It never changes a log: it says where secrets are, and redacts a copy. `rules.txt` and
//! `vendors.txt` are the tables of forms.

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
    /// What it is, such as `github-token`; `assigned` for the value of a telling name.
    pub kind: &'static str,
    /// Where the secret itself is.
    pub range: Range<usize>,
}

impl Secret {
    /// The secret as it may be shown: enough to recognise it, not enough to use it.
    pub fn masked(&self, text: &[u8]) -> String {
        let secret = text.get(self.range.clone()).unwrap_or_default();
        // Four bytes of a key are its issuer's prefix; of a short password they
        // would be half of it.
        let shown = secret
            .iter()
            .take((secret.len() / 8).min(4))
            .map(|byte| char::from(*byte));
        let shown: String = shown.filter(char::is_ascii_graphic).collect();
        format!("{shown}… ({} bytes)", secret.len())
    }
}

/// What a text is searched for leads to one of these.
#[derive(Debug, Clone, Copy)]
enum Clue {
    Rule(usize, &'static str),
    Vendor(usize),
    Name(Name),
    Context(Context),
}

/// Looks for secrets.
#[derive(Debug)]
pub struct Secrets {
    anchors: Anchors<Clue>,
    rules: Vec<Rule>,
    vendors: Vec<Vendor>,
}

/// How often a text inside a text inside a text is unescaped.
const DEPTH: usize = 4;

impl Secrets {
    /// Gets ready to look. Worth keeping for many texts.
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

    /// Every secret of a text, in order, none inside another.
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        self.find_in(text, false)
    }

    /// As [`Secrets::find`], of a text that was cut off: at its end the beginning of
    /// a key counts as one.
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

    fn find_plain(&self, text: &[u8], cut: bool) -> Vec<Secret> {
        let mut runs = Runs::of(text);
        let mut found: Vec<Secret> = Vec::new();
        let mut seen = Seen::default();
        let mut covered = 0;
        self.anchors.each(text, &mut |range, clue| match clue {
            // Inside a key that was found nothing else is looked for, which keeps long runs cheap.
            // A key that follows without a gap begins inside the run that ends the first one.
            Clue::Rule(index, word)
                if range.end > covered && text.get(range.clone()) == Some(word.as_bytes()) =>
            {
                let Some(rule) = self.rules.get(index) else {
                    return;
                };
                let place = RulePosition {
                    start: range.start,
                    end: range.end,
                    cut,
                };
                if let Some(range) = rule.matches(&mut runs, &place) {
                    covered = range.end;
                    found.push(Secret {
                        kind: rule.kind,
                        range,
                    });
                }
            }
            Clue::Rule(..) => {}
            Clue::Vendor(index) => {
                let Some(vendor) = self.vendors.get(index) else {
                    return;
                };
                let value = assign::of_vendor(text, &range, &vendor.forms);
                found.extend(value.map(|range| Secret {
                    kind: vendor.kind,
                    range,
                }));
            }
            Clue::Name(name) => {
                let value = assign::secret(text, &range, name);
                found.extend(value.map(|range| Secret {
                    kind: "assigned",
                    range,
                }));
            }
            Clue::Context(context) => context::find(text, context, &range, &mut seen),
        });
        context::discord(text, &mut seen.found);
        found.extend(
            seen.found
                .into_iter()
                .map(|(kind, range)| Secret { kind, range }),
        );
        found
    }

    /// The text with every secret removed.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_into(text, false, &mut SecretCount::default())
    }

    /// As [`Secrets::redact`], and counts what it removed. `cut` says that the text is the
    /// beginning of a longer one.
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
            // Secrets begin and end at ASCII bytes, and so at the ends of characters.
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

/// Sorts and joins what overlaps: a known form names what a guess only found.
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
                // Nothing of either may stay.
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
