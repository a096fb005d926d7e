//! How rows of a database form sessions, which a dialect over rows states in its facts.
//!
//! The store presents each row as one line of JSON, in the order of the layout, so that heads,
//! tree, context and export work as they do for a log.

use boswell_model::Result;
use boswell_model::json::{Print, Raw, RawKind, Str, write_string};

use crate::row_source::text_of;
use crate::{Cell, Column, RowSelect, RowSource, RowStamp};

/// The member of a record that names the table of its row. No column can have this name unquoted.
pub const TABLE: &str = "$table";

/// How a change of a session's rows in a table is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampRule {
    /// By all of them, and the column that grows whenever one is changed in place, if there is one.
    EveryRow(Option<&'static str>),
    /// By the last one, and its values in these columns: for tables that grow without limit.
    NewestRow(&'static [&'static str]),
    /// By other tables.
    OtherTables,
}

/// A table whose rows are records of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowTable {
    /// Name of the table.
    pub name: &'static str,
    /// The column with the id of the session.
    pub session: &'static str,
    /// The columns that order the rows of one session.
    pub order: &'static [&'static str],
    /// Columns whose text is JSON: they become values of the record instead of strings.
    pub json: &'static [&'static str],
    /// How a change is noticed.
    pub stamp: StampRule,
    /// Rows of another table that belong to a row of this one, and become a member of its record.
    pub children: Option<&'static RowChildren>,
}

/// Rows that are part of the record of another row.
#[derive(Debug, PartialEq, Eq)]
pub struct RowChildren {
    /// The table with these rows. Those without an owner become records of their own.
    pub table: RowTable,
    /// The column of the table that names the owner.
    pub owner: &'static str,
    /// The column of the owner that is named.
    pub id: &'static str,
    /// The member of the owner's record that lists the rows.
    pub member: &'static str,
}

/// A session that is one value of one row: a document, which may be compressed with zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowDocument {
    /// The table.
    pub table: &'static str,
    /// The column with the id of the session.
    pub session: &'static str,
    /// The column with the document.
    pub column: &'static str,
    /// The list in the document whose items are records.
    pub list: &'static str,
    /// Members of an item that are records of their own: a prompt and its answer, say.
    pub split: &'static [&'static str],
}

/// The member of the first record of a document that has all its members but the list.
pub const DOCUMENT: &str = "$document";
/// The member of a record that is an item which is not an object.
pub const ITEM: &str = "$item";

/// Folders with a JSON file for each row, which an agent kept before it had a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowFolders {
    /// The folder below the root that stands for a database.
    pub folder: &'static str,
    /// The tables.
    pub tables: &'static [RowFolder],
}

/// A folder of [`RowFolders`]: its subfolders contain a file `<id>.json` for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowFolder {
    /// Name of the folder and of the table.
    pub name: &'static str,
    /// The column that has the name of the subfolder.
    pub owner: &'static str,
}

/// How rows form a session: all its rows of the first table, then those of the second, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLayout {
    /// The tables in the order of their records.
    pub tables: &'static [RowTable],
    /// Tables whose rows are no records, but show that a session changed.
    pub watched: &'static [RowTable],
    /// The document that is the session, instead of tables.
    pub document: Option<RowDocument>,
    /// Folders with rows, besides databases.
    pub folders: Option<RowFolders>,
}

impl RowDocument {
    /// Returns the document with its other members as the first item of the list, so that
    /// everything in it is part of a record. What is not JSON stays as it is.
    pub fn records(&self, document: Vec<u8>) -> Vec<u8> {
        let Ok(raw) = Raw::parse(document.trim_ascii()) else {
            return document;
        };
        if raw.kind() != RawKind::Object {
            return document;
        }
        let mut out = Vec::with_capacity(document.len() + 64);
        out.push(b'{');
        self.list.print(&mut out);
        out.extend_from_slice(b":[");
        let others = raw.members().filter(|(key, _)| !key.is(self.list));
        write_member(DOCUMENT, &mut out, |out| write_members(others, out));
        let items = raw.get(self.list).into_iter();
        for item in items.flat_map(|list| list.items()) {
            out.push(b',');
            self.write_item(item, &mut out);
        }
        out.extend_from_slice(b"]}");
        out
    }

