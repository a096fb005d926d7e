//! Recall and precision: every occurrence in the text is found and nothing else, compared with a
//! brute-force search.

use std::path::Path;

use boswell_testkit::{Rng, bench_corpus, corpus};

use super::support::{FolderSources, TestSources};
use super::{
    Counting, Index, Order, Query, Source, SourceReader, all, build, key, ordered, search, sessions,
};
use crate::extract::extract;
use crate::normalize::fold;
use crate::source::{Body, Step, Tail, TextPosition, walk};
use crate::tokenizer;

/// Pieces of text, as written and folded.
type Pieces = Vec<(String, String)>;

/// The text of every entry: source, slot, pieces.
struct Truth {
    entries: Vec<(usize, u32, Pieces)>,
}

impl Truth {
    fn read(sources: &[Source], reader: &dyn SourceReader) -> Truth {
        let mut entries = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            walk(
                source,
                reader,
                TextPosition::START,
                source.len,
                Tail::Whole,
                &mut |step| {
                    let Step::Record(record) = step else {
                        return true;
                    };
                    let Body::Object(object) = record.body else {
                        return true;
                    };
                    let mut pieces = Vec::new();
                    let mut push = |_, text: &str| pieces.push((text.to_owned(), fold(text)));
                    extract(
                        reader.dialect(source),
                        object,
                        record.head.kind,
                        record.head.flags,
                        &mut push,
                    );
                    entries.push((index, record.slot, pieces));
                    true
                },
            )
            .unwrap();
        }
        Truth { entries }
    }

    fn matching(&self, fits: impl Fn(&str) -> bool) -> Vec<(usize, u32)> {
        let hit = |pieces: &[(String, String)]| pieces.iter().any(|(_, folded)| fits(folded));
        let mut found: Vec<_> = self
            .entries
            .iter()
            .filter(|e| hit(&e.2))
            .map(|e| (e.0, e.1))
            .collect();
        found.sort_unstable();
        found
    }

    /// A piece drawn at random, long ones more often.
    fn piece(&self, rng: &mut Rng) -> &(String, String) {
        loop {
            let entry = rng.pick(&self.entries);
            if !entry.2.is_empty() {
                return rng.pick(&entry.2);
            }
        }
    }
}

/// Returns a random substring of `len` characters that satisfies a condition, if a few tries find
/// one.
fn stretch(rng: &mut Rng, text: &str, len: usize, fits: impl Fn(&str) -> bool) -> Option<String> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    for _ in 0..20 {
        let first = rng.below(starts.len().max(1));
        let from = *starts.get(first)?;
        let to = starts.get(first + len).copied().unwrap_or(text.len());
        let part = &text[from..to];
        if part.chars().count() == len && fits(part) {
            return Some(part.to_owned());
        }
    }
    None
}

/// Returns a random query and its expected hits: words, substrings, phrases, ideographs.
fn draw(rng: &mut Rng, truth: &Truth, class: &str) -> Option<(Query, Vec<(usize, u32)>)> {
    let (text, folded) = truth.piece(rng);
    let unlimited = |query: Query| Query {
        limit: usize::MAX >> 1,
        ..query
    };
    match class {
        "word" => {
            let words: Vec<&str> = folded
                .split(|c| tokenizer::class_of(c).is_none())
                .filter(|w| !w.is_empty())
                .collect();
            let word = (*words.get(rng.below(words.len().max(1)))?).to_owned();
            Some((
                unlimited(Query::parse(&format!("\"{word}\""), None).ok()?),
                truth.matching(|t| t.contains(&word)),
            ))
        }
        "stretch" => {
            let len = rng.between(3, 70);
            let part = stretch(rng, text, len, |_| true)?;
            let wanted = fold(&part);
            Some((
                unlimited(Query::substring(&part).ok()?),
                truth.matching(|t| t.contains(&wanted)),
            ))
        }
        "phrase" => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let first = rng.below(words.len().max(1));
            let phrase = words
                .get(first..(first + rng.between(2, 4)).min(words.len()))?
                .join(" ");
            if phrase.contains(['"', '\\']) {
                return None;
            }
            let wanted = fold(&phrase)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            let query = unlimited(Query::parse(&format!("\"{phrase}\""), None).ok()?);
            let found = truth.matching(|t| {
                t.split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .contains(&wanted)
            });
            Some((query, found))
        }
        _ => {
            let len = rng.between(1, 6);
            let part = stretch(rng, folded, len, |part| {
                part.chars().all(tokenizer::is_ideograph)
            })?;
            Some((
                unlimited(Query::parse(&part, None).ok()?),
                truth.matching(|t| t.contains(&part)),
            ))
        }
    }
}

