//! A packed snapshot of the columns that a refresh compares, one per store.
//!
//! A refresh compares the directory listing with what the catalog knows of every log (size, time,
//! identity). Stepping through ten thousand SQLite rows costs more than the comparison itself, so
//! these columns are also written as one blob, in the order of the listing of that time. Rows that
//! changed afterwards have a later revision than the snapshot and are read from their table. Where
//! the listing fits neither, the whole table is read: a stale snapshot costs time and is never
//! trusted.
//!
//! It pays at 10,000 sessions and more: `list` takes 28 ms instead of 40 ms there.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, Row, Transaction, params};

use super::CatalogRow;
use super::file_state::{Change, State, change};
use super::filter_keys::{FilterKeys, Shared};
use super::listing_match::{place_name, place_sum};
use super::schema::{self, SESSION_IS_SOUND};
use super::sort_keys::{self, SortKeys};
use crate::varint::{self, Reader};

/// Sessions per part.
const PART: usize = 512;
/// Nine numbers, two small ones, and the sort keys.
const LINE: usize = 9 * 8 + 2 * 4 + sort_keys::LEN;
/// In place of the number of filter keys, if no keys are known.
const NONE: u32 = u32::MAX;

/// Returns the revision of a change that is about to be written.
pub(super) fn next_rev(tx: &Transaction<'_>) -> rusqlite::Result<i64> {
    tx.query_row("UPDATE clock SET rev=rev+1 RETURNING rev", [], |row| {
        row.get(0)
    })
}

/// Returns the revision of the last change.
pub(super) fn rev(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT rev FROM clock", [], |row| row.get(0))
}

/// The stored columns of a session that are compared.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) row: i64,
    pub(super) state: State,
    young: bool,
    generation: i64,
    upto: i64,
    pub(super) gone: bool,
    sort_keys: Option<(SortKeys, Arc<FilterKeys>)>,
}

/// The columns of a line.
pub(super) const COLUMNS: &str =
    "id, dev, ino, size, mtime, ctime, digest, young, generation, upto, gone, glance";

impl Line {
    pub(super) fn of_row(row: &Row<'_>, shared: &mut Shared) -> rusqlite::Result<Line> {
        Ok(Line {
            row: row.get(0)?,
            state: State::of_row(row)?,
            young: row.get(7)?,
            generation: row.get(8)?,
            upto: row.get(9)?,
            gone: row.get(10)?,
            sort_keys: row
                .get_ref(11)?
                .as_blob()
                .ok()
                .and_then(|bytes| SortKeys::from_bytes(bytes, shared)),
        })
    }

    /// Copies the stored data to an entry; returns whether the log is unchanged.
    pub(super) fn claim(self, entry: &mut CatalogRow) -> bool {
        let now = State::of(&entry.location);
        (entry.row, entry.generation) = (self.row, self.generation.cast_unsigned());
        entry.upto = u64::try_from(self.upto).ok();
        (entry.sort_keys, entry.filter_keys) = self.sort_keys.unzip();
        !self.gone && change(&self.state, self.young, &now, &entry.location) == Change::None
    }
}

/// Compares entries with the listing snapshot of their store: returns which of them changed, and
/// how many rows are newer. `None` if the snapshot does not match the listing.
pub(super) fn compare(
    db: &Connection,
    store: i64,
    entries: &mut [CatalogRow],
) -> rusqlite::Result<Option<(Vec<usize>, usize)>> {
    let mut parts = db.prepare_cached("SELECT bytes FROM roll WHERE store=?1 ORDER BY part")?;
    let mut parts = parts.query([store])?;
    let Some(first) = parts.next()? else {
        return Ok(None);
    };
    let Some(head) = first
        .get_ref(0)?
        .as_blob()
        .ok()
        .and_then(sound)
        .and_then(Head::decode)
    else {
        return Ok(None);
    };
    let (later, mut met) = (Later::read(db, store, head.rev)?, 0);
    let count = later.lines.len();
    let mut caller = Caller {
        entries,
        later,
        next: 0,
        changed: Vec::new(),
    };
    while let Some(part) = parts.next()? {
        let Some(body) = part.get_ref(0)?.as_blob().ok().and_then(sound) else {
            return Ok(None);
        };
        for line in body.as_chunks::<LINE>().0 {
            met += 1;
            let Some((sum, line)) = decode(line, &head.filter_keys) else {
                return Ok(None);
            };
            if !caller.call(sum, line) {
                return Ok(None);
            }
        }
    }
    let fits = met == head.count && caller.rest();
    Ok(fits.then_some((caller.changed, count)))
}

