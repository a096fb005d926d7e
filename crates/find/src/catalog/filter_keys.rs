//! Filter keys (agent, project, status, branch, tags, models): the values that lists are filtered
//! by, besides time and text.
//!
//! Most sessions have equal values, so each distinct set is unpacked once and shared by `Arc`.

use std::collections::HashMap;
use std::sync::Arc;

use boswell_model::SessionMeta;

use super::codec::Out;
use crate::varint::Reader;

/// The values of a session that filters compare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterKeys {
    /// The agent, if the log names one.
    pub agent: Option<String>,
    /// The project folder.
    pub project: Option<String>,
    /// The status that the agent recorded, such as how the session ended.
    pub status: Option<String>,
    /// The Git branch of the project.
    pub git_branch: Option<String>,
    /// Tags that the log contains.
    pub tags: Vec<String>,
    /// Models that answered in the session.
    pub models: Vec<String>,
}

impl FilterKeys {
    pub(super) fn of(meta: &SessionMeta) -> FilterKeys {
        FilterKeys {
            agent: meta.agent.clone(),
            project: meta.project.clone(),
            status: meta.status.clone(),
            git_branch: meta.git_branch.clone(),
            tags: meta.tags.clone(),
            models: meta.models.clone(),
        }
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.text(b'a', self.agent.as_deref());
        out.text(b'p', self.project.as_deref());
        out.text(b'S', self.status.as_deref());
        out.text(b'b', self.git_branch.as_deref());
        self.tags.iter().for_each(|tag| out.text(b't', Some(tag)));
        self.models
            .iter()
            .for_each(|model| out.text(b'm', Some(model)));
        out.0
    }

    /// Reads what [`FilterKeys::pack`] wrote; `None` for any other bytes.
    fn unpack(bytes: &[u8]) -> Option<FilterKeys> {
        let (mut reader, mut filter_keys) = (Reader::new(bytes), FilterKeys::default());
        while let Some(letter) = reader.bytes(1) {
            let text = reader.text()?.to_owned();
            match letter {
                b"a" => filter_keys.agent = Some(text),
                b"p" => filter_keys.project = Some(text),
                b"S" => filter_keys.status = Some(text),
                b"b" => filter_keys.git_branch = Some(text),
                b"t" => filter_keys.tags.push(text),
                b"m" => filter_keys.models.push(text),
                _ => return None,
            }
        }
        Some(filter_keys)
    }
}

/// The distinct filter keys that were unpacked so far, by their packed bytes.
#[derive(Debug, Default)]
pub(super) struct Shared {
    known: HashMap<Vec<u8>, Arc<FilterKeys>>,
}

impl Shared {
    pub(super) fn unpack(&mut self, bytes: &[u8]) -> Option<Arc<FilterKeys>> {
        if let Some(known) = self.known.get(bytes) {
            return Some(Arc::clone(known));
        }
        let filter_keys = Arc::new(FilterKeys::unpack(bytes)?);
        self.known
            .insert(bytes.to_owned(), Arc::clone(&filter_keys));
        Some(filter_keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_keys_read_back_and_are_stored_once() {
        let mut meta = SessionMeta {
            project: Some("/会".into()),
            agent: Some("x".into()),
            ..SessionMeta::default()
        };
        meta.status = Some("done".into());
        meta.git_branch = Some("main".into());
        meta.tags = vec!["a".into(), "b".into()];
        meta.models = vec!["m".into()];
        let bytes = FilterKeys::of(&meta).pack();
        let mut shared = Shared::default();
        let one = shared.unpack(&bytes).unwrap();
        assert_eq!(
            (&one.project, &one.agent, &one.status),
            (&meta.project, &meta.agent, &meta.status)
        );
        assert_eq!(
            (&one.git_branch, &one.tags, &one.models),
            (&meta.git_branch, &meta.tags, &meta.models)
        );
        assert!(Arc::ptr_eq(&one, &shared.unpack(&bytes).unwrap()));
        assert_eq!(
            *shared.unpack(&FilterKeys::default().pack()).unwrap(),
            FilterKeys::default()
        );
        assert_eq!(shared.unpack(&bytes[..bytes.len() - 1]), None);
        assert_eq!(shared.unpack(b"?\x01a"), None);
    }
}
