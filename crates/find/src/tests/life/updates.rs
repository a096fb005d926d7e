//! Updates of an index after its sources were appended to, rewritten, merged or truncated.

use super::super::support::TestSources;
use super::super::{all, build, search, sessions};
use super::{opened, test_sources};
use crate::{Form, Index};

#[test]
fn what_was_appended_is_found_by_reading_only_the_tail() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let before = test_sources.logs["s11"].1.len();
    test_sources.say("s11", "zyxquorum just now");
    let tail = (test_sources.logs["s11"].1.len() - before) as u64;
    test_sources.bytes_read();
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s11"]);
    assert_eq!((test_sources.bytes_read(), results.scanned), (tail, tail));
    let progress = build(&index, &test_sources.sources(), &test_sources);
    assert_eq!(
        (progress.sources, progress.bytes, progress.complete),
        (1, tail, true)
    );
    assert_eq!(test_sources.bytes_read(), tail);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s11".to_owned()], 0)
    );
}

#[test]
fn a_line_that_no_newline_ends_yet_is_found_and_indexed_once_it_is_whole() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    test_sources.say("s01", "half written zyxquorum");
    let log = &mut test_sources.logs.get_mut("s01").unwrap().1;
    log.pop();
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s01"]);
    assert!(results.scanned > 0);
    test_sources.logs.get_mut("s01").unwrap().1.push(b'\n');
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!((results.hits.len(), results.scanned), (1, 0));
}

#[test]
fn a_rewritten_or_shorter_source_is_read_again_and_leaves_no_old_hit() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    test_sources.logs.insert("s03".into(), (1, Vec::new()));
    test_sources.say("s03", "rewritten with livelock");
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s07"]
    );
    assert_eq!(
        sessions(&search(
            &index,
            &all("livelock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s03"]
    );
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("livelock"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s03".to_owned()], 0)
    );
    let log = &mut test_sources.logs.get_mut("s07").unwrap().1;
    log.truncate(log.len() / 2);
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        [] as [&str; 0]
    );
}

#[test]
fn many_small_updates_are_merged_and_answer_as_one_large_one() {
    let whole = test_sources();
    let (_one, at_once) = opened();
    build(&at_once, &whole.sources(), &whole);
    let (_two, bit_by_bit) = opened();
    for source in whole.sources() {
        build(&bit_by_bit, &[source], &whole);
    }
    assert!(bit_by_bit.size().segments < 10, "{:?}", bit_by_bit.size());
    for text in [
        "deadlock",
        "common",
        "session1",
        "\"line 7\"",
        "pad133",
        "of* !session3",
    ] {
        let first = search(&at_once, &all(text), &whole.sources(), &whole);
        let second = search(&bit_by_bit, &all(text), &whole.sources(), &whole);
        assert_eq!(first.hits, second.hits, "{text}");
        assert!(!first.hits.is_empty() && second.scanned == 0, "{text}");
    }
}

#[test]
fn an_update_that_is_cut_short_keeps_what_it_read() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    let mut left = 10;
    let mut go_on = || {
        left -= 1;
        left > 0
    };
    let progress = index
        .update(
            &mut test_sources.sources().into_iter(),
            &test_sources,
            &mut go_on,
        )
        .unwrap();
    assert!(!progress.complete && progress.sources == 9, "{progress:?}");
    assert_eq!(index.size().sources, 9);
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s03", "s07"]
    );
}

/// Sources with enough text for several threads.
fn large_sources() -> TestSources {
    let mut test_sources = TestSources::default();
    for number in 0..24 {
        let mut log = Vec::new();
        for entry in 0..400 {
            let text = format!(
                "word{} common{} {}",
                number * 400 + entry,
                entry % 7,
                "filler ".repeat(300)
            );
            let line = format!(
                "{{\"type\":\"user\",\"uuid\":\"{number}-{entry}\",\"message\":{{\"content\":\"{text}\"}}}}\n"
            );
            log.extend_from_slice(line.as_bytes());
        }
        test_sources.logs.insert(format!("s{number:02}"), (0, log));
    }
    test_sources
}