/// Walks through entries and lines in parallel.
struct Caller<'e> {
    entries: &'e mut [CatalogRow],
    later: Later,
    next: usize,
    changed: Vec<usize>,
}

impl Caller<'_> {
    /// Finds the entry of a line of the snapshot; only newer sessions may come before it.
    fn call(&mut self, sum: u32, line: Line) -> bool {
        let line = self.later.lines.remove(&line.row).unwrap_or(line);
        if line.gone {
            return true;
        }
        while let Some(entry) = self.entries.get(self.next) {
            if place_sum(&entry.location) == sum {
                self.claim(line);
                return true;
            }
            if !self.newcomer() {
                return false;
            }
        }
        false
    }

    /// Whether all remaining entries are newer than the snapshot, and no newer one is missing.
    fn rest(&mut self) -> bool {
        while self.next < self.entries.len() {
            if !self.newcomer() {
                return false;
            }
        }
        self.later.lines.values().all(|line| line.gone)
    }

    fn newcomer(&mut self) -> bool {
        let place = self
            .entries
            .get(self.next)
            .map(|entry| place_name(&entry.location))
            .unwrap_or_default();
        let line = self
            .later
            .rows
            .get(&place)
            .and_then(|row| self.later.lines.remove(row));
        line.filter(|line| !line.gone)
            .map(|line| self.claim(line))
            .is_some()
    }

    fn claim(&mut self, line: Line) {
        if let Some(entry) = self.entries.get_mut(self.next)
            && !line.claim(entry)
        {
            self.changed.push(self.next);
        }
        self.next += 1;
    }
}

/// Rows that were written after a listing snapshot.
struct Later {
    lines: HashMap<i64, Line>,
    rows: HashMap<String, i64>,
}

impl Later {
    fn read(db: &Connection, store: i64, rev: i64) -> rusqlite::Result<Later> {
        let (mut later, mut shared) = (
            Later {
                lines: HashMap::new(),
                rows: HashMap::new(),
            },
            Shared::default(),
        );
        // The plus prevents SQLite from using another index, which would scan all rows of the
        // store.
        let sql = format!(
            "SELECT {COLUMNS}, place, {SESSION_IS_SOUND} FROM session WHERE rev>?1 AND +store=?2"
        );
        let mut all = db.prepare_cached(&sql)?;
        let mut rows = all.query([rev, store])?;
        while let Some(row) = rows.next()? {
            schema::sound(row, 13)?;
            let line = Line::of_row(row, &mut shared)?;
            later.rows.insert(row.get(12)?, line.row);
            later.lines.insert(line.row, line);
        }
        Ok(later)
    }
}

/// The first part of a listing snapshot.
struct Head {
    rev: i64,
    count: usize,
    filter_keys: Vec<Arc<FilterKeys>>,
}

impl Head {
    fn decode(body: &[u8]) -> Option<Head> {
        let mut reader = Reader::new(body);
        let rev = i64::try_from(reader.number()?).ok()?;
        let count = usize::try_from(reader.number()?).ok()?;
        let (mut filter_keys, mut shared) = (Vec::new(), Shared::default());
        while !reader.is_empty() {
            let len = usize::try_from(reader.number()?).ok()?;
            filter_keys.push(shared.unpack(reader.bytes(len)?)?);
        }
        Some(Head {
            rev,
            count,
            filter_keys,
        })
    }
}

