//! The table of a group: case, boswell, baseline, ratio, target.

use std::fmt::Write as _;

use crate::Outcome;

const HEAD: [&str; 5] = ["case", "ours", "baseline", "ratio", "target"];

/// One line of a group's table.
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) ours: String,
    pub(crate) baseline: String,
    pub(crate) ratio: f64,
    /// `None` if a figure is only shown.
    pub(crate) target: Option<Target>,
}

/// The required ratio.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn verdict(self, ratio: f64) -> String {
        let (sign, limit, met) = match self {
            Target::AtMost(limit) => ("≤", limit, ratio <= limit),
            Target::AtLeast(limit) => ("≥", limit, ratio >= limit),
        };
        format!("{sign} {limit:.2}, {}", if met { "met" } else { "MISSED" })
    }
}

impl Row {
    fn cells(&self) -> [String; 5] {
        let target = self
            .target
            .map_or_else(|| "–".to_owned(), |target| target.verdict(self.ratio));
        [
            self.case.clone(),
            self.ours.clone(),
            self.baseline.clone(),
            format!("{:.2}", self.ratio),
            target,
        ]
    }
}

/// Reads the rows that another program measured, a line each: case, ours, baseline, ratio, sign and
/// limit, with tabs between.
pub(crate) fn rows(text: &str) -> Outcome<Vec<Row>> {
    text.lines()
        .map(|line| row(line).ok_or_else(|| format!("not a row: {line}").into()))
        .collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [case, ours, baseline, ratio, sign, limit] = cells.as_slice() else {
        return None;
    };
    let limit = limit.parse().ok()?;
    Some(Row {
        case: (*case).to_owned(),
        ours: (*ours).to_owned(),
        baseline: (*baseline).to_owned(),
        ratio: ratio.parse().ok()?,
        target: Some(match *sign {
            "<=" => Target::AtMost(limit),
            _ => Target::AtLeast(limit),
        }),
    })
}

pub(crate) fn seconds(value: f64) -> String {
    match value {
        _ if value < 0.001 => format!("{:.1} µs", value * 1e6),
        _ if value < 0.02 => format!("{:.2} ms", value * 1e3),
        _ if value < 1.0 => format!("{:.0} ms", value * 1e3),
        _ => format!("{value:.2} s"),
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = format!("| {} |\n|---|---:|---:|---:|---|\n", HEAD.join(" | "));
    for row in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", row.cells().join(" | "));
    }
    text
}

pub(crate) fn aligned(rows: &[Row]) -> String {
    let lines: Vec<[String; 5]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(rows.iter().map(Row::cells))
        .collect();
    let mut text = String::new();
    for line in &lines {
        for (column, cell) in line.iter().enumerate() {
            let width = lines
                .iter()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0);
            let _ = if column == 0 {
                write!(text, "{cell:<width$}")
            } else {
                write!(text, "  {cell:>width$}")
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_another_program_are_read() {
        let read = rows("append\t1 ms\t2 ms\t0.5\t<=\t1.3\n").expect("a row");
        assert_eq!(read[0].cells()[4], "≤ 1.30, met");
        assert!(rows("append\t1 ms").is_err());
    }

    fn made(ratio: f64, target: Option<Target>) -> Row {
        Row {
            case: "context".to_owned(),
            ours: seconds(0.42),
            baseline: seconds(1.3),
            ratio,
            target,
        }
    }

    #[test]
    fn a_row_says_whether_its_target_is_met() {
        assert_eq!(
            markdown(&[
                made(1.5, Some(Target::AtMost(2.0))),
                made(2.5, Some(Target::AtMost(2.0))),
                made(9.0, None)
            ]),
            "| case | ours | baseline | ratio | target |\n|---|---:|---:|---:|---|\n\
             | context | 420 ms | 1.30 s | 1.50 | ≤ 2.00, met |\n\
             | context | 420 ms | 1.30 s | 2.50 | ≤ 2.00, MISSED |\n\
             | context | 420 ms | 1.30 s | 9.00 | – |\n"
        );
        let at_least = made(9.0, Some(Target::AtLeast(8.0))).cells();
        assert_eq!(at_least[4], "≥ 8.00, met");
        assert_eq!(
            made(7.0, Some(Target::AtLeast(8.0))).cells()[4],
            "≥ 8.00, MISSED"
        );
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        assert_eq!(
            [0.000_001_25, 0.001_5, 0.25, 2.0].map(seconds),
            ["1.2 µs", "1.50 ms", "250 ms", "2.00 s"].map(str::to_owned)
        );
    }

    #[test]
    fn columns_line_up() {
        let text = aligned(&[made(1.5, Some(Target::AtLeast(2.0))), made(12.25, None)]);
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 3);
        assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}
