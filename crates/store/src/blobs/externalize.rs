//! Moves large values out of a record into blobs, and back again byte for byte.
//!
//! Images are stored as readers of the pi family know it: the data is replaced by a reference.
//! These readers have no such form for long text, so it keeps its beginning and a notice that names
//! the rest: a reader that does not know the notice shows the beginning. A value that would not
//! come back exactly as it was (unusual base64, unusual escapes) stays in the record.

use std::borrow::Cow;

use boswell_model::json::{Str, write_string};
use boswell_model::{Error, ErrorKind, Result};
use memchr::memmem;

use super::string_walk::{StringPosition, strings};
use super::{BlobId, Blobs, SCHEME, base64};

/// Text longer than this many UTF-16 units is cut by readers of the pi family when they write it.
pub const LARGE_TEXT: usize = 500_000;

/// Image data of fewer base64 characters stays in the record.
pub const SMALL_IMAGE: usize = 1024;

/// Which values leave their record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Text of more UTF-16 units than this is cut.
    text: usize,
    /// How many of them stay, with the notice.
    kept: usize,
    /// Image data of fewer base64 characters stays in the record.
    image: usize,
    /// The same for an image URL with its data.
    url: usize,
}

impl Limits {
    /// Where large values are files, as the readers of the pi family have it.
    pub(crate) const FILES: Limits = Limits::of_text(LARGE_TEXT);

    /// Where each is a round trip. What stays of a text is enough for a title.
    pub(crate) const REMOTE: Limits = Limits {
        text: REMOTE,
        kept: 4096,
        image: REMOTE,
        url: REMOTE,
    };

    const fn of_text(text: usize) -> Limits {
        Limits {
            text,
            kept: text,
            image: SMALL_IMAGE,
            url: 0,
        }
    }

    /// Whether a record of so many bytes can have a value that leaves it; `plain` if its values are
    /// all text.
    pub(crate) fn may_cut(&self, len: usize, plain: bool) -> bool {
        len >= if plain { self.text } else { self.image }
    }
}

/// The size from which on a value is an object of its own.
const REMOTE: usize = 128 << 10;

const NOTICE: &str = "\n\n[boswell: ";
const MORE: &str = " more characters in ";

/// A record without its large values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Externalised {
    /// The record as it is to be written.
    pub record: Vec<u8>,
    /// The values that were moved out. They must be durable before the record is written, or a
    /// crash leaves a record that points at nothing.
    pub blobs: Vec<(BlobId, Vec<u8>)>,
}

/// A record with its large values.
#[derive(Debug)]
pub struct Internalised {
    /// The record, as it was before its large values were taken out.
    pub record: Vec<u8>,
    /// The blobs that could not be read, and why. Their references are still in the record.
    pub unresolved: Vec<(BlobId, Error)>,
}

/// Takes large values out of a record: images, image URLs with their data, text of more than
/// `threshold` UTF-16 units.
pub fn externalise(record: &[u8], threshold: usize) -> Result<Externalised> {
    externalise_within(record, Limits::of_text(threshold), &[])
}

/// Takes values out of a record that are beyond these limits, except for those that `stay`.
fn externalise_within(record: &[u8], limits: Limits, stay: &[BlobId]) -> Result<Externalised> {
    let mut edits = Edits::default();
    let mut blobs = Vec::new();
    let walked = strings(record, &mut |place, start, end| {
        let token = record.get(start..end).unwrap_or(b"\"\"");
        let moved = match place {
            StringPosition::Image if token.len() < limits.image => None,
            StringPosition::Image => image(token),
            StringPosition::ImageUrl => match image_url(token) {
                Some(_) if token.len() < limits.url => None,
                Some(moved) => moved,
                None => long_text(token, limits),
            },
            StringPosition::Signature | StringPosition::Other => long_text(token, limits),
        };
        if let Some((id, bytes, text)) = moved.filter(|(id, ..)| !stay.contains(id)) {
            edits.replace(start, end, &text);
            blobs.push((id, bytes));
        }
    });
    walked.map_err(|_| not_json())?;
    Ok(Externalised {
        record: edits.apply(record),
        blobs,
    })
}

/// Whether some blob may be named in these bytes.
pub(crate) fn names_any(bytes: &[u8]) -> bool {
    memmem::find(bytes, SCHEME.as_bytes()).is_some()
}

