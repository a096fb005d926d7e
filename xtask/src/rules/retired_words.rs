//! Identifiers use the words of the field: `docs/GLOSSARY.md` lists the retired ones.
//!
//! A retired word is matched as a whole segment of an identifier (`ghost_rows`, `GhostRow`). String
//! literals are exempt, because record types and messages are contracts, and so are the folders of
//! agents in `dialect`, which use their agents' own words.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

use crate::sources;

/// The word, and its replacement. `docs/GLOSSARY.md` has the same table.
const RETIRED: [(&str, &str); 28] = [
    ("anew", "again, rebuilt"),
    ("beside", "side file, next to"),
    ("chance", "IdSource, clock, rng"),
    ("doubted", "failed sync"),
    ("fate", "expiry, outcome, action"),
    ("ghost", "deleted session"),
    ("ghosts", "deleted sessions"),
    ("gist", "summary input"),
    ("glance", "sort keys, filter keys"),
    ("glanced", "sort keys, filter keys"),
    ("hang", "parent"),
    ("hangs", "parent"),
    ("ledger", "message usage"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mending", "repair input"),
    ("mends", "fixes"),
    ("mould", "prefix cache"),
    ("pile", "top hits"),
    ("reckoning", "aggregate"),
    ("roll", "listing snapshot"),
    ("shelf", "session list"),
    ("sieve", "prefilter"),
    ("spoken", "text piece"),
    ("traits", "filter keys"),
    ("twin", "duplicate"),
    ("twins", "duplicates"),
    ("whoever", "the thread, the process"),
];

/// Folders whose identifiers are the words of an agent.
const AGENTS: [&str; 6] = ["claude", "clinvoker", "codex", "myagents", "oas", "pi"];

fn is_exempt(file: &Path) -> bool {
    AGENTS
        .iter()
        .any(|agent| file.starts_with(Path::new("crates/dialect/src").join(agent)))
}

/// Returns the segments of an identifier in lower case: `HTTPServer_old` has `http`, `server`,
/// `old`.
fn segments(identifier: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let characters: Vec<char> = identifier.chars().collect();
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(at + 1);
        let begins_word = character.is_uppercase()
            && (before.is_some_and(char::is_lowercase) || after.is_some_and(|c| c.is_lowercase()));
        if *character == '_' || begins_word {
            segments.push(String::new());
        }
        if let Some(last) = segments.last_mut().filter(|_| *character != '_') {
            last.extend(character.to_lowercase());
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn retired(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => retired(group.stream(), found),
            TokenTree::Ident(identifier) => {
                let name = identifier.to_string();
                let parts = segments(&name);
                if let Some((word, instead)) = RETIRED
                    .iter()
                    .find(|(word, _)| parts.iter().any(|part| part == word))
                {
                    let line = identifier.span().start().line;
                    found.push(format!("{line}: `{name}` says `{word}`; say: {instead}"));
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn retired_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let tokens = TokenStream::from_str(text).expect("Rust");
    retired(tokens, &mut found);
    found
}

#[test]
fn no_identifier_uses_a_retired_word() {
    let files = sources::rust();
    assert!(
        files.len() > 500,
        "only {} files are looked at",
        files.len()
    );
    let wrong: Vec<String> = files
        .iter()
        .filter(|file| !is_exempt(file))
        .flat_map(|file| {
            let found = retired_in(&sources::text(file));
            found
                .into_iter()
                .map(move |what| format!("{}:{what}", file.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_glossary_lists_the_same_retired_words() {
    let page = sources::text(Path::new("docs/GLOSSARY.md"));
    let missing: Vec<&str> = RETIRED
        .iter()
        .map(|(word, _)| *word)
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "the glossary lacks {missing:?}");
}

#[test]
fn segments_are_whole_words_and_strings_are_exempt() {
    assert_eq!(segments("HTTPServer_old2"), ["http", "server", "old2"]);
    assert_eq!(segments("_ghosts"), ["ghosts"]);
    assert_eq!(retired_in("struct GhostRow;").len(), 1);
    assert_eq!(
        retired_in("macro_rules! m { () => { mend_it() } }").len(),
        1
    );
    assert!(retired_in("let payroll = \"ghost\"; // ghost\nfn amend() {}").is_empty());
}
