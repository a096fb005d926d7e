//! The key that a list is ordered by, and cursors, which hold it.

use std::cmp::Reverse;

use boswell_model::{Advice, Error, ErrorKind, Instant, RequestInput, SessionRef};
use boswell_store::links::Conversation;

use crate::sessions::list::{Sort, last_active, messages};

/// What a list is ordered by; the smallest comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Time(Reverse<Option<Instant>>),
    Number(Reverse<Option<u64>>),
    Name(String),
}

impl Key {
    /// As the catalog orders it.
    pub(crate) fn number(&self) -> i64 {
        let number = match self {
            Key::Time(Reverse(time)) => time.map(Instant::millis),
            Key::Number(Reverse(number)) => {
                number.map(|number| i64::try_from(number).unwrap_or(i64::MAX))
            }
            Key::Name(_) => None,
        };
        number.unwrap_or(i64::MIN)
    }
}

pub(crate) fn key_of(conversation: &Conversation, by: Sort) -> Key {
    let front = &conversation.front.1;
    match by {
        Sort::Active => Key::Time(Reverse(last_active(conversation))),
        Sort::Created => Key::Time(Reverse(front.meta.created)),
        Sort::Messages => Key::Number(Reverse(messages(front))),
        Sort::Size => Key::Number(Reverse(Some(front.location.size))),
        Sort::Name => Key::Name(front.name().to_lowercase()),
    }
}

/// What to ask with for what comes after a conversation.
pub(crate) fn cursor_of(conversation: &Conversation, by: Sort) -> String {
    let reference = &conversation.front.1.reference;
    match key_of(conversation, by) {
        Key::Time(Reverse(Some(time))) => format!("{reference}@{}", time.to_rfc3339()),
        Key::Number(Reverse(Some(number))) => format!("{reference}@{number}"),
        // Names do not move when something is appended.
        Key::Time(Reverse(None)) | Key::Number(Reverse(None)) | Key::Name(_) => {
            reference.to_string()
        }
    }
}

/// The error of a cursor after which nothing can follow.
pub(crate) fn wrong_cursor(cursor: &str) -> Error {
    let what = format!(
        "the cursor `{}` fits no session of this list",
        cursor.escape_debug()
    );
    Error::new(ErrorKind::Invalid, what)
        .because("the session that it names does not exist any more, or the filters have changed")
        .advising(Advice::Omit(RequestInput::PageCursor))
}

pub(crate) fn parse_cursor(by: Sort, cursor: &str) -> Option<(SessionRef, Key)> {
    let (session, at) = cursor.rsplit_once('@')?;
    let (dialect, id) = session.split_once(':')?;
    let key = match by {
        Sort::Active | Sort::Created => Key::Time(Reverse(Some(Instant::parse(at)?))),
        Sort::Messages | Sort::Size => Key::Number(Reverse(Some(at.parse().ok()?))),
        Sort::Name => return None,
    };
    Some((SessionRef::new(dialect, id), key))
}