#[test]
fn an_update_on_several_threads_covers_the_same_as_on_one() {
    let test_sources = large_sources();
    let sources = test_sources.sources();
    let ((_one, alone), (_two, together)) = (opened(), opened());
    let expected = build(&alone, &sources, &test_sources);
    let mut blocks = 0;
    let progress = together
        .update_in_parallel(sources.clone(), &test_sources, 4, &mut || {
            blocks += 1;
            true
        })
        .unwrap();
    assert_eq!(progress, expected);
    assert!(expected.complete && blocks > 24, "{blocks}");
    for text in [
        "word0",
        "word9599",
        "common3",
        "\"common3 filler\"",
        "nothing",
    ] {
        let found = |index: &Index| {
            let results = search(index, &all(text), &sources, &test_sources);
            assert_eq!(results.scanned, 0, "{text}");
            let mut hits: Vec<_> = results.hits.iter().map(super::super::key).collect();
            hits.sort_unstable();
            hits
        };
        assert_eq!(found(&together), found(&alone), "{text}");
    }
    assert!(together.backlog(sources.iter()).behind.is_empty());
}

#[test]
fn an_update_on_several_threads_that_is_cut_short_keeps_what_it_read() {
    let test_sources = large_sources();
    let sources = test_sources.sources();
    let (_folder, index) = opened();
    let mut blocks = 0;
    let progress = index
        .update_in_parallel(sources.clone(), &test_sources, 4, &mut || {
            blocks += 1;
            blocks < 2
        })
        .unwrap();
    assert!(!progress.complete, "{progress:?}");
    let behind: Vec<_> = index
        .backlog(sources.iter())
        .behind
        .into_iter()
        .cloned()
        .collect();
    assert!(!behind.is_empty());
    let rest = index.update_in_parallel(behind, &test_sources, 4, &mut || true);
    assert!(rest.unwrap().complete);
    let found = search(&index, &all("word9599"), &sources, &test_sources);
    assert_eq!(
        (sessions(&found), found.scanned),
        (vec!["s23".to_owned()], 0)
    );
}

#[test]
fn documents_are_searched_and_read_again_when_they_change() {
    let mut test_sources = TestSources::default();
    let document = r#"{"id":"x","messages":[{"type":"user","uuid":"m1","message":{"content":"first Deadlock"}},{"type":"user","uuid":"m2","message":{"content":"second"}}]}"#;
    test_sources
        .logs
        .insert("x".into(), (0, document.as_bytes().to_vec()));
    let sources = |test_sources: &TestSources| {
        let mut sources = test_sources.sources();
        sources[0].form = Form::Log(boswell_model::Framing::Rows("messages"));
        sources
    };
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(
            &index,
            &all("deadlock"),
            &sources(&test_sources),
            &test_sources,
        );
        let entries: Vec<_> = results
            .hits
            .iter()
            .map(|hit| hit.entry.clone().unwrap())
            .collect();
        assert_eq!(entries, ["m1"]);
        assert!(build(&index, &sources(&test_sources), &test_sources).complete);
    }
    assert_eq!(
        search(
            &index,
            &all("deadlock"),
            &sources(&test_sources),
            &test_sources
        )
        .scanned,
        0
    );
    let longer = document.replace("second", "second livelock");
    test_sources
        .logs
        .insert("x".into(), (0, longer.into_bytes()));
    let results = search(
        &index,
        &all("livelock"),
        &sources(&test_sources),
        &test_sources,
    );
    assert_eq!(results.hits[0].slot, Some(boswell_model::Slot(1)));
    assert!(build(&index, &sources(&test_sources), &test_sources).complete);
    let results = search(&index, &all("lock"), &sources(&test_sources), &test_sources);
    assert_eq!((results.hits.len(), results.scanned), (2, 0));
}
