use super::*;

/// Lines with their edits, as `text@edit`, or `text` for unexplained ones.
fn shown(lines: &AttributedLines) -> Vec<String> {
    let line = |line: &AttributedLine| match line.edit {
        Some(edit) => format!("{}@{edit}", line.text),
        None => line.text.to_string(),
    };
    lines.0.iter().map(line).collect()
}

fn by(text: &str, edit: usize) -> AttributedLines {
    AttributedLines::written(text, Cause::Edit(edit))
}

#[test]
fn lines_that_stay_keep_their_author_and_new_ones_get_theirs() {
    let lines = by("alpha\nbeta\ngamma\n", 1);
    let lines = lines.become_text("alpha\nnew one\nbeta\ngamma\n", Cause::Edit(2));
    assert_eq!(shown(&lines), ["alpha@1", "new one@2", "beta@1", "gamma@1"]);
    let lines = lines.become_text("alpha\nnew one\nby hand\ngamma\n", Cause::Unknown);
    assert_eq!(
        shown(&lines),
        ["alpha@1", "new one@2", "by hand", "gamma@1"]
    );
}

#[test]
fn formatting_keeps_the_author_and_a_hand_does_not() {
    let lines = by("call(first, second);\nreturn 1;\n", 1);
    let indented = lines.become_text("    call(first, second);\n\treturn 1;\n", Cause::Unknown);
    assert_eq!(
        shown(&indented),
        ["    call(first, second);@1", "\treturn 1;@1"]
    );
    let broken = lines.become_text(
        "call(\n    first,\n    second);\nreturn 1;\n",
        Cause::Unknown,
    );
    assert_eq!(
        shown(&broken),
        ["call(@1", "    first,@1", "    second);@1", "return 1;@1"]
    );
    let changed = lines.become_text("call(first, third);\nreturn 1;\n", Cause::Unknown);
    assert_eq!(shown(&changed), ["call(first, third);", "return 1;@1"]);
}

#[test]
fn of_two_equal_lines_one_by_a_hand_neither_is_claimed() {
    let lines = by("fn alpha() {\n}\nfn gamma() {\n}\n", 1);
    let text = "fn alpha() {\n}\nfn by_hand() {\n}\nfn gamma() {\n}\n";
    let lines = lines.become_text(text, Cause::Unknown);
    assert_eq!(
        shown(&lines),
        [
            "fn alpha() {@1",
            "}",
            "fn by_hand() {",
            "}",
            "fn gamma() {@1",
            "}@1"
        ]
    );
}

#[test]
fn a_brace_between_two_changes_is_not_claimed() {
    let lines = by("first\nalpha\n}\nbeta\nlast\n", 1);
    let lines = lines.become_text("first\nhand 1\n}\nhand 2\nlast\n", Cause::Unknown);
    assert_eq!(
        shown(&lines),
        ["first@1", "hand 1", "}", "hand 2", "last@1"]
    );
}

#[test]
fn a_line_that_may_be_the_removed_one_of_a_hand_is_not_claimed() {
    let mut lines = by("top\n}\n", 1);
    lines
        .0
        .extend(AttributedLines::written("middle\n}\n", Cause::Unknown).0);
    let lines = lines.become_text("top\n}\n", Cause::Unknown);
    assert_eq!(shown(&lines), ["top@1", "}"]);
}

#[test]
fn a_merge_keeps_the_lines_of_both_sides() {
    let base = AttributedLines::written("one\ntwo\nthree\n", Cause::Unknown);
    let left = base.become_text("one left\none\ntwo\nthree\n", Cause::Edit(1));
    let right = base.become_text("one\ntwo\nthree\nfour right\n", Cause::Edit(2));
    let text = "one left\none\ntwo\nthree\nfour right\n";
    let merged = AttributedLines::merged(&[&left, &right], text, Union::Merge);
    assert_eq!(
        shown(&merged),
        ["one left@1", "one", "two", "three", "four right@2"]
    );
}

#[test]
fn a_line_that_a_session_may_only_have_kept_is_not_claimed() {
    let mut lines = AttributedLines::written("}\n", Cause::Unknown);
    lines.0.extend(by("beta\n", 1).0);
    // One of the two lines stayed and the other moved: nothing says which.
    let lines = lines.become_text("beta\n}\n", Cause::Rewrite(2));
    assert_eq!(shown(&lines)[1], "}");
    assert_ne!(shown(&lines)[0], "beta");
}

#[test]
fn of_long_files_a_line_that_equals_a_removed_one_of_a_hand_is_not_claimed() {
    let text: String = (0..1_500).map(|line| format!("line {line}\n")).collect();
    let mut lines = AttributedLines::written("by hand\n", Cause::Unknown);
    lines.0.extend(by(&text, 1).0);
    // The first line is the last one now; to compare all ways would take too long.
    let lines = lines.become_text(&format!("{text}by hand\n"), Cause::Rewrite(2));
    assert_eq!(lines.0.first().and_then(|line| line.edit), Some(1));
    assert_eq!(lines.0.last().and_then(|line| line.edit), None);
}

#[test]
fn lines_of_an_earlier_state_come_back_only_in_rows() {
    let known = by("alpha\n", 1);
    let before = by("alpha\nfirst\nsecond\n}\nthird\n", 2);
    let merged = |text: &str| AttributedLines::merged(&[&known, &before], text, Union::Sequence);
    let restored = merged("alpha\nfirst\nsecond\n}\nthird\n");
    assert_eq!(
        shown(&restored),
        ["alpha@1", "first@2", "second@2", "}@2", "third@2"]
    );
    assert_eq!(shown(&merged("alpha\nfirst\n")), ["alpha@1", "first"]);
}
