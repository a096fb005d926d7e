//! Starts of ids that are long enough to be typed again.

use std::collections::HashMap;

use boswell_store::links::Conversation;

/// How much of an id is shown at least.
const LEAST: usize = 8;

/// The starts of the ids of some conversations.
pub(crate) struct ShortIds<'p> {
    page: &'p [Conversation],
    lengths: Vec<usize>,
    /// Conversations by the start of their id.
    by_start: HashMap<[u8; LEAST], Vec<usize>>,
}

impl<'p> ShortIds<'p> {
    pub(crate) fn of(page: &'p [Conversation]) -> ShortIds<'p> {
        let mut by_start: HashMap<_, Vec<usize>> = HashMap::new();
        for (place, conversation) in page.iter().enumerate() {
            let id = &conversation.front.1.reference.id;
            by_start.entry(start(id)).or_default().push(place);
        }
        ShortIds {
            page,
            lengths: vec![LEAST; page.len()],
            by_start,
        }
    }

    /// Makes the starts long enough to be no start of this id.
    pub(crate) fn tell_apart(&mut self, id: &str) {
        for place in self.by_start.get(&start(id)).into_iter().flatten() {
            let (Some(conversation), Some(length)) =
                (self.page.get(*place), self.lengths.get_mut(*place))
            else {
                continue;
            };
            if conversation.sides().any(|side| side.reference.id == id) {
                continue;
            }
            let own = conversation.front.1.reference.id.chars();
            let alike = own.zip(id.chars());
            let alike = alike.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
            *length = (*length).max(alike + 1);
        }
    }

    pub(crate) fn done(self) -> Vec<String> {
        let ids = self.page.iter().map(|it| &it.front.1.reference.id);
        let short = ids.zip(self.lengths);
        short
            .map(|(id, length)| id.chars().take(length).collect())
            .collect()
    }
}

/// The first bytes of an id, without case: users type ids in any.
fn start(id: &str) -> [u8; LEAST] {
    let mut start = [0; LEAST];
    for (to, byte) in start.iter_mut().zip(id.bytes()) {
        *to = byte.to_ascii_lowercase();
    }
    start
}
