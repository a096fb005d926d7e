//! Titles, copies, imports, notes, memory pages, new sessions and attachments.

use std::path::Path;

use boswell_dialect::{Depth, EditRequest, NewSession};
use boswell_model::json::Json;
use boswell_store::blobs::Attachments;
use boswell_store::notes::NoteKind;
use boswell_store::operations::{ImportLimits, KeepWhich};
use boswell_store::{Draft, Outcome, Wait};

use super::{Case, OWN, PROJECT, Place, STORE, files, nothing, session};

#[test]
fn a_title_in_an_agents_log_is_durable_when_it_says_so() {
    let rename = |place: &Place| {
        let request = EditRequest::Title("named".to_owned());
        place
            .runner
            .execute(&place.claude, &place.location()?, &request)
            .map(drop)
    };
    let is_made = |place: &Place| {
        let session = place
            .claude
            .read(&place.location().unwrap(), Depth::Facts)
            .unwrap();
        session.meta().title.as_deref() == Some("named")
    };
    let case = Case {
        prepare: nothing,
        act: rename,
        is_made,
        syncs: 15,
    };
    case.with_every_sync_failing();
    case.with_every_sync_lying();
}

#[test]
fn keeping_is_durable_when_it_says_so() {
    let keep = |place: &Place| {
        let vault = place.runner.vault();
        let mut kept = vault.kept()?;
        let run = vault.keep_sessions(
            &place.claude,
            &mut kept,
            KeepWhich::All,
            (Wait::No, &|| true),
            &mut |_| {},
        )?;
        run.failed
            .into_iter()
            .next()
            .map_or(Ok(()), |(_, error)| Err(error))
    };
    let is_made = |place: &Place| {
        let vault = place.runner.vault();
        let kept = vault.kept().unwrap();
        let is_kept = |(key, text): &(String, String)| {
            let copy = kept.file(Path::new(STORE), key);
            copy.is_some_and(|copy| vault.read_kept(copy).unwrap() == text.as_bytes())
        };
        // Files are copied one after the other: some may be missing, but each one is complete.
        files().iter().all(is_kept)
    };
    let case = Case {
        prepare: nothing,
        act: keep,
        is_made,
        syncs: 20,
    };
    case.with_every_sync_failing();
    case.with_every_sync_lying();
}

#[test]
fn import_is_durable_when_it_says_so() {
    let import = |place: &Place| {
        let source = place.claude.read(&place.location()?, Depth::Facts)?;
        let new = NewSession::in_project(PROJECT);
        place
            .own
            .import_whole(
                &place.claude,
                &source,
                new,
                Json::object(),
                ImportLimits::default(),
            )
            .map(drop)
    };
    let is_made = |place: &Place| {
        let sessions = place.own.list().unwrap().sessions;
        let mut imported = sessions
            .iter()
            .filter(|it| it.hidden.is_none() && it.id != OWN);
        imported.any(|it| place.own.side_files(it).unwrap().len() == 2)
    };
    Case {
        prepare: nothing,
        act: import,
        is_made,
        syncs: 15,
    }
    .with_every_sync_failing();
}

#[test]
fn a_note_is_durable_when_it_says_so() {
    let note = |place: &Place| {
        place.notes()?.add(
            &session(),
            place.id_source.now(),
            NoteKind::Tag("t".to_owned()),
        )
    };
    let is_made = |place: &Place| place.notes().unwrap().of(&session()).tags == ["t"];
    let case = Case {
        prepare: nothing,
        act: note,
        is_made,
        syncs: 5,
    };
    case.with_every_sync_failing();
    case.with_every_sync_lying();
}

#[test]
fn a_memory_page_is_durable_when_it_says_so() {
    let write = |place: &Place| place.memories().put(PROJECT, "page.md", "text").map(drop);
    let is_made = |place: &Place| {
        place
            .memories()
            .load(PROJECT)
            .unwrap()
            .pages
            .iter()
            .any(|page| page.text == "text")
    };
    Case {
        prepare: nothing,
        act: write,
        is_made,
        syncs: 8,
    }
    .with_every_sync_failing();
    let remove = |place: &Place| place.memories().remove(PROJECT, "page.md").map(drop);
    let is_gone = |place: &Place| place.memories().load(PROJECT).unwrap().pages.is_empty();
    Case {
        prepare: write,
        act: remove,
        is_made: is_gone,
        syncs: 3,
    }
    .with_every_sync_failing();
}

#[test]
fn a_new_session_a_fork_and_a_tag_are_durable_when_they_say_so() {
    let new = |place: &Place| {
        let writer = place.own.create(NewSession::in_project("/other"))?;
        writer.append(Draft::user("new"))?;
        writer.finish(Outcome::Completed).map(drop)
    };
    let is_made = |place: &Place| {
        let found = place.own.list().unwrap().sessions;
        found.iter().any(|it| {
            let session = place.own.read(it, Depth::Facts).unwrap();
            it.id != OWN && session.meta().status.as_deref() == Some("completed")
        })
    };
    Case {
        prepare: nothing,
        act: new,
        is_made,
        syncs: 5,
    }
    .with_every_sync_failing();
    let fork = |place: &Place| {
        place
            .own
            .fork(OWN, None, NewSession::in_project("/other"))?
            .finish(Outcome::Completed)
            .map(drop)
    };
    Case {
        prepare: nothing,
        act: fork,
        is_made,
        syncs: 5,
    }
    .with_every_sync_failing();
    let tag = |place: &Place| place.own.retag(OWN, &["t".to_owned()], &[]).map(drop);
    let is_tagged = |place: &Place| place.own.session(OWN).unwrap().meta().tags == ["t"];
    Case {
        prepare: nothing,
        act: tag,
        is_made: is_tagged,
        syncs: 1,
    }
    .with_every_sync_failing();
}

#[test]
fn an_attachment_is_durable_when_it_says_so() {
    fn attachments(place: &Place) -> Attachments {
        place.home().attachments()
    }
    let attach = |place: &Place| {
        let attachment = attachments(place).add(b"bytes", "a.txt", None, place.id_source.now())?;
        place
            .own
            .annotate(
                OWN,
                Draft::custom("boswell.attachment", attachment.to_json()),
            )
            .map(drop)
    };
    let is_made = |place: &Place| {
        let session = place.own.session(OWN).unwrap();
        let found = Attachments::list(&session).unwrap();
        found
            .iter()
            .any(|(_, attachment)| attachments(place).read(attachment).unwrap() == b"bytes")
    };
    Case {
        prepare: nothing,
        act: attach,
        is_made,
        syncs: 4,
    }
    .with_every_sync_failing();
}
