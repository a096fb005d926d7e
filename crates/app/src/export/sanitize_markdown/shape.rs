//! A canonical form that is equal for two texts that render the same.

use super::piece::{Kind, Piece};

// Noncharacters, so that no text contains them. They sort above the blank, so that blanks next to
// them count.
const OPEN: char = '\u{FDD0}';
const CLOSE: char = '\u{FDD1}';
const CODE: char = '\u{FDD2}';

/// Returns the text as a reader sees it: blocks, links, code and words, without markers and
/// spacing.
pub(super) fn shape(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Open(kind) => mark(&mut out, kind, ['\u{1}', OPEN]),
            Piece::Close(kind) => mark(&mut out, kind, ['\u{2}', CLOSE]),
            Piece::Text(words) => words.chars().for_each(|c| push(&mut out, c)),
            Piece::Code(code) => {
                out.push(CODE);
                code.chars().for_each(|c| push(&mut out, c));
                out.push(CODE);
            }
            Piece::CodeBlock { language, text } => {
                let text = text.trim_end_matches('\n');
                out.push_str(&format!("\u{4}{language}\u{4}{text}\u{4}"));
            }
            Piece::Break { .. } => push(&mut out, ' '),
            Piece::Rule => out.push('\u{5}'),
            Piece::Task(done) => out.push(if *done { '\u{6}' } else { '\u{7}' }),
            Piece::Picture => out.push('!'),
        }
    }
    out
}

/// Blanks count once, and not at the edges of blocks.
fn push(out: &mut String, c: char) {
    if c != ' ' {
        out.push(c);
    } else if out.chars().next_back().is_some_and(|last| last > ' ') {
        out.push(' ');
    }
}

fn mark(out: &mut String, kind: &Kind, [of_block, in_line]: [char; 2]) {
    let name = match kind {
        Kind::Paragraph => "p".to_owned(),
        Kind::Heading(level) => format!("h{level}"),
        Kind::Quote => "q".to_owned(),
        Kind::List { first, .. } => format!("l{first:?}"),
        Kind::Item => "i".to_owned(),
        Kind::Table(alignments) => format!("t{alignments:?}"),
        Kind::Head | Kind::Row => "r".to_owned(),
        Kind::Cell => "c".to_owned(),
        Kind::Emphasis(_) => "e".to_owned(),
        Kind::Strong => "s".to_owned(),
        Kind::Strike => "d".to_owned(),
        Kind::Link(to) => format!("a{to}"),
    };
    let edge = match kind {
        Kind::Emphasis(_) | Kind::Strong | Kind::Strike | Kind::Link(_) => in_line,
        _ => {
            out.truncate(out.trim_end_matches(' ').len());
            of_block
        }
    };
    out.push(edge);
    out.push_str(&name);
    out.push(edge);
}
