//! Life cycle of an index: growth, damage, merges, purges; and hostile queries.

mod queries;
mod updates;

use boswell_model::{ErrorKind, SessionRef};

use super::support::TestSources;
use super::{Field, Index, all, build, search, sessions};
use crate::Form;

fn test_sources() -> TestSources {
    let mut test_sources = TestSources::default();
    for session in 0..30 {
        for line in 0..20 {
            test_sources.say(
                &format!("s{session:02}"),
                &format!(
                    "common words of session{session} line {line} pad{}",
                    line * 7
                ),
            );
        }
    }
    test_sources.say("s03", "here is the Deadlock of the worker");
    test_sources.say("s07", "deadlocked again");
    test_sources
}

fn opened() -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path());
    (folder, index)
}

#[test]
fn a_purged_session_leaves_no_hit_and_no_term() {
    let mut test_sources = test_sources();
    test_sources.say("s05", "unique secretword12345");
    test_sources.say("s05", "and the shared Deadlock");
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let holds = |word: &str| {
        let files = boswell_testkit::corpus::files(folder.path());
        files.iter().any(|file| {
            memchr::memmem::find(&boswell_testkit::disk::read(file), word.as_bytes()).is_some()
        })
    };
    assert!(holds("secretword12345") && holds("session5") && holds("s05"));
    let reference = SessionRef::new("plain", "s05");
    index.purge(&reference).unwrap();
    assert!(!holds("secretword12345") && !holds("session5\n") && !holds("s05"));
    assert!(holds("deadlock"));
    let others: Vec<_> = test_sources
        .sources()
        .into_iter()
        .filter(|source| source.reference != reference)
        .collect();
    let results = search(&index, &all("deadlock"), &others, &test_sources);
    assert_eq!((sessions(&results).len(), results.scanned), (2, 0));
    assert_eq!(
        search(&index, &all("secretword12345"), &others, &test_sources)
            .hits
            .len(),
        0
    );
}

#[test]
fn a_forgotten_session_is_forgotten_and_can_come_back() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    index.forget(&SessionRef::new("plain", "s03")).unwrap();
    assert_eq!(index.size().sources, 29);
    let results = search(
        &index,
        &all("deadlock"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s03", "s07"]);
    assert!(
        results.scanned > 0,
        "it is scanned, since the caller still names it"
    );
    build(&index, &test_sources.sources(), &test_sources);
    assert_eq!(
        search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )
        .scanned,
        0
    );
}

#[test]
fn any_damage_to_any_file_leaves_answers_right_and_is_repaired() {
    let test_sources = test_sources();
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let wanted = search(
        &index,
        &all("deadlock"),
        &test_sources.sources(),
        &test_sources,
    )
    .hits;
    for file in boswell_testkit::corpus::files(folder.path()) {
        let whole = boswell_testkit::disk::read(&file);
        let mut hurts: Vec<Vec<u8>> = vec![Vec::new(), b"garbage".to_vec()];
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            hurts.push([&whole[..at], &[whole[at] ^ 0x55], &whole[at + 1..]].concat());
            hurts.push(whole[..at].to_vec());
        }
        for hurt in hurts {
            boswell_testkit::disk::write(&file, &hurt);
            let index = Index::open(folder.path());
            let results = search(
                &index,
                &all("deadlock"),
                &test_sources.sources(),
                &test_sources,
            );
            assert_eq!(results.hits, wanted);
            build(&index, &test_sources.sources(), &test_sources);
            let results = search(
                &index,
                &all("deadlock"),
                &test_sources.sources(),
                &test_sources,
            );
            assert_eq!(results.hits, wanted);
            assert_eq!(
                search(
                    &Index::open(folder.path()),
                    &all("deadlock"),
                    &test_sources.sources(),
                    &test_sources
                )
                .hits,
                wanted
            );
            boswell_testkit::disk::write(&file, &whole);
        }
    }
}

#[test]
fn a_second_writer_is_told_that_it_is_busy_and_readers_go_on() {
    let test_sources = test_sources();
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let other = Index::open(folder.path());
    let mut sources_of_test = test_sources.sources().into_iter();
    let mut told = None;
    index
        .update(&mut sources_of_test, &test_sources, &mut || {
            let outcome = other.update(
                &mut test_sources.sources().into_iter(),
                &test_sources,
                &mut || true,
            );
            told = Some(outcome.unwrap_err().kind());
            assert_eq!(
                search(
                    &other,
                    &all("deadlock"),
                    &test_sources.sources(),
                    &test_sources
                )
                .hits
                .len(),
                2
            );
            true
        })
        .unwrap();
    assert_eq!(told, Some(ErrorKind::Busy));
}

#[test]
fn memory_files_are_searched_as_plain_text() {
    let mut test_sources = TestSources::default();
    test_sources.logs.insert(
        "MEMORY.md".into(),
        (
            0,
            "# Notes\n\nAlways run the Linter first.\n"
                .as_bytes()
                .to_vec(),
        ),
    );
    let mut sources = test_sources.sources();
    sources[0].form = Form::Text(Field::Memory);
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(&index, &all("\"linter first\""), &sources, &test_sources);
        assert_eq!(results.hits.len(), 1);
        assert_eq!(
            (results.hits[0].field, results.complete),
            (Field::Memory, true)
        );
        assert!(build(&index, &sources, &test_sources).complete);
    }
    assert_eq!(
        search(&index, &all("linter"), &sources, &test_sources).scanned,
        0
    );
}
