//! Splits a chat history in Markdown into sessions and their pieces.
//!
//! The rules are those by which Aider reads the file again: a prompt is a heading of the fourth
//! level, a notice is quoted, everything else is the answer. An answer with such lines cannot be
//! told from a prompt or a notice.

use boswell_model::json::Json;

use crate::powers::push_line;

const STARTED: &str = "# aider chat started at ";

/// A session in a chat history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chat<'t> {
    /// The time of its header, as it is written; `None` for lines before the first header.
    pub(super) started: Option<&'t str>,
    /// Number of its first line, from 1.
    line: usize,
    /// Its lines with their ends.
    text: &'t str,
}

/// What a line is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Session,
    User,
    Notice,
    Assistant,
}

impl Piece {
    fn of(line: &str) -> Piece {
        match () {
            () if line.starts_with(STARTED) => Piece::Session,
            () if line.starts_with("#### ") || line.trim_end() == "####" => Piece::User,
            () if line.starts_with("> ") || line.trim_end() == ">" => Piece::Notice,
            () => Piece::Assistant,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Piece::Session => "session",
            Piece::User => "user",
            Piece::Notice => "notice",
            Piece::Assistant => "assistant",
        }
    }
}

/// Returns the sessions of a chat history, in order.
pub(super) fn chats(text: &str) -> Vec<Chat<'_>> {
    let mut found: Vec<Chat<'_>> = Vec::new();
    let (mut at, mut begin) = (0, (0, 1, None));
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if let Some(time) = line.strip_prefix(STARTED) {
            add(&mut found, text, begin, at);
            begin = (at, number, Some(time.trim()));
        }
        at += line.len();
    }
    add(&mut found, text, begin, at);
    found
}

fn add<'t>(
    found: &mut Vec<Chat<'t>>,
    text: &'t str,
    (from, line, started): (usize, usize, Option<&'t str>),
    to: usize,
) {
    let text = text.get(from..to).unwrap_or_default();
    // Blank lines before the first header are no session.
    if started.is_some() || !text.trim().is_empty() {
        found.push(Chat {
            started,
            line,
            text,
        });
    }
}

/// Returns the id of each session: its time, with a number where several have the same.
pub(super) fn ids(chats: &[Chat<'_>]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(chats.len());
    for chat in chats {
        let time = chat.started.unwrap_or("earlier");
        let id: String = time
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        let id = Some(id).filter(|it| it.starts_with(|it: char| it.is_ascii_alphanumeric()));
        let id = id.unwrap_or_else(|| "chat".to_owned());
        let same = ids.iter().filter(|it| it.split('.').next() == Some(&id));
        let count = same.count();
        ids.push(if count == 0 {
            id
        } else {
            format!("{id}.{}", count + 1)
        });
    }
    ids
}

/// Appends the pieces of a session as records: what they are, their first line, and their text as
/// it is written.
pub(super) fn records(chat: &Chat<'_>, log: &mut Vec<u8>) {
    let mut open: Option<(Piece, usize, String)> = None;
    for (number, line) in (chat.line..).zip(chat.text.split_inclusive('\n')) {
        let piece = Piece::of(line);
        match &mut open {
            // A blank line ends nothing: prompts and answers have some.
            Some((last, _, text)) if *last == piece || line.trim().is_empty() => {
                text.push_str(line);
            }
            _ => {
                finish(open.take(), log);
                open = Some((piece, number, line.to_owned()));
            }
        }
    }
    finish(open, log);
}

fn finish(piece: Option<(Piece, usize, String)>, log: &mut Vec<u8>) {
    let Some((piece, line, text)) = piece.filter(|(_, _, text)| !text.trim().is_empty()) else {
        return;
    };
    let record = Json::object()
        .with("type", piece.word())
        .with("line", line)
        .with("markdown", text);
    push_line(&record.to_bytes(), log);
}

/// Returns the text of a prompt or a notice without the marks of its lines.
pub(super) fn unmarked(markdown: &str, mark: &str) -> String {
    let lines = markdown.trim().lines().map(|line| {
        let line = line.strip_prefix(mark).unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the time of a header. It is local time without a zone, which is taken for UTC.
pub(super) fn time(markdown: &str) -> Option<boswell_model::Instant> {
    let stated = markdown.trim().strip_prefix(STARTED)?;
    boswell_model::Instant::parse(&format!("{}Z", stated.trim().replacen(' ', "T", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "\n# aider chat started at 2026-06-09 14:01:00\n\n> Aider v1  \n\n\
        #### first  \n#### line two  \n\nAn answer.\n\n# Not a header\n> Tokens: 1 sent\n\n\
        # aider chat started at 2026-06-09 14:01:00\n";

    #[test]
    fn sessions_and_pieces_are_told_apart_and_no_line_is_lost() {
        let chats = chats(HISTORY);
        assert_eq!(
            ids(&chats),
            ["2026-06-09-14-01-00", "2026-06-09-14-01-00.2"]
        );
        let mut log = Vec::new();
        chats.iter().for_each(|chat| records(chat, &mut log));
        let log = String::from_utf8(log).unwrap();
        let words: Vec<&str> = log
            .lines()
            .map(|line| line.split('"').nth(3).unwrap())
            .collect();
        assert_eq!(
            words,
            [
                "session",
                "notice",
                "user",
                "assistant",
                "notice",
                "session"
            ]
        );
        let text: String = chats.iter().map(|chat| chat.text).collect();
        assert_eq!(text, HISTORY.trim_start_matches('\n'));
        assert_eq!(
            unmarked("#### first  \n#### line two  \n", "####"),
            "first\nline two"
        );
        assert!(time("# aider chat started at 2026-06-09 14:01:00\n").is_some());
    }

    #[test]
    fn what_is_before_the_first_header_is_a_session_too() {
        let chats = chats("left over\n# aider chat started at x y\n");
        assert_eq!(ids(&chats), ["earlier", "x-y"]);
        assert_eq!(super::chats("\n \n"), []);
    }
}
