//! The libraries name a next step as data (`Advice`); only a face phrases it as a command or flag.
//!
//! So no string literal of `model`, `dialect`, `store`, `find` and `app` may contain a command of
//! this program or a flag. Programs of others, such as `claude --resume`, are their own words.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

use crate::sources;

const LIBRARIES: [&str; 5] = [
    "crates/model/src",
    "crates/dialect/src",
    "crates/store/src",
    "crates/find/src",
    "crates/app/src",
];

/// Programs whose flags are theirs.
const OTHER_PROGRAMS: [&str; 3] = ["systemctl", "zstd", "claude"];

/// What a text says that only a face may say.
fn command_in(text: &str) -> Option<&str> {
    if let Some(at) = text.find("`boswell ") {
        return text.get(at..);
    }
    let is_foreign = OTHER_PROGRAMS
        .iter()
        .any(|program| text.contains(&format!("{program} --")));
    let is_prose = text.contains(' ') && !is_foreign;
    text.match_indices("--")
        .filter(|_| is_prose)
        .find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + 2..].chars().next();
            before.is_none_or(|c| matches!(c, ' ' | '"' | '`' | '('))
                && after.is_some_and(|c| c.is_ascii_lowercase())
        })
        .and_then(|(at, _)| text.get(at..))
}

/// Collects the string literals of code, without those of attributes and tests.
fn literals(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut is_attribute = false;
    let mut is_test = false;
    for token in tokens {
        match token {
            TokenTree::Punct(mark) => {
                is_attribute = mark.as_char() == '#' || (is_attribute && mark.as_char() == '!');
                is_test &= mark.as_char() != ';';
            }
            TokenTree::Group(group) if is_attribute => {
                is_test |= group.stream().to_string().replace(' ', "") == "cfg(test)";
                is_attribute = false;
            }
            TokenTree::Group(group) if is_test => {
                is_test = group.delimiter() != proc_macro2::Delimiter::Brace;
            }
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.contains('"') {
                    found.push((literal.span().start().line, text));
                }
            }
            TokenTree::Ident(_) => {}
        }
    }
}

fn commands_in(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    literals(TokenStream::from_str(code).expect("Rust"), &mut found);
    found
        .iter()
        .filter_map(|(line, text)| Some(format!("{line}: {}", command_in(text)?)))
        .collect()
}

/// Files whose texts are commands by their nature.
fn is_exempt(file: &Path) -> bool {
    // The tour lists commands to try, a transcript is a finished document, and the page of shapes
    // describes the output of the command line.
    ["demo/tour.rs", "export/transcript.rs", "shape/render.rs"]
        .iter()
        .any(|exempt| file == Path::new("crates/app/src").join(exempt))
}

#[test]
fn no_library_names_a_command_or_a_flag() {
    let is_library = |file: &&std::path::PathBuf| {
        LIBRARIES.iter().any(|folder| file.starts_with(folder))
            && !sources::is_test(file)
            && !is_exempt(file)
    };
    let files = sources::rust();
    let wrong: Vec<String> = files
        .iter()
        .filter(is_library)
        .flat_map(|file| {
            let found = commands_in(&sources::text(file)).into_iter();
            found.map(move |what| format!("{}:{what}", file.display()))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "name the step as `Advice` instead:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn commands_and_flags_are_seen_in_code_and_not_in_tests() {
    for code in [
        r#"fn a() { b("see `boswell list`") }"#,
        r#"const A: &str = "leave --id out";"#,
        r#"m! { "name it with `--store`" }"#,
        r#"m! { "--id is taken" }"#,
    ] {
        assert_eq!(commands_in(code).len(), 1, "{code}");
    }
    for code in [
        r#"fn a() { b("claude --resume {id}") }"#,
        r#"fn a() { b("--print") } // an argument, not prose"#,
        r#"#[doc = "see `boswell list`"] fn a() {}"#,
        r#"#[cfg(test)] mod tests { const A: &str = "leave --id out"; }"#,
        r#"fn a() { b("a -- b, c--d") }"#,
    ] {
        assert!(commands_in(code).is_empty(), "{code}");
    }
    let after = r#"#[cfg(test)] mod tests; const A: &str = "leave --id out";"#;
    assert_eq!(commands_in(after).len(), 1, "a test file ends nothing");
}
