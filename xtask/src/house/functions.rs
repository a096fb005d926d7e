//! The size of every function: lines, tokens, closures.

use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One function, method or default method of a trait.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
    /// From the line of `fn` (or its visibility) to the closing brace, without attributes and docs.
    pub(super) lines: usize,
    pub(super) tokens: usize,
    pub(super) closures: usize,
    pub(super) is_test: bool,
}

/// Finds the functions of a parsed file. `is_test` marks files that contain tests only.
pub(super) fn of(file: &Path, syntax: &syn::File, is_test: bool) -> Vec<Function> {
    let mut finder = Finder {
        file,
        is_test,
        found: Vec::new(),
    };
    finder.visit_file(syntax);
    finder.found
}

struct Finder<'f> {
    file: &'f Path,
    is_test: bool,
    found: Vec<Function>,
}

impl Finder<'_> {
    fn add(&mut self, name: &syn::Ident, signature: &syn::Signature, block: &syn::Block) {
        let (start, end) = (signature.span().start().line, block.span().end().line);
        let mut closures = Closures(0);
        closures.visit_block(block);
        self.found.push(Function {
            name: name.to_string(),
            file: self.file.to_path_buf(),
            line: start,
            lines: end + 1 - start,
            tokens: count_tokens(signature.to_token_stream())
                + count_tokens(block.to_token_stream()),
            closures: closures.0,
            is_test: self.is_test,
        });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let outer = self.is_test;
        self.is_test |= is_for_tests(&module.attrs);
        visit::visit_item_mod(self, module);
        self.is_test = outer;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let outer = self.is_test;
        self.is_test |= is_for_tests(&function.attrs);
        self.add(&function.sig.ident, &function.sig, &function.block);
        self.is_test = outer;
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig.ident, &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig.ident, &function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Whether attributes contain `#[test]` or `#[cfg(test)]` (also within `all(…)`).
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => {
            let words: Vec<String> = list
                .tokens
                .clone()
                .into_iter()
                .map(|token| token.to_string())
                .collect();
            list.path.is_ident("cfg") && words.iter().any(|word| word == "test")
        }
        syn::Meta::NameValue(_) => false,
    })
}

struct Closures(usize);

impl<'ast> Visit<'ast> for Closures {
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.0 += 1;
        visit::visit_expr_closure(self, closure);
    }
}

/// Counts the leaves of the token tree; each pair of delimiters counts as two.
fn count_tokens(stream: TokenStream) -> usize {
    let mut open = vec![stream];
    let mut count = 0;
    while let Some(stream) = open.pop() {
        for token in stream {
            match token {
                TokenTree::Group(group) => {
                    count += 2;
                    open.push(group.stream());
                }
                _ => count += 1,
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(code: &str) -> Vec<Function> {
        of(Path::new("a.rs"), &syn::parse_file(code).unwrap(), false)
    }

    #[test]
    fn lines_tokens_and_closures_are_those_of_the_function() {
        let code =
            "/// Doc.\n#[inline]\npub fn a(x: u8) -> u8 {\n    let f = |y| y;\n    f(x)\n}\n";
        let [found] = functions(code).try_into().unwrap();
        assert_eq!((found.line, found.lines, found.closures), (3, 4, 1));
        // fn a ( x : u8 ) -> u8 { let f = | y | y ; f ( x ) }
        assert_eq!(found.tokens, 24);
    }

    #[test]
    fn functions_in_test_modules_are_test_functions() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[test]\nfn c() {}\n";
        let tests: Vec<(String, bool)> = functions(code)
            .into_iter()
            .map(|function| (function.name, function.is_test))
            .collect();
        let expected = [("a", false), ("b", true), ("c", true)];
        assert_eq!(
            tests,
            expected.map(|(name, is_test)| (name.to_owned(), is_test))
        );
    }

    #[test]
    fn closures_within_closures_count() {
        let [found] = functions("fn a() { let f = || { let g = || 1; g() }; f(); }")
            .try_into()
            .unwrap();
        assert_eq!(found.closures, 2);
    }
}
