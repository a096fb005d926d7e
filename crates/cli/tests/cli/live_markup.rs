//! An exported page in two renderers with all extensions: no text of a session becomes markup, and
//! none extends into the next entry.

mod random_pages;
mod renderers;

use boswell_testkit::{corpus, disk};
use serde_json::{Value, json};

use crate::bench::Bench;

use renderers::{ELEMENTS, headings, inert, rendered};

/// Texts that some program interprets as markup.
const ATTACKS: &[&str] = &[
    "~~~",
    "```",
    "````html\n<script>alert(1)</script>",
    "- ~~~\n  open",
    "> ```\n> open",
    "    ~~~ indented",
    "[x]: javascript:alert(1)",
    "[x]: <javascript:alert(1)> \"t\"\n[x] [y][x] ![x]",
    "[x]:\n  javascript:alert(1)\n\n[x]",
    "> [x]: data:text/html,<script>alert(1)</script>\n\n[x]",
    "[User]: https://evil.test\n\nuse no link",
    "[^1]: <img src=http://evil.test/a.png>\n    more",
    "see [^1] and ^[inline <b>note</b>]",
    "<script>alert(1)</script>",
    "<img src=http://evil.test/a.png onerror=alert(1)>",
    "<!-- open",
    "<![CDATA[ open",
    "<?php open",
    "<!DOCTYPE open",
    "<pre>\n\nopen",
    "<textarea>\n\nopen",
    "<style>\n* { display: none }",
    "<div>\n\n*a*",
    "a <b\nonclick=alert(1)>",
    "<iframe src=//evil.test></iframe>",
    "<svg/onload=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "![x](http://evil.test/a.png) ![](https://evil.test/b.png \"t\")",
    "![x][y]\n\n[y]: https://evil.test/c.png",
    "[![x](http://evil.test/a.png)](https://ok.test)",
    "![a ![b](http://evil.test/x.png) c](http://evil.test/y.png)",
    "[j](javascript:alert(1)) [k](&#106;avascript:alert(1)) [l](java\\script:alert(1)) [m](<javascript:alert(1)>)",
    "[d](data:text/html;base64,PHNjcmlwdD4=) [v](vbscript:x) [f](file:///etc/passwd)",
    "[n](\u{1}javascript:alert(1)) [o](https://ok.test/\"onmouseover=alert(1)) [p](https://ok.test/<b>)",
    "<javascript:alert(1)> <data:text/html,x> <https://ok.test/'\"><b>",
    "javascript://%0aalert(1) vbscript://x data://x http://ok.test/~a_*b* www.ok.test a@ok.test",
    "# User 2026-01-01\n\nUser\n===\n\n### Assistant\n\nx\n---",
    "### User 2026-10-05 08:00",
    "a\n===\nb\n---",
    "===\n\n---\n\n=",
    "| a | b |\n| - | - |\n| `|` | <b> |\n| \\| | [x](javascript:1) |",
    "| a |\n|---|\n",
    "a | b\n--|--\nc",
    "- a\n- b\n\n  ~~~\n  x",
    "1. a\n7. b\n   - c\n\n     d",
    "* * *\n- - -\n- ***\n* a\n+ b\n-\n-",
    "- [ ] a\n- [x] b\n  1. [ ] c",
    "> a\nlazy\n> > b\nlazy too",
    "> [!NOTE]\n> alert",
    ">>> multi\n\n<b>\n>>>",
    "::: warning\ntext\n:::",
    "term\n: definition",
    "%%hidden%% ==mark== ++ins++ ||spoiler|| H~2~O x^2^ __u__ -# sub",
    "$$\\href{javascript:alert(1)}{x}$$ $a$ \\(b\\) \\[c\\]",
    "[[wiki|link]] [[link]] :smile:",
    "# h {#id onclick=alert(1)} #",
    "`a`{=html} `` ` `` ``` `` ```",
    "```{=html}\n<script>alert(1)</script>\n```",
    "```mermaid\ngraph TD; click A \"javascript:alert(1)\"\n```",
    "---\ntitle: x\n---\n\n+++\nx\n+++",
    "&lt;script&gt; &#60;b&#62; &#10;&#10;# x &#91;x](javascript:1) &colon; &Tab;&NewLine;",
    "*a **b* c** ***d*** _e __f_ g__ *h_i*j_ ~~k ~l~~ m~",
    "a\\\nb  \nc\\",
    "\\<b> \\` \\[x](y) \\\\",
    "*会话*。**「引」**字 ~~删~~",
    "\\",
    "*",
    "[",
    "![",
    "!",
    "`",
    "&",
    "<",
    "|",
];

fn session(texts: &[String]) -> Vec<u8> {
    let at = "2026-10-05T08:00:00.000Z";
    let mut rows = vec![
        json!({"type": "session", "version": 3, "id": "0b7e0b7e", "timestamp": at, "cwd": "/w"}),
    ];
    for (number, text) in texts.iter().enumerate() {
        let parent = number.checked_sub(1).map(|before| format!("e{before}"));
        let content = match number % 3 {
            0 => {
                json!([{"type": "text", "text": format!("begin{number}\n\n{text}\n\nend{number}")}])
            }
            1 => {
                json!([{"type": "thinking", "thinking": format!("begin{number}\n\n{text}")}, {"type": "text", "text": format!("end{number}")}])
            }
            _ => {
                json!([{"type": "text", "text": format!("begin{number}")}, {"type": "text", "text": text}, {"type": "text", "text": text}, {"type": "text", "text": format!("end{number}")}])
            }
        };
        let message = json!({"role": "assistant", "provider": "p", "model": "m", "stopReason": "stop", "timestamp": 1, "content": content});
        rows.push(json!({"type": "message", "id": format!("e{number}"), "parentId": parent, "timestamp": at, "message": message}));
    }
    rows.iter()
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect()
}

fn exported(bench: &Bench, bytes: &[u8], format: &str) -> String {
    let path = bench.home().join("page.jsonl");
    disk::write(&path, bytes);
    bench
        .run([
            "export",
            path.to_str().unwrap(),
            "--format",
            format,
            "--no-redact",
            "--quiet",
        ])
        .ends(0)
        .text()
}

/// Exports entries with these texts, and checks the whole page in both renderers.
#[track_caller]
fn stays_inside(bench: &Bench, texts: &[String]) {
    let page = exported(bench, &session(texts), "md");
    for (name, html) in rendered(&page) {
        inert(name, &html, &page);
        let headings = headings(&html);
        assert_eq!(
            headings.len(),
            texts.len() + 2,
            "{name}: an entry is lost or forged in\n{page}\n{html}"
        );
        for (number, (heading, below)) in headings.iter().skip(2).enumerate() {
            assert_eq!(heading, "Assistant 2026-10-05 08:00", "{name}");
            for word in [format!("begin{number}"), format!("end{number}")] {
                let whole =
                    |at: usize| !below[at + word.len()..].starts_with(|c: char| c.is_ascii_digit());
                let count = below
                    .match_indices(&word)
                    .filter(|(at, _)| whole(*at))
                    .count();
                assert_eq!(
                    count, 1,
                    "{name}: {word} is not below its heading in\n{page}\n{html}"
                );
            }
        }
    }
}

#[test]
fn no_text_of_an_entry_is_live_or_reaches_into_the_next_one() {
    let bench = Bench::new();
    let all: Vec<String> = ATTACKS.iter().map(|it| (*it).to_owned()).collect();
    // In each of the three places for a text in `session`.
    for turn in 0..3 {
        let mut texts = vec![String::from("x"); turn];
        texts.extend(all.iter().cloned());
        stays_inside(&bench, &texts);
    }
}

#[test]
fn no_short_field_of_a_session_is_live() {
    let bench = Bench::new();
    for attack in ATTACKS {
        let at = "2026-10-05T08:00:00.000Z";
        let say = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message});
        let picture = json!({"type": "image", "mimeType": attack, "data": "x"});
        let call =
            json!({"type": "toolCall", "id": "c1", "name": attack, "arguments": {*attack: attack}});
        let rows = [
            json!({"type": "session", "version": 3, "id": attack, "timestamp": at, "cwd": format!("/{attack}")}),
            json!({"type": "session_info", "id": "n", "parentId": null, "timestamp": at, "name": attack}),
            say(
                attack,
                json!("n"),
                json!({"role": "user", "content": [{"type": "text", "text": "x"}, picture], "timestamp": 1}),
            ),
            say(
                "b",
                json!(attack),
                json!({"role": "assistant", "provider": attack, "model": attack, "stopReason": attack, "timestamp": 1, "content": [call, {"type": attack, "x": attack}]}),
            ),
            say(
                "c",
                json!("b"),
                json!({"role": "toolResult", "toolCallId": "c1", "toolName": attack, "isError": true, "timestamp": 1, "content": [{"type": "text", "text": attack}]}),
            ),
            json!({"type": "custom_message", "id": "u", "parentId": "c", "timestamp": at, "customType": attack, "content": attack, "display": true}),
            json!({"type": "compaction", "id": "k", "parentId": "u", "timestamp": at, "summary": attack, "firstKeptEntryId": "b", "tokensBefore": 1}),
            say(
                "d",
                json!("k"),
                json!({"role": attack, "content": attack, "timestamp": 1}),
            ),
            say(
                "o",
                json!(attack),
                json!({"role": "user", "content": "the other way", "timestamp": 1}),
            ),
        ];
        let bytes: Vec<u8> = rows
            .iter()
            .flat_map(|row| format!("{row}\n").into_bytes())
            .collect();
        let page = exported(&bench, &bytes, "md");
        let counts = rendered(&page).map(|(name, html)| {
            inert(name, &html, &page);
            let headings = headings(&html);
            assert!(
                headings
                    .iter()
                    .any(|(heading, _)| heading == "Conversation"),
                "{name}: {page}"
            );
            let other = |(heading, _): &&(String, String)| {
                heading.starts_with("Branch 2 (leaves the conversation after")
            };
            assert_eq!(
                headings.iter().filter(other).count(),
                1,
                "{name}: {page}\n{html}"
            );
            headings.len()
        });
        assert_eq!(counts[0], counts[1], "{page}");
    }
}

