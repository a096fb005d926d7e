//! The limits of code size, and how far each one is still exceeded.
//!
//! Each limit has a `goal` and, while the goal is not met, a `ratchet`: the count at the last
//! commit that lowered it. A count above its ratchet fails, so the code never gets worse; a count
//! below it fails too and requires the lower number, so that the progress cannot be lost again.

use super::count::{Counts, lines_of, tokens_of};

/// Maximum length of a function in lines.
const FUNCTION_LINES: usize = 80;
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
    let long: Vec<String> = counts
        .shipped()
        .filter(|function| function.lines > FUNCTION_LINES)
        .map(|function| place(function, function.lines))
        .collect();
    let nested: Vec<String> = counts
        .shipped()
        .filter(|function| function.closures > FUNCTION_CLOSURES)
        .map(|function| place(function, function.closures))
        .collect();
    let files: Vec<String> = counts
        .files
        .iter()
        .filter(|(_, lines)| lines.all > FILE_LINES)
        .map(|(file, lines)| format!("{} ({})", file.display(), lines.all))
        .collect();
    let twice: Vec<String> = counts
        .surface
        .twice()
        .iter()
        .map(|(name, files)| {
            let files: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            format!("{name} ({})", files.join(", "))
        })
        .collect();
    let offenders = |what, examples: Vec<String>, ratchet| Limit {
        what,
        counted: examples.len(),
        goal: 0,
        ratchet,
        examples,
    };
    let value = |what, counted, goal, ratchet| Limit {
        what,
        counted,
        goal,
        ratchet,
        examples: Vec::new(),
    };
    vec![
        offenders("functions longer than 80 lines", long, 0),
        offenders("functions with more than 8 closures", nested, 15),
        offenders("files longer than 500 lines", files, 5),
        offenders("public type names defined twice", twice, 0),
        value(
            "lines of a function (p99)",
            counts.percentile(0.99, lines_of),
            50,
            55,
        ),
        value(
            "tokens of a function (p99)",
            counts.percentile(0.99, tokens_of),
            400,
            483,
        ),
        value(
            "methods of `Dialect`",
            counts.surface.dialect_methods,
            20,
            20,
        ),
        value(
            "names at the root of boswell_store",
            counts.surface.root_names,
            40,
            40,
        ),
    ]
}

fn place(function: &super::functions::Function, size: usize) -> String {
    format!(
        "{}:{} {} ({size})",
        function.file.display(),
        function.line,
        function.name
    )
}

impl Limit {
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
