//! The four toy agents, through the real store.

use std::sync::Arc;

use boswell_dialect::{Depth, Dialect, Permissions};
use boswell_model::json::Raw;
use boswell_model::{Line, Tip};
use boswell_store::backend::FsBackend;
use boswell_store::disk::MemoryDisk;
use boswell_store::repair::check;
use boswell_store::{Draft, ErrorKind, Home, NewSession, Session, Store, Wait};
use boswell_testkit::conformance::{DialectSample, DialectSuite};
use boswell_testkit::ids::SeededIds;
use boswell_testkit::toys::{document::Dory, jsonl::Jot, operations::Opal, rows::Rook, samples};

type Toy = (&'static dyn Dialect, fn() -> Vec<DialectSample>);

const TOYS: [Toy; 4] = [
    (&Jot, samples::jot),
    (&Rook, samples::rook),
    (&Opal, samples::opal),
    (&Dory, samples::dory),
];

#[test]
fn every_toy_conforms_and_takes_no_session_of_another_for_its_own() {
    for (dialect, own) in TOYS {
        let others = TOYS
            .iter()
            .filter(|(other, _)| other.name() != dialect.name());
        let strangers = others.flat_map(|(_, samples)| samples());
        DialectSuite::new(dialect, own())
            .with_foreign(strangers.collect())
            .assert_conforms();
    }
}

fn store(sample: &DialectSample) -> Store {
    let toy = TOYS
        .iter()
        .find(|(_, samples)| samples().iter().any(|other| other.id == sample.id));
    sample.store(toy.unwrap().0)
}

fn session(sample: &DialectSample) -> Session {
    store(sample).session(&sample.id).unwrap()
}

/// Returns the context: role and text of each message.
fn sent(session: &Session) -> Vec<(String, String)> {
    let context = session.context(session.tip().unwrap()).unwrap();
    let render = |item| {
        let message = session.render(item).unwrap().message;
        let bytes = message.content[0].to_bytes();
        let json = Raw::parse(&bytes).unwrap();
        let text = json.text().or_else(|| json.get("text")?.text());
        (message.role.clone(), text.unwrap_or_default().into_owned())
    };
    context.items.iter().map(render).collect()
}

fn texts(session: &Session) -> Vec<String> {
    sent(session).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn undamaged_sessions_have_no_problems_and_a_name_in_lists() {
    for sample in TOYS.iter().flat_map(|(_, samples)| samples()) {
        let (store, session) = (store(&sample), session(&sample));
        let report = check(&session).unwrap();
        assert!(
            report.problems.is_empty(),
            "{}: {:?}",
            sample.id,
            report.problems
        );
        let listed = store.list().unwrap();
        assert!(listed.problems.is_empty(), "{:?}", listed.problems);
        let location = listed
            .sessions
            .iter()
            .find(|it| it.id == sample.id)
            .unwrap();
        let name = store.summary(location).unwrap().name();
        assert!(
            ["A red build", "why is it red?"].contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn a_log_of_lines_is_appended_to_branched_and_resumed() {
    let disk = Arc::new(MemoryDisk::default());
    let backend = Arc::new(FsBackend::on(disk.clone(), "/jot"));
    let ids = Arc::new(SeededIds::new(3));
    let store = Home::on(disk, ids, "/home").writable(Store::on(&Jot, backend, "/jot"));
    let new = NewSession::in_project("/proj")
        .with_id("j-9")
        .titled("A red build");
    let writer = store.create(new).unwrap();
    let asked = writer.append(Draft::user("why is it red?")).unwrap();
    writer.append(Draft::assistant("a test")).unwrap();
    drop(writer);

    let writer = store.writer("j-9", Wait::No).unwrap();
    let again = Draft::user("which one?").below(boswell_dialect::Parent::Entry(asked.entry));
    writer.append(again).unwrap();
    let thinking = boswell_model::Part::thinking("hm");
    let refused = writer.append(Draft::new(boswell_dialect::Body::User(vec![thinking])));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
    drop(writer);

    let session = store.session("j-9").unwrap();
    assert_eq!(texts(&session), ["why is it red?", "which one?"]);
    assert_eq!(session.meta().title.as_deref(), Some("A red build"));
    assert!(check(&session).unwrap().problems.is_empty());
    let runtime = Jot.powers().runtime.unwrap();
    let command = runtime.resume(session.meta(), session.location(), Permissions::Asked);
    let command = command.unwrap();
    assert_eq!(command.argv, ["jot", "--resume", "j-9"]);
    assert_eq!(command.cwd.as_deref(), Some("/proj"));
}

#[test]
fn rows_are_a_session_in_the_order_of_their_table() {
    let session = session(&samples::rook()[0]);
    assert_eq!(
        texts(&session),
        ["why is it red?", "and now?"],
        "one was dropped"
    );
    let tip = session.tip().unwrap();
    assert_eq!(session.branch(tip).unwrap().len(), 3, "and is still there");
    assert_eq!(session.location().size, 4, "a session and three messages");
    let mut exported = Vec::new();
    let export = session.export(&mut |line| {
        exported.push(String::from_utf8_lossy(line).into_owned());
        Ok(())
    });
    assert!(export.is_ok() && exported.len() == 4);
    assert!(
        exported[0].starts_with("{\"$table\":\"session\",\"id\":\"r-1\""),
        "{exported:?}"
    );
    assert!(
        exported[1].contains("\"data\":{\"role\":\"user\", \"text\""),
        "{exported:?}"
    );
}

#[test]
fn rows_are_read_again_from_any_position_and_backwards() {
    let store = store(&samples::rook()[0]);
    let object = store.backend().open("rook.db#r-1").unwrap();
    let mut lines = Vec::new();
    let keep = &mut |line: Line<'_>| lines.push((line.at, line.bytes.to_vec()));
    assert_eq!(object.lines(0, 1, keep).unwrap(), object.end().unwrap());
    assert_eq!(
        lines.iter().map(|it| it.0).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    for (index, (at, bytes)) in lines.iter().enumerate() {
        assert_eq!(object.read(*at, bytes.len() as u64).unwrap(), *bytes);
        let mut rest = Vec::new();
        let keep = &mut |line: Line<'_>| rest.push((line.at, line.bytes.to_vec()));
        object.lines(*at, *at, keep).unwrap();
        assert_eq!(rest, lines[index..]);
    }
    for window in [1, 200, 1 << 20] {
        let (mut to, mut back) = (object.end().unwrap(), Vec::new());
        while to > 1 {
            let mut block = Vec::new();
            let keep = &mut |line: Line<'_>| block.push((line.at, line.bytes.to_vec()));
            to = object.lines_before(to, window, keep).unwrap();
            block.append(&mut back);
            back = block;
        }
        assert_eq!(back, lines, "{window} bytes at a time");
    }
    let missing = store.backend().open("rook.db#nobody").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert_eq!(
        store.backend().stat("rook.db#r-1").unwrap().unwrap().size,
        4
    );
    assert_eq!(store.backend().stat("rook.db#nobody").unwrap(), None);
}

#[test]
fn rows_cannot_be_appended_to() {
    let home = Home::in_memory().unwrap();
    let store = home.writable(store(&samples::rook()[0]));
    let error = store.create(NewSession::in_project("/proj")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        (&Rook as &dyn Dialect).appender().unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn a_changed_row_makes_another_state_of_its_session_alone() {
    use boswell_testkit::memory_rows::StoredCell;
    let mut sample = samples::rook().remove(0);
    let states = |sample: &DialectSample| {
        let sessions = store(sample).list().unwrap().sessions;
        sessions
            .into_iter()
            .map(|it| it.identity)
            .collect::<Vec<_>>()
    };
    let before = states(&sample);
    let rows = sample.databases.values_mut().next().unwrap();
    let (_, key, _) = rows
        .places()
        .into_iter()
        .find(|it| it.0 == "message")
        .unwrap();
    rows.update(
        "message",
        key,
        "data",
        StoredCell::text(r#"{"role":"user","text":"changed"}"#),
    );
    let after = states(&sample);
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1], after[1]);
    assert!(texts(&session(&sample)).contains(&"changed".to_owned()));
}

#[test]
fn operations_are_replayed_and_what_was_dropped_is_a_branch_that_was_left() {
    let session = session(&samples::opal()[0]);
    let expected = ["why is it red?", "I looked: a test.", "which test?"];
    assert_eq!(texts(&session), expected);
    let dropped = session.find("c").unwrap();
    let left = session.branch(Tip::At(dropped)).unwrap();
    assert_eq!(
        left.len(),
        3,
        "the message that was rewound still follows the answer"
    );
    assert_eq!(session.log().heads.len(), 7);
}

#[test]
fn a_rewind_to_nothing_leaves_an_empty_conversation() {
    let mut sample = samples::opal().remove(0);
    sample.files.list[0]
        .bytes
        .extend_from_slice(b"{\"opal\":\"rewind\",\"to\":\"?\"}\n");
    let session = session(&sample);
    assert_eq!(session.tip().unwrap(), Tip::Root);
    assert!(sent(&session).is_empty());
}

#[test]
fn a_replacement_is_sent_instead_of_all_before_and_the_branch_shows_both() {
    let session = session(&samples::opal()[1]);
    assert_eq!(texts(&session), ["it was red", "a test", "which test?"]);
    assert_eq!(session.branch(session.tip().unwrap()).unwrap().len(), 4);
}

#[test]
fn a_document_that_was_cut_off_is_listed_reported_and_kept() {
    let whole = samples::dory().remove(0);
    let bytes = whole.files.list[0].bytes.clone();
    let mut cut = whole.clone();
    cut.files.list[0].bytes.truncate(bytes.len() / 2);
    let session = session(&cut);
    assert_eq!(
        session.meta().title.as_deref(),
        Some("A red build"),
        "the index knows"
    );
    assert!(session.log().heads.is_empty() && sent(&session).is_empty());
    let report = check(&session).unwrap();
    assert!(
        report.problems.iter().any(|it| it.kind.is_damage()),
        "{:?}",
        report.problems
    );
    let listed = store(&cut).list().unwrap().sessions;
    assert_eq!(
        listed.len(),
        1,
        "a file that is being written is no session"
    );
    let mut exported = Vec::new();
    session
        .export(&mut |piece| {
            exported.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    assert_eq!(exported, bytes[..bytes.len() / 2]);
}

#[test]
fn a_damaged_index_hides_no_document() {
    let mut sample = samples::dory().remove(0);
    let index = sample
        .files
        .list
        .iter_mut()
        .find(|it| it.path == "index.json")
        .unwrap();
    index.bytes.truncate(20);
    let listing = store(&sample).list().unwrap();
    assert_eq!(listing.sessions.len(), 1);
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(texts(&session(&sample)), ["why is it red?", "a test fails"]);
}

#[test]
fn a_long_session_of_rows_is_summarised_from_its_two_ends() {
    use boswell_testkit::memory_rows::StoredCell;
    let mut sample = samples::rook().remove(0);
    let rows = sample.databases.values_mut().next().unwrap();
    for at in 10..400 {
        let data = format!("{{\"role\":\"user\",\"text\":\"{}\"}}", "x".repeat(1000));
        rows.insert(
            "message",
            &[
                ("id", StoredCell::text(format!("m{at}"))),
                ("session_id", StoredCell::text("r-1")),
                ("at", StoredCell::Integer(1_767_254_400_000 + at * 1000)),
                ("data", StoredCell::text(data)),
            ],
        );
    }
    let store = store(&sample);
    let location = store.list().unwrap().sessions.remove(0);
    let summary = store.summary(&location).unwrap();
    assert!(
        !summary.complete && summary.records < 300,
        "{}",
        summary.records
    );
    assert_eq!(summary.name(), "A red build");
    let last = summary.meta.last_active.unwrap().millis();
    assert_eq!(last, 1_767_254_799_000, "the end was looked at");
    let session = store.read(&location, Depth::Facts).unwrap();
    assert_eq!(session.log().heads.len(), 394);
}
