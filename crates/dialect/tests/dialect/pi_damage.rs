//! Damaged sessions of the pi family: which entries still load, which problems are reported, and
//! that no input causes a panic.

use std::borrow::Cow;

use boswell_dialect::pi::Pi;
use boswell_dialect::{
    Depth, Dialect, Permissions, ReadSession, Reader, Refine, Repairer, Runtime, Sample,
    SessionLocation,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{Flags, Framing, Gap, Lines, Payloads, Slot, SpanKind};

struct Bytes<'a>(&'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn location() -> SessionLocation {
    SessionLocation {
        key: Some("sessions/--p--/S.jsonl".to_owned()),
        ..SessionLocation::of("S", Framing::Lines, 0)
    }
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"S","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;

fn user(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:01Z","message":{{"role":"user","content":"says {id}"}}}}"#
    )
}

/// Returns the path to the tip of a file as ids, the gaps, and the problems that only the family
/// finds.
fn loaded(bytes: &[u8]) -> (Vec<String>, Vec<Gap>, Vec<&'static str>) {
    let read = Reader::read(&Pi::PI, &location(), bytes, Depth::Facts);
    let payloads = Bytes(bytes);
    let view = read.view(&payloads);
    let tip = Pi::PI.tip(&view).unwrap();
    let path = Pi::PI.branch(&view, tip).unwrap();
    let mut problems = Vec::new();
    Pi::PI.check(&view, &read.meta, &mut problems).unwrap();
    let gaps = read.log.gaps.iter().filter_map(|g| match g.kind {
        SpanKind::Gap(gap) => Some(gap),
        SpanKind::Record { .. } => None,
    });
    let ids = path
        .iter()
        .map(|slot| read.log.label(*slot).into_owned())
        .collect();
    (
        ids,
        gaps.collect(),
        problems.iter().map(|p| p.kind.word()).collect(),
    )
}

fn chain() -> [String; 3] {
    [user("1", ""), user("2", "1"), user("3", "2")]
}

#[test]
fn an_empty_file_is_an_empty_session() {
    assert_eq!(loaded(b""), (vec![], vec![], vec![]));
    assert_eq!(loaded(b"\n\n  \n"), (vec![], vec![], vec![]));
}

#[test]
fn a_lost_header_leaves_everything_else() {
    let [a, b, c] = chain();
    let ids = ["1", "2", "3"].map(str::to_owned).to_vec();
    assert_eq!(
        loaded([a.as_str(), &b, &c].join("\n").as_bytes()),
        (ids.clone(), vec![], vec!["bad_header"])
    );
    let torn = format!("{{\"type\":\"session\",\"ver\n{a}\n{b}\n{c}\n");
    assert_eq!(
        loaded(torn.as_bytes()),
        (ids, vec![Gap::Garbage], vec!["bad_header"])
    );
}

#[test]
fn a_torn_line_costs_only_itself() {
    let [a, b, c] = chain();
    let middle = format!("{HEADER}\n{a}\n{}\n{c}\n", &b[..40]);
    let (ids, gaps, problems) = loaded(middle.as_bytes());
    assert_eq!(
        (ids, gaps, problems),
        (vec!["3".to_owned()], vec![Gap::Garbage], vec![])
    );
    let last = format!("{HEADER}\n{a}\n{b}\n{}", &c[..40]);
    let (ids, gaps, problems) = loaded(last.as_bytes());
    assert_eq!((ids.len(), gaps, problems), (2, vec![Gap::Pending], vec![]));
    let unended = format!("{HEADER}\n{a}\n{b}\n{c}");
    assert_eq!(loaded(unended.as_bytes()).0.len(), 3);
}

/// pi appends directly after a torn line, so that the torn record and the next one share a line,
/// and pi loses both.
#[test]
fn an_entry_behind_a_torn_one_is_kept_and_holds_the_chain() {
    let [a, b, c] = chain();
    let glued = format!("{HEADER}\n{a}\n{}{b}\n{c}\n", &user("torn", "1")[..60]);
    let (ids, gaps, _) = loaded(glued.as_bytes());
    assert_eq!(
        (ids, gaps),
        (
            vec!["1".to_owned(), "2".to_owned(), "3".to_owned()],
            vec![Gap::Garbage]
        )
    );
    let (ids, gaps, _) = loaded(format!("{HEADER}\n{a}{b}\n{c}\n").as_bytes());
    assert_eq!((ids.len(), gaps), (3, vec![]));
}

#[test]
fn nul_bytes_line_ends_and_marks_do_no_harm() {
    let [a, b, c] = chain();
    let text = format!("{HEADER}\n{a}\n{b}\n{c}\n");
    let (ids, gaps, problems) = loaded(format!("{text}{}", "\0".repeat(4096)).as_bytes());
    assert_eq!((ids.len(), gaps, problems), (3, vec![Gap::Nul], vec![]));
    assert_eq!(loaded(text.replace('\n', "\r\n").as_bytes()).0.len(), 3);
    let (ids, gaps, problems) = loaded(format!("\u{feff}{text}").as_bytes());
    assert_eq!((ids.len(), gaps, problems), (3, vec![Gap::Bom], vec![]));
}

#[test]
fn odd_strings_are_content_not_damage() {
    let surrogate = user("1", "").replace("says 1", "\\ud83d");
    let separator = user("2", "1").replace("says 2", "a\u{2028}b");
    let mut bytes = format!("{HEADER}\n{surrogate}\n{separator}\n").into_bytes();
    bytes.extend_from_slice(user("3", "2").replace("says 3", "@").as_bytes());
    let at = bytes.iter().rposition(|b| *b == b'@').unwrap();
    bytes[at] = 0xFF;
    let (ids, gaps, _) = loaded(&bytes);
    assert_eq!((ids.len(), gaps), (3, vec![]));
    let read = Reader::read(&Pi::PI, &location(), &bytes, Depth::Facts);
    assert!(read.log.heads[3].flags.has(Flags::BAD_UTF8));
    assert!(
        read.meta
            .first_prompt
            .is_some_and(|p| p.contains('\u{fffd}'))
    );
}

#[test]
fn a_line_of_megabytes_is_read_in_chunks() {
    let long = user("1", "").replace("says 1", &"x".repeat(3_000_000));
    let text = format!("{HEADER}\n{long}\n{}\n", user("2", "1"));
    let mut reader = Reader::new(&Pi::PI, &location(), Depth::Facts);
    let mut lines = Lines::new(0, 1);
    for chunk in text.as_bytes().chunks(4096) {
        lines.push(chunk, &mut |line| reader.line(line));
    }
    lines.finish(&mut |line| reader.line(line));
    let read = reader.finish();
    assert_eq!((read.log.heads.len(), read.meta.messages), (3, 2));
    assert_eq!(read.meta.first_prompt.as_ref().map(String::len), Some(400));
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_has_a_context() {
    let mut text = format!("{HEADER}\n{}\n", user("0", ""));
    for n in 1..100_000 {
        text += &user(&n.to_string(), &(n - 1).to_string());
        text.push('\n');
    }
    let read = Reader::read(&Pi::PI, &location(), text.as_bytes(), Depth::Heads);
    let payloads = Bytes(text.as_bytes());
    let view = read.view(&payloads);
    let context = Pi::PI.context(&view, Pi::PI.tip(&view).unwrap()).unwrap();
    assert_eq!(context.items.len(), 100_000);
}

/// Calls every method of the dialect on a session.
fn ask_everything(pi: Pi, bytes: &[u8]) -> ReadSession {
    let read = Reader::read(&pi, &location(), bytes, Depth::Facts);
    let payloads = Bytes(bytes);
    let view = read.view(&payloads);
    let tip = pi.tip(&view).unwrap();
    pi.leaf(&view, tip);
    pi.branch(&view, tip).unwrap();
    pi.check(&view, &read.meta, &mut Vec::new()).unwrap();
    pi.resume(&read.meta, &location(), Permissions::Asked);
    for item in pi.context(&view, tip).unwrap().items {
        let payloads: Vec<_> = item
            .slots()
            .map(|slot| view.payload(slot).unwrap())
            .collect();
        let mut members = vec![Vec::new(); payloads.len()];
        for (payload, members) in payloads.iter().zip(&mut members) {
            scan_object(payload, members).unwrap();
        }
        let records: Vec<_> = payloads
            .iter()
            .zip(&members)
            .map(|(p, m)| Object::new(p, m))
            .collect();
        pi.render(&item, &records);
        pi.render(&item, &[]);
        pi.recognises(&Sample {
            name: "x",
            folders: &[],
            records: &records,
        });
    }
    for slot in read.log.slots().collect::<Vec<Slot>>() {
        let view = view
            .with_object(slot, |object| pi.view(object))
            .unwrap()
            .unwrap();
        pi.touched_files(&view);
    }
    read
}

#[test]
fn no_damage_makes_us_stumble() {
    let all = include_str!("pi_every_type.jsonl");
    let mut id_source = 1u64;
    let mut below = |n: usize| {
        id_source = id_source
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (id_source >> 33) as usize % n
    };
    for round in 0..1500 {
        let mut bytes = all.as_bytes().to_vec();
        for _ in 0..1 + below(6) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] = b"{}[]\",:\\\0\n0-tn\xFF"[below(15)],
                1 => drop(bytes.drain(at..(at + below(60)).min(bytes.len()))),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let from = below(bytes.len());
                    let copy = bytes[from..(from + below(200)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        let pi = [Pi::PI, Pi::OMP, Pi::XCSH, Pi::BOSWELL][round % 4];
        let read = ask_everything(pi, &bytes);
        assert_eq!(read.log.bytes, bytes.len() as u64);
    }
}

#[test]
fn every_type_with_unknown_keys_is_kept_byte_for_byte() {
    let all = include_str!("pi_every_type.jsonl");
    let read = ask_everything(Pi::XCSH, all.as_bytes());
    let records: Vec<_> = read
        .log
        .heads
        .iter()
        .map(|h| &all[h.at as usize..(h.at + h.len) as usize])
        .collect();
    assert_eq!(records, all.lines().collect::<Vec<_>>());
    assert!(read.log.gaps.is_empty());
    assert!(all.lines().all(|line| line.contains("\"unknownKey\"")));
}
