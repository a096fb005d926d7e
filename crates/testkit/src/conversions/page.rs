//! `docs/convert.md`: what each pair of agents loses.

use std::fmt::Write as _;

use boswell_dialect::conversion::LossKind;

use super::{MatrixCell, PROJECT, SOURCES, TARGETS};

/// Returns the page.
pub fn page() -> String {
    let mut page = String::from(
        "# What a conversion loses\n\n\
         Generated from the sessions of the conversion matrix; see `CONTRIBUTING.md`.\n\
         Each row is a generated session of the source with what its agent writes:\n\
         calls and results, reasoning, images where the agent has them.\n\
         `boswell convert S --to AGENT` lists the losses of a real session before it writes.\n",
    );
    for target in &TARGETS {
        let _ = write!(
            page,
            "\n## To {target}\n\n| from | messages | not carried over, or changed |\n|---|---|---|\n"
        );
        for source in SOURCES.iter().filter(|source| *source != target) {
            let _ = writeln!(page, "{}", row(source, target));
        }
    }
    page.push_str("\n## What the words mean\n\n| word | meaning |\n|---|---|\n");
    for kind in LossKind::ALL {
        let _ = writeln!(page, "| `{}` | {} |", kind.word(), kind.text());
    }
    page
}

fn row(source: &'static str, target: &'static str) -> String {
    match MatrixCell::new(source, target, PROJECT) {
        Ok(cell) => {
            let losses = cell.conversion.losses.iter();
            let losses: Vec<String> = losses
                .map(|loss| format!("{} `{}`", loss.count, loss.kind.word()))
                .collect();
            let losses = match losses.is_empty() {
                true => "nothing".to_owned(),
                false => losses.join(", "),
            };
            format!("| {source} | {} | {losses} |", cell.conversion.messages)
        }
        Err(error) => format!("| {source} | – | refused: {error} |"),
    }
}
