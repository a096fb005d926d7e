//! Usage and cost of every API message of a session: one packed blob per session in table `usage`.
//!
//! It is the input of the totals (`totals.rs`), and is written in the same transaction as the other
//! facts of a session.

use boswell_dialect::ReadSession;
use boswell_model::{Instant, Usage};
use rusqlite::{Transaction, params};

use super::codec::{Out, time, usage};
use crate::varint::Reader;

/// The usage of one message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Item {
    /// The key that is equal in every session that contains the message; `None` if the message has
    /// no id that other sessions share.
    pub(crate) key: Option<String>,
    /// The time of the message.
    pub(crate) at: Option<Instant>,
    /// The model that answered.
    pub(crate) model: Option<String>,
    /// Whether the message only repeats the usage of a subagent.
    pub(crate) relayed: bool,
    /// For a key that is valid only within a family of forks: the oldest session of the family that
    /// the log names.
    pub(crate) lineage: Option<String>,
    /// Whether the message was copied from the session that this one was forked from.
    pub(crate) inherited: bool,
    /// Tokens and cost.
    pub(crate) usage: Usage,
}

/// Returns the usage of every message of a session that was read as a whole, ordered by time.
pub(super) fn items(read: &ReadSession) -> Vec<Item> {
    let names = &read.log.names;
    let text = |name| names.text(name).to_owned();
    let mut items: Vec<Item> = (read.meta.usage.items())
        .filter(|(_, noted)| !noted.usage.is_unknown())
        .map(|(name, noted)| {
            let said = &noted.said;
            // The key is the message id with the request id; without a request id the time takes
            // its place.
            let which = match (said.request, said.at) {
                (Some(request), _) => text(request),
                (None, Some(at)) => at.millis().to_string(),
                (None, None) => String::new(),
            };
            let key = match said.lineage {
                Some(_) => name.map(text),
                None => name
                    .filter(|_| said.everywhere)
                    .map(|name| format!("{} {which}", names.text(name))),
            };
            Item {
                key,
                at: said.at,
                model: said.model.map(text),
                relayed: said.relayed,
                lineage: said.lineage.map(text),
                inherited: said.inherited,
                usage: noted.usage,
            }
        })
        .collect();
    items.sort_by(|a, b| (a.at, &a.key).cmp(&(b.at, &b.key)));
    items
}

/// Replaces the stored messages of `session`.
pub(super) fn write(tx: &Transaction<'_>, session: i64, items: &[Item]) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM usage WHERE session=?1")?
        .execute([session])?;
    if !items.is_empty() {
        tx.prepare_cached("INSERT INTO usage VALUES(?1,?2)")?
            .execute(params![session, pack(items)])?;
    }
    Ok(())
}

/// Packs all messages of a session; an update of totals unpacks those of every changed session.
pub(super) fn pack(items: &[Item]) -> Vec<u8> {
    let mut out = Out::default();
    for item in items {
        out.text(b'k', item.key.as_deref());
        out.time(b'a', item.at);
        out.text(b'm', item.model.as_deref());
        out.text(b'l', item.lineage.as_deref());
        if item.relayed {
            out.0.push(b'r');
        }
        if item.inherited {
            out.0.push(b'i');
        }
        out.usage(b'u', &item.usage);
        out.0.push(b';');
    }
    out.sealed()
}

/// Reads what [`pack`] wrote; `None` if the checksum or a letter is not valid.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<Item>> {
    let (mut reader, mut items) = (Reader::sealed(bytes)?, Vec::new());
    while !reader.is_empty() {
        items.push(unpack_one(&mut reader)?);
    }
    Some(items)
}

fn unpack_one(reader: &mut Reader<'_>) -> Option<Item> {
    let mut item = Item::default();
    loop {
        match reader.bytes(1)? {
            b"k" => item.key = Some(reader.text()?.to_owned()),
            b"a" => item.at = Some(time(reader)?),
            b"m" => item.model = Some(reader.text()?.to_owned()),
            b"l" => item.lineage = Some(reader.text()?.to_owned()),
            b"r" => item.relayed = true,
            b"i" => item.inherited = true,
            b"u" => item.usage = usage(reader)?,
            b";" => return Some(item),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_a_changed_byte_is_noticed() {
        let usage = Usage {
            output: Some(7),
            cost: Some(0.5),
            ..Usage::default()
        };
        let at = Some(Instant::from_millis(-3));
        let one = Item {
            key: Some("m r".into()),
            at,
            relayed: true,
            usage,
            ..Item::default()
        };
        let (model, lineage) = (Some("会".into()), Some("root".into()));
        let two = Item {
            model,
            lineage,
            inherited: true,
            ..Item::default()
        };
        let bytes = pack(&[one.clone(), two.clone()]);
        assert_eq!(unpack(&bytes).unwrap(), [one, two]);
        for at in 0..bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 2;
            assert_eq!(unpack(&hurt), None, "byte {at}");
        }
    }
}
