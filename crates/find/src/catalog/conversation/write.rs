//! Writes conversation rows.

use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use rusqlite::{OptionalExtension, Transaction, params};

use super::packed::Columns;
use super::scope::{RowCount, Scope, remove_row};
use super::{ConversationRow, ConversationTouches, key};
use crate::catalog::{Catalog, CatalogRow, database, listing_snapshot};

/// A computed conversation.
#[derive(Debug, Default)]
pub struct NewConversation {
    /// The row for lists.
    pub row: ConversationRow,
    /// Its sessions by their indexes among the rows, the front first.
    pub sides: Vec<usize>,
    /// The hash of its sessions' notes.
    pub notes: i64,
    /// Names that its sessions use for others and themselves.
    pub names: Vec<SideName>,
}

/// A name in the log of a session for another session or itself.
#[derive(Debug)]
pub struct SideName {
    /// Index of the session among the rows.
    pub side: usize,
    /// The session that the name refers to.
    pub means: SessionRef,
    /// Whether it refers to itself.
    pub is_alias: bool,
}

/// Whether more conversations follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationUpdate {
    /// Some of the conversations.
    Part,
    /// The last conversations: affected ones that were not written are removed. With the time of
    /// the refresh, if every log was read in its state at that time.
    Last(Option<Instant>),
}

/// The changes of conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationChanges {
    /// New conversations.
    pub added: Vec<SessionRef>,
    /// Conversations whose row changed.
    pub changed: Vec<SessionRef>,
    /// Conversations that no longer exist.
    pub gone: Vec<SessionRef>,
    /// Number of rows that were written or deleted.
    pub writes: u64,
}

impl Catalog {
    /// Writes affected conversations. Unchanged rows are not written.
    ///
    /// # Errors
    ///
    /// Conflict if another process did so concurrently: its rows are as good.
    pub fn put_conversations(
        &mut self,
        touches: &mut ConversationTouches,
        entries: &[CatalogRow],
        new: &[NewConversation],
        (update, now): (ConversationUpdate, Instant),
    ) -> Result<ConversationChanges> {
        let path = self.path.clone();
        let fault = |error| database::fault(&path, error);
        let (base, own) = (self.base_rev, self.own_revs);
        let tx = self.begin()?;
        let here = Scope::read(&tx, &touches.scope).map_err(fault)?;
        if here.as_ref().map(|scope| scope.rev) != touches.before {
            return Err(Error::new(
                ErrorKind::Conflict,
                "another process brought the conversations of the catalog up to date",
            ));
        }
        let id = match here {
            Some(scope) => scope.id,
            None => Scope::make(&tx, &touches.scope, now).map_err(fault)?,
        };
        touches.next.id = id;
        let mut writer = Writer {
            tx: &tx,
            scope: id,
            count: RowCount::default(),
            changes: ConversationChanges::default(),
        };
        for conversation in new {
            writer.put(touches, entries, conversation).map_err(fault)?;
        }
        if let ConversationUpdate::Last(as_of) = update {
            writer.drop_old(touches).map_err(fault)?;
            // The rows were seen only if no other process wrote since the refresh.
            let clock = listing_snapshot::rev(&tx).map_err(fault)?;
            touches.next.rev = if clock == base + own { clock } else { base };
            touches.next.complete(&tx, as_of).map_err(fault)?;
        }
        writer.count.write(&tx, id).map_err(fault)?;
        let changes = writer.changes;
        tx.commit().map_err(fault)?;
        touches.before = Some(match update {
            ConversationUpdate::Part => touches.before.unwrap_or(-1),
            ConversationUpdate::Last(_) => touches.next.rev,
        });
        Ok(changes)
    }
}

/// Whether the row of a conversation takes the place of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Free,
    Taken,
}

struct Writer<'t> {
    tx: &'t Transaction<'t>,
    scope: i64,
    count: RowCount,
    changes: ConversationChanges,
}

