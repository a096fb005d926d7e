//! Tables that fit the terminal: wide columns are cut, then columns are left out.

use crate::output::Output;
use crate::terminal::{Style, columns as width_of, cut, fit};
use boswell_model::Result;

/// Space between two columns.
const GAP: usize = 2;

/// How a text that is too wide is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Not at all: a number or an id is only of use as a whole.
    Never,
    /// At the end, down to so many columns.
    Right(usize),
    /// At the start, because the end of a path identifies it; down to so many columns.
    Left(usize),
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    cut: Cut,
    is_number: bool,
    style: Option<Style>,
    /// The column with the lowest rank is left out first.
    rank: u8,
}

impl Column {
    /// A column of text.
    pub(crate) fn text(heading: &'static str, cut: Cut, rank: u8) -> Column {
        Column {
            heading,
            cut,
            is_number: false,
            style: None,
            rank,
        }
    }

    /// A column of numbers, which stand below each other at their ends.
    pub(crate) fn number(heading: &'static str, rank: u8) -> Column {
        Column {
            is_number: true,
            ..Column::text(heading, Cut::Never, rank)
        }
    }

    /// The column in a style.
    pub(crate) fn styled(self, style: Style) -> Column {
        Column {
            style: Some(style),
            ..self
        }
    }

    fn least(&self, natural: usize) -> usize {
        match self.cut {
            Cut::Never => natural,
            Cut::Right(least) | Cut::Left(least) => natural.min(least),
        }
    }
}

/// Prints a heading and rows. Each row has a cell for each column, harmless and on one line.
pub(crate) fn print(
    columns: &[Column],
    rows: &[Vec<String>],
    width: usize,
    out: &mut Output,
) -> Result<()> {
    let widths = layout(columns, rows, width);
    let heading: Vec<&str> = columns.iter().map(|column| column.heading).collect();
    let heading = line(columns, &widths, &heading, |_, text| text);
    out.line(&out.paint(Style::Faint, heading.trim_end()))?;
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        let text = line(columns, &widths, &cells, |column, text| {
            match column.style {
                Some(style) => out.paint(style, &text),
                None => text,
            }
        });
        out.line(text.trim_end())?;
    }
    Ok(())
}

fn line(
    columns: &[Column],
    widths: &[Option<usize>],
    cells: &[&str],
    paint: impl Fn(&Column, String) -> String,
) -> String {
    let mut parts = Vec::new();
    let last = widths.iter().rposition(Option::is_some);
    for (place, ((column, width), cell)) in columns.iter().zip(widths).zip(cells).enumerate() {
        let Some(width) = *width else { continue };
        let text = match column.cut {
            Cut::Left(_) => cut_left(cell, width),
            _ => cut(cell, width),
        };
        let space = " ".repeat(width.saturating_sub(width_of(&text)));
        let text = match (column.is_number, Some(place) == last) {
            (true, _) => format!("{space}{}", paint(column, text)),
            (false, true) => paint(column, text),
            (false, false) => paint(column, fit(&text, width)),
        };
        parts.push(text);
    }
    parts.join(&" ".repeat(GAP))
}

/// The width of each column; `None` for those that are left out.
fn layout(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<Option<usize>> {
    let natural: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| natural_width(place, column, rows))
        .collect();
    let mut shown: Vec<bool> = vec![true; columns.len()];
    while least_width(columns, &natural, &shown) > width + GAP
        && let Some(place) = lowest(columns, &shown)
        && let Some(is_shown) = shown.get_mut(place)
    {
        *is_shown = false;
    }
    let mut widths: Vec<Option<usize>> = natural
        .iter()
        .zip(&shown)
        .map(|(natural, shown)| shown.then_some(*natural))
        .collect();
    shrink(columns, &natural, &mut widths, width);
    widths
}

/// The width at which nothing in a column is cut.
fn natural_width(place: usize, column: &Column, rows: &[Vec<String>]) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(place));
    let widest = cells.map(|cell| width_of(cell)).max().unwrap_or(0);
    widest.max(width_of(column.heading))
}

/// What the shown columns take at least, with a gap after each.
fn least_width(columns: &[Column], natural: &[usize], shown: &[bool]) -> usize {
    let columns = columns.iter().zip(natural).zip(shown);
    columns
        .filter(|(_, shown)| **shown)
        .map(|((column, natural), _)| column.least(*natural) + GAP)
        .sum()
}

/// The column to leave out next; the last one stays.
fn lowest(columns: &[Column], shown: &[bool]) -> Option<usize> {
    let places = || (0..columns.len()).filter(|place| shown.get(*place) == Some(&true));
    places()
        .min_by_key(|place| columns.get(*place).map_or(0, |column| column.rank))
        .filter(|_| places().count() > 1)
}

/// Takes from the widest column that can be cut, until all fit.
fn shrink(columns: &[Column], natural: &[usize], widths: &mut [Option<usize>], width: usize) {
    loop {
        let taken: usize = widths.iter().flatten().map(|it| it + GAP).sum();
        if taken <= width + GAP {
            return;
        }
        let can = |place: usize, at: usize| {
            let column = columns.get(place).zip(natural.get(place));
            column.is_some_and(|(column, natural)| at > column.least(*natural))
        };
        let widest = widths
            .iter_mut()
            .enumerate()
            .filter_map(|(place, width)| width.as_mut().map(|width| (place, width)))
            .filter(|(place, width)| can(*place, **width))
            .max_by_key(|(_, width)| **width);
        match widest {
            Some((_, width)) => *width -= 1,
            None => return,
        }
    }
}

/// Cuts at the left, because the end of a path identifies it.
pub(crate) fn cut_left(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut rest = text;
    while !rest.is_empty() && width_of(rest) + 1 > width {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    format!("…{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> [Column; 3] {
        [
            Column::text("ID", Cut::Never, 9),
            Column::text("PROJECT", Cut::Left(8), 1),
            Column::text("NAME", Cut::Right(10), 8),
        ]
    }

    fn row(id: &str, project: &str, name: &str) -> Vec<String> {
        [id, project, name].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_fits_is_not_cut_and_what_does_not_is_cut_or_left_out() {
        let rows = [row(
            "12345678",
            "/home/dev/code/shop",
            "Coupon rounding is wrong",
        )];
        assert_eq!(layout(&columns(), &rows, 80), [Some(8), Some(19), Some(24)]);
        assert_eq!(layout(&columns(), &rows, 50), [Some(8), Some(19), Some(19)]);
        assert_eq!(layout(&columns(), &rows, 30), [Some(8), Some(8), Some(10)]);
        assert_eq!(layout(&columns(), &rows, 29), [Some(8), None, Some(19)]);
        assert_eq!(layout(&columns(), &rows, 5), [Some(8), None, None]);
    }

    #[test]
    fn a_path_keeps_its_end() {
        assert_eq!(cut_left("/home/dev/shop", 5), "…shop");
        assert_eq!(cut_left("shop", 5), "shop");
        assert_eq!(cut_left("/会/会", 4), "…/会");
        assert_eq!(cut_left("abc", 0), "…");
    }
}
