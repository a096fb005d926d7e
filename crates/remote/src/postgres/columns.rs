//! [`Columns`]: what lists show about a session, read from lines when they are added.

use boswell_dialect::{Depth, Reader, SessionLocation, by_name};
use boswell_model::{Framing, SessionMeta};

use super::link::Arguments;

/// The longest text of a column, in characters: a list shows less.
const LONGEST: usize = 400;

/// The part of a session's metadata that lines contain.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    project: Option<String>,
    title: Option<String>,
    prompt: Option<String>,
    status: Option<String>,
    created: Option<i64>,
    active: Option<i64>,
    messages: i64,
}

impl Columns {
    /// Reads them from lines of a session of this dialect.
    pub(super) fn of(dialect: &str, lines: &[u8]) -> Columns {
        let Some(dialect) = by_name(dialect).filter(|_| !lines.is_empty()) else {
            return Columns::default();
        };
        let location = SessionLocation::of("columns", Framing::Lines, lines.len() as u64);
        let meta = Reader::read(dialect, &location, lines, Depth::Facts).meta;
        Columns {
            project: text(meta.project.as_deref()),
            title: text(meta.title.as_deref()),
            prompt: text(meta.first_prompt.as_deref()),
            status: text(meta.status.as_deref()),
            created: meta.created.map(|time| time.millis()),
            active: meta.last_active.map(|time| time.millis()),
            messages: i64::try_from(meta.messages).unwrap_or(i64::MAX),
        }
    }

    /// Adds them to the arguments of a statement, in the order of the functions.
    pub(super) fn add_to(self, arguments: &mut Arguments) {
        arguments.push(Box::new(self.project));
        arguments.push(Box::new(self.title));
        arguments.push(Box::new(self.prompt));
        arguments.push(Box::new(self.status));
        arguments.push(Box::new(self.created));
        arguments.push(Box::new(self.active));
        arguments.push(Box::new(self.messages));
    }

    /// Returns the metadata of columns that were read, from the column `first` of a row on.
    pub(super) fn meta_of(
        row: &tokio_postgres::Row,
        first: usize,
    ) -> std::result::Result<SessionMeta, tokio_postgres::Error> {
        let time = |millis: Option<i64>| millis.map(boswell_model::Instant::from_millis);
        Ok(SessionMeta {
            project: row.try_get(first)?,
            title: row.try_get(first + 1)?,
            first_prompt: row.try_get(first + 2)?,
            status: row.try_get(first + 3)?,
            created: time(row.try_get(first + 4)?),
            last_active: time(row.try_get(first + 5)?),
            messages: u64::try_from(row.try_get::<_, i64>(first + 6)?).unwrap_or(0),
            ..SessionMeta::default()
        })
    }
}

/// A text that the database can store: it has no NUL.
fn text(text: Option<&str>) -> Option<String> {
    let shown = |c| if c == '\0' { '\u{fffd}' } else { c };
    text.map(|text| text.chars().take(LONGEST).map(shown).collect())
}
