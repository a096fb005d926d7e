//! Runs each call on the writer and on the reference.

use boswell_store::model::EntryId;
use boswell_store::writer::Parent;
use boswell_store::{Body, Draft, Durability, ErrorKind, Expect, Outcome, Wait};

use super::calls::text_pieces;
use super::{Call, ID, Run, Said, What};
use crate::pi_lines::pi_lines;

impl Run {
    pub(super) fn run(&mut self, call: &Call) {
        let before = self.bytes();
        let tip = self.reference.tip();
        match call {
            Call::Append(place, said) => {
                let ((parent, above), (body, what)) = (self.place(place, None), said.body());
                self.append(
                    Draft::new(body).below(parent),
                    Expect::Any,
                    Durability::Fsync,
                    above,
                    what,
                );
            }
            Call::Os(said) => {
                let (body, what) = said.body();
                self.append(Draft::new(body), Expect::Any, Durability::Os, tip, what);
            }
            Call::Batch(drafts) => self.batch(drafts),
            Call::Branch(number) => match self.pick(*number) {
                Some(id) => {
                    let receipt = self.writer.branch(&id).unwrap();
                    self.appended(&receipt, Some(id), What::Silent);
                }
                None => self.refused(self.writer.branch("nothing"), ErrorKind::NotFound, &before),
            },
            Call::Reset => {
                let receipt = self.writer.reset().unwrap();
                self.appended(&receipt, None, What::Silent);
            }
            Call::Summary(number, summary) => {
                let summary = &text_pieces(summary);
                let at = number.and_then(|number| self.pick(number));
                let receipt = self
                    .writer
                    .branch_with_summary(at.as_deref().map(EntryId::from).as_ref(), summary)
                    .unwrap();
                self.appended(&receipt, at, What::Says("branchSummary", summary.clone()));
            }
            Call::Rewind(number) => {
                let Some(id) = self.pick(*number) else { return };
                let entry = self.reference.get(&id).cloned().unwrap();
                match entry.what {
                    What::Says("user", text) => {
                        assert_eq!(self.writer.rewind(&id).unwrap(), text);
                        let made = pi_lines(&self.bytes()).last().unwrap()["id"]
                            .as_str()
                            .unwrap()
                            .to_owned();
                        self.reference.add(&made, entry.parent, What::Silent);
                    }
                    _ => self.refused(self.writer.rewind(&id), ErrorKind::Invalid, &before),
                }
            }
            Call::Label(number, label) => {
                let target = self.pick(*number).unwrap_or_else(|| "nothing".to_owned());
                let draft = Draft::new(Body::Label {
                    target: target.as_str().into(),
                    label: label.clone(),
                });
                match self.reference.get(&target) {
                    Some(_) => self.append(
                        draft,
                        Expect::Any,
                        Durability::Fsync,
                        tip,
                        What::Label(target, label.clone()),
                    ),
                    None => self.refused(self.writer.append(draft), ErrorKind::NotFound, &before),
                }
            }
            Call::Title(title) => {
                let draft = Draft::new(Body::Title(title.clone()));
                self.append(
                    draft,
                    Expect::Any,
                    Durability::Fsync,
                    tip,
                    What::Title(title.clone()),
                );
            }
            Call::Compact(number, summary) => self.compact(*number, &text_pieces(summary)),
            Call::Given(id, place, said) => {
                let ((parent, above), (body, what)) = (self.place(place, None), said.body());
                let id = format!("given-{id}");
                self.given(
                    &id,
                    Draft::new(body).with_id(&id).below(parent),
                    above,
                    what,
                );
            }
            Call::Native(id, said) => {
                let Said::User(text) = said else { return };
                let text = text_pieces(text);
                let id = format!("native-{id}");
                let record = serde_json::json!({"type": "message", "id": id, "message": {"role": "user", "content": text}});
                let pretty = serde_json::to_vec_pretty(&record).unwrap();
                self.given(
                    &id,
                    Draft::new(Body::Native(pretty)),
                    tip,
                    What::Says("user", text),
                );
            }
            Call::ExpectRevision { right, said } => {
                let (body, what) = said.body();
                let revision = self.store.session(ID).unwrap().revision();
                if *right {
                    self.append(
                        Draft::new(body),
                        Expect::Revision(revision),
                        Durability::Os,
                        tip,
                        what,
                    );
                } else {
                    let stale = Expect::Revision(revision.with_end(revision.end() - 1));
                    let result =
                        self.writer
                            .append_with(Draft::new(body), stale, Durability::Fsync);
                    self.refused(result, ErrorKind::Conflict, &before);
                }
            }
            Call::ExpectLeaf { right, said } => {
                let (body, what) = said.body();
                match self.reference.picture().leaf.filter(|_| *right) {
                    Some(leaf) => self.append(
                        Draft::new(body),
                        Expect::Leaf(leaf.into()),
                        Durability::Fsync,
                        tip,
                        what,
                    ),
                    None => {
                        let other = Expect::Leaf("elsewhere".into());
                        let result =
                            self.writer
                                .append_with(Draft::new(body), other, Durability::Fsync);
                        self.refused(result, ErrorKind::Conflict, &before);
                    }
                }
            }
            Call::Nowhere(said) => {
                // The whole batch is refused, including its valid part.
                let right = Draft::new(said.body().0);
                let wrong = Draft::user("x").below(Parent::Entry("nothing".into()));
                let result =
                    self.writer
                        .append_all(vec![right, wrong], Expect::Any, Durability::Fsync);
                self.refused(result, ErrorKind::NotFound, &before);
            }
            Call::Annotate(said) => {
                let (body, what) = said.body();
                let allowed = matches!(said, Said::Custom(_) | Said::Title(_));
                let result = self.other.annotate(ID, Draft::new(body));
                if !allowed {
                    return self.refused(result, ErrorKind::Invalid, &before);
                }
                self.appended(&result.unwrap(), tip, what);
            }
            Call::Fork(at) => self.fork(*at),
            Call::Reopen(done) => self.reopen(*done),
        }
    }

    pub(super) fn reopen(&mut self, done: bool) {
        let busy = self.other.writer(ID, Wait::No).unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::Busy);
        let clone = self.writer.clone();
        if done {
            clone.finish(Outcome::Completed).unwrap();
        } else {
            clone.release().unwrap();
        }
        if done {
            let made = pi_lines(&self.bytes()).last().unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned();
            let tip = self.reference.tip();
            self.reference.add(&made, tip, What::Silent);
            assert_eq!(
                self.store.session(ID).unwrap().meta().status.as_deref(),
                Some("completed")
            );
        }
        assert_eq!(
            self.writer.append(Draft::user("late")).unwrap_err().kind(),
            ErrorKind::Invalid
        );
        self.writer = self.other.writer(ID, Wait::No).unwrap();
        std::mem::swap(&mut self.store, &mut self.other);
    }
}
