//! URLs in text that escapes would break become explicit links.

use super::inline::{InlineCursor, push_words, target};
use super::piece::{Kind, Piece};

/// Converts URLs that need escapes to links, so that readers with automatic links do not include
/// the escapes.
pub(super) fn linkify(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out = Vec::with_capacity(pieces.len());
    let mut links = 0;
    for piece in pieces {
        match &piece {
            Piece::Open(Kind::Link(_)) => links += 1,
            Piece::Close(Kind::Link(_)) => links -= 1,
            Piece::Text(words) if links == 0 && words.contains("://") => {
                split(words, &mut out);
                continue;
            }
            _ => {}
        }
        out.push(piece);
    }
    out
}

fn split(words: &str, out: &mut Vec<Piece>) {
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = words.get(at..).and_then(|rest| rest.find("http")) {
        let start = at + found;
        let address = address(words.get(start..).unwrap_or(""));
        let alone = !words
            .get(..start)
            .unwrap_or("")
            .ends_with(char::is_alphanumeric);
        at = start + address.len().max(4);
        if alone && needs_escapes(address) && target(address).as_deref() == Some(address) {
            if done < start {
                out.push(Piece::Text(words.get(done..start).unwrap_or("").to_owned()));
            }
            let link = Kind::Link(address.to_owned());
            out.extend([
                Piece::Open(link.clone()),
                Piece::Text(address.to_owned()),
                Piece::Close(link),
            ]);
            done = at;
        }
    }
    if done < words.len() {
        out.push(Piece::Text(words.get(done..).unwrap_or("").to_owned()));
    }
}

fn needs_escapes(address: &str) -> bool {
    let mut written = String::new();
    push_words(&mut written, address, InlineCursor::default());
    written != address
}

/// Returns the URL at the beginning of a text, without the punctuation of the sentence around it.
fn address(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-._~:/?#@!$&*+,;=%".contains(c)))
        .unwrap_or(text.len());
    text.get(..end)
        .unwrap_or("")
        .trim_end_matches(|c: char| ".,:;!?*_~".contains(c))
}
