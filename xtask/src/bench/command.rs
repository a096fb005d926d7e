//! Runs the requested groups, prints their tables and stores them in `docs/BENCHMARKS.md`.

use std::process::Command;

use super::group::{self, Group};
use super::lab::{Lab, Scale};
use super::{page, table};
use crate::{Outcome, workspace};

/// Minimum number of repeats for a published median.
const FEWEST_REPEATS: usize = 5;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (names, repeats, scale) = parse(arguments)?;
    if scale == Scale::Small && names != ["screen"] {
        return Err("--small is for the group `screen` alone".into());
    }
    let groups = named(&names)?;
    if groups.iter().any(|group| group.needs_release_build()) {
        let release = Lab::build(scale)?;
        if cfg!(debug_assertions) && scale == Scale::Full {
            // Some groups measure the library inside this process.
            return workspace::must_succeed(Command::new(release).arg("bench").args(arguments));
        }
    }
    let lab = Lab::set_up(repeats, scale)?;
    for group in groups {
        println!("\n{}: {}", group.name(), group.about());
        let rows = group.measure(&lab)?;
        let machine = lab.machine();
        println!("{}{machine}", table::aligned(&rows));
        if scale == Scale::Small {
            println!("bench: a small run, nothing is written to docs/BENCHMARKS.md");
            continue;
        }
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

/// Returns the groups of these names; all without a name.
fn named(names: &[&str]) -> Outcome<Vec<&'static dyn Group>> {
    let known = || group::ALL.iter().map(|group| group.name());
    if let Some(unknown) = names.iter().find(|name| known().all(|it| it != **name)) {
        let known: Vec<&str> = known().collect();
        return Err(format!(
            "no bench group is called `{unknown}`; there are: {}",
            known.join(", ")
        )
        .into());
    }
    let is_named = |group: &&dyn Group| names.is_empty() || names.contains(&group.name());
    Ok(group::ALL.iter().copied().filter(is_named).collect())
}

fn parse(arguments: &[String]) -> Outcome<(Vec<&str>, usize, Scale)> {
    let (mut names, mut repeats, mut scale) = (Vec::new(), FEWEST_REPEATS, Scale::Full);
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--repeats" => {
                let value = rest.next().ok_or("--repeats needs a number")?;
                repeats = value
                    .parse()
                    .map_err(|_| format!("--repeats takes a number, found `{value}`"))?;
            }
            "--small" => scale = Scale::Small,
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
    Ok((names, repeats, scale))
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
        let read = parse(&arguments).expect("valid");
        assert_eq!(read, (vec!["read-all"], 7, Scale::Full));
        let small = owned(&["screen", "--small"]);
        let read = parse(&small).expect("valid");
        assert_eq!(read, (vec!["screen"], FEWEST_REPEATS, Scale::Small));
    }

    #[test]
    fn too_few_repeats_are_refused() {
        assert!(parse(&owned(&["--repeats", "4"])).is_err());
        assert!(parse(&owned(&["--repeats"])).is_err());
        assert!(parse(&owned(&["--fast"])).is_err());
    }
}