    fn write_item(&self, item: Raw<'_>, out: &mut Vec<u8>) {
        if item.kind() != RawKind::Object {
            write_member(ITEM, out, |out| out.extend_from_slice(item.bytes()));
            return;
        }
        let is_own = |key: &Str<'_>| self.split.iter().any(|name| key.is(name));
        let own = || item.members().filter(|(key, _)| is_own(key));
        let Some(count) = own().count().checked_sub(1) else {
            out.extend_from_slice(item.bytes());
            return;
        };
        for (nth, member) in own().enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            // What is said of both belongs to the last.
            let rest = item
                .members()
                .filter(|(key, _)| nth == count && !is_own(key));
            write_members(std::iter::once(member).chain(rest), out);
        }
    }
}

fn write_member(name: &str, out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'{');
    name.print(out);
    out.push(b':');
    value(out);
    out.push(b'}');
}

fn write_members<'a>(members: impl Iterator<Item = (Str<'a>, Raw<'a>)>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (nth, (key, value)) in members.enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(key.escaped());
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.bytes());
    }
    out.push(b'}');
}

impl RowTable {
    /// Returns the facts of a table that grows, whose rows have no order but that of their keys.
    pub const fn new(name: &'static str, session: &'static str) -> RowTable {
        RowTable {
            name,
            session,
            order: &[],
            json: &[],
            stamp: StampRule::NewestRow(&[]),
            children: None,
        }
    }

