//! Tests of blocks and lines.

use super::*;

fn block(kind: BlockKind, head: &str, text: &str) -> Block {
    Block {
        kind,
        entry: Some("e1".to_owned()),
        at: None,
        head: head.to_owned(),
        text: text.to_owned(),
        depth: 0,
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
    let text = |detail| {
        let lines = lines(&blocks, detail, 40).into_iter();
        lines.map(|it| it.text).collect::<Vec<_>>()
    };
    let detail = Detail::default();
    assert_eq!(
        text(detail),
        ["┃ why?", "  → Edit a  +1 −1", "  ← failed: boom (+1 lines)"]
    );
    let off = Detail {
        tools: Tools::Off,
        thinking: true,
        ..detail
    };
    assert_eq!(text(off), ["┃ why?", "  ┊ hm"]);
    let full = Detail {
        tools: Tools::Full,
        ..detail
    };
    assert_eq!(text(full).len(), 7);
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    let long = shortened(&"会".repeat(LONGEST));
    assert!(long.len() <= LONGEST + '…'.len_utf8() && long.ends_with('…'));
}
