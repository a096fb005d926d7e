//! Texts of users and agents in generated sessions: short, in English and Chinese, with awkward
//! characters.

use crate::rng::Rng;

const ASKED: &[&str] = &[
    "why is the build red on main?",
    "the login test fails only on CI, please find out why",
    "rename the module and update every caller",
    "请检查会话恢复的问题，恢复以后历史记录不完整",
    "把配置文件的解析改成流式的，不要一次读入内存",
    "帮我写一个单元测试，覆盖空输入的情况",
    "add a --json flag, and keep the old output as it is",
    "does <Session> && <Store> compile without the feature?",
    "explain this stack trace:\n  at parse (src/parse.rs:41)\n  at main (src/main.rs:7)",
    "セッションの一覧が遅いです。原因を調べてください",
    "make it faster, but don't change the file format \u{1f680}",
    "a line separator\u{2028}sits in this prompt, and a tab\there",
];

const ANSWERED: &[&str] = &[
    "The lock is taken twice on the error path; I moved the second call out.",
    "问题在于父指针指向了一条不存在的记录，我已经补上了检查。",
    "Done. All 214 tests pass, and clippy is quiet.",
    "The test depends on the time zone: CI runs in UTC, your machine does not.",
    "我先读一下相关文件，再决定怎么改。",
    "There are two callers left; both are in `src/legacy.rs`:\n\n```rust\nfn main() {\n    println!(\"hi\");\n}\n```",
    "No: the trait bound needs `Clone`, which the feature adds.",
    "I would keep the format and change the reader; see the diff.",
];

const THOUGHT: &[&str] = &[
    "The error says line 41, but the file has only 39 lines, so it is the generated one.",
    "先看目录结构，再看测试。",
    "Two hypotheses: a stale index, or a missing flush.",
    "The user wants the old output kept, so the flag must be additive.",
];

const TITLES: &[&str] = &[
    "Fix the red build",
    "会话恢复",
    "Streaming config parser",
    "Rename session module",
    "Flaky login test",
    "解析器的单元测试",
];

/// Returns a prompt.
pub fn asked(rng: &mut Rng) -> &'static str {
    rng.word(ASKED)
}

/// Returns an assistant message.
pub fn answered(rng: &mut Rng) -> &'static str {
    rng.word(ANSWERED)
}

/// Returns thinking.
pub fn thought(rng: &mut Rng) -> &'static str {
    rng.word(THOUGHT)
}

/// Returns a title.
pub fn title(rng: &mut Rng) -> &'static str {
    rng.word(TITLES)
}

/// Returns the output of a tool with about this many lines, each numbered as by a file reader.
pub fn listing(rng: &mut Rng, lines: usize) -> String {
    let mut text = String::new();
    for number in 1..=lines {
        let words = [
            rng.word(&["let", "fn", "pub", "use", "//", "注释"]),
            rng.word(&["session", "entry", "leaf", "会话"]),
        ];
        text.push_str(&format!(
            "{number:6}\t{} {}_{};\n",
            words[0],
            words[1],
            rng.base36(4)
        ));
    }
    text
}

/// Returns the bytes of a small image: a PNG signature and noise.
pub fn image(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    image.extend(rng.bytes(bytes.saturating_sub(8)));
    image
}
