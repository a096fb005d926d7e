//! Spans cover every byte of a file, and records are found after damage.

use proptest::prelude::*;

use super::*;

fn typed(object: &Object<'_>) -> bool {
    object.get("type").is_some()
}

fn split(bytes: &[u8], chunk: usize) -> Vec<(SpanKind, String)> {
    let mut out: Vec<(SpanKind, Vec<u8>)> = Vec::new();
    let mut splitter = Splitter::default();
    let mut next = 0;
    let mut take = |piece: SplitRecord<'_>| {
        assert_eq!(piece.span.at, next, "spans follow each other");
        assert_eq!(piece.span.len, piece.bytes.len() as u64);
        next += piece.span.len;
        out.push((piece.span.kind, piece.bytes.to_vec()));
    };
    let mut lines = Lines::new(0, 1);
    for part in bytes.chunks(chunk) {
        lines.push(part, &mut |line| splitter.line(line, &typed, &mut take));
    }
    lines.finish(&mut |line| splitter.line(line, &typed, &mut take));
    assert_eq!(
        out.iter().flat_map(|(_, b)| b.clone()).collect::<Vec<u8>>(),
        bytes,
        "spans tile the file"
    );
    out.into_iter()
        .map(|(kind, b)| (kind, String::from_utf8_lossy(&b).into_owned()))
        .collect()
}

fn records(bytes: &[u8]) -> Vec<String> {
    split(bytes, 7)
        .into_iter()
        .filter(|(k, _)| matches!(k, SpanKind::Record { .. }))
        .map(|(_, t)| t)
        .collect()
}

fn gaps(bytes: &[u8]) -> Vec<Gap> {
    let gap = |(kind, _)| {
        if let SpanKind::Gap(gap) = kind {
            Some(gap)
        } else {
            None
        }
    };
    split(bytes, 5)
        .into_iter()
        .filter_map(gap)
        .filter(|g| *g != Gap::Newline)
        .collect()
}

const A: &str = r#"{"type":"a","n":{"x":"}{"}}"#;
const B: &str = r#"{"type":"b"}"#;

