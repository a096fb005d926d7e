//! Runs the requested groups, prints their tables and stores them in `docs/BENCHMARKS.md`.

use std::process::Command;

use super::group::{self, Group};
use super::lab::Lab;
use super::{page, table};
use crate::{Outcome, workspace};

/// Minimum number of repeats for a published median.
const FEWEST_REPEATS: usize = 5;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (names, repeats) = parse(arguments)?;
    let groups: Vec<&dyn Group> = group::ALL
        .iter()
        .copied()
        .filter(|group| names.is_empty() || names.contains(&group.name()))
        .collect();
    if let Some(unknown) = names
        .iter()
        .find(|name| group::ALL.iter().all(|group| group.name() != **name))
    {
        let known: Vec<&str> = group::ALL.iter().map(|group| group.name()).collect();
        return Err(format!(
            "no bench group is called `{unknown}`; there are: {}",
            known.join(", ")
        )
        .into());
    }
    let release = Lab::build()?;
    if cfg!(debug_assertions) {
        // Some groups measure the library inside this process.
        return workspace::must_succeed(Command::new(release).arg("bench").args(arguments));
    }
    let lab = Lab::set_up(repeats)?;
    for group in groups {
        println!("\n{}: {}", group.name(), group.about());
        let rows = group.measure(&lab)?;
        let machine = lab.machine();
        println!("{}{machine}", table::aligned(&rows));
        let text = format!(
            "{}\n\n{}\n{machine}\n",
            group.about(),
            table::markdown(&rows)
        );
        page::replace(
            &workspace::root().join("docs").join("BENCHMARKS.md"),
            group.name(),
            &text,
        )?;
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Outcome<(Vec<&str>, usize)> {
    let (mut names, mut repeats) = (Vec::new(), FEWEST_REPEATS);
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--repeats" => {
                let value = rest.next().ok_or("--repeats needs a number")?;
                repeats = value
                    .parse()
                    .map_err(|_| format!("--repeats takes a number, found `{value}`"))?;
            }
            flag if flag.starts_with('-') => {
                return Err(format!("bench has no option {flag}").into());
            }
            name => names.push(name),
        }
    }
    if repeats < FEWEST_REPEATS {
        return Err(
            format!("at least {FEWEST_REPEATS} repeats are needed, found {repeats}").into(),
        );
    }
    Ok((names, repeats))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn groups_and_repeats_are_read() {
        let arguments = owned(&["read-all", "--repeats", "7"]);
        assert_eq!(parse(&arguments).expect("valid"), (vec!["read-all"], 7));
    }

    #[test]
    fn too_few_repeats_are_refused() {
        assert!(parse(&owned(&["--repeats", "4"])).is_err());
        assert!(parse(&owned(&["--repeats"])).is_err());
        assert!(parse(&owned(&["--fast"])).is_err());
    }
}