/// Returns a part without its checksum, if that is correct.
fn sound(part: &[u8]) -> Option<&[u8]> {
    let (body, sum) = part.split_last_chunk::<4>()?;
    (crc32fast::hash(body).to_le_bytes() == *sum).then_some(body)
}

fn decode(line: &[u8; LINE], filter_keys: &[Arc<FilterKeys>]) -> Option<(u32, Line)> {
    let (numbers, rest) = line.split_first_chunk::<72>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let (which, sort_keys) = rest.split_first_chunk::<4>()?;
    let mut numbers = numbers
        .as_chunks::<8>()
        .0
        .iter()
        .map(|number| i64::from_le_bytes(*number));
    let mut number = || numbers.next().unwrap_or(0);
    let row = number();
    let state = State {
        dev: number(),
        ino: number(),
        size: number(),
        mtime: number(),
        ctime: number(),
        digest: number(),
    };
    let (generation, upto) = (number(), number());
    let sort_keys = match u32::from_le_bytes(*which) {
        NONE => None,
        which => Some((
            SortKeys::take(sort_keys.first_chunk()?),
            Arc::clone(filter_keys.get(which as usize)?),
        )),
    };
    let line = Line {
        row,
        state,
        young: false,
        generation,
        upto,
        gone: false,
        sort_keys,
    };
    Some((u32::from_le_bytes(*sum), line))
}

/// Writes the listing snapshot of a store: entries that match their stored rows at that revision,
/// in the order of the listing. Omitted entries have a newer row, or are about to get one.
pub(super) fn write<'e>(
    tx: &Transaction<'_>,
    store: i64,
    rev: i64,
    unchanged: impl Iterator<Item = &'e CatalogRow>,
) -> rusqlite::Result<()> {
    let (mut filter_keys, mut numbers) = (Vec::new(), HashMap::new());
    let (mut parts, mut part) = (Vec::new(), Vec::with_capacity(PART * LINE + 4));
    for entry in unchanged {
        let new = u32::try_from(numbers.len()).unwrap_or(NONE);
        let which = match &entry.filter_keys {
            None => NONE,
            Some(known) => *numbers.entry(Arc::as_ptr(known)).or_insert_with(|| {
                let packed = known.pack();
                varint::put(&mut filter_keys, packed.len() as u64);
                filter_keys.extend_from_slice(&packed);
                new
            }),
        };
        encode(entry, which, &mut part);
        if part.len() == PART * LINE {
            parts.push(std::mem::replace(
                &mut part,
                Vec::with_capacity(PART * LINE + 4),
            ));
        }
    }
    parts.push(part);
    let lines: usize = parts.iter().map(|part| part.len() / LINE).sum();
    let mut head = Vec::new();
    varint::put(&mut head, rev.cast_unsigned());
    varint::put(&mut head, lines as u64);
    head.extend_from_slice(&filter_keys);
    parts.insert(0, head);
    replace(tx, store, parts)
}

/// Replaces the rows of a store's listing snapshot, with a checksum after each part.
fn replace(tx: &Transaction<'_>, store: i64, parts: Vec<Vec<u8>>) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM roll WHERE store=?1", [store])?;
    let mut put = tx.prepare_cached("INSERT INTO roll VALUES(?1,?2,?3)")?;
    for (at, mut part) in parts.into_iter().enumerate() {
        part.extend_from_slice(&crc32fast::hash(&part).to_le_bytes());
        put.execute(params![store, at as i64, part])?;
    }
    Ok(())
}

fn encode(entry: &CatalogRow, which: u32, out: &mut Vec<u8>) {
    let state = State::of(&entry.location);
    let upto = entry
        .upto
        .and_then(|upto| i64::try_from(upto).ok())
        .unwrap_or(-1);
    for number in [
        entry.row,
        state.dev,
        state.ino,
        state.size,
        state.mtime,
        state.ctime,
        state.digest,
        entry.generation.cast_signed(),
        upto,
    ] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&place_sum(&entry.location).to_le_bytes());
    out.extend_from_slice(&which.to_le_bytes());
    entry.sort_keys.unwrap_or_default().put(out);
}
