//! What every API message cost, one row a message of a session.

use std::collections::HashMap;

use boswell_dialect::ReadSession;
use boswell_model::{Instant, Result, Usage};
use rusqlite::{Row, Transaction, params};

use super::{Catalog, Entry};

/// What a message cost, and where it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What names the message in every session that holds it; none where nothing does.
    pub key: Option<String>,
    /// When it was said.
    pub at: Option<Instant>,
    /// The model that said it.
    pub model: Option<String>,
    /// Whether it only repeats what a subagent used.
    pub relayed: bool,
    /// Tokens and money.
    pub usage: Usage,
}

/// Every message of a session that was read as a whole.
pub(super) fn items(read: &ReadSession) -> Vec<Item> {
    let names = &read.log.names;
    let text = |name| names.text(name).to_owned();
    let mut items: Vec<Item> = (read.facts.usage.items())
        .filter(|(_, noted)| !noted.usage.is_unknown())
        .map(|(name, noted)| {
            let said = &noted.said;
            let which = match (said.request, said.at) {
                (Some(request), _) => text(request),
                (None, Some(at)) => at.millis().to_string(),
                (None, None) => String::new(),
            };
            let key = name.filter(|_| said.everywhere).map(|name| format!("{} {which}", names.text(name)));
            Item { key, at: said.at, model: said.model.map(text), relayed: said.relayed, usage: noted.usage }
        })
        .collect();
    items.sort_by(|a, b| (a.at, &a.key).cmp(&(b.at, &b.key)));
    items
}

pub(super) fn write(tx: &Transaction<'_>, session: i64, items: &[Item]) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM usage WHERE session=?1")?.execute([session])?;
    let mut insert = tx.prepare_cached("INSERT INTO usage VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)")?;
    let signed = |count: Option<u64>| count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    for item in items {
        let usage = &item.usage;
        insert.execute(params![
            session,
            item.key,
            item.at.map(Instant::millis),
            item.model,
            item.relayed,
            signed(usage.input),
            signed(usage.output),
            signed(usage.cache_read),
            signed(usage.cache_write),
            signed(usage.reasoning),
            usage.cost,
        ])?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Item)> {
    let count = |index: usize| row.get::<_, Option<i64>>(index).map(|n| n.and_then(|n| u64::try_from(n).ok()));
    let usage = Usage {
        input: count(5)?,
        output: count(6)?,
        cache_read: count(7)?,
        cache_write: count(8)?,
        reasoning: count(9)?,
        cost: row.get(10)?,
    };
    let at: Option<i64> = row.get(2)?;
    let item =
        Item { key: row.get(1)?, at: at.map(Instant::from_millis), model: row.get(3)?, relayed: row.get(4)?, usage };
    Ok((row.get(0)?, item))
}

impl Catalog {
    /// What every message of these sessions cost: the place of the session among them, and the message.
    pub fn items(&self, entries: &[Entry]) -> Result<Vec<(usize, Item)>> {
        let places: HashMap<i64, usize> = entries.iter().enumerate().map(|(index, entry)| (entry.row, index)).collect();
        let mut out = Vec::new();
        let fault = |error| self.fault(error);
        let mut all = self.db.prepare_cached("SELECT * FROM usage").map_err(fault)?;
        for row in all.query_map([], read).map_err(fault)? {
            let (session, item) = row.map_err(fault)?;
            let place = places.get(&session).filter(|place| entries.get(**place).is_some_and(|e| e.items.is_empty()));
            out.extend(place.map(|place| (*place, item)));
        }
        for (index, entry) in entries.iter().enumerate() {
            out.extend(entry.items.iter().map(|item| (index, item.clone())));
        }
        Ok(out)
    }
}
