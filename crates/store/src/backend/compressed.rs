//! Decompresses logs that their agent compressed with zstd, as a whole when they are opened.
//!
//! Listings show such a file with its compressed length; positions are those of the log inside.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use boswell_model::{Error, ErrorKind, Result};
use ruzstd::decoding::StreamingDecoder;

/// The end of the names of compressed logs.
const ENDING: &str = ".jsonl.zst";
/// A log that decompresses to more bytes is refused: it is held in memory, and a few bytes can
/// expand to terabytes.
const LONGEST: u64 = 1 << 30;
/// The largest window that a file may use, which costs as much memory.
const WIDEST: u64 = 128 << 20;
/// The magic number of a skippable frame, except for its last four bits.
const SKIPPED: u32 = 0x184D_2A50;

/// Returns whether an object is decompressed when it is opened.
pub fn is_packed(key: &str) -> bool {
    key.ends_with(ENDING)
}

/// Decompresses the log in a file; `shown` names it in errors.
pub(super) fn unpack(packed: &[u8], shown: &str) -> Result<Vec<u8>> {
    unpack_within(packed, LONGEST).map_err(|why| {
        Error::new(ErrorKind::Damaged, format!("`{shown}` cannot be unpacked"))
            .because(why)
            .advising("test it with `zstd --test`; it was not changed")
    })
}

fn unpack_within(packed: &[u8], longest: u64) -> std::result::Result<Vec<u8>, String> {
    let (mut rest, mut log) = (packed, Vec::new());
    while !rest.is_empty() {
        if let Some(behind) = behind_skipped(rest)? {
            rest = behind;
            continue;
        }
        let decoder = StreamingDecoder::new_with_max_window_size(&mut rest, WIDEST);
        let decoder = decoder.map_err(|error| error.to_string())?;
        let left = longest.saturating_sub(log.len() as u64);
        decoder
            .take(left + 1)
            .read_to_end(&mut log)
            .map_err(|error| error.to_string())?;
        if log.len() as u64 > longest {
            return Err(format!("it becomes longer than {longest} bytes"));
        }
    }
    Ok(log)
}

/// Returns the bytes behind a skippable frame; `None` if `bytes` does not begin with one.
fn behind_skipped(bytes: &[u8]) -> std::result::Result<Option<&[u8]>, String> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    match (word(0).map(|magic| magic & 0xFFFF_FFF0), word(4)) {
        (Some(SKIPPED), Some(len)) => {
            let end = 8_usize.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
            bytes
                .get(end..)
                .map(Some)
                .ok_or_else(|| "it ends in the middle".to_owned())
        }
        _ => Ok(None),
    }
}

/// A cache of the object that was decompressed last: a search opens a log for every piece that it
/// reads.
#[derive(Debug, Clone)]
pub(super) struct LastUnpacked<K>(Arc<Mutex<Option<Unpacked<K>>>>);

/// The key of an object, and its bytes.
type Unpacked<K> = (K, Arc<[u8]>);

impl<K> Default for LastUnpacked<K> {
    fn default() -> Self {
        LastUnpacked(Arc::default())
    }
}

impl<K: PartialEq> LastUnpacked<K> {
    /// Returns the cached bytes of an object, else those that `unpack` returns.
    pub(super) fn bytes(
        &self,
        of: K,
        unpack: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Arc<[u8]>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = last.as_ref().filter(|(known, _)| *known == of) {
            return Ok(Arc::clone(bytes));
        }
        let bytes: Arc<[u8]> = unpack()?.into();
        *last = Some((of, Arc::clone(&bytes)));
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    #[test]
    fn what_was_packed_comes_out_frame_by_frame_and_stretches_without_content_are_passed_over() {
        let long = "{\"type\":\"会话\"}\n".repeat(50_000);
        assert_eq!(
            unpack_within(&packed(&long), LONGEST),
            Ok(long.clone().into_bytes())
        );
        let skipped = [
            SKIPPED.to_le_bytes().as_slice(),
            &3_u32.to_le_bytes(),
            b"abc",
        ]
        .concat();
        let several = [packed("a\n"), skipped.clone(), packed("b\n")].concat();
        assert_eq!(unpack_within(&several, LONGEST), Ok(b"a\nb\n".to_vec()));
        assert_eq!(unpack_within(b"", LONGEST), Ok(Vec::new()));
        assert!(unpack_within(&skipped[..9], LONGEST).is_err());
    }

    #[test]
    fn a_bomb_is_refused_once_it_grows_too_long() {
        let bomb = packed(&"\0".repeat(10 << 20));
        assert!(bomb.len() < 100_000, "{}", bomb.len());
        assert!(
            unpack_within(&bomb, 1 << 20)
                .is_err_and(|why| why.contains("longer than 1048576 bytes"))
        );
        assert!(unpack_within(&bomb, 10 << 20).is_ok());
    }

    #[test]
    fn garbage_and_what_is_cut_short_are_damage_and_say_so() {
        let whole = packed(&"some text that is worth packing\n".repeat(1_000));
        for cut in 1..whole.len() {
            assert!(
                unpack_within(&whole[..cut], LONGEST).is_err(),
                "cut at {cut}"
            );
        }
        let error = unpack(b"not zstd at all", "/x.jsonl.zst").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(error.to_string().contains("/x.jsonl.zst"), "{error}");
    }

    #[test]
    fn the_last_object_is_unpacked_once() {
        let last = LastUnpacked::default();
        let mut times = 0;
        for of in ["a", "a", "b", "a"] {
            last.bytes(of, || {
                times += 1;
                Ok(of.as_bytes().to_vec())
            })
            .unwrap();
        }
        assert_eq!(times, 3);
        assert!(last.bytes("c", || unpack(b"garbage", "c")).is_err());
        assert_eq!(
            &*last.bytes("a", || unpack(b"garbage", "c")).unwrap(),
            b"a",
            "what fails takes nobody's place"
        );
    }
}
