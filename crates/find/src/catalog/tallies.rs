//! Sums over all sessions, kept for as long as none of them changed.
//!
//! Which message counts for which session depends on all of them: so sums are made anew when one changed, and not before.

use std::hash::{DefaultHasher, Hash, Hasher};

use boswell_model::{Result, Usage};
use rusqlite::{OptionalExtension, params};

use super::packing::{Out, usage};
use super::state::State;
use super::{Catalog, Entry};
use crate::stats::{By, Row, Sum, Tally};
use crate::varint::{self, Reader};

/// Another number here and every sum is made anew.
const VERSION: u64 = 1;

/// Which sums of which stores these are, and the state of the sessions; none as long as one of them was not read as a whole and
/// written down.
fn name_and_state(entries: &[Entry], by: By) -> Option<(i64, i64)> {
    let (mut name, mut state) = (DefaultHasher::new(), DefaultHasher::new());
    (VERSION, by).hash(&mut name);
    let mut last = None;
    for entry in entries {
        if entry.row == 0 || !entry.is_current() || !entry.items.is_empty() {
            return None;
        }
        if last != Some(entry.store) {
            last = Some(entry.store);
            entry.store.0.hash(&mut name);
        }
        (entry.row, entry.generation, entry.located.size, State::digest(&entry.located)).hash(&mut state);
    }
    Some((name.finish().cast_signed(), state.finish().cast_signed()))
}

impl Catalog {
    /// The sums over these sessions, if none of them changed since they were made.
    pub fn tally(&self, entries: &[Entry], by: By) -> Result<Option<Tally>> {
        let Some((name, state)) = name_and_state(entries, by) else { return Ok(None) };
        let known: Option<Vec<u8>> = (self.db.prepare_cached("SELECT sums FROM tally WHERE name=?1 AND state=?2"))
            .and_then(|mut one| one.query_row(params![name, state], |row| row.get(0)).optional())
            .map_err(|error| self.fault(error))?;
        Ok(known.and_then(|bytes| unpack(&bytes)))
    }

    /// Keeps the sums over these sessions. Where nothing can be written they are made again next time.
    pub fn keep_tally(&self, entries: &[Entry], by: By, tally: &Tally) {
        let Some((name, state)) = name_and_state(entries, by) else { return };
        let _ = (self.db.prepare_cached("INSERT OR REPLACE INTO tally VALUES(?1,?2,?3)"))
            .and_then(|mut keep| keep.execute(params![name, state, pack(tally)]));
    }
}

fn pack(tally: &Tally) -> Vec<u8> {
    let mut out = Out::default();
    for (key, row) in &tally.rows {
        let held = &row.held;
        out.raw_text(key);
        for count in [held.sessions, held.messages, held.turns, held.tool_calls, held.entries] {
            varint::put(&mut out.0, count);
        }
        out.number(b'd', held.duration_ms);
        if held.partial {
            out.0.push(b'p');
        }
        for (word, count) in &held.kinds {
            out.text(b'k', Some(word));
            varint::put(&mut out.0, *count);
        }
        for ((model, recorded), usage) in &row.spent {
            out.text(if *recorded { b'R' } else { b'S' }, Some(model));
            out.usage(b'u', usage);
        }
        out.0.push(b';');
    }
    let sum = crc32fast::hash(&out.0);
    out.0.extend_from_slice(&sum.to_le_bytes());
    out.0
}

/// None for what [`pack`] did not write.
fn unpack(bytes: &[u8]) -> Option<Tally> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return None;
    }
    let (mut reader, mut tally) = (Reader::new(body), Tally::default());
    while !reader.is_empty() {
        let key = reader.text()?.to_owned();
        tally.rows.insert(key, unpack_row(&mut reader)?);
    }
    Some(tally)
}

fn unpack_row(reader: &mut Reader<'_>) -> Option<Row> {
    let held = Sum {
        sessions: reader.number()?,
        messages: reader.number()?,
        turns: reader.number()?,
        tool_calls: reader.number()?,
        entries: reader.number()?,
        ..Sum::default()
    };
    let mut row = Row { held, ..Row::default() };
    let mut last = None;
    loop {
        match reader.bytes(1)? {
            b"d" => row.held.duration_ms = Some(reader.number()?),
            b"p" => row.held.partial = true,
            b"k" => {
                row.held.kinds.insert(reader.text()?.to_owned(), reader.number()?);
            }
            letter @ (b"R" | b"S") => {
                let spent = (reader.text()?.to_owned(), letter == b"R");
                row.spent.insert(spent.clone(), Usage::default());
                last = Some(spent);
            }
            b"u" => {
                row.spent.insert(last.clone()?, usage(reader)?);
            }
            b";" => return Some(row),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_back_and_a_changed_byte_is_noticed() {
        let kinds = [("user".to_owned(), 2)].into();
        let held = Sum { sessions: 1, messages: 300, duration_ms: Some(0), partial: true, kinds, ..Sum::default() };
        let usage = |cost: Option<f64>| Usage { output: Some(1 << 40), cost, ..Usage::default() };
        let spent = [(("m".to_owned(), false), usage(None)), (("m".to_owned(), true), usage(Some(0.5)))].into();
        let nothing = [(("会".to_owned(), false), Usage::default())].into();
        let mut tally = Tally::default();
        tally.rows.insert("2026-01-01".into(), Row { held, spent });
        tally.rows.insert(String::new(), Row { held: Sum::default(), spent: nothing });
        let bytes = pack(&tally);
        assert_eq!(unpack(&bytes), Some(tally));
        for at in 0..bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 4;
            assert_eq!(unpack(&hurt), None, "byte {at}");
        }
    }
}
