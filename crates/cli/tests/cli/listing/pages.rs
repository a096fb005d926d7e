//! Pages contain every session once, also while sessions grow.

use serde_json::Value;

use super::{home, refs, rows};
use crate::bench::Bench;

#[test]
fn pages_by_cursor_and_by_offset_cover_everything_once() {
    let (bench, _) = home(43);
    let all = refs(&rows(&bench, &["--hidden"]));
    assert!(all.len() > 40);
    for size in [7, all.len(), all.len() / 2] {
        let limit = size.to_string();
        let mut by_cursor = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut args = vec!["list", "--json", "--hidden", "--limit", &limit];
            if let Some(cursor) = &cursor {
                args.extend(["--cursor", cursor]);
            }
            let ran = bench.run(&args).ends(0);
            let found = refs(&ran.of_type("session"));
            assert!(
                !found.is_empty(),
                "a cursor was given out with nothing behind it"
            );
            let page = ran.lines().pop().unwrap();
            assert_eq!(
                (&page["type"], &page["shown"], &page["total"]),
                (&"page".into(), &found.len().into(), &all.len().into())
            );
            by_cursor.extend(found);
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(by_cursor, all, "by cursors of {size}");
        let by_offset: Vec<String> = (0..all.len())
            .step_by(size)
            .flat_map(|offset| {
                refs(&rows(
                    &bench,
                    &[
                        "--hidden",
                        "--limit",
                        &limit,
                        "--offset",
                        &offset.to_string(),
                    ],
                ))
            })
            .collect();
        assert_eq!(by_offset, all, "by offsets of {size}");
    }
    bench
        .run(["list", "--cursor", "pi:gone"])
        .ends(2)
        .says("fits no session of this list")
        .says("hint:");
    assert_eq!(rows(&bench, &["--limit", "0"]), Vec::<Value>::new());
    assert_eq!(rows(&bench, &["--offset", "100000"]), Vec::<Value>::new());
}

#[test]
fn pages_show_nothing_twice_in_any_order_while_sessions_grow() {
    let line = |number: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"timestamp\":\"2026-01-02T03:04:05.{number:03}Z\",\"cwd\":\"/p\",\"message\":{{\"role\":\"user\",\"content\":\"more and more\"}}}}\n"
        )
    };
    for sort in ["active", "created", "messages", "size", "name"] {
        let bench = Bench::new();
        let path = |session: usize| {
            format!(".claude/projects/-p/{session:08}-3333-4333-8333-333333333333.jsonl")
        };
        let mut texts: Vec<String> = (0..7)
            .map(|n| (0..=n).map(|at| line(n * 10 + at)).collect())
            .collect();
        texts.iter().enumerate().for_each(|(n, text)| {
            bench.plant(&path(n), text.as_bytes());
        });
        bench.run(["index", "-q"]).ends(0);
        let all = refs(&rows(&bench, &["--sort", sort]));
        let (mut seen, mut cursor): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let mut args = vec!["list", "--json", "--limit", "2", "--sort", sort];
            args.extend(cursor.iter().flat_map(|at| ["--cursor", at.as_str()]));
            let ran = bench.run(&args).ends(0);
            seen.extend(refs(&ran.of_type("session")));
            cursor = ran.lines().pop().unwrap()["cursor"]
                .as_str()
                .map(str::to_owned);
            if cursor.is_none() {
                break;
            }
            // All shown sessions grow beyond the others, including the one that the cursor names.
            for shown in &seen {
                let number: usize = shown["claude:".len()..][..8].parse().unwrap();
                let more: String = (0..40).map(|at| line(200 + seen.len() * 50 + at)).collect();
                texts[number].push_str(&more);
                bench.plant(&path(number), texts[number].as_bytes());
            }
        }
        assert_eq!(seen, all, "by {sort}");
    }
}
