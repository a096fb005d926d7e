//! The lines of the log: a header, then batches with the checksum of their bytes.

use std::borrow::Cow;

use boswell_model::json::Raw;
use sha2::{Digest, Sha256};

use super::KIND;
use super::fold::Fault;

const OPEN: &[u8] = b"{\"batch\":";
const SEPARATOR: &[u8] = b",\"checksum\":\"";
const CLOSE: &[u8] = b"\"}";
/// The largest whole number that JavaScript represents exactly.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The first line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The generation, which is new with every replacement of the file.
    pub(crate) generation: String,
    /// The revision before the first change.
    pub(crate) base: u64,
    /// Whether the file begins with a snapshot.
    pub(crate) baseline: bool,
}

/// A batch of operations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch<'a> {
    /// The whole body.
    pub(super) body: Raw<'a>,
    /// Whether it is a part of the snapshot.
    pub(super) baseline: bool,
    /// The first revision of the batch.
    pub(super) from: u64,
    /// The revision after it.
    pub(super) revision: u64,
}

impl Header {
    /// Parses the first line; `session` is the id that it must name.
    pub(super) fn parse(line: &[u8], session: Option<&str>) -> Result<Header, Fault> {
        let raw = header_line(line)?;
        let Some(named) = text_of(raw, "sessionId") else {
            return Err(bad("its header names no session"));
        };
        if session.is_some_and(|session| session != named) {
            return Err(bad("its header names another session"));
        }
        let source = raw.get("sourceGeneration");
        if source.is_some_and(|it| it.string().is_none()) {
            return Err(bad("its header names no valid source"));
        }
        let Some(generation) = text_of(raw, "generation").filter(|it| !it.is_empty()) else {
            return Err(bad("its header has no generation"));
        };
        let Some(base) = safe(raw.get("baseRevision")) else {
            return Err(bad("its header has no valid revision"));
        };
        let Some(baseline) = raw.get("baseline").and_then(|it| it.bool()) else {
            return Err(bad("its header does not say how the file begins"));
        };
        Ok(Header {
            generation: generation.into_owned(),
            base,
            baseline,
        })
    }
}

/// Returns the header as JSON, after a check that it is one of this version.
fn header_line(line: &[u8]) -> Result<Raw<'_>, Fault> {
    let raw = Raw::parse(line.trim_ascii()).ok();
    let Some(raw) = raw.filter(|_| std::str::from_utf8(line).is_ok()) else {
        return Err(bad("its first line is not JSON"));
    };
    if text_of(raw, "kind").as_deref() != Some(KIND) {
        return Err(bad("its first line is not the header of a transcript"));
    }
    if raw.get("version").and_then(|version| version.f64()) != Some(2.0) {
        return Err(bad("its header states a version other than 2").newer());
    }
    Ok(raw)
}

/// Returns a member that is a text.
fn text_of<'a>(raw: Raw<'a>, key: &str) -> Option<Cow<'a, str>> {
    raw.get(key)?.text()
}

/// Returns the fault with this reason.
fn bad(why: &str) -> Fault {
    Fault::new(why.to_owned())
}

impl<'a> Batch<'a> {
    /// Parses a line without its line end.
    pub(super) fn parse(line: &'a [u8]) -> Result<Batch<'a>, Fault> {
        let Ok(body) = Raw::parse(checked_body(line)?) else {
            return Err(bad("its batch is not JSON"));
        };
        let mode = body.get("mode");
        let baseline = mode.is_some_and(|mode| mode.is("baseline"));
        if !baseline && !mode.is_some_and(|mode| mode.is("delta")) {
            return Err(misshapen("mode"));
        }
        if body.get("id").is_none_or(|id| id.string().is_none()) {
            return Err(misshapen("id"));
        }
        let number = |key: &str| safe(body.get(key)).ok_or_else(|| misshapen(key));
        Ok(Batch {
            baseline,
            from: number("fromRevision")?,
            revision: number("revision")?,
            body,
        })
    }

    /// Whether the batch ends the snapshot. Any value that JavaScript takes for true does.
    pub(super) fn ends_baseline(&self) -> bool {
        self.body.get("baselineEnd").is_some_and(|value| {
            let empty = value.string().is_some_and(|text| text.escaped().is_empty());
            !(value.is_null() || empty || value.bool() == Some(false) || value.f64() == Some(0.0))
        })
    }
}

/// Returns the body of the batch in a line, after a check of its checksum.
fn checked_body(line: &[u8]) -> Result<&[u8], Fault> {
    let inner = line.strip_prefix(OPEN);
    let Some(inner) = inner.and_then(|rest| rest.strip_suffix(CLOSE)) else {
        return Err(bad("it is not a batch"));
    };
    let Some(at) = memchr::memmem::rfind(inner, SEPARATOR) else {
        return Err(bad("it is not a batch"));
    };
    let (body, sum) = inner.split_at(at);
    let sum = sum.get(SEPARATOR.len()..).unwrap_or_default();
    if sum.len() != 64 || !sum.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(bad("it has no checksum"));
    }
    if hex(body) != sum {
        return Err(bad("its checksum is wrong"));
    }
    if std::str::from_utf8(body).is_err() {
        return Err(bad("it is not UTF-8"));
    }
    Ok(body)
}

/// Returns the fault of a batch in which this member is missing or wrong.
fn misshapen(key: &str) -> Fault {
    Fault::new(format!("its batch has no valid `{key}`"))
}

/// Returns the line of a batch, with its line end.
pub(crate) fn batch_line(body: &[u8]) -> Vec<u8> {
    [OPEN, body, SEPARATOR, &hex(body), CLOSE, b"\n"].concat()
}

/// Returns a whole number that JavaScript represents exactly and that is not negative.
pub(super) fn safe(value: Option<Raw<'_>>) -> Option<u64> {
    let number = value?.f64()?;
    let fits = number.fract() == 0.0 && (0.0..=LARGEST).contains(&number);
    // The range was checked, so the number is exact.
    fits.then_some(number as u64)
}

fn hex(body: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    let sum = Sha256::digest(body);
    sum.iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
