//! Followers that start behind a revision.

use boswell_store::disk::durable;
use boswell_store::model::{EntryId, Revision};
use boswell_store::session::NewEntry;
use boswell_store::{Draft, Follower};

use super::follow::texts;
use crate::reading::Lab;

#[test]
fn a_follower_goes_on_behind_any_revision_that_was_given() {
    let lab = Lab::new();
    let writer = lab.session("a", 3);
    let snapshot = lab.store.session("a").unwrap().revision();
    let receipt = writer.append(Draft::user("one")).unwrap();
    writer.append(Draft::user("two")).unwrap();
    let since = |revision: &Revision| {
        let mut follower = Follower::since(&lab.store, "a", revision).unwrap();
        let news = follower.poll().unwrap();
        assert_eq!(news.generation, 0);
        texts(&news)
    };
    assert_eq!(since(&snapshot), ["one", "two"]);
    assert_eq!(since(&receipt.revision), ["two"]);
    let mut all = Follower::new(&lab.store, "a").unwrap();
    let handed_out = all.poll().unwrap();
    for (nth, entry) in handed_out.entries.iter().enumerate() {
        let text: Revision = entry.revision.to_string().parse().unwrap();
        let mut follower = Follower::since(&lab.store, "a", &text).unwrap();
        let rest = follower.poll().unwrap().entries;
        let ids = |entries: &[NewEntry]| -> Vec<Option<EntryId>> {
            entries.iter().map(|it| it.id.clone()).collect()
        };
        assert_eq!(ids(&rest), ids(&handed_out.entries[nth + 1..]));
    }
}

#[test]
fn a_revision_of_a_file_that_was_replaced_hands_out_everything_as_a_new_generation() {
    let lab = Lab::new();
    let path = lab.session("a", 2).path();
    let before = lab.store.session("a").unwrap().revision();
    let bytes = durable::read(lab.reads.disk().as_ref(), &path)
        .unwrap()
        .unwrap();
    // A copy of the same length in another file.
    durable::put(lab.reads.disk().as_ref(), &path, &bytes, "other").unwrap();
    let after = lab.store.session("a").unwrap().revision();
    assert_eq!(after.end(), before.end());
    assert_ne!(after, before, "the same bytes in another file");
    let mut follower = Follower::since(&lab.store, "a", &before).unwrap();
    let news = follower.poll().unwrap();
    assert_eq!((texts(&news).len(), news.generation), (2, 1));
}

#[test]
fn records_that_share_a_line_come_again_unless_the_last_of_them_was_handed_out() {
    let lab = Lab::new();
    let path = lab.session("a", 1).path();
    let record = |id: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    lab.add(&path, &format!("{}{}\r\n", record("x"), record("y")));
    let mut follower = Follower::new(&lab.store, "a").unwrap();
    let news = follower.poll().unwrap();
    let revision_of = |text: &str| {
        let entry = news.entries.iter().find(|it| it.view.text() == text);
        entry.unwrap().revision
    };
    let since = |revision: &Revision| {
        let mut follower = Follower::since(&lab.store, "a", revision).unwrap();
        texts(&follower.poll().unwrap())
    };
    assert_eq!(since(&revision_of("x")), ["x", "y"]);
    assert_eq!(since(&revision_of("y")), [""; 0]);
}
