//! The public surface of the crates: public type names, methods of `Dialect`, names at the root of
//! the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use super::functions::is_for_tests;

/// Public names, collected over all files.
#[derive(Debug, Default)]
pub(super) struct Surface {
    /// Every `pub` struct, enum, union, trait and type alias, with the files that define it.
    types: BTreeMap<String, Vec<PathBuf>>,
    /// Methods of the trait `Dialect` itself, including default ones.
    pub(super) dialect_methods: usize,
    /// Public names at the root of `boswell_store`.
    pub(super) root_names: usize,
}

impl Surface {
    pub(super) fn add(&mut self, file: &Path, syntax: &syn::File) {
        let mut finder = PublicTypes {
            file,
            surface: self,
        };
        finder.visit_file(syntax);
        if file == Path::new("crates/store/src/lib.rs") {
            self.root_names = syntax.items.iter().map(root_names_of).sum();
        }
    }

    /// Returns names that more than one file defines, with those files.
    pub(super) fn twice(&self) -> Vec<(&str, &[PathBuf])> {
        let several = self.types.iter().filter(|(_, files)| files.len() > 1);
        several
            .map(|(name, files)| (name.as_str(), files.as_slice()))
            .collect()
    }
}

struct PublicTypes<'s> {
    file: &'s Path,
    surface: &'s mut Surface,
}

impl PublicTypes<'_> {
    fn add(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.surface
                .types
                .entry(name.to_string())
                .or_default()
                .push(self.file.to_path_buf());
        }
    }
}

impl<'ast> Visit<'ast> for PublicTypes<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    // Types inside functions have no path, so a second one cannot be confused with the first.
    fn visit_block(&mut self, _: &'ast syn::Block) {}

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.vis, &item.ident);
        if item.ident == "Dialect" {
            let methods = item
                .items
                .iter()
                .filter(|item| matches!(item, syn::TraitItem::Fn(_)));
            self.surface.dialect_methods += methods.count();
        }
    }
}

fn root_names_of(item: &syn::Item) -> usize {
    let public = |visibility: &syn::Visibility| {
        usize::from(matches!(visibility, syn::Visibility::Public(_)))
    };
    match item {
        syn::Item::Use(item) => public(&item.vis) * names_of_use(&item.tree),
        syn::Item::Mod(item) => public(&item.vis),
        syn::Item::Struct(item) => public(&item.vis),
        syn::Item::Enum(item) => public(&item.vis),
        syn::Item::Trait(item) => public(&item.vis),
        syn::Item::Type(item) => public(&item.vis),
        syn::Item::Fn(item) => public(&item.vis),
        syn::Item::Const(item) => public(&item.vis),
        _ => 0,
    }
}

fn names_of_use(tree: &syn::UseTree) -> usize {
    match tree {
        syn::UseTree::Path(path) => names_of_use(&path.tree),
        syn::UseTree::Group(group) => group.items.iter().map(names_of_use).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_files_are_found_and_private_ones_are_not() {
        let mut surface = Surface::default();
        for (file, code) in [
            (
                "a.rs",
                "pub struct A; struct B; pub(crate) enum C {} pub trait D {}",
            ),
            (
                "b.rs",
                "pub enum A {} pub struct B; pub enum C {} #[cfg(test)] mod t { pub struct D; }",
            ),
        ] {
            surface.add(Path::new(file), &syn::parse_file(code).unwrap());
        }
        let names: Vec<&str> = surface.twice().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["A"]);
    }

    #[test]
    fn every_name_at_the_root_of_the_store_counts() {
        let mut surface = Surface::default();
        let code =
            "mod a; pub mod b; pub use a::{C, d::{E, F}}; pub use x as y; use a::G; pub fn h() {}";
        surface.add(
            Path::new("crates/store/src/lib.rs"),
            &syn::parse_file(code).unwrap(),
        );
        assert_eq!(surface.root_names, 6);
    }
}
