//! What sessions are chosen by, apart from time and text: few sessions differ in it, so those
//! that do not share it.

use std::collections::HashMap;
use std::sync::Arc;

use boswell_model::SessionMeta;

use super::codec::Out;
use crate::varint::Reader;

/// What a log says that filters ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterKeys {
    /// The agent, where the log names one.
    pub agent: Option<String>,
    /// The folder it was held in.
    pub project: Option<String>,
    /// How it ended.
    pub status: Option<String>,
    /// The branch of the project's repository.
    pub git_branch: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Models that spoke in it.
    pub models: Vec<String>,
}

impl FilterKeys {
    pub(super) fn of(facts: &SessionMeta) -> FilterKeys {
        FilterKeys {
            agent: facts.agent.clone(),
            project: facts.project.clone(),
            status: facts.status.clone(),
            git_branch: facts.git_branch.clone(),
            tags: facts.tags.clone(),
            models: facts.models.clone(),
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

    /// None for what [`Traits::pack`] did not write.
    fn unpack(bytes: &[u8]) -> Option<FilterKeys> {
        let (mut reader, mut traits) = (Reader::new(bytes), FilterKeys::default());
        while let Some(letter) = reader.bytes(1) {
            let text = reader.text()?.to_owned();
            match letter {
                b"a" => traits.agent = Some(text),
                b"p" => traits.project = Some(text),
                b"S" => traits.status = Some(text),
                b"b" => traits.git_branch = Some(text),
                b"t" => traits.tags.push(text),
                b"m" => traits.models.push(text),
                _ => return None,
            }
        }
        Some(traits)
    }
}

/// The traits that were met so far, each once.
#[derive(Debug, Default)]
pub(super) struct Shared {
    known: HashMap<Vec<u8>, Arc<FilterKeys>>,
}

impl Shared {
    pub(super) fn unpack(&mut self, bytes: &[u8]) -> Option<Arc<FilterKeys>> {
        if let Some(known) = self.known.get(bytes) {
            return Some(Arc::clone(known));
        }
        let traits = Arc::new(FilterKeys::unpack(bytes)?);
        self.known.insert(bytes.to_owned(), Arc::clone(&traits));
        Some(traits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_read_back_and_are_kept_once() {
        let mut facts = SessionMeta {
            project: Some("/会".into()),
            agent: Some("x".into()),
            ..SessionMeta::default()
        };
        facts.status = Some("done".into());
        facts.git_branch = Some("main".into());
        facts.tags = vec!["a".into(), "b".into()];
        facts.models = vec!["m".into()];
        let bytes = FilterKeys::of(&facts).pack();
        let mut shared = Shared::default();
        let one = shared.unpack(&bytes).unwrap();
        assert_eq!(
            (&one.project, &one.agent, &one.status),
            (&facts.project, &facts.agent, &facts.status)
        );
        assert_eq!(
            (&one.git_branch, &one.tags, &one.models),
            (&facts.git_branch, &facts.tags, &facts.models)
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