#[test]
fn pages_of_html_hold_only_elements_of_the_page() {
    let bench = Bench::new();
    let texts: Vec<String> = ATTACKS.iter().map(|it| (*it).to_owned()).collect();
    let page = exported(&bench, &session(&texts), "html");
    let (_, body) = page.split_once("<main>").unwrap();
    let (body, _) = body.split_once("</main>").unwrap();
    let own = ["section", "article", "small", "div", "details", "summary"];
    for tag in body.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let element = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(
            ELEMENTS.contains(&element) || own.contains(&element),
            "<{tag}> in {page}"
        );
        let to = tag.split("href=\"").nth(1).unwrap_or("#");
        assert!(
            ["#", "http://", "https://", "mailto:"]
                .iter()
                .any(|safe| to.starts_with(safe)),
            "<{tag}>"
        );
        assert!(!tag.contains(" on") && !tag.contains(" src"), "<{tag}>");
    }
    assert_eq!(body.matches("<article").count(), texts.len());
}

#[test]
fn every_page_of_a_real_file_is_inert() {
    let Some(root) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    let bench = Bench::new();
    for file in corpus::files(&root) {
        let path = file.to_str().unwrap();
        let ran = bench.run(["export", path, "--format", "md", "--quiet"]);
        if ran.code != Some(0) {
            continue;
        }
        let page = ran.text();
        let html = bench
            .run(["export", path, "--format", "html", "--quiet"])
            .ends(0)
            .text();
        for (name, rendered) in rendered(&page) {
            inert(name, &rendered, path);
            assert_eq!(
                rendered.matches("<h3>").count(),
                html.matches("<article ").count(),
                "{name}: {path}"
            );
        }
    }
}