#[test]
fn glued_records_are_told_apart() {
    let glued = format!("{A}{B}\n{A}\n");
    assert_eq!(records(glued.as_bytes()), [A, B, A]);
    let nths: Vec<_> = split(glued.as_bytes(), 64)
        .iter()
        .filter_map(|(k, _)| {
            if let SpanKind::Record { nth, .. } = k {
                Some(*nth)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(nths, [0, 1, 0]);
}

#[test]
fn a_record_behind_a_torn_one_is_salvaged_and_parts_of_the_torn_one_are_not() {
    let torn = r#"{"type":"a","m":{"role":"user","text":"cut h"#;
    assert_eq!(records(format!("{torn}{B}\n").as_bytes()), [B]);
    assert_eq!(gaps(format!("{torn}{B}\n").as_bytes()), [Gap::Garbage]);
    assert_eq!(records(format!("{torn}\n{B}\n").as_bytes()), [B]);
}

#[test]
fn nuls_before_a_record_do_not_hide_it() {
    let holed = format!("{A}\n\0\0\0\0{B}\n\0\0\n\0\0");
    assert_eq!(records(holed.as_bytes()), [A, B]);
    assert_eq!(gaps(holed.as_bytes()), [Gap::Nul, Gap::Nul, Gap::Nul]);
}

#[test]
fn the_unfinished_tail_is_pending_and_a_whole_one_without_newline_a_record() {
    assert_eq!(
        gaps(format!("{A}\n{{\"type\":\"b").as_bytes()),
        [Gap::Pending]
    );
    assert_eq!(records(format!("{A}\n{B}").as_bytes()), [A, B]);
    assert_eq!(gaps(b"half\n{\"type\":\"b"), [Gap::Garbage, Gap::Pending]);
}

#[test]
fn byte_order_marks_carriage_returns_and_values_that_are_no_objects_are_gaps() {
    let bytes = format!("\u{FEFF}{A}\r\n\r\n 12 \n[{B}]\nnull\n");
    assert_eq!(records(bytes.as_bytes()), [A, B]);
    assert_eq!(
        gaps(bytes.as_bytes())[..3],
        [Gap::Bom, Gap::Blank, Gap::Blank]
    );
}

#[test]
fn a_torn_line_full_of_openings_does_not_cost_its_square() {
    let torn = "{\"".repeat(1 << 20);
    assert_eq!(gaps_whole(torn.as_bytes()), [Gap::Pending]);
}

fn gaps_whole(bytes: &[u8]) -> Vec<Gap> {
    let mut out = Vec::new();
    Splitter::default().line(
        Line {
            at: 0,
            number: 1,
            bytes,
        },
        &typed,
        &mut |p| {
            if let SpanKind::Gap(gap) = p.span.kind {
                out.push(gap);
            }
        },
    );
    out
}

#[test]
fn the_objects_of_an_array_are_records_and_all_else_is_frame() {
    let tiles = |bytes: &[u8]| {
        let mut kinds = Vec::new();
        let mut all = Vec::new();
        Splitter::default().document(bytes, Framing::Document, &mut |piece| {
            assert_eq!(piece.span.at, all.len() as u64, "spans follow each other");
            all.extend_from_slice(piece.bytes);
            kinds.push(matches!(piece.span.kind, SpanKind::Record { .. }));
        });
        assert_eq!(all, bytes, "spans tile the file");
        kinds.into_iter().filter(|is_record| *is_record).count()
    };
    assert_eq!(
        tiles(b"\xEF\xBB\xBF [\n {\"a\":1},\n 7, {\"b\":[{}]}\n]\n"),
        2
    );
    assert_eq!(tiles(b"[]"), 0);
    assert_eq!(tiles(b"[{\"a\":1}"), 0, "torn");
    assert_eq!(tiles(b"[{\"a\":1}] x"), 0, "followed by something else");
}

#[test]
fn rows_of_a_document_are_records_and_all_else_is_frame() {
    let doc = b"{\n \"v\":1, \"messages\" : [\n  {\"id\":\"0\"},\n  7, {\"id\":\"1\"}\n ] }\n";
    let mut out = Vec::new();
    let mut whole = Vec::new();
    Splitter::default().document(doc, Framing::Rows("messages"), &mut |p| {
        whole.extend_from_slice(p.bytes);
        if p.object.is_some() {
            out.push((p.span.line, String::from_utf8_lossy(p.bytes).into_owned()));
        }
    });
    assert_eq!(whole, doc);
    assert_eq!(
        out,
        [
            (3, "{\"id\":\"0\"}".to_owned()),
            (4, "{\"id\":\"1\"}".to_owned())
        ]
    );
}

proptest! {
    #[test]
    fn any_bytes_tile(bytes in proptest::collection::vec(prop_oneof![
        any::<u8>(), Just(b'{'), Just(b'}'), Just(b'"'), Just(b'\n'), Just(0u8), Just(b':'),
    ], 0..300), chunk in 1usize..40) {
        split(&bytes, chunk);
    }

    #[test]
    fn any_damaged_log_tiles(cut in any::<(u16, u16)>(), filler in "[\\PC\0\n]{0,6}", chunk in 1usize..50) {
        let log = format!("{A}\n{B}\n{A}{B}\n\n{B}\n");
        let from = usize::from(cut.0) % log.len();
        let to = (from + usize::from(cut.1) % 20).min(log.len());
        let damaged = [&log.as_bytes()[..from], filler.as_bytes(), &log.as_bytes()[to..]].concat();
        let one = split(&damaged, chunk);
        prop_assert_eq!(one, split(&damaged, damaged.len().max(1)), "chunks do not matter");
    }
}
