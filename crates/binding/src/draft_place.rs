//! Where an entry goes, and which id it gets.

use boswell_store::Draft;
use boswell_store::writer::Parent;

/// Id and parent of an entry, as far as a caller states them.
#[derive(Debug, Clone, Default)]
pub struct DraftPlace {
    /// Its id; without it, a record may state its own.
    pub id: Option<String>,
    /// The entry that it follows; without it, the leaf.
    pub parent: Option<String>,
    /// Whether it follows nothing.
    pub root: bool,
}

impl DraftPlace {
    /// Puts a draft there.
    pub fn put(self, draft: Draft) -> Draft {
        let draft = match self.id {
            Some(id) => draft.with_id(id),
            None => draft,
        };
        match self.parent {
            Some(parent) => draft.below(Parent::Entry(parent.into())),
            None if self.root => draft.below(Parent::Root),
            None => draft,
        }
    }
}
