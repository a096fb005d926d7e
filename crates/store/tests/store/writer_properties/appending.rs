//! Appends, batches, compactions and forks, each compared with the reference.

use boswell_store::model::EntryId;
use boswell_store::writer::{Parent, Visibility};
use boswell_store::{Draft, Durability, ErrorKind, Expect, NewSession};

use super::{ID, Place, Run, Said, What};
use crate::pi_lines::pi_lines;
use crate::picture::Picture;

impl Run {
    pub(super) fn append(
        &mut self,
        draft: Draft,
        expect: Expect,
        durability: Durability,
        parent: Option<String>,
        what: What,
    ) {
        let receipt = self.writer.append_with(draft, expect, durability).unwrap();
        assert_eq!(receipt.durable, durability);
        self.appended(&receipt, parent, what);
    }

    pub(super) fn batch(&mut self, drafts: &[(Place, Said)]) {
        let mut wanted = Vec::new();
        let mut given = Vec::new();
        let start = self.reference.entries.len();
        for (n, (place, said)) in drafts.iter().enumerate() {
            // Only an entry with an id that we set can be referenced inside the batch.
            let id = format!("batch-{start}-{n}");
            let before = n.checked_sub(1).map(|n| format!("batch-{start}-{n}"));
            let (parent, above) = self.place(place, before.as_deref());
            let (body, what) = said.body();
            given.push(Draft::new(body).with_id(&id).below(parent));
            wanted.push((id, above, what));
        }
        let receipts = self
            .writer
            .append_all(given.clone(), Expect::Any, Durability::Fsync)
            .unwrap();
        assert_eq!(receipts.len(), wanted.len());
        for (receipt, (id, parent, what)) in receipts.iter().zip(wanted) {
            assert!(receipt.entry == id && !receipt.deduplicated);
            self.reference.add(&id, parent, what);
        }
        assert_eq!(receipts.last().unwrap().revision, self.revision());
        let before = self.bytes();
        let again = self
            .writer
            .append_all(given, Expect::Any, Durability::Fsync)
            .unwrap();
        assert!(again.iter().all(|receipt| receipt.deduplicated));
        assert_eq!(
            self.bytes(),
            before,
            "a batch that was there already wrote something"
        );
    }

    pub(super) fn given(&mut self, id: &str, draft: Draft, parent: Option<String>, what: What) {
        let before = self.bytes();
        let tip = draft.parent == Parent::Tip;
        match self.reference.get(id).cloned() {
            None => self.append(draft, Expect::Any, Durability::Fsync, parent, what),
            Some(known)
                if known.what == what
                    && what != What::Silent
                    && (tip || known.parent == parent) =>
            {
                let receipt = self.writer.append(draft).unwrap();
                assert!(receipt.deduplicated && receipt.entry == id);
                assert_eq!(
                    self.bytes(),
                    before,
                    "an entry that was there already was written again"
                );
            }
            // Two silent entries may or may not be equal; the reference does not know their
            // content.
            Some(known) if known.what == What::Silent && what == What::Silent => {
                let _ = self.writer.append(draft);
                assert_eq!(self.bytes(), before);
            }
            Some(_) => self.refused(self.writer.append(draft), ErrorKind::Conflict, &before),
        }
    }

    pub(super) fn compact(&mut self, number: usize, summary: &str) {
        let before = self.bytes();
        let Some(kept) = self.pick(number) else {
            return;
        };
        let result = self.writer.compact(summary, &kept, 7);
        if !self.reference.path().iter().any(|entry| entry.id == kept) {
            return self.refused(result, ErrorKind::Invalid, &before);
        }
        let model = self.reference.model();
        let level = self.reference.last(|what| {
            if let What::Thinking(l) = what {
                Some(l.clone())
            } else {
                None
            }
        });
        let receipt = result.unwrap();
        let parent = self.reference.tip();
        self.reference.add(
            receipt.entry.as_str(),
            parent,
            What::Compaction {
                summary: summary.to_owned(),
                kept,
            },
        );
        let settings = model
            .map(What::Model)
            .into_iter()
            .chain(level.map(What::Thinking));
        let lines = pi_lines(&self.bytes());
        for what in settings {
            // The writer chose its id; it is read from the file.
            let line = &lines[self.reference.entries.len() + 1];
            let (key, value) = match &what {
                What::Model(model) => ("model", model),
                What::Thinking(level) => ("thinkingLevel", level),
                _ => continue,
            };
            assert_eq!(line[key], value.as_str(), "{line}");
            let id = line["id"].as_str().unwrap().to_owned();
            self.reference.add(&id, self.reference.tip(), what);
        }
        // Last comes one entry with all settings, including those that were never set.
        let line = &lines[self.reference.entries.len() + 1];
        assert_eq!(line["customType"], "boswell.settings", "{line}");
        assert_eq!(
            line["data"]["model"].as_str(),
            self.reference.model().as_deref(),
            "{line}"
        );
        let id = line["id"].as_str().unwrap().to_owned();
        self.reference.add(&id, self.reference.tip(), What::Silent);
    }

    pub(super) fn fork(&self, at: Option<usize>) {
        let at = at.and_then(|number| self.pick(number));
        let mut source = self.reference.clone();
        if let Some(at) = &at {
            // The fork contains the branch that ends there; labels are the current ones.
            let entry = source
                .entries
                .iter()
                .position(|entry| entry.id == *at)
                .unwrap();
            let last = source.entries.remove(entry);
            source.entries.push(last);
        }
        let new = NewSession {
            visible: Visibility::WithFirstAnswer,
            ..NewSession::default()
        };
        let fork = self
            .store
            .fork(ID, at.as_deref().map(EntryId::from).as_ref(), new)
            .unwrap();
        let picture = Picture::of(&fork.session().unwrap());
        let (path, wanted) = (source.path(), source.picture());
        assert_eq!(picture.context, wanted.context);
        let kept: Vec<&str> = path.iter().map(|entry| entry.id.as_str()).collect();
        let labels = self
            .reference
            .picture()
            .labels
            .into_iter()
            .filter(|(id, _)| kept.contains(&id.as_str()));
        // A label on a label has no target in the fork.
        let labels = labels.filter(|(id, _)| picture.entries.iter().any(|(have, _)| have == id));
        assert_eq!(picture.labels, labels.collect());
        let lines = pi_lines(&self.bytes_of(&fork));
        assert_eq!(lines[0]["parentSession"], ID);
        assert_eq!(lines[0]["cwd"], "/proj/demo");
        let answered = path
            .iter()
            .any(|entry| matches!(entry.what, What::Says("assistant", _)));
        assert_eq!(
            fork.path().extension().unwrap() == "jsonl",
            answered,
            "a fork with an answer is visible"
        );
        fork.append(Draft::user("goes on")).unwrap();
        let again = self.store.session(&fork.reference().id).unwrap();
        assert_eq!(Picture::of(&again).context.len(), wanted.context.len() + 1);
        fork.release().unwrap();
    }
}