/// Every blob that a record names, wherever it names it.
pub fn references(record: &[u8]) -> Vec<BlobId> {
    let mut found: Vec<BlobId> = memmem::find_iter(record, SCHEME)
        .filter_map(|at| {
            let hex = record.get(at + SCHEME.len()..at + SCHEME.len() + 64)?;
            std::str::from_utf8(hex).ok().and_then(BlobId::parse)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl Blobs {
    /// Takes large values out of a record and keeps them; the record may be
    /// written when this returns.
    pub fn externalise(&self, record: &[u8], threshold: usize) -> Result<Vec<u8>> {
        self.externalise_within(record, Limits::of_text(threshold))
    }

    /// As [`externalise`](Blobs::externalise), by the limits of the place.
    pub(crate) fn externalise_large(&self, record: &[u8]) -> Result<Vec<u8>> {
        self.externalise_within(record, self.limits())
    }

    fn externalise_within(&self, record: &[u8], limits: Limits) -> Result<Vec<u8>> {
        if let Some(agent) = &self.agent {
            return self.persist(agent, record);
        }
        let mut stay = Vec::new();
        loop {
            let made = externalise_within(record, limits, &stay)?;
            let known = stay.len();
            for (id, bytes) in &made.blobs {
                if !self.store(id, bytes)? {
                    stay.push(*id);
                }
            }
            if stay.len() == known {
                return Ok(made.record);
            }
        }
    }

    /// The record as [`externalise_large`](Blobs::externalise_large) would hand it out; nothing is
    /// kept.
    pub(crate) fn as_written(&self, record: &[u8]) -> Result<Vec<u8>> {
        match &self.agent {
            Some(agent) => super::persisted(record, agent.habit).map(|made| made.record),
            None => externalise_within(record, self.limits(), &[]).map(|made| made.record),
        }
    }

    /// Puts the large values back into a record.
    pub fn internalise(&self, record: &[u8]) -> Result<Internalised> {
        let mut edits = Edits::default();
        let mut unresolved = Vec::new();
        let walked = strings(record, &mut |place, start, end| {
            let token = record.get(start..end).unwrap_or(b"\"\"");
            let Some(named) = Named::read(place, token) else {
                return;
            };
            match self.get(&named.id).and_then(|bytes| named.whole(bytes)) {
                Ok(text) => edits.replace(start, end, &text),
                Err(error) => unresolved.push((named.id, error)),
            }
        });
        walked.map_err(|_| not_json())?;
        Ok(Internalised {
            record: edits.apply(record),
            unresolved,
        })
    }
}

pub(super) type Moved = Option<(BlobId, Vec<u8>, Vec<u8>)>;

pub(super) fn image(token: &[u8]) -> Moved {
    let data = Str::trusted(token).escaped();
    if data.len() < SMALL_IMAGE {
        return None;
    }
    let bytes = base64::decode_canonical(data)?;
    let id = BlobId::of(&bytes);
    Some((id, bytes, id.reference().into_bytes()))
}

/// Returns `None` if the text is not an image URL with data, `Some(None)` if it must stay.
pub(super) fn image_url(token: &[u8]) -> Option<Moved> {
    let text = Str::trusted(token).to_wtf8();
    if !text.starts_with(b"data:image/") || memmem::find(&text, b";base64,").is_none() {
        return None;
    }
    let id = BlobId::of(&text);
    Some(is_canonical(token, &text).then(|| (id, text.into_owned(), id.reference().into_bytes())))
}

fn long_text(token: &[u8], limits: Limits) -> Moved {
    let threshold = limits.text;
    // A string has at most as many units as its token has bytes.
    let may_be_long = token.len() > threshold;
    if !may_be_long && !token.ends_with(b"]\"") {
        return None;
    }
    let text = Str::trusted(token).to_wtf8();
    let units = units_of(&text);
    // Text that looks like a notice is moved regardless of its length, so that it comes back as it
    // was.
    if units <= threshold && split_notice(&text).is_none() || !is_canonical(token, &text) {
        return None;
    }
    let id = BlobId::of(&text);
    let room = limits.kept.saturating_sub(notice(units, &id).len());
    let kept = prefix(&text, room);
    let more = characters(text.get(kept.len()..).unwrap_or(b""));
    let mut short = kept.to_vec();
    short.extend_from_slice(notice(more, &id).as_bytes());
    Some((id, text.into_owned(), short))
}

fn is_canonical(token: &[u8], text: &[u8]) -> bool {
    let mut again = Vec::with_capacity(token.len());
    write_string(text, &mut again);
    again == token
}

fn notice(more: usize, id: &BlobId) -> String {
    format!("{NOTICE}{more}{MORE}{}]", id.reference())
}

/// Takes a text with our notice apart: what was kept, how much more there is, and where.
fn split_notice(text: &[u8]) -> Option<(&[u8], usize, BlobId)> {
    let at = memmem::rfind(text, NOTICE.as_bytes())?;
    let rest = std::str::from_utf8(text.get(at + NOTICE.len()..)?).ok()?;
    let (more, reference) = rest.strip_suffix(']')?.split_once(MORE)?;
    let (more, id) = (more.parse().ok()?, BlobId::from_reference(reference)?);
    // `+1` parses as a number too, but we never wrote it.
    (notice(more, &id).as_bytes() == text.get(at..)?).then_some((text.get(..at)?, more, id))
}

/// UTF-16 units of WTF-8 text.
pub(super) fn units_of(text: &[u8]) -> usize {
    text.iter().map(|byte| units_led_by(*byte)).sum()
}

fn units_led_by(byte: u8) -> usize {
    match byte {
        0x80..=0xBF => 0,
        0xF0.. => 2,
        _ => 1,
    }
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| units_led_by(**byte) > 0).count()
}

/// The longest beginning of at most so many units that cuts no character.
pub(super) fn prefix(text: &[u8], room: usize) -> &[u8] {
    let mut units = 0;
    let end = text.iter().position(|byte| {
        units += units_led_by(*byte);
        units > room
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or(b"")
}

/// A blob that a string names, and how the string follows from it.
struct Named<'a> {
    id: BlobId,
    place: StringPosition,
    kept: Option<(Cow<'a, [u8]>, usize)>,
}

impl<'a> Named<'a> {
    fn read(place: StringPosition, token: &'a [u8]) -> Option<Self> {
        let inner = Str::trusted(token).escaped();
        let reference = std::str::from_utf8(inner)
            .ok()
            .and_then(BlobId::from_reference);
        match (place, reference) {
            (StringPosition::Image | StringPosition::ImageUrl, Some(id)) => {
                return Some(Named {
                    id,
                    place,
                    kept: None,
                });
            }
            (StringPosition::Image, None) => return None,
            _ if !inner.ends_with(b"]") => return None,
            _ => {}
        }
        let text = Str::trusted(token).to_wtf8();
        let (len, more, id) = split_notice(&text).map(|(kept, more, id)| (kept.len(), more, id))?;
        let kept = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(..len)?),
            Cow::Owned(mut text) => {
                text.truncate(len);
                Cow::Owned(text)
            }
        };
        Some(Named {
            id,
            place,
            kept: Some((kept, more)),
        })
    }

    /// The string, given the bytes of the blob.
    fn whole(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        match &self.kept {
            None if self.place == StringPosition::Image => Ok(base64::encode(&bytes).into_bytes()),
            Some((kept, more)) => match bytes.strip_prefix(kept.as_ref()) {
                Some(rest) if characters(rest) == *more => Ok(bytes),
                _ => Err(Error::new(
                    ErrorKind::Damaged,
                    format!("blob {} does not continue the text that names it", self.id),
                )
                .because("its beginning or its length differs from what the record kept")
                .advising("the record was changed, or only quotes a notice: read it as it is")),
            },
            None => Ok(bytes),
        }
    }
}

/// Replacements of string tokens, in any order.
#[derive(Default)]
pub(super) struct Edits(Vec<(usize, usize, Vec<u8>)>);

impl Edits {
    pub(super) fn replace(&mut self, start: usize, end: usize, wtf8: &[u8]) {
        let mut token = Vec::with_capacity(wtf8.len() + 2);
        write_string(wtf8, &mut token);
        self.0.push((start, end, token));
    }

    pub(super) fn apply(mut self, record: &[u8]) -> Vec<u8> {
        // Images are found at the end of their object, after strings that follow them.
        self.0.sort_unstable_by_key(|(start, ..)| *start);
        let mut out = Vec::with_capacity(record.len());
        let mut at = 0;
        for (start, end, token) in &self.0 {
            out.extend_from_slice(record.get(at..*start).unwrap_or(b""));
            out.extend_from_slice(token);
            at = *end;
        }
        out.extend_from_slice(record.get(at..).unwrap_or(b""));
        out
    }
}

pub(super) fn not_json() -> Error {
    Error::new(ErrorKind::Invalid, "record is not JSON")
        .because("large values are only moved out of and into well-formed records")
        .advising("give one JSON object per record")
}
