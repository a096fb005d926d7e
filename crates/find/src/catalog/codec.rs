//! The binary form of packed catalog values: a letter that names the field, then its value. Unknown
//! values are omitted.
//!
//! Texts are a varint length and UTF-8, times are eight bytes of milliseconds, and a [`Usage`] is a
//! bit set of its known parts followed by those parts. [`Out::sealed`] appends a CRC-32.

use boswell_model::{Instant, Usage};

use crate::varint::{self, Reader};

/// The bytes that were written so far.
#[derive(Debug, Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn raw_text(&mut self, text: &str) {
        varint::put(&mut self.0, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn text(&mut self, letter: u8, text: Option<&str>) {
        if let Some(text) = text {
            self.0.push(letter);
            self.raw_text(text);
        }
    }

    pub(super) fn pair(&mut self, letter: u8, key: &str, value: &str) {
        self.text(letter, Some(key));
        self.raw_text(value);
    }

    pub(super) fn number(&mut self, letter: u8, number: Option<u64>) {
        if let Some(number) = number {
            self.0.push(letter);
            varint::put(&mut self.0, number);
        }
    }

    pub(super) fn time(&mut self, letter: u8, time: Option<Instant>) {
        if let Some(time) = time {
            self.0.push(letter);
            self.0.extend_from_slice(&time.millis().to_le_bytes());
        }
    }

    /// Returns the bytes followed by their CRC-32.
    pub(super) fn sealed(mut self) -> Vec<u8> {
        let sum = crc32fast::hash(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        self.0
    }

    /// Writes `letter`, a bit set of the known parts, and those parts; nothing if all are unknown.
    pub(super) fn usage(&mut self, letter: u8, usage: &Usage) {
        if usage.is_unknown() {
            return;
        }
        let counts = counts_of(usage);
        let known = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| count.is_some())
            .fold(0, |bits, (at, _)| bits | 1 << at);
        self.0.extend_from_slice(&[letter, known | parts_of(usage)]);
        counts
            .into_iter()
            .flatten()
            .for_each(|count| varint::put(&mut self.0, count));
        for part in [usage.cost, usage.premium_requests].into_iter().flatten() {
            self.0.extend_from_slice(&part.to_le_bytes());
        }
    }
}

/// Returns the bits 6 and 7 of the bit set: whether `cost` and `premium_requests` are known.
fn parts_of(usage: &Usage) -> u8 {
    u8::from(usage.cost.is_some()) << 6 | u8::from(usage.premium_requests.is_some()) << 7
}

fn counts_of(usage: &Usage) -> [Option<u64>; 6] {
    [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.cache_write_1h,
        usage.reasoning,
    ]
}

impl<'a> Reader<'a> {
    /// Opens what [`Out::sealed`] returned; `None` if the checksum does not match.
    pub(super) fn sealed(bytes: &'a [u8]) -> Option<Reader<'a>> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        (crc32fast::hash(body).to_le_bytes() == *sum).then(|| Reader::new(body))
    }
}

/// Reads a time that [`Out::time`] wrote, after its letter.
pub(super) fn time(from: &mut Reader<'_>) -> Option<Instant> {
    let millis = from.bytes(8)?.try_into().ok().map(i64::from_le_bytes)?;
    Some(Instant::from_millis(millis))
}

/// Reads what [`Out::usage`] wrote, after its letter.
pub(super) fn usage(from: &mut Reader<'_>) -> Option<Usage> {
    let known = *from.bytes(1)?.first()?;
    let mut counts = [None; 6];
    for (at, count) in counts.iter_mut().enumerate() {
        if known & 1 << at != 0 {
            *count = Some(from.number()?);
        }
    }
    let mut parts = [None; 2];
    for (at, part) in parts.iter_mut().enumerate() {
        if known & 1 << (6 + at) != 0 {
            *part = Some(from.bytes(8)?.try_into().ok().map(f64::from_le_bytes)?);
        }
    }
    let [
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h,
        reasoning,
    ] = counts;
    let [cost, premium_requests] = parts;
    Some(Usage {
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h,
        reasoning,
        cost,
        premium_requests,
    })
}
