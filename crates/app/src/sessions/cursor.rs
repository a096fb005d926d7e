//! Sort keys of a list, and cursors, which contain them.

use std::cmp::Reverse;

use boswell_find::name_key;
use boswell_model::{Advice, Error, ErrorKind, Instant, RequestInput, SessionRef};
use boswell_store::links::Conversation;

use crate::sessions::list::{Sort, last_active, messages};

/// The sort key of a list; the smallest comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Time(Reverse<Option<Instant>>),
    Number(Reverse<Option<u64>>),
    Name(String),
}

impl Key {
    /// The time in milliseconds, or the count; none if it is unknown or a name.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Key::Time(Reverse(time)) => time.map(Instant::millis),
            Key::Number(Reverse(number)) => {
                number.map(|number| i64::try_from(number).unwrap_or(i64::MAX))
            }
            Key::Name(_) => None,
        }
    }
}

pub(crate) fn key_of(conversation: &Conversation, by: Sort) -> Key {
    let front = &conversation.front.1;
    match by {
        Sort::Active => Key::Time(Reverse(last_active(conversation))),
        Sort::Created => Key::Time(Reverse(front.meta.created)),
        Sort::Messages => Key::Number(Reverse(messages(front))),
        Sort::Size => Key::Number(Reverse(Some(front.location.size))),
        Sort::Name => Key::Name(name_key(&front.name())),
    }
}

/// Returns the cursor after a conversation.
pub(crate) fn cursor_of(conversation: &Conversation, by: Sort) -> String {
    let reference = &conversation.front.1.reference;
    match key_of(conversation, by) {
        Key::Time(Reverse(Some(time))) => format!("{reference}@{}", time.to_rfc3339()),
        Key::Number(Reverse(Some(number))) => format!("{reference}@{number}"),
        // Names do not change when entries are appended.
        Key::Time(Reverse(None)) | Key::Number(Reverse(None)) | Key::Name(_) => {
            reference.to_string()
        }
    }
}

/// Returns the error for an invalid cursor.
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