/// Compares `count` queries of each class with brute force; also the first hits of each order with
/// the best of all hits.
fn compare(
    index: &Index,
    sources: &[Source],
    reader: &dyn SourceReader,
    seed: u64,
    count: usize,
) -> usize {
    let truth = Truth::read(sources, reader);
    let mut rng = Rng::for_part(seed, "recall");
    let mut compared = 0;
    for class in ["word", "stretch", "phrase", "ideographs"] {
        for _ in 0..count {
            let Some((query, wanted)) = draw(&mut rng, &truth, class) else {
                continue;
            };
            // A substring that begins with a combining mark was separated from its letter and does
            // not occur.
            compared += usize::from(!wanted.is_empty());
            let results = search(index, &query, sources, reader);
            let mut found: Vec<_> = results.hits.iter().map(key).collect();
            found.sort_unstable();
            assert_eq!(found, wanted, "{class}: {:?}", query.clauses);
            assert!(results.complete && results.sessions.exact && results.entries.exact);
            assert!(
                results
                    .hits
                    .iter()
                    .all(|hit| !hit.ranges.is_empty() && hit.snippet.len() < 400),
                "{class}"
            );
            for order in [Order::Relevance, Order::Newest] {
                let full = search(
                    index,
                    &ordered(&query, order, usize::MAX >> 1, Counting::Quick),
                    sources,
                    reader,
                );
                let page = search(
                    index,
                    &ordered(&query, order, 3, Counting::Exact),
                    sources,
                    reader,
                );
                let best = full.hits.get(..3.min(full.hits.len())).unwrap();
                assert_eq!(page.hits, best, "{class}: {:?}", query.clauses);
                assert_eq!(
                    page.sessions, results.sessions,
                    "{class}: {:?}",
                    query.clauses
                );
            }
        }
    }
    compared
}

const SENTENCES: [&str; 12] = [
    "请检查会话恢复的问题，然后重新启动服务器。",
    "数据库连接池在高并发下出现死锁，需要分析日志文件。",
    "用React写一个组件，支持拖拽上传",
    "セッションの復元に失敗しました。ログを確認してください。",
    "このファイルを削除してもよろしいですか？ｶﾞｲﾄﾞを参照",
    "データベースのマイグレーションを実行中です",
    "세션 복구에 실패했습니다. 로그를 확인해 주세요.",
    "데이터베이스 연결이 끊어졌습니다 다시 시도하세요",
    "Привет, мир! Ошибка при подключении к базе данных",
    "naïve café — ＦＵＬＬ ｗｉｄｔｈ ﬁle ✅ done → next 🚀",
    "fn read_dir(path: &Path) -> io::Result<Vec<u8>> { todo!() }",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];

fn languages(seed: u64) -> TestSources {
    let mut rng = Rng::for_part(seed, "languages");
    let mut test_sources = TestSources::default();
    for session in 0..40 {
        for _ in 0..rng.between(1, 40) {
            let sentences: Vec<&str> = (0..rng.between(1, 9))
                .map(|_| *rng.pick(&SENTENCES))
                .collect();
            let mut text = sentences.join(if rng.id_source(0.3) { "\n  " } else { "" });
            if rng.id_source(0.3) {
                text.push_str(&rng.hex(180));
            }
            test_sources.say(&format!("s{session:02}"), &text);
        }
    }
    test_sources
}

#[test]
fn every_query_of_many_languages_finds_what_brute_force_finds() {
    let test_sources = languages(7);
    let sources = test_sources.sources();
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path());
    assert!(
        compare(&index, &sources, &test_sources, 1, 6) > 15,
        "without an index"
    );
    build(&index, sources.get(..25).unwrap(), &test_sources);
    assert!(
        compare(&index, &sources, &test_sources, 2, 15) > 40,
        "half indexed"
    );
    build(&index, &sources, &test_sources);
    assert!(
        compare(&index, &sources, &test_sources, 3, 40) > 130,
        "indexed"
    );
    assert_eq!(
        search(&index, &all("会话恢复"), &sources, &test_sources).scanned,
        0
    );
    for most in [1, u64::MAX] {
        index.keep_in_memory(most);
        assert!(
            compare(&index, &sources, &test_sources, 4, 10) > 30,
            "kept in memory: at most {most} bytes"
        );
    }
}

fn compare_folder(root: &Path, seed: u64, count: usize) -> usize {
    let files = FolderSources::new(root);
    let sources = files.sources(root);
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path());
    assert_eq!(build(&index, &sources, &files).failed, 0);
    compare(&index, &sources, &files, seed, count)
}

#[test]
fn every_query_drawn_from_generated_sessions_finds_what_brute_force_finds() {
    for damage in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        bench_corpus::generate(folder.path(), 60, 1.5, 5, damage);
        assert!(compare_folder(folder.path(), 11, 12) >= 30);
    }
}

#[test]
fn every_query_drawn_from_real_files_finds_what_brute_force_finds() {
    let Some(root) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    assert!(compare_folder(&root, 13, 25) > 50);
}

#[test]
fn markers_of_a_generated_corpus_are_found_in_every_session_that_holds_them() {
    for damage in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let manifest = bench_corpus::generate(folder.path(), 300, 8.0, 1, damage);
        let files = FolderSources::new(folder.path());
        let sources = files.sources(folder.path());
        let home = tempfile::tempdir().unwrap();
        let index = Index::open(home.path());
        build(&index, &sources, &files);
        let count = |text: &str| {
            let results = search(&index, &all(text), &sources, &files);
            sessions(&results).len()
        };
        assert_eq!(count(bench_corpus::RARE), manifest.rare.len());
        assert_eq!(count(bench_corpus::RARE_TOOL), manifest.rare_tool.len());
        assert_eq!(count(bench_corpus::MIDDLE), manifest.deadlock);
        assert_eq!(
            count(&format!("\"{}\"", bench_corpus::PHRASE)),
            manifest.phrase
        );
        assert_eq!(count("\"ebsocket reconn\""), manifest.phrase);
        for cjk in [bench_corpus::CJK, "会话", "恢"] {
            assert_eq!(count(cjk), manifest.cjk, "{cjk}");
        }
        assert!(count(bench_corpus::COMMON) > 200);
    }
}
