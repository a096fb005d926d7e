//! What sessions spent since a time, from the catalog alone and the end of one log.
//!
//! A status line is drawn again after every message, so no store is listed and no log is read from
//! its start: the conversations that were active since then are one range of an index, and only
//! their messages are unpacked. Messages count once, as in statistics (`totals.rs`); of a
//! conversation in several stores the side with the most messages counts.

use std::collections::HashSet;
use std::path::PathBuf;

use boswell_dialect::{Depth, Reader, SessionLocation};
use boswell_model::{Framing, Instant, Result, SessionMeta, SessionRef, Usage};
use boswell_store::Store;
use rusqlite::{OptionalExtension, params};

use super::Catalog;
use super::conversation::ActiveConversation;
use super::listing_match::place_name;
use super::message_usage::{self, Item};
use super::packed_meta::Packed;
use super::refresh::store_name;
use super::session_totals::{Group, NO_MODEL, quarter_of};
use crate::stats::{Tally, UsageSum};

/// How much of the end of a log is read at most.
const TAIL: u64 = 512 << 10;

/// A log whose end the catalog may not know.
#[derive(Debug, Clone, Copy)]
pub struct GrowingLog<'l> {
    /// The store that contains it.
    pub store: &'l Store,
    /// Its location in the store.
    pub location: &'l SessionLocation,
}

/// Where the log of a known session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownLog {
    /// The dialect of its store.
    pub dialect: String,
    /// The folder of its store.
    pub root: PathBuf,
    /// Its key in the store.
    pub key: String,
}

/// What was spent.
#[derive(Debug, Default)]
pub struct RecentSpending {
    /// By all sessions since the time, under the key `""`.
    pub since: Tally,
    /// By the open session at any time, under the key `""`.
    pub session: Tally,
    /// The last message of the open session: its model, and the tokens that were sent.
    pub last: Option<(Option<String>, u64)>,
    /// Whether all of the open session is known.
    pub whole_session: bool,
    /// Time of the last refresh; `None` if the catalog knows nothing.
    pub as_of: Option<Instant>,
}

impl Catalog {
    /// Returns what the sessions of a scope spent since a time, and what an open one did, whose log
    /// is read on from where the catalog knows it.
    ///
    /// # Errors
    ///
    /// Damaged if a row is damaged, Io if the open log cannot be read.
    pub fn recent_spending(
        &self,
        scope: &str,
        since: Instant,
        open: Option<GrowingLog<'_>>,
    ) -> Result<RecentSpending> {
        let mut spending = RecentSpending {
            as_of: self.conversation_scope(scope)?.map(|known| known.as_of),
            ..RecentSpending::default()
        };
        let mut once = HashSet::new();
        let mut own = None;
        if let Some(open) = open {
            let (row, items) = self.open_items(open, &mut spending)?;
            own = row;
            items
                .iter()
                .for_each(|item| spend(&mut spending.session, item));
            let recent = items
                .iter()
                .filter(|item| item.at.is_some_and(|at| at >= since));
            for item in recent.filter(|item| is_new(item, &mut once)) {
                spend(&mut spending.since, item);
            }
        }
        if spending.as_of.is_none() {
            return Ok(spending);
        }
        let active = self.active_since(scope, since)?;
        let places = self.places(&active)?;
        for ActiveConversation { sides } in &active {
            if own.is_some_and(|own| sides.contains(&own)) {
                continue;
            }
            let mut most: Vec<Item> = Vec::new();
            for side in sides {
                let items = self.items_since(*side, since, &places)?;
                if items.len() > most.len() {
                    most = items;
                }
            }
            for item in most.iter().filter(|item| is_new(item, &mut once)) {
                spend(&mut spending.since, item);
            }
        }
        Ok(spending)
    }

    /// Returns where the log of a session of a scope is.
    ///
    /// # Errors
    ///
    /// Damaged if the row is damaged.
    pub fn known_log(&self, scope: &str, session: &SessionRef) -> Result<Option<KnownLog>> {
        let Some(row) = self.front_row(scope, session)? else {
            return Ok(None);
        };
        let found: Option<(String, String)> = (self.db)
            .prepare_cached(
                "SELECT store.name, place FROM session JOIN store ON store.id=session.store
                 WHERE session.id=?1",
            )
            .and_then(|mut one| {
                let names = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                one.query_row([row], names).optional()
            })
            .map_err(|error| self.fault(error))?;
        Ok(found.and_then(|(store, place)| {
            let (dialect, root) = store.split_once('\n')?;
            let (key, _) = place.split_once('\n')?;
            Some(KnownLog {
                dialect: dialect.to_owned(),
                root: PathBuf::from(root),
                key: key.to_owned(),
            })
        }))
    }

    /// Returns the row of an open session, if it has one, and its messages: those that the catalog
    /// knows, and those at the end of the log that it does not.
    fn open_items(
        &self,
        open: GrowingLog<'_>,
        spending: &mut RecentSpending,
    ) -> Result<(Option<i64>, Vec<Item>)> {
        let known = self.known_row(open)?;
        let items = match known {
            Some((row, _)) => self.stored_items(row)?,
            None => Vec::new(),
        };
        let size = open.location.size;
        // Of a large log only the ends were read: then nothing of its messages is known.
        let upto = known.and_then(|(_, upto)| u64::try_from(upto).ok());
        let upto = upto.filter(|upto| *upto <= size && !items.is_empty());
        let from = upto.unwrap_or(0);
        spending.whole_session = size - from <= TAIL;
        let items = joined(items, read_from(open, from.max(size.saturating_sub(TAIL)))?);
        let last = items.iter().rfind(|item| !item.relayed);
        spending.last = last.map(|item| (item.model.clone(), sent(&item.usage)));
        Ok((known.map(|(row, _)| row), items))
    }

