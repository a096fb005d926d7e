//! The picture of the README: the screen on the demo home, cell by cell as SVG.
//!
//! `cargo xtask screenshot` writes it; the test compares it, so that it is never older than the
//! program.

use std::fmt::Write as _;

use crossterm::event::KeyCode;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::demo::Demo;
use super::keys_page::blesses;
use crate::state::{Look, State};
use crate::view;

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screen.svg");
/// Size of a cell, and of the frame around the cells.
const CELL: (f64, f64) = (8.4, 18.0);
const FRAME: f64 = 14.0;
const PAPER: &str = "#16181d";
const INK: &str = "#d7dae0";

/// The colours of a usual dark theme for the names that the screen uses.
fn colour(color: Color) -> &'static str {
    match color {
        Color::Red | Color::LightRed => "#f07178",
        Color::Green | Color::LightGreen => "#a5d184",
        Color::Yellow | Color::LightYellow => "#e5c07b",
        Color::Blue | Color::LightBlue => "#82aaff",
        Color::Magenta | Color::LightMagenta => "#c792ea",
        Color::Cyan | Color::LightCyan => "#7fd1e0",
        Color::Black | Color::DarkGray => "#5c6370",
        _ => INK,
    }
}

/// Returns the looks of a cell: ink, paper, weight and opacity.
fn looks(cell: &Cell) -> (&'static str, Option<&'static str>, bool, bool) {
    let ink = colour(cell.fg);
    let bold = cell.modifier.contains(Modifier::BOLD);
    let dim = cell.modifier.contains(Modifier::DIM);
    if cell.modifier.contains(Modifier::REVERSED) {
        let paper = if ink == INK { "#2d3a55" } else { ink };
        let ink = if ink == INK { INK } else { PAPER };
        return (ink, Some(paper), bold, false);
    }
    (ink, None, bold, dim)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns the cells of a frame as SVG.
fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let width = f64::from(columns) * CELL.0 + 2.0 * FRAME;
    let height = f64::from(rows) * CELL.1 + 2.0 * FRAME;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace\" \
         font-size=\"14\" role=\"img\" aria-label=\"The screen of boswell: a search, its sessions, and a preview\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"{PAPER}\"/>\n"
    );
    for y in 0..rows {
        let mut x = 0;
        while x < columns {
            let (end, text) = run(buffer, x, y);
            piece(&mut out, buffer, (x, y, end), &text);
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the end and the text of the cells from here that look the same. Wide characters stand
/// alone, so that each is at its place in every font.
fn run(buffer: &Buffer, start: u16, y: u16) -> (u16, String) {
    let cell = &buffer[(start, y)];
    let mut text = cell.symbol().to_owned();
    let wide = u16::try_from(boswell_app::text::columns(&text).max(1)).unwrap();
    let mut end = start + wide;
    let is_plain = |it: &Cell| it.symbol().is_ascii();
    if wide > 1 || !is_plain(cell) {
        return (end, text);
    }
    while end < buffer.area.width {
        let next = &buffer[(end, y)];
        if looks(next) != looks(cell) || !is_plain(next) {
            break;
        }
        text.push_str(next.symbol());
        end += 1;
    }
    (end, text)
}

fn piece(out: &mut String, buffer: &Buffer, (x, y, end): (u16, u16, u16), text: &str) {
    let (ink, paper, bold, dim) = looks(&buffer[(x, y)]);
    let (left, top) = (FRAME + f64::from(x) * CELL.0, FRAME + f64::from(y) * CELL.1);
    let width = f64::from(end - x) * CELL.0;
    if let Some(paper) = paper {
        let high = CELL.1;
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{high:.1}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return;
    }
    let weight = if bold { " font-weight=\"700\"" } else { "" };
    let opacity = if dim { " opacity=\"0.55\"" } else { "" };
    let base = top + 13.5;
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{width:.1}\" fill=\"{ink}\"{weight}{opacity} \
         xml:space=\"preserve\">{}</text>",
        escaped(text)
    );
}

fn drawn(state: &State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(state.size.0, state.size.1)).unwrap();
    terminal.draw(|frame| view::draw(state, frame)).unwrap();
    svg(terminal.backend().buffer())
}

#[test]
fn the_picture_of_the_readme_is_the_screen_of_this_program() {
    let mut demo = Demo::with((120, 30), Look::default());
    demo.search("test");
    super::screens::steady(&mut demo.state);
    demo.press(KeyCode::Down);
    demo.settle();
    super::screens::steady(&mut demo.state);
    let made = drawn(&demo.state);
    if blesses() {
        boswell_testkit::disk::write(PICTURE.as_ref(), made.as_bytes());
        return;
    }
    let kept = String::from_utf8(boswell_testkit::disk::read(PICTURE.as_ref())).unwrap();
    assert!(
        kept == made,
        "docs/screen.svg is not current; run `cargo xtask screenshot`"
    );
}

/// Writes pictures of views that are worth a look, for people who work on the screen.
#[test]
#[ignore = "writes pictures to target/screens, for people"]
fn pictures_of_every_view() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/screens");
    boswell_testkit::disk::make_dir(folder.as_ref());
    let save = |name: &str, demo: &Demo| {
        let path = std::path::Path::new(folder).join(format!("{name}.svg"));
        boswell_testkit::disk::write(&path, drawn(&demo.state).as_bytes());
    };
    let mut demo = Demo::open((120, 40));
    save("finder", &demo);
    demo.select("Coupon rounding");
    demo.press(KeyCode::Right);
    demo.wait("the reader", |state| {
        state.reader.as_ref().is_some_and(|it| it.loading.is_none())
    });
    save("reader", &demo);
    demo.press(KeyCode::Char('t'));
    demo.press(KeyCode::Char('g'));
    save("reader-full", &demo);
    demo.press(KeyCode::Char('b'));
    demo.wait("the tree", |state| {
        state.tree.as_ref().is_some_and(|it| it.nodes.is_some())
    });
    save("tree", &demo);
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::Esc);
    demo.select("The deployment hangs");
    demo.press(KeyCode::F(4));
    demo.wait("the check", |state| {
        state.health.as_ref().is_some_and(|it| it.facts.is_some())
    });
    demo.press(KeyCode::Char('d'));
    save("health", &demo);
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::F(5));
    demo.press(KeyCode::Char('w'));
    demo.press(KeyCode::Char('w'));
    demo.wait("the costs", |state| state.costs.stats.is_some());
    save("costs", &demo);
    demo.press(KeyCode::Char('m'));
    demo.wait("the costs", |state| state.costs.stats.is_some());
    save("costs-model", &demo);
    demo.press(KeyCode::Esc);
    demo.ctrl('k');
    save("commands", &demo);
}
