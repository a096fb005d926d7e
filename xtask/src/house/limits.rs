//! The limits of code size, and how far each one is still exceeded.
//!
//! Each limit has a `goal` and, while the goal is not met, a `ratchet`: the count at the last
//! commit that lowered it. A count above its ratchet fails, so the code never gets worse; a count
//! below it fails too and requires the lower number, so that the progress cannot be lost again.

use super::count::{Counts, closures_of, lines_of, tokens_of};
use super::functions::Function;

/// Maximum length of a function in lines.
const FUNCTION_LINES: usize = 80;
/// Lines that 99 of 100 functions do not exceed.
const USUAL_LINES: usize = 50;
/// Tokens that 99 of 100 functions do not exceed.
const USUAL_TOKENS: usize = 400;
/// Maximum number of closures in one function.
const FUNCTION_CLOSURES: usize = 8;
/// Maximum length of a file in lines.
const FILE_LINES: usize = 500;

struct Limit {
    what: &'static str,
    counted: usize,
    goal: usize,
    ratchet: usize,
    /// The offenders, for the message.
    examples: Vec<String>,
}

/// Returns one line per limit that is exceeded.
pub(super) fn broken(counts: &Counts) -> Vec<String> {
    limits(counts).iter().filter_map(Limit::broken).collect()
}

/// Returns one line per goal that is not met yet, with the places to work on.
pub(super) fn open(counts: &Counts) -> Vec<String> {
    let open = limits(counts)
        .into_iter()
        .filter(|limit| limit.counted > limit.goal);
    open.map(|limit| {
        let places: Vec<String> = limit
            .examples
            .iter()
            .map(|it| format!("\n  {it}"))
            .collect();
        format!(
            "{}: {}, goal {}{}",
            limit.what,
            limit.counted,
            limit.goal,
            places.concat()
        )
    })
    .collect()
}

fn limits(counts: &Counts) -> Vec<Limit> {
    let long = functions_above(counts, FUNCTION_LINES, lines_of);
    let nested = functions_above(counts, FUNCTION_CLOSURES, closures_of);
    vec![
        Limit::none("functions longer than 80 lines", long, 0),
        Limit::none("functions with more than 8 closures", nested, 15),
        Limit::none("files longer than 500 lines", long_files(counts), 5),
        Limit::none("public type names defined twice", names_twice(counts), 0),
        Limit {
            what: "lines of a function (p99)",
            counted: counts.percentile(0.99, lines_of),
            goal: USUAL_LINES,
            ratchet: 55,
            examples: functions_above(counts, USUAL_LINES, lines_of),
        },
        Limit {
            what: "tokens of a function (p99)",
            counted: counts.percentile(0.99, tokens_of),
            goal: USUAL_TOKENS,
            ratchet: 483,
            examples: functions_above(counts, USUAL_TOKENS, tokens_of),
        },
        Limit {
            what: "methods of `Dialect`",
            counted: counts.surface.dialect_methods,
            goal: 20,
            ratchet: 20,
            examples: Vec::new(),
        },
        Limit {
            what: "names at the root of boswell_store",
            counted: counts.surface.root_names,
            goal: 40,
            ratchet: 40,
            examples: Vec::new(),
        },
    ]
}

/// The places of shipped functions whose size exceeds `most`, largest first.
fn functions_above(counts: &Counts, most: usize, size: fn(&Function) -> usize) -> Vec<String> {
    let mut above: Vec<&Function> = counts.shipped().filter(|it| size(it) > most).collect();
    above.sort_by_key(|function| std::cmp::Reverse(size(function)));
    let mut places = Vec::new();
    for function in above {
        let (file, line, name) = (function.file.display(), function.line, &function.name);
        places.push(format!("{file}:{line} {name} ({})", size(function)));
    }
    places
}

fn long_files(counts: &Counts) -> Vec<String> {
    let mut places = Vec::new();
    for (file, lines) in &counts.files {
        if lines.all > FILE_LINES {
            places.push(format!("{} ({})", file.display(), lines.all));
        }
    }
    places
}

fn names_twice(counts: &Counts) -> Vec<String> {
    let mut places = Vec::new();
    for (name, files) in counts.surface.twice() {
        let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        places.push(format!("{name} ({})", files.join(", ")));
    }
    places
}

impl Limit {
    /// A limit that nothing may exceed: each example is one too many.
    fn none(what: &'static str, examples: Vec<String>, ratchet: usize) -> Limit {
        Limit {
            what,
            counted: examples.len(),
            goal: 0,
            ratchet,
            examples,
        }
    }

    fn broken(&self) -> Option<String> {
        let Limit {
            what,
            counted,
            goal,
            ratchet,
            ..
        } = self;
        let allowed = (*goal).max(*ratchet);
        if *counted > allowed {
            let examples: String = self
                .examples
                .iter()
                .map(|example| format!("\n  {example}"))
                .collect();
            return Some(format!(
                "{what}: {counted}, allowed {allowed}, goal {goal}{examples}"
            ));
        }
        let improved = counted < ratchet && ratchet > goal;
        improved
            .then(|| format!("{what}: {counted}; lower the ratchet {ratchet} in house/limits.rs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(counted: usize, goal: usize, ratchet: usize) -> Option<String> {
        Limit {
            what: "things",
            counted,
            goal,
            ratchet,
            examples: vec!["here".to_owned()],
        }
        .broken()
    }

    #[test]
    fn a_count_above_goal_and_ratchet_fails_and_names_the_place() {
        assert!(
            limit(3, 0, 2)
                .unwrap()
                .ends_with("things: 3, allowed 2, goal 0\n  here")
        );
        assert!(limit(51, 50, 0).is_some());
    }

    #[test]
    fn a_count_within_its_goal_passes() {
        assert_eq!(limit(50, 50, 0), None);
        assert_eq!(limit(2, 0, 2), None);
    }

    #[test]
    fn progress_must_be_recorded() {
        assert!(limit(1, 0, 2).unwrap().contains("lower the ratchet 2"));
    }
}
