//! Which entries of a snapshot are read, and from which end.

use boswell_model::json::Json;
use boswell_model::{Message, Result, Slot, Tip};
use boswell_store::Session;

/// A range of entries in the order of the log.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryRange<'a> {
    /// Only entries behind this one.
    pub after: Option<&'a str>,
    /// Only entries before this one.
    pub before: Option<&'a str>,
    /// At most this number of entries.
    pub limit: Option<usize>,
    /// From the end.
    pub backwards: bool,
    /// Of the current branch, not of the whole log.
    pub branch: bool,
}

impl EntryRange<'_> {
    /// Returns the entries of the range; nothing else is read.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry.
    pub fn slots(&self, session: &Session) -> Result<Vec<Slot>> {
        let all: Vec<Slot> = if self.branch {
            session.branch(session.tip()?)?
        } else {
            session.log().slots().collect()
        };
        // An entry of another branch has no position on this one; its place in the log has.
        let place = |slot: Slot| all.partition_point(|it| it.index() < slot.index());
        let start = match self.after {
            Some(entry) => {
                let slot = session.find(entry)?;
                place(slot) + usize::from(all.get(place(slot)) == Some(&slot))
            }
            None => 0,
        };
        let end = match self.before {
            Some(entry) => place(session.find(entry)?),
            None => all.len(),
        };
        let range = all.get(start..end.max(start)).unwrap_or(&[]);
        let limit = self.limit.unwrap_or(usize::MAX);
        Ok(if self.backwards {
            range.iter().rev().take(limit).copied().collect()
        } else {
            range.iter().take(limit).copied().collect()
        })
    }
}

/// Returns the entry at which a conversation is read: a given one, or where it stands.
///
/// # Errors
///
/// `NotFound` if there is no such entry.
pub(crate) fn branch_tip(session: &Session, at: Option<&str>) -> Result<Tip> {
    match at {
        Some(entry) => Ok(Tip::At(session.find(entry)?)),
        None => session.tip(),
    }
}

/// Returns what a model would be sent, in the form of the log, and the model in force: known roles,
/// and every call with its result, as `boswell context --sent` prints them.
///
/// # Errors
///
/// `NotFound` if there is no such entry; an I/O error if the session cannot be read.
pub fn context_json(session: &Session, at: Option<&str>) -> Result<Json> {
    let context = session.context(branch_tip(session, at)?)?;
    let mut messages = Vec::new();
    for item in &context.items {
        messages.push(session.render(item)?.message);
    }
    let refine = session.dialect().powers().refine;
    let messages = refine.provider_messages(messages).into_iter();
    let messages = messages.map(|sent| native(sent.message)).collect();
    Ok(Json::object()
        .with("messages", Json::Array(messages))
        .with("model", context.settings.model))
}

fn native(message: Message) -> Json {
    message.native.unwrap_or_else(|| {
        Json::object()
            .with("role", message.role.as_str())
            .with("content", Json::Array(message.content))
    })
}
