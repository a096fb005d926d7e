//! The preview line of a session: the beginning of the last message of its user.

use boswell_model::json::{Raw, RawKind};

use super::reminder::{self, LOCAL_COMMAND_OUTPUT, SESSION_EVENT, trim};

/// Length of a preview in UTF-16 units.
pub const LENGTH: usize = 60;

/// Returns the preview of a transcript. `contents` are those of its user rows, last one first.
/// `None` removes the field.
pub fn last_visible<'c>(contents: impl IntoIterator<Item = &'c str>) -> Option<String> {
    contents.into_iter().find_map(of_row)
}

/// Returns the preview text of a user row.
fn of_row(content: &str) -> Option<String> {
    let visible = match reminder::leading(content) {
        Some(found) if matches!(found.kind, Some(LOCAL_COMMAND_OUTPUT | SESSION_EVENT)) => {
            return None;
        }
        Some(found) if found.visible.is_empty() => return None,
        Some(found) => found.visible,
        None => content,
    };
    let joined = joined_blocks(visible);
    let preview = trim(units(joined.as_deref().unwrap_or(visible), LENGTH));
    (!preview.is_empty()).then(|| preview.to_owned())
}

/// Returns the text of a content string that consists of blocks. Stricter than the loader: each
/// block must have a type.
fn joined_blocks(content: &str) -> Option<String> {
    if !content.starts_with('[') {
        return None;
    }
    let array = Raw::parse(content.as_bytes()).ok()?;
    let typed = |block: Raw<'_>| {
        block.kind() == RawKind::Object && block.get("type").is_some_and(|t| t.text().is_some())
    };
    if array.items().next().is_none() || !array.items().all(typed) {
        return None;
    }
    let texts = array
        .items()
        .filter(|b| b.get("type").is_some_and(|t| t.is("text")));
    Some(texts.filter_map(|b| b.get("text")?.text()).collect())
}

/// Returns the first `limit` UTF-16 units. A surrogate pair that the cut would split is omitted:
/// half of it is not text.
pub fn units(text: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > limit {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(oldest_first: &[&str]) -> Option<String> {
        last_visible(oldest_first.iter().rev().copied())
    }

    #[test]
    fn the_last_thing_the_user_said_is_shown() {
        assert_eq!(preview(&["first", "  second  "]).as_deref(), Some("second"));
        assert_eq!(
            preview(&[&"字".repeat(70)]).as_deref(),
            Some("字".repeat(60).as_str())
        );
        assert_eq!(preview(&[]), None);
    }

    #[test]
    fn rows_that_show_nothing_of_the_user_are_passed_over() {
        let command =
            "<system-reminder><LOCAL_COMMAND_OUTPUT>x</LOCAL_COMMAND_OUTPUT></system-reminder>out";
        let event = "<system-reminder><myagents-session-event type=\"a\">x</myagents-session-event></system-reminder>y";
        let pure = "<system-reminder><HEARTBEAT>x</HEARTBEAT></system-reminder>";
        assert_eq!(
            preview(&["asked", command, event, pure, "   "]).as_deref(),
            Some("asked")
        );
        assert_eq!(
            preview(&["<system-reminder>three guests</system-reminder>\nwho is here?"]).as_deref(),
            Some("who is here?")
        );
    }

    #[test]
    fn blocks_are_joined_and_text_that_merely_starts_like_them_stays() {
        assert_eq!(
            preview(&[r#"[{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"b"}]"#])
                .as_deref(),
            Some("ab")
        );
        assert_eq!(preview(&["[草稿] hi"]).as_deref(), Some("[草稿] hi"));
        assert_eq!(preview(&["[1,2]"]).as_deref(), Some("[1,2]"));
        assert_eq!(
            preview(&["asked", r#"[{"type":"image"}]"#]).as_deref(),
            Some("asked")
        );
    }

    #[test]
    fn a_pair_is_never_cut_in_two() {
        assert_eq!(units("ab👍", 3), "ab");
        assert_eq!(units("ab👍", 4), "ab👍");
    }
}
