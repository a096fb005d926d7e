//! Spans cover any bytes completely, regardless of the chunk size.

use boswell_model::json::Object;
use boswell_model::{Framing, Lines, Span, SplitRecord, Splitter};

pub(super) fn spans(bytes: &[u8]) {
    let whole = lines(bytes, bytes.len().max(1));
    // The input itself decides how it is split, so that a finding needs only the input.
    let sum: usize = bytes.iter().take(64).map(|byte| usize::from(*byte)).sum();
    for chunk in [1 + sum % 7, 1 + sum % 97, 4096] {
        assert!(
            lines(bytes, chunk) == whole,
            "chunks of {chunk} give other spans"
        );
    }
    for framing in [
        Framing::Document,
        Framing::Rows("messages"),
        Framing::Rows("type"),
    ] {
        let mut tiles = Tiles::default();
        Splitter::default().document(bytes, framing, &mut |piece| tiles.take(&piece));
        assert!(tiles.bytes == bytes, "the spans of a document tile it");
    }
}

fn lines(bytes: &[u8], chunk: usize) -> Vec<Span> {
    let mut tiles = Tiles::default();
    let mut splitter = Splitter::default();
    let is_record = |object: &Object<'_>| object.get("type").is_some();
    let mut lines = Lines::new(0, 1);
    for part in bytes.chunks(chunk) {
        lines.push(part, &mut |line| {
            splitter.line(line, &is_record, &mut |piece| tiles.take(&piece))
        });
    }
    lines.finish(&mut |line| splitter.line(line, &is_record, &mut |piece| tiles.take(&piece)));
    assert!(tiles.bytes == bytes, "the spans of a log tile it");
    tiles.spans
}

#[derive(Default)]
struct Tiles {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Tiles {
    fn take(&mut self, piece: &SplitRecord<'_>) {
        assert_eq!(
            piece.span.at,
            self.bytes.len() as u64,
            "spans follow one another"
        );
        assert_eq!(piece.span.len, piece.bytes.len() as u64);
        assert!(!piece.bytes.is_empty(), "no span is empty");
        self.bytes.extend_from_slice(piece.bytes);
        self.spans.push(piece.span);
    }
}
