//! Tests of blocks and lines.

use boswell_app::text::columns;
use boswell_model::ToolInput;

use super::*;

fn block(kind: BlockKind, head: &str, text: &str) -> Block {
    Block {
        entry: Some("e1".to_owned()),
        head: head.to_owned(),
        ..Block::note(kind, text.to_owned(), 0)
    }
}

#[test]
fn text_wraps_at_blanks_and_inside_long_words() {
    assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrap("会话恢复一二", 5), ["会话", "恢复", "一二"]);
    assert_eq!(wrap("a\n\nb", 9), ["a", "", "b"]);
    assert!(
        wrap(&"x ".repeat(5000), 20)
            .iter()
            .all(|it| columns(it) <= 20)
    );
}

#[test]
fn an_edit_is_a_diff() {
    let input = ToolInput::from(r#"{"file_path":"src/a.rs","old_string":"x","new_string":"y\nz"}"#);
    let (head, text) = call("Edit", &input);
    assert_eq!(head, "Edit src/a.rs  +2 −1");
    assert_eq!(text, "- x\n+ y\n+ z");
    let (head, _) = call("Bash", &ToolInput::from(r#"{"command":"cargo test\nls"}"#));
    assert_eq!(head, "Bash cargo test");
    let (head, _) = call("Patch", &ToolInput::from("*** Begin\nmore"));
    assert_eq!(head, "Patch *** Begin");
}

#[test]
fn detail_decides_what_is_shown() {
    let blocks = [
        block(BlockKind::Prompt, "", "why?"),
        block(BlockKind::Thinking, "", "hm"),
        block(BlockKind::Call, "Edit a  +1 −1", "- x\n+ y"),
        block(
            BlockKind::Output { failed: true },
            "boom",
            "boom\nat line 2",
        ),
    ];
    let text = |detail: &Detail| {
        let lines = lines(&blocks, detail, &Folds::default(), 40).into_iter();
        lines.map(|it| it.text).collect::<Vec<_>>()
    };
    let detail = Detail::default();
    assert_eq!(
        text(&detail),
        ["┃ why?", "  → Edit a  +1 −1", "  ← failed: boom (+1 line)"]
    );
    let off = Detail {
        tools: Tools::Off,
        thinking: true,
        ..detail.clone()
    };
    assert_eq!(text(&off), ["┃ why?", "  ┊ hm"]);
    let full = Detail {
        tools: Tools::Full,
        ..detail
    };
    assert_eq!(text(&full).len(), 7);
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    let long = shortened(&"会".repeat(LONGEST));
    assert!(long.len() <= LONGEST + '…'.len_utf8() && long.ends_with('…'));
}

/// Blocks of calls in a row, the last of which failed.
fn run() -> Vec<Block> {
    let mut blocks = vec![block(BlockKind::Answer, "", "I look.")];
    for (part, head) in ["Read a", "Grep b", "Edit a  +1 −1", "Edit c"]
        .iter()
        .enumerate()
    {
        for kind in [BlockKind::Call, BlockKind::Output { failed: part == 3 }] {
            let part = blocks.len();
            blocks.push(Block {
                part,
                ..block(kind, head, "first\nsecond")
            });
        }
    }
    blocks
}

#[test]
fn calls_in_a_row_are_one_line_that_opens() {
    let blocks = run();
    let detail = Detail {
        runs: true,
        ..Detail::default()
    };
    let texts = |folds: &Folds| {
        let lines = lines(&blocks, &detail, folds, 60).into_iter();
        lines.map(|it| it.text).collect::<Vec<_>>()
    };
    let mut folds = Folds::default();
    assert_eq!(
        texts(&folds),
        ["I look.", "  ▸ 4 calls  Read · Grep · Edit ×2  1 failed"]
    );
    let fold = run_of(&blocks, 5, &detail).unwrap();
    folds.toggle(fold);
    assert_eq!(texts(&folds).len(), 2 + 8);
    folds.toggle(blocks[1].fold(false));
    assert_eq!(texts(&folds).len(), 2 + 8 + 2);
    folds.toggle_all();
    assert_eq!(texts(&folds).len(), 2 + 8 * 3);
    assert_eq!(run_of(&blocks, 0, &detail), None);
}
