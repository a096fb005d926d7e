//! Words for messages that readers do not send.

use boswell_app::repair::UnsentShape;

use super::count;

/// One line about messages that some readers do not send, and why.
pub(crate) fn unsent_line(unsent: &UnsentShape) -> String {
    let readers = unsent.readers.join(", ");
    let verb = match unsent.readers.len() {
        1 => "leaves",
        _ => "leave",
    };
    let lines = match unsent.lines.as_slice() {
        [_] => "line",
        _ => "lines",
    };
    format!(
        "{}: Claude Code {readers} {verb} out {} ({lines} {}): {}",
        unsent.reason,
        count(unsent.lines.len(), "message", "messages"),
        ranges(&unsent.lines),
        why(unsent.reason)
    )
}

/// Numbers as ranges, such as `3, 5-9`.
fn ranges(lines: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *line == *last || *line == *last + 1 => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let text = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let mut texts: Vec<String> = ranges.iter().take(MOST_RANGES).map(text).collect();
    if ranges.len() > MOST_RANGES {
        texts.push("…".to_owned());
    }
    texts.join(", ")
}

/// How many ranges of lines are named.
const MOST_RANGES: usize = 8;

fn why(reason: &str) -> &'static str {
    match reason {
        "no_conversation" => "it finds no conversation in the file",
        "reader_fails" => "it fails when it resumes the file",
        "not_read" => "it does not read the line",
        "no_content" => "the message has no content",
        "same_id" => "another line has the same id, or it has none",
        "behind_gap" => "a parent between it and the end is missing",
        "parallel_call" => "it follows only one of several calls that were made at once",
        "no_result" => "the call has no result",
        "no_call" => "the result has no call before it",
        "repeated_call" => "an earlier call has the same id",
        "other_branch" => "it is on another branch",
        "before_compaction" => "a summary is sent instead",
        "side_chain" => "it belongs to a subagent",
        "client_error" => "it is an error that only the user sees",
        "nothing_to_send" => "it has no text to send",
        _ => "the reason is not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_as_ranges() {
        assert_eq!(ranges(&[3, 5, 6, 7, 9]), "3, 5-7, 9");
        let many: Vec<u64> = (0..20).map(|line| line * 2).collect();
        assert!(ranges(&many).ends_with("14, …"));
    }
}
