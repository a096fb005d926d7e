//! Damaged copies: every method is called, and none may panic.

use boswell_dialect::Depth;
use boswell_model::Tip;
use boswell_store::repair::check;

use super::DialectRule::NeverPanics;
use super::{DialectSample, DialectSuite, Findings};
use crate::damage::{self, Damage};
use crate::memory_rows::StoredCell;
use crate::{Rng, fuzz};

/// Cuts, flips and random bytes per sample.
const ROUNDS: usize = 12;

pub(super) fn run(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let mut rng = Rng::for_part(5, &sample.id);
    if sample.main.is_none() {
        rows(suite, sample, findings);
        return;
    }
    for (what, bytes) in broken(sample.bytes(), &mut rng) {
        let what = format!("{} {what}", sample.id);
        findings.part(&what, |findings| {
            fuzz::dialect(suite.dialect, &bytes);
            ask(suite, &sample.with_bytes(&bytes), findings);
        });
    }
}

/// Returns damaged copies of a log or document, each with a description.
fn broken(bytes: &[u8], rng: &mut Rng) -> Vec<(String, Vec<u8>)> {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let mut copies = Vec::new();
    for damage in damage::ALL {
        // The long line only tests the splitter, and two megabytes of it cost a second.
        if !matches!(damage, Damage::LongLine(_)) {
            let copy = damage::apply(*damage, bytes, rng.below(lines), rng);
            copies.push((format!("with {damage:?}"), copy));
        }
    }
    for round in 0..ROUNDS {
        let cut = bytes.len() * round / ROUNDS;
        copies.push((format!("cut at {cut}"), bytes[..cut].to_vec()));
        let mut flipped = bytes.to_vec();
        for _ in 0..=round {
            let at = rng.below(flipped.len());
            if let Some(byte) = flipped.get_mut(at) {
                *byte = *rng.pick(b"{}[]\"\\\n\0\xff0-,:nt");
            }
        }
        copies.push((format!("flipped in round {round}"), flipped));
        let length = rng.below(200);
        copies.push((format!("replaced in round {round}"), rng.bytes(length)));
    }
    copies.push(("with other types".to_owned(), other_types(bytes)));
    copies
}

/// Every string becomes a number, every number a string: valid JSON with unexpected types.
fn other_types(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace(":\"", ":[\"").replace("\",\"", "\"],\"");
    text.replace(":null", ":{}")
        .replace(":1", ":\"1\",\"x\":1")
        .into()
}

/// Rows with columns of other types, and missing tables.
fn rows(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let odd = [
        StoredCell::Null,
        StoredCell::Integer(i64::MIN),
        StoredCell::text("{\"role\":"),
        StoredCell::text("-"),
        StoredCell::Bytes(vec![0, 255]),
    ];
    for (database, whole) in &sample.databases {
        for (table, key, columns) in whole.places() {
            let mut copies = vec![whole.clone()];
            copies[0].remove(&table, key);
            for nth in 0..columns {
                copies.extend(odd.iter().map(|cell| {
                    let mut copy = whole.clone();
                    copy.update_nth(&table, key, nth, cell.clone());
                    copy
                }));
            }
            for copy in copies {
                let mut broken = sample.clone();
                broken.databases.insert(database.clone(), copy);
                let what = format!("{} with a broken row of {table}", sample.id);
                findings.part(&what, |findings| ask(suite, &broken, findings));
            }
        }
    }
}

/// Calls everything through the store. Errors are accepted; only a broken rule is a finding.
fn ask(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let store = sample.store(suite.dialect);
    let Ok(listing) = store.list() else { return };
    for location in &listing.sessions {
        findings.expect(NeverPanics, !location.id.starts_with('-'), || {
            format!("damage makes `{}` a session", location.id)
        });
        let _ = store.summary(location);
        let Ok(session) = store.read(location, Depth::Pairs) else {
            continue;
        };
        let _ = check(&session);
        let tips = [session.tip().unwrap_or_default(), Tip::Root];
        for tip in tips {
            let _ = (session.branch(tip), session.context(tip));
        }
        let count = session.log().heads.len();
        let parts = [session.tree().len(), session.meta().kinds.len()];
        findings.expect(NeverPanics, parts[0] == count, || {
            format!("{}: {} links for {count} records", sample.id, parts[0])
        });
    }
}
