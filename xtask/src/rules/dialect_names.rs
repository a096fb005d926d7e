//! No crate except `dialect` compares the name of a dialect: differences are facts in
//! `DialectFacts`, so that a new agent needs no change elsewhere.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::sources;

const NAMES: [&str; 38] = [
    "aider",
    "amp",
    "antigravity",
    "auggie",
    "boswell",
    "claude",
    "cline",
    "clinvoker",
    "codex",
    "continue",
    "copilot",
    "crush",
    "cursor",
    "droid",
    "gemini",
    "goose",
    "grok",
    "hermes",
    "iflow",
    "kilo",
    "kilo-code",
    "kimi",
    "kimi-cli",
    "kiro",
    "mimo",
    "myagents",
    "oas",
    "omp",
    "openclaw",
    "opencode",
    "openhands",
    "pi",
    "qwen",
    "roo",
    "vibe",
    "vscode",
    "xcsh",
    "zed",
];

/// Whether the rule applies to a file. The demo is exempt, because it writes files of certain
/// agents.
fn is_held(file: &Path) -> bool {
    let crates = [
        "crates/store/src",
        "crates/find/src",
        "crates/app/src",
        "crates/cli/src",
    ];
    crates.iter().any(|folder| file.starts_with(folder))
        && !file.starts_with("crates/app/src/demo")
        && !sources::is_test(file)
}

#[derive(Default)]
struct Comparisons {
    lines: Vec<usize>,
}

fn is_name(text: &syn::LitStr) -> bool {
    NAMES.contains(&text.value().as_str())
}

fn literal(expression: &syn::Expr) -> Option<&syn::LitStr> {
    match expression {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Every string in the tokens of a macro call.
fn strings(tokens: TokenStream, found: &mut Vec<syn::LitStr>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => strings(group.stream(), found),
            TokenTree::Literal(text) => found.extend(syn::parse_str(&text.to_string())),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

impl Comparisons {
    fn add(&mut self, text: &syn::LitStr) {
        self.lines.push(text.span().start().line);
    }
}

impl<'ast> Visit<'ast> for Comparisons {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let for_tests = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|ident| ident == "test")
        };
        if !module.attrs.iter().any(for_tests) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            let sides = [&binary.left, &binary.right];
            for text in sides.into_iter().filter_map(|side| literal(side)) {
                if is_name(text) {
                    self.add(text);
                }
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) = pattern
            && is_name(text)
        {
            self.add(text);
        }
        visit::visit_pat(self, pattern);
    }

    // A list of names only is there to be searched.
    fn visit_expr_array(&mut self, array: &'ast syn::ExprArray) {
        let texts: Vec<_> = array.elems.iter().map(literal).collect();
        if let [Some(first), ..] = texts[..]
            && texts.iter().all(|text| text.is_some_and(is_name))
        {
            self.add(first);
        }
        visit::visit_expr_array(self, array);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let mut texts = Vec::new();
        if call.path.is_ident("matches") {
            strings(call.tokens.clone(), &mut texts);
        }
        // A `matches!` with other strings too compares file names.
        if !texts.is_empty() && texts.iter().all(is_name) {
            let name = call.path.get_ident().map(proc_macro2::Ident::span);
            self.lines.push(name.map_or(0, |span| span.start().line));
        }
        visit::visit_macro(self, call);
    }
}

fn comparisons(text: &str) -> Vec<usize> {
    let mut found = Comparisons::default();
    found.visit_file(&syn::parse_file(text).expect("Rust"));
    found.lines
}

#[test]
fn no_crate_but_dialect_decides_by_the_name_of_a_dialect() {
    let files: Vec<_> = sources::rust()
        .into_iter()
        .filter(|file| is_held(file))
        .collect();
    assert!(
        files.len() > 200,
        "only {} files are looked at",
        files.len()
    );
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let lines = comparisons(&sources::text(file));
            lines
                .into_iter()
                .map(move |line| format!("{}:{line}", file.display()))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "ask `facts()` of the dialect instead of its name:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_way_to_compare_a_name_is_found() {
    let body = |code: &str| comparisons(&format!("fn f() {{ {code} }}")).len();
    assert_eq!(body(r#"a.name() == "claude""#), 1);
    assert_eq!(body(r#""pi" != a"#), 1);
    assert_eq!(body(r#"match a { "xcsh" | "omp" => 1, _ => 2 };"#), 2);
    assert_eq!(body(r#"matches!(a.name(), "pi" | "omp")"#), 1);
    assert_eq!(body(r#"["boswell", "pi"].contains(&a)"#), 1);
    assert_eq!(
        body(r#"let a = "claude"; f("pi"); matches!(n, "share" | "pi")"#),
        0
    );
    assert_eq!(
        comparisons("#[cfg(test)] mod tests { fn f() { a == \"pi\" } }").len(),
        0
    );
}
