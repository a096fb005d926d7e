//! The limits of code size. A count above its limit fails the rule and names the places; there are
//! no exceptions.

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
    most: usize,
    /// The offenders, for the message.
    examples: Vec<String>,
}

/// Returns one line per limit that is exceeded.
pub(super) fn broken(counts: &Counts) -> Vec<String> {
    limits(counts).iter().filter_map(Limit::broken).collect()
}

fn limits(counts: &Counts) -> Vec<Limit> {
    let long = functions_above(counts, FUNCTION_LINES, lines_of);
    let nested = functions_above(counts, FUNCTION_CLOSURES, closures_of);
    vec![
        Limit::none("functions longer than 80 lines", long),
        Limit::none("functions with more than 8 closures", nested),
        Limit::none("files longer than 500 lines", long_files(counts)),
        Limit::none("public type names defined twice", names_twice(counts)),
        Limit {
            what: "lines of a function (p99)",
            counted: counts.percentile(0.99, lines_of),
            most: USUAL_LINES,
            examples: functions_above(counts, USUAL_LINES, lines_of),
        },
        Limit {
            what: "tokens of a function (p99)",
            counted: counts.percentile(0.99, tokens_of),
            most: USUAL_TOKENS,
            examples: functions_above(counts, USUAL_TOKENS, tokens_of),
        },
        Limit {
            what: "methods of `Dialect`",
            counted: counts.surface.dialect_methods,
            most: 20,
            examples: Vec::new(),
        },
        Limit {
            what: "names at the root of boswell_store",
            counted: counts.surface.root_names,
            most: 40,
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
    fn none(what: &'static str, examples: Vec<String>) -> Limit {
        Limit {
            what,
            counted: examples.len(),
            most: 0,
            examples,
        }
    }

    fn broken(&self) -> Option<String> {
        if self.counted <= self.most {
            return None;
        }
        let mut line = format!("{}: {}, at most {}", self.what, self.counted, self.most);
        for example in &self.examples {
            line.push_str("\n  ");
            line.push_str(example);
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(counted: usize, most: usize) -> Option<String> {
        Limit {
            what: "things",
            counted,
            most,
            examples: vec!["here".to_owned()],
        }
        .broken()
    }

    #[test]
    fn a_count_above_its_limit_fails_and_names_the_place() {
        assert_eq!(limit(3, 2).unwrap(), "things: 3, at most 2\n  here");
        assert!(limit(1, 0).is_some());
    }

    #[test]
    fn a_count_within_its_limit_passes() {
        assert_eq!(limit(50, 50), None);
        assert_eq!(limit(0, 0), None);
    }
}