    /// Returns the row of a log, and up to where it was read.
    fn known_row(&self, open: GrowingLog<'_>) -> Result<Option<(i64, i64)>> {
        let which = params![store_name(open.store), place_name(open.location)];
        (self.db)
            .prepare_cached(
                "SELECT session.id, upto FROM session JOIN store ON store.id=session.store
                 WHERE store.name=?1 AND place=?2 AND gone=0",
            )
            .and_then(|mut one| {
                one.query_row(which, |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            })
            .map_err(|error| self.fault(error))
    }

    /// Returns the messages of a session since a time, with what its index
    /// states about all of them.
    fn items_since(&self, row: i64, since: Instant, places: &Places) -> Result<Vec<Item>> {
        let mut items = self.stored_items(row)?;
        let kept: Option<Vec<u8>> = self.column("SELECT facts FROM kept WHERE session=?1", row)?;
        let has_items = !items.is_empty();
        if places.has_subagents(row) {
            items.retain(|item| !item.relayed);
        }
        if let Some(kept) = kept.and_then(Packed::from_bytes) {
            add_stated(&mut items, has_items, &kept.unpack().meta);
        }
        items.retain(|item| item.at.is_some_and(|at| at >= since));
        Ok(items)
    }

    fn stored_items(&self, row: i64) -> Result<Vec<Item>> {
        let bytes: Option<Vec<u8>> =
            self.column("SELECT items FROM usage WHERE session=?1", row)?;
        bytes.map_or(Ok(Vec::new()), |bytes| {
            message_usage::unpack(&bytes).ok_or_else(super::totals::damaged)
        })
    }

    /// Returns the one column of a row of a session.
    fn column<T: rusqlite::types::FromSql>(&self, sql: &str, row: i64) -> Result<Option<T>> {
        (self.db.prepare_cached(sql))
            .and_then(|mut one| one.query_row([row], |row| row.get(0)).optional())
            .map_err(|error| self.fault(error))
    }

    fn places(&self, active: &[ActiveConversation]) -> Result<Places> {
        let mut places = Vec::new();
        for row in active.iter().flat_map(|it| &it.sides) {
            let place: Option<String> =
                self.column("SELECT place FROM session WHERE id=?1", *row)?;
            places.extend(place.map(|place| (*row, place)));
        }
        Ok(Places(places))
    }
}

/// Joins known messages with those at the end of the log, which are newer.
fn joined(mut items: Vec<Item>, tail: Vec<Item>) -> Vec<Item> {
    let newer: HashSet<&str> = tail.iter().filter_map(|it| it.key.as_deref()).collect();
    items.retain(|item| !item.key.as_deref().is_some_and(|key| newer.contains(key)));
    drop(newer);
    items.extend(tail);
    items
}

/// Adds what an index states about a whole session, as statistics do.
fn add_stated(items: &mut Vec<Item>, has_items: bool, meta: &SessionMeta) {
    let stated = meta.stated.usage;
    if stated.cost.is_some() {
        let costs = items.iter_mut().map(|item| &mut item.usage.cost);
        costs.for_each(|cost| _ = cost.get_or_insert(0.0));
    }
    let cost = Usage {
        cost: stated.cost,
        ..Usage::default()
    };
    let usage = if has_items { cost } else { stated };
    if !usage.is_unknown() {
        items.push(Item {
            at: meta.last_active,
            model: meta.models.first().cloned(),
            usage,
            ..Item::default()
        });
    }
}

/// The places of active sessions.
struct Places(Vec<(i64, String)>);

impl Places {
    /// Whether a session in the folder of this one was active too: its subagents, whose usage a log
    /// may repeat.
    fn has_subagents(&self, row: i64) -> bool {
        let own = self.0.iter().find(|(it, _)| *it == row);
        let stem = own.and_then(|(_, place)| place.split_once('\n'));
        let stem = stem.and_then(|(key, _)| key.strip_suffix(".jsonl"));
        let is_below = |place: &str, stem: &str| {
            let rest = place.strip_prefix(stem);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        stem.is_some_and(|stem| self.0.iter().any(|(_, place)| is_below(place, stem)))
    }
}

/// Reads the messages of a log from a position on.
fn read_from(open: GrowingLog<'_>, from: u64) -> Result<Vec<Item>> {
    let Some(key) = &open.location.key else {
        return Ok(Vec::new());
    };
    if open.location.framing != Framing::Lines || from >= open.location.size {
        return Ok(Vec::new());
    }
    let mut reader = Reader::new(open.store.dialect(), open.location, Depth::Facts);
    let object = open.store.backend().open(key)?;
    object.lines(from, 1, &mut |line| reader.line(line))?;
    Ok(message_usage::items(&reader.finish()))
}

/// Whether a message was not counted yet. What a fork copied was counted where it was sent.
fn is_new(item: &Item, once: &mut HashSet<(Option<String>, String)>) -> bool {
    let key = item.key.clone();
    !item.inherited && key.is_none_or(|key| once.insert((item.lineage.clone(), key)))
}

fn spend(tally: &mut Tally, item: &Item) {
    let group = Group {
        at: item.at.map(quarter_of),
        model: item.model.as_deref().unwrap_or(NO_MODEL),
        relayed: item.relayed,
        spent: UsageSum::of(&item.usage),
    };
    tally.spend("", &group);
}

/// The tokens that were sent with a message.
fn sent(usage: &Usage) -> u64 {
    let parts = [usage.input, usage.cache_read, usage.cache_write];
    parts.into_iter().flatten().sum()
}