    /// Returns the selection of the rows of one session.
    pub fn of_session<'a>(&self, id: &'a str) -> RowSelect<'a> {
        RowSelect {
            table: self.name,
            only: Some((self.session, id)),
            order: self.order,
        }
    }

    /// Appends a row as one JSON object on one line: the table's name, then every column.
    pub fn write_record(&self, columns: &[Column<'_>], out: &mut Vec<u8>) {
        out.push(b'{');
        write_string(TABLE.as_bytes(), out);
        out.push(b':');
        self.name.print(out);
        for (name, cell) in columns {
            out.push(b',');
            write_string(name.as_bytes(), out);
            out.push(b':');
            self.write_cell(name, *cell, out);
        }
        out.push(b'}');
    }

    /// As [`write_record`](RowTable::write_record), with the rows that belong to this one.
    ///
    /// # Errors
    ///
    /// If the source cannot be read.
    pub fn write_whole(
        &self,
        source: &dyn RowSource,
        columns: &[Column<'_>],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.write_record(columns, out);
        let Some(children) = self.children else {
            return Ok(());
        };
        let Some(id) = text_of(columns, children.id) else {
            return Ok(());
        };
        out.pop();
        out.push(b',');
        write_string(children.member.as_bytes(), out);
        out.extend_from_slice(b":[");
        let select = RowSelect {
            table: children.table.name,
            only: Some((children.owner, &id)),
            order: children.table.order,
        };
        let empty = out.len();
        source.each(&select, &mut |columns| {
            if out.len() > empty {
                out.push(b',');
            }
            children.table.write_record(columns, out);
        })?;
        out.extend_from_slice(b"]}");
        Ok(())
    }

    fn write_cell(&self, name: &str, cell: Cell<'_>, out: &mut Vec<u8>) {
        // Some agents store text as bytes.
        let cell = match cell {
            Cell::Bytes(bytes) if self.json.contains(&name) => {
                std::str::from_utf8(bytes).map_or(cell, Cell::Text)
            }
            cell => cell,
        };
        match cell {
            Cell::Null => out.extend_from_slice(b"null"),
            Cell::Integer(number) => number.print(out),
            Cell::Real(number) => number.print(out),
            Cell::Text(text) if self.json.contains(&name) && is_json(text) => {
                // In valid JSON a line end occurs only between tokens, because strings escape it.
                // It would end the record's line, so it becomes a space.
                let one_line = text.bytes().map(|byte| match byte {
                    b'\n' | b'\r' => b' ',
                    byte => byte,
                });
                out.extend(one_line);
            }
            Cell::Text(text) => text.print(out),
            // Not decoded: no agent stores its conversation in binary columns of several rows.
            Cell::Bytes(bytes) => {
                out.extend_from_slice(b"{\"bytes\":");
                (bytes.len() as u64).print(out);
                out.push(b'}');
            }
        }
    }

    fn state(&self, source: &dyn RowSource, id: &str) -> Result<RowStamp> {
        let select = self.of_session(id);
        match self.stamp {
            StampRule::EveryRow(changed) => source.stamp(&select, changed),
            StampRule::NewestRow(columns) => source.newest(&select, columns),
            StampRule::OtherTables => Ok(RowStamp::default()),
        }
    }
}

impl RowLayout {
    /// Returns the layout of sessions in these tables.
    pub const fn of(tables: &'static [RowTable]) -> RowLayout {
        RowLayout {
            tables,
            watched: &[],
            document: None,
            folders: None,
        }
    }

    /// Returns the key of a session in a database. An id with a `#` is not supported.
    pub fn key(database: &str, id: &str) -> String {
        format!("{database}#{id}")
    }

    /// Returns the database and the id of a key; `None` for the key of a file.
    pub fn split(key: &str) -> Option<(&str, &str)> {
        key.rsplit_once('#')
            .filter(|(database, id)| !database.is_empty() && !id.is_empty())
    }

    /// Returns the state of a session: that of its rows in all tables.
    ///
    /// # Errors
    ///
    /// If the source cannot be read.
    pub fn stamp(&self, source: &dyn RowSource, id: &str) -> Result<RowStamp> {
        let mut whole = RowStamp::default();
        let children = self.tables.iter().filter_map(|table| table.children);
        let children = children.map(|children| &children.table);
        // The sum is at least the number of records, because keys count from 1: the index relies on
        // it.
        for table in self.tables.iter().chain(children).chain(self.watched) {
            let stamp = table.state(source, id)?;
            whole.rows = whole.rows.saturating_add(stamp.rows);
            whole.add(stamp);
        }
        Ok(whole)
    }
}

impl RowStamp {
    /// Adds the state of another table: their order matters.
    fn add(&mut self, other: RowStamp) {
        self.state = (self.state ^ other.state).wrapping_mul(0x0100_0000_01b3);
    }
}

fn is_json(text: &str) -> bool {
    Raw::parse(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: RowTable = RowTable {
        name: "message",
        session: "session_id",
        order: &[],
        json: &["data"],
        stamp: StampRule::OtherTables,
        children: None,
    };

    fn record(columns: &[Column<'_>]) -> String {
        let mut out = Vec::new();
        TABLE.write_record(columns, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_is_one_line_of_json() {
        let columns = [
            ("id", Cell::Text("m\n1")),
            ("time", Cell::Integer(-5)),
            ("cost", Cell::Real(0.5)),
            ("odd", Cell::Real(f64::INFINITY)),
            ("gone", Cell::Null),
            ("data", Cell::Text("{\"a\":\n [1,\r\n 2.50]}")),
            ("blob", Cell::Bytes(&[1, 2, 3])),
        ];
        let text = record(&columns);
        assert_eq!(
            text,
            "{\"$table\":\"message\",\"id\":\"m\\n1\",\"time\":-5,\"cost\":0.5,\"odd\":null,\
             \"gone\":null,\"data\":{\"a\":  [1,   2.50]},\"blob\":{\"bytes\":3}}"
        );
        assert!(Raw::parse(text.as_bytes()).is_ok());
    }

    #[test]
    fn text_that_should_be_json_and_is_not_stays_text() {
        let text = record(&[("data", Cell::Text("{\"a\":")), ("x", Cell::Text("{}"))]);
        assert_eq!(
            text,
            "{\"$table\":\"message\",\"data\":\"{\\\"a\\\":\",\"x\":\"{}\"}"
        );
    }

    #[test]
    fn everything_in_a_document_is_part_of_a_record() {
        let document = RowDocument {
            table: "t",
            session: "id",
            column: "value",
            list: "history",
            split: &["user", "assistant"],
        };
        let made = |text: &str| String::from_utf8(document.records(text.into())).unwrap();
        assert_eq!(
            made(
                r#"{"a":1,"history":[{"user":{"x":1},"assistant":"y","at":2},"z",{"b":3}],"c":[]}"#
            ),
            r#"{"history":[{"$document":{"a":1,"c":[]}},{"user":{"x":1}},{"assistant":"y","at":2},{"$item":"z"},{"b":3}]}"#
        );
        for text in ["", "{\"history\":[", "[1]"] {
            assert_eq!(made(text), text);
        }
    }

    #[test]
    fn keys_of_sessions_name_database_and_id() {
        let key = RowLayout::key("a/b.db", "s1");
        assert_eq!(RowLayout::split(&key), Some(("a/b.db", "s1")));
        assert_eq!(RowLayout::split("a/b.db"), None);
        assert_eq!(RowLayout::split("a/b.db#"), None);
        assert_eq!(RowLayout::split("#s1"), None);
    }
}
