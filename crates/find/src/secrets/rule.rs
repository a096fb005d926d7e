//! The tables of rules: read once, then matched at the places where their literals occur.

use std::ops::Range;

use boswell_model::{Error, ErrorKind, Result};

use super::anchors::WINDOW;
use super::class::{B64TAIL, Class, Runs};
use super::value;

/// One form of a credential; a line of `rules.txt`.
#[derive(Debug, Default)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pieces: Vec<Piece>,
    /// Index of the piece that is the literal to search for.
    anchor: usize,
    /// The pieces that are the secret.
    secret: Range<usize>,
    word: bool,
    blob: bool,
    mixed: bool,
}

#[derive(Debug)]
enum Piece {
    /// One of these texts.
    Literal(Vec<&'static str>),
    /// A run of bytes of a class, with minimum and maximum length.
    Run(Class, usize, usize),
}

/// A credential that is recognised by its issuer's name; a line of `vendors.txt`.
#[derive(Debug)]
pub(super) struct Vendor {
    pub(super) kind: &'static str,
    pub(super) names: Vec<&'static str>,
    pub(super) forms: Vec<(Class, usize, usize)>,
}

fn wrong(line: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("the rule `{line}` for secrets is not valid"),
    )
    .because(why)
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Reads `rules.txt`.
pub(super) fn rules() -> Result<Vec<Rule>> {
    lines(include_str!("rules.txt")).map(rule).collect()
}

/// Reads `vendors.txt`.
pub(super) fn vendors() -> Result<Vec<Vendor>> {
    lines(include_str!("vendors.txt")).map(vendor).collect()
}

fn rule(line: &'static str) -> Result<Rule> {
    let (kind, rest) = line
        .split_once(' ')
        .ok_or_else(|| wrong(line, "it has no pieces"))?;
    let mut rule = Rule {
        kind,
        ..Rule::default()
    };
    let mut secret = None;
    let mut end = None;
    for token in tokens(rest) {
        match token {
            "@word" => rule.word = true,
            "@blob" => rule.blob = true,
            "@mixed" => rule.mixed = true,
            "[" => secret = Some(rule.pieces.len()),
            "]" => end = Some(rule.pieces.len()),
            it if it.starts_with('\'') => {
                let texts = it
                    .split("'|'")
                    .map(|text| text.trim_matches('\''))
                    .collect();
                rule.pieces.push(Piece::Literal(texts));
            }
            it => {
                let (class, least, most) =
                    run(it).ok_or_else(|| wrong(line, "a run is not valid"))?;
                rule.pieces.push(Piece::Run(class, least, most));
            }
        }
    }
    rule.secret = secret.unwrap_or(0)..end.unwrap_or(rule.pieces.len());
    let long = |piece: &Piece| matches!(piece, Piece::Literal(texts) if texts.iter().all(|text| text.len() >= WINDOW));
    rule.anchor = rule
        .pieces
        .iter()
        .position(long)
        .ok_or_else(|| wrong(line, "it has no literal to search for"))?;
    Ok(rule)
}

/// Splits at spaces that are outside quotes.
fn tokens(rest: &'static str) -> Vec<&'static str> {
    let mut quoted = false;
    let parts = rest.split(move |c: char| {
        quoted ^= c == '\'';
        c == ' ' && !quoted
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn vendor(line: &'static str) -> Result<Vendor> {
    let mut words = line.split_whitespace();
    let (Some(kind), Some(names), Some(forms), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong(line, "it needs a kind, names and forms"));
    };
    let forms: Option<Vec<_>> = forms.split('|').map(run).collect();
    Ok(Vendor {
        kind,
        names: names.split(',').collect(),
        forms: forms.ok_or_else(|| wrong(line, "a run is not valid"))?,
    })
}

/// Reads `class{n}`, `class{n,m}` or `class{n,}`.
fn run(token: &str) -> Option<(Class, usize, usize)> {
    let (name, lengths) = token.strip_suffix('}')?.split_once('{')?;
    let (least, most) = match lengths.split_once(',') {
        Some((least, "")) => (least.parse().ok()?, usize::MAX),
        Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
        None => (lengths.parse().ok()?, lengths.parse().ok()?),
    };
    Some((Class::named(name)?, least, most))
}

/// A position at which a rule may match, and what is known of its surroundings.
pub(super) struct RulePosition {
    /// Start of the literal.
    pub(super) start: usize,
    /// End of the literal.
    pub(super) end: usize,
    /// Whether the text was cut off at its end, so that a run may be shorter there.
    pub(super) cut: bool,
}

impl Rule {
    /// Returns the literals to search for.
    pub(super) fn anchors(&self) -> &[&'static str] {
        match self.pieces.get(self.anchor) {
            Some(Piece::Literal(texts)) => texts,
            _ => &[],
        }
    }

    /// Returns the secret if the rest of the form matches around this literal.
    pub(super) fn matches(
        &self,
        runs: &mut Runs<'_>,
        place: &RulePosition,
    ) -> Option<Range<usize>> {
        let mut secret = (place.start, place.end);
        let start = self.backwards(runs.text, place.start, &mut secret)?;
        if self.word && !value::begins_a_word(runs.text, start) {
            return None;
        }
        let end = self.forwards(runs, place, &mut secret)?;
        let range = secret.0..secret.1;
        let bytes = runs.text.get(range.clone())?;
        let whole = start..end;
        let mixed =
            || bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic);
        let real =
            (!self.mixed || mixed()) && !value::is_filler(bytes) && value::bits(bytes) >= 2.2;
        (real && !(self.blob && in_blob(runs.text, &whole))).then_some(range)
    }

    fn backwards(&self, text: &[u8], from: usize, secret: &mut (usize, usize)) -> Option<usize> {
        let mut at = from;
        for (index, piece) in self.pieces.iter().enumerate().take(self.anchor).rev() {
            let before = text.get(..at)?;
            let len = match piece {
                Piece::Literal(texts) => texts
                    .iter()
                    .find(|it| before.ends_with(it.as_bytes()))
                    .map(|it| it.len())?,
                Piece::Run(class, least, most) => {
                    let len = before
                        .iter()
                        .rev()
                        .take(*most)
                        .take_while(|byte| class.has(**byte))
                        .count();
                    (len >= *least).then_some(len)?
                }
            };
            at -= len;
            if index >= self.secret.start {
                secret.0 = at;
            }
        }
        Some(at)
    }

    fn forwards(
        &self,
        runs: &mut Runs<'_>,
        place: &RulePosition,
        secret: &mut (usize, usize),
    ) -> Option<usize> {
        let mut at = place.end;
        for (index, piece) in self.pieces.iter().enumerate().skip(self.anchor + 1) {
            if index == self.secret.start {
                *secret = (at, at);
            }
            let all = runs.text.len();
            match piece {
                Piece::Literal(texts) => {
                    let rest = runs.text.get(at..)?;
                    match texts.iter().find(|it| rest.starts_with(it.as_bytes())) {
                        Some(it) => at += it.len(),
                        None if place.cut && at == all => {}
                        None => return None,
                    }
                }
                Piece::Run(class, least, most) => {
                    let end = runs.end(*class, at);
                    let last = index + 1 == self.pieces.len();
                    let cut = place.cut && end == all;
                    if end - at < *least && !(cut && end > place.end) {
                        return None;
                    }
                    // Text that follows a key without a gap cannot be distinguished from it, so it
                    // is hidden too.
                    at = if last {
                        end
                    } else {
                        end.min(at.saturating_add(*most))
                    };
                }
            }
            if index < self.secret.end {
                secret.1 = at;
            }
        }
        Some(at)
    }
}

/// Returns whether a match is part of an image or another file in base64: a long run that is not a
/// path.
fn in_blob(text: &[u8], range: &Range<usize>) -> bool {
    const FAR: usize = 512;
    let run = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.take(FAR).take_while(|b| B64TAIL.has(**b)).count()
    };
    let before = run(&mut text.get(..range.start).unwrap_or_default().iter().rev());
    let after = run(&mut text.get(range.end..).unwrap_or_default().iter());
    let around = text
        .get(range.start - before..range.start)
        .unwrap_or_default()
        .iter();
    let around = around.chain(text.get(range.end..range.end + after).unwrap_or_default());
    let slashes = around.filter(|byte| **byte == b'/').count();
    before + after > 160 && slashes * 20 < before + after
}
