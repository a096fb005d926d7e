//! Searches for words in every byte below a folder: in plain files, in copies of the vault, and in
//! compressed data.

use std::io::Read;
use std::path::{Path, PathBuf};

use boswell_testkit::disk::read;

use crate::keep::below;

const OBJECT: &[u8] = b"BOSWELL-OBJECT 1\n";
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// Returns every file below a folder that contains one of the words, in any case, with the word.
/// Free pages of SQLite, its logs and locks are searched like all other files.
pub(crate) fn holding(folder: &Path, words: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return found;
    }
    for path in below(folder) {
        let bytes = read(&path);
        let unpacked = unpacked(&bytes);
        let name = path.to_string_lossy().to_lowercase();
        for word in words {
            let word = word.to_lowercase();
            if name.contains(&word)
                || holds(&bytes, &word)
                || unpacked.as_ref().is_some_and(|it| holds(it, &word))
            {
                found.push((path.clone(), word));
            }
        }
    }
    found
}

fn holds(bytes: &[u8], word: &str) -> bool {
    let lower = bytes.to_ascii_lowercase();
    lower
        .windows(word.len())
        .any(|window| window == word.as_bytes())
}

/// Returns the content of a vault copy or a compressed log.
fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.starts_with(ZSTD) {
        let mut out = Vec::new();
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes).unwrap();
        decoder.read_to_end(&mut out).unwrap();
        return Some(out);
    }
    let mut rest = bytes.strip_prefix(OBJECT)?;
    let mut out = Vec::new();
    while rest.len() >= 8 {
        let number = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        let (len, packed) = (number(0), number(4));
        let body = &rest[8..8 + packed];
        if packed < len {
            lz4(body, &mut out)
        } else {
            out.extend_from_slice(body)
        }
        rest = &rest[8 + packed..];
    }
    Some(out)
}

/// Decodes one LZ4 block; matches refer only to the same block.
fn lz4(block: &[u8], out: &mut Vec<u8>) {
    let (mut at, start) = (0, out.len());
    while at < block.len() {
        let token = block[at];
        at += 1;
        let literals = length(usize::from(token >> 4), block, &mut at);
        out.extend_from_slice(&block[at..at + literals]);
        at += literals;
        if at >= block.len() {
            return;
        }
        let back = usize::from(u16::from_le_bytes([block[at], block[at + 1]]));
        at += 2;
        let count = length(usize::from(token & 15), block, &mut at) + 4;
        assert!(
            back > 0 && back <= out.len() - start,
            "a match outside of the block"
        );
        for _ in 0..count {
            out.push(out[out.len() - back]);
        }
    }
}

fn length(first: usize, block: &[u8], at: &mut usize) -> usize {
    let mut length = first;
    if first == 15 {
        loop {
            let more = block[*at];
            *at += 1;
            length += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    length
}

#[test]
fn words_are_found_in_plain_files_and_in_copies_of_the_vault() {
    let bench = crate::bench::Bench::new();
    let text = "zebra and quagga, ".repeat(4000);
    let session = bench
        .run(["new", "--title", "zebra"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    bench.run(["append", &session, "--user", &text]).ends(0);
    bench.run(["delete", "--apply", &session]).ends(0);
    let found = holding(
        &bench.own().join("vault/objects"),
        &["quagga, zebra", "okapi"],
    );
    assert_eq!(found.len(), 1, "{found:?}");
}