impl Writer<'_> {
    fn put(
        &mut self,
        touches: &mut ConversationTouches,
        entries: &[CatalogRow],
        new: &NewConversation,
    ) -> rusqlite::Result<()> {
        let session = |place: usize| entries.get(place).map_or(0, |entry| entry.row);
        let keys: Vec<i64> = new
            .sides
            .iter()
            .map(|place| key(self.scope, session(*place)))
            .collect();
        let Some((front, linked)) = keys.split_first() else {
            return Ok(());
        };
        touches.old.remove(front);
        if !touches.is_new {
            for key in &keys {
                touches.loose.remove(key);
                self.execute("DELETE FROM link WHERE id=?1", *key)?;
            }
            self.execute("DELETE FROM side WHERE id=?1", *front)?;
            self.execute("DELETE FROM side WHERE conversation=?1", *front)?;
        }
        for side in linked {
            self.tx
                .prepare_cached("INSERT OR REPLACE INTO side VALUES(?1,?2)")?
                .execute([*side, *front])?;
        }
        for name in &new.names {
            self.tx
                .prepare_cached("INSERT INTO link VALUES(?1,?2,?3,?4)")?
                .execute(params![
                    key(self.scope, session(name.side)),
                    name.is_alias,
                    name.means.dialect,
                    name.means.id
                ])?;
        }
        if touches.is_new {
            self.insert(*front, new, new.row.pack(), Place::Free)
        } else {
            self.replace(*front, new)
        }
    }

    /// Writes a row unless it stays as it is.
    fn replace(&mut self, front: i64, new: &NewConversation) -> rusqlite::Result<()> {
        let facts = new.row.pack();
        let before: Option<(Vec<u8>, i64)> = self
            .tx
            .prepare_cached("SELECT facts, notes FROM conversation WHERE id=?1")?
            .query_row([front], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match before {
            None => self.insert(front, new, facts, Place::Free),
            Some((bytes, notes)) if bytes == facts && notes == new.notes => Ok(()),
            // Another note need not change the row.
            Some((bytes, _)) if bytes == facts => self
                .tx
                .prepare_cached("UPDATE conversation SET notes=?2 WHERE id=?1")?
                .execute([front, new.notes])
                .map(drop),
            Some(_) => {
                remove_row(self.tx, front, &mut self.count)?;
                self.insert(front, new, facts, Place::Taken)
            }
        }
    }

    fn insert(
        &mut self,
        id: i64,
        new: &NewConversation,
        facts: Vec<u8>,
        place: Place,
    ) -> rusqlite::Result<()> {
        let at = Columns::of(&new.row);
        // Where two processes work out a new scope at once, the row of the other is as good.
        let written = self
            .tx
            .prepare_cached(
                "INSERT OR IGNORE INTO conversation(id, scope, dialect, session, active, created,
                 messages, size, name, hidden, notes, facts)
                 VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
            )?
            .execute(params![
                id,
                self.scope,
                at.dialect,
                at.session,
                at.active,
                at.created,
                at.messages,
                at.size,
                at.name,
                at.hidden,
                new.notes,
                facts
            ])?;
        if written == 0 {
            return Ok(());
        }
        self.count.add(at.hidden, 1);
        self.changes.writes += 1;
        let list = match place {
            Place::Free => &mut self.changes.added,
            Place::Taken => &mut self.changes.changed,
        };
        list.push(new.row.front.reference.clone());
        Ok(())
    }

    /// Removes affected rows that are in no conversation any more.
    fn drop_old(&mut self, touches: &mut ConversationTouches) -> rusqlite::Result<()> {
        for id in std::mem::take(&mut touches.old) {
            let gone = remove_row(self.tx, id, &mut self.count)?;
            self.execute("DELETE FROM side WHERE conversation=?1", id)?;
            self.changes.writes += u64::from(gone.is_some());
            self.changes.gone.extend(gone);
        }
        for id in std::mem::take(&mut touches.loose) {
            self.execute("DELETE FROM side WHERE id=?1", id)?;
            self.execute("DELETE FROM link WHERE id=?1", id)?;
        }
        for (session, sum) in std::mem::take(&mut touches.side_files) {
            let id = key(self.scope, session);
            if sum == 0 {
                self.execute("DELETE FROM beside WHERE id=?1", id)?;
            } else {
                self.tx
                    .prepare_cached("INSERT OR REPLACE INTO beside VALUES(?1,?2)")?
                    .execute([id, sum])?;
            }
        }
        Ok(())
    }

    fn execute(&self, sql: &str, id: i64) -> rusqlite::Result<()> {
        self.tx.prepare_cached(sql)?.execute([id]).map(drop)
    }
}
