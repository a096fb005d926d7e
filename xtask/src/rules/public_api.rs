//! The public surface of `boswell-store`, compared with `docs/public-api.txt`.
//!
//! Read from the syntax tree with `syn`, because the JSON of rustdoc needs a nightly compiler. It
//! follows `pub mod` and `pub use` from the root of the crate, and lists every type that can be
//! reached with its fields, variants, methods and traits. A change of the surface is then a change
//! of that file, which a reviewer sees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;

use crate::workspace;

const PAGE: &str = "docs/public-api.txt";

/// A module with its items, and the modules below it.
#[derive(Default)]
struct Module {
    items: Vec<syn::Item>,
    children: BTreeMap<String, Module>,
}

impl Module {
    /// Parses a file and the files of its modules; modules of tests are left out.
    fn load(file: &Path) -> Module {
        let text = boswell_testkit::disk::read(file);
        let text = String::from_utf8(text).unwrap();
        let mut module = Module {
            items: syn::parse_file(&text).unwrap().items,
            children: BTreeMap::new(),
        };
        let is_folder = matches!(
            file.file_name().and_then(|name| name.to_str()),
            Some("lib.rs" | "mod.rs")
        );
        let folder = if is_folder {
            file.parent().unwrap().to_path_buf()
        } else {
            file.with_extension("")
        };
        for item in &module.items {
            let syn::Item::Mod(child) = item else {
                continue;
            };
            if child.content.is_some() || is_for_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let files = [
                folder.join(format!("{name}.rs")),
                folder.join(&name).join("mod.rs"),
            ];
            let file = files.into_iter().find(|file| file.is_file()).unwrap();
            module.children.insert(name, Module::load(&file));
        }
        module
    }

    fn at(&self, path: &[String]) -> Option<&Module> {
        path.iter()
            .try_fold(self, |module, name| module.children.get(name))
    }

    /// Calls `see` with every item of the module and of those below it.
    fn walk<'m>(&'m self, see: &mut dyn FnMut(&'m syn::Item)) {
        self.items.iter().for_each(&mut *see);
        self.children.values().for_each(|child| child.walk(see));
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| text(attribute) == "#[cfg(test)]")
}

/// The source text of a piece of syntax on one line.
fn text(node: &impl Spanned) -> String {
    let source = node.span().source_text().unwrap_or_default();
    let code = source
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"));
    let line = code.collect::<Vec<_>>().join(" ");
    line.replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
        .replace(" .", ".")
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// What is said of each type somewhere in the workspace: its methods and traits.
type Impls = BTreeMap<String, Vec<String>>;

/// The surface under construction.
struct Surface<'m> {
    store: &'m Module,
    /// Types of the crates below, by their names, which are unique in the workspace.
    below: BTreeMap<String, &'m syn::Item>,
    impls: &'m Impls,
    /// The path under which each item was listed first.
    listed: BTreeMap<String, String>,
    lines: Vec<String>,
}

impl<'m> Surface<'m> {
    /// Lists what a module offers. Modules that are public come after its own items.
    fn list(&mut self, module: &'m Module, at: &[String], shown: &str) {
        let mut below = Vec::new();
        for item in &module.items {
            match item {
                syn::Item::Mod(child) if is_public(&child.vis) => {
                    below.push(child.ident.to_string())
                }
                syn::Item::Use(item) if is_public(&item.vis) => {
                    self.list_use(&item.tree, &mut Vec::new(), at, shown);
                }
                item => {
                    if let Some(name) = public_name(item) {
                        self.list_item(item, &format!("{shown}::{name}"), &name);
                    }
                }
            }
        }
        for name in below {
            let path = [at, std::slice::from_ref(&name)].concat();
            let shown = format!("{shown}::{name}");
            self.lines.push(format!("mod {shown}"));
            if let Some(child) = module.children.get(&name) {
                self.list(child, &path, &shown);
            }
        }
    }

    fn list_use(
        &mut self,
        tree: &syn::UseTree,
        path: &mut Vec<String>,
        at: &[String],
        shown: &str,
    ) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.list_use(&step.tree, path, at, shown);
                path.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.list_use(tree, path, at, shown);
                }
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.list_name(path, &name, at, &format!("{shown}::{name}"));
            }
            other => self
                .lines
                .push(format!("use {shown}: {} {}", path.join("::"), text(other))),
        }
    }

    fn list_name(&mut self, path: &[String], name: &str, at: &[String], shown: &str) {
        let found = self
            .define(path, name, at, 0)
            .or_else(|| self.below.get(name).copied());
        match found {
            Some(item) => self.list_item(item, shown, name),
            None => self.lines.push(format!("use {shown}: {}", path.join("::"))),
        }
    }

    /// Finds the item that a path of the store names, also behind other uses.
    fn define(
        &self,
        path: &[String],
        name: &str,
        at: &[String],
        depth: usize,
    ) -> Option<&'m syn::Item> {
        let from = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("self") => [at, &path[1..]].concat(),
            Some("super") => [&at[..at.len().checked_sub(1)?], &path[1..]].concat(),
            _ => [at, path].concat(),
        };
        let module = self.store.at(&from)?;
        let own = module
            .items
            .iter()
            .find(|item| name_of(item).is_some_and(|it| it == name));
        if own.is_some() || depth > 4 {
            return own;
        }
        module.items.iter().find_map(|item| {
            let syn::Item::Use(item) = item else {
                return None;
            };
            let path = path_to(&item.tree, name, &mut Vec::new())?;
            self.define(&path, name, &from, depth + 1)
        })
    }

    fn list_item(&mut self, item: &'m syn::Item, shown: &str, name: &str) {
        if let Some(first) = self.listed.get(name) {
            self.lines.push(format!("{shown} = {first}"));
            return;
        }
        self.listed.insert(name.to_owned(), shown.to_owned());
        let (head, mut body) = described(item, shown);
        self.lines.push(head);
        body.extend(self.impls.get(name).into_iter().flatten().cloned());
        self.lines
            .extend(body.into_iter().map(|line| format!("    {line}")));
    }
}

/// The path by which a use names something; none if it does not.
fn path_to(tree: &syn::UseTree, name: &str, path: &mut Vec<String>) -> Option<Vec<String>> {
    match tree {
        syn::UseTree::Path(step) => {
            path.push(step.ident.to_string());
            let found = path_to(&step.tree, name, path);
            path.pop();
            found
        }
        syn::UseTree::Group(group) => group
            .items
            .iter()
            .find_map(|tree| path_to(tree, name, path)),
        syn::UseTree::Name(it) => (it.ident == name).then(|| path.clone()),
        _ => None,
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Const(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn public_name(item: &syn::Item) -> Option<String> {
    let visibility = match item {
        syn::Item::Struct(item) => &item.vis,
        syn::Item::Enum(item) => &item.vis,
        syn::Item::Trait(item) => &item.vis,
        syn::Item::Type(item) => &item.vis,
        syn::Item::Const(item) => &item.vis,
        syn::Item::Fn(item) => &item.vis,
        _ => return None,
    };
    is_public(visibility).then(|| name_of(item)).flatten()
}

/// The first line of an item, and the lines below it.
fn described(item: &syn::Item, shown: &str) -> (String, Vec<String>) {
    match item {
        syn::Item::Struct(item) => {
            let fields = item.fields.iter().filter(|field| is_public(&field.vis));
            let body = derives(&item.attrs)
                .into_iter()
                .chain(fields.map(field))
                .collect();
            (format!("struct {shown}{}", text(&item.generics)), body)
        }
        syn::Item::Enum(item) => {
            let variant = |variant: &syn::Variant| {
                let fields: Vec<_> = variant.fields.iter().map(field).collect();
                match variant.fields {
                    syn::Fields::Unit => variant.ident.to_string(),
                    _ => format!("{} {{ {} }}", variant.ident, fields.join(", ")),
                }
            };
            let body = derives(&item.attrs)
                .into_iter()
                .chain(item.variants.iter().map(variant))
                .collect();
            (format!("enum {shown}{}", text(&item.generics)), body)
        }
        syn::Item::Trait(item) => {
            let method = |item: &syn::TraitItem| match item {
                syn::TraitItem::Fn(method) => Some(text(&method.sig)),
                _ => None,
            };
            (
                format!("trait {shown}"),
                item.items.iter().filter_map(method).collect(),
            )
        }
        syn::Item::Fn(item) => (format!("{} in {shown}", text(&item.sig)), Vec::new()),
        syn::Item::Type(item) => (format!("type {shown} = {}", text(&*item.ty)), Vec::new()),
        syn::Item::Const(item) => (format!("const {shown}: {}", text(&*item.ty)), Vec::new()),
        _ => (shown.to_owned(), Vec::new()),
    }
}

fn field(field: &syn::Field) -> String {
    match &field.ident {
        Some(name) => format!("{name}: {}", text(&field.ty)),
        None => text(&field.ty),
    }
}

/// Derived traits and the attributes that bind callers.
fn derives(attributes: &[syn::Attribute]) -> Option<String> {
    let kept = attributes.iter().map(text).filter(|attribute| {
        ["#[derive", "#[non_exhaustive", "#[must_use"]
            .iter()
            .any(|start| attribute.starts_with(start))
    });
    let kept: Vec<_> = kept.collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Adds what an `impl` says of its type.
fn add_impl(item: &syn::ItemImpl, impls: &mut Impls) {
    let syn::Type::Path(path) = &*item.self_ty else {
        return;
    };
    let Some(name) = path
        .path
        .segments
        .last()
        .map(|segment| segment.ident.to_string())
    else {
        return;
    };
    let lines = impls.entry(name).or_default();
    if let Some((implemented, _)) = &item.trait_ {
        lines.push(format!("impl {}", text(implemented)));
        return;
    }
    for item in &item.items {
        match item {
            syn::ImplItem::Fn(method) if is_public(&method.vis) => lines.push(text(&method.sig)),
            syn::ImplItem::Const(constant) if is_public(&constant.vis) => {
                lines.push(format!("const {}: {}", constant.ident, text(&constant.ty)));
            }
            _ => {}
        }
    }
}

/// The surface as text, one line for each item, field, variant and method.
fn surface() -> String {
    let lib = |name: &str| -> PathBuf {
        workspace::root()
            .join("crates")
            .join(name)
            .join("src/lib.rs")
    };
    let crates = ["model", "dialect", "store"].map(|name| Module::load(&lib(name)));
    let [model, dialect, store] = &crates;
    let mut impls = Impls::new();
    for module in &crates {
        module.walk(&mut |item| {
            if let syn::Item::Impl(item) = item {
                add_impl(item, &mut impls);
            }
        });
    }
    impls.values_mut().for_each(|lines| lines.sort());
    let mut below = BTreeMap::new();
    for module in [model, dialect] {
        module.walk(&mut |item| below.extend(public_name(item).map(|name| (name, item))));
    }
    let mut surface = Surface {
        store,
        below,
        impls: &impls,
        listed: BTreeMap::new(),
        lines: Vec::new(),
    };
    surface.list(store, &[], "boswell_store");
    surface.lines.join("\n") + "\n"
}

#[test]
fn the_public_surface_of_the_store_is_the_one_that_is_recorded() {
    let (page, now) = (workspace::root().join(PAGE), surface());
    if std::env::var_os("BOSWELL_BLESS").is_some() {
        std::fs::write(&page, &now).unwrap();
        return;
    }
    let recorded = String::from_utf8(boswell_testkit::disk::read(&page)).unwrap();
    let only = |one: &str, other: &str, sign: char| -> Vec<String> {
        let lines = one
            .lines()
            .filter(|line| !other.lines().any(|it| it == *line));
        lines
            .map(|line| format!("{sign} {}", line.trim()))
            .collect()
    };
    let changes = [only(&recorded, &now, '-'), only(&now, &recorded, '+')].concat();
    assert!(
        recorded == now,
        "the surface changed; if that is meant: BOSWELL_BLESS=1 cargo test -p xtask public_surface\n{}",
        changes.join("\n")
    );
}

#[test]
fn fields_variants_methods_and_impls_of_what_can_be_reached_are_listed() {
    let now = surface();
    for line in [
        "struct boswell_store::Receipt",
        "    entry: EntryId",
        "    Leaf { EntryId }",
        "    fn messages(&self) -> Result<Vec<ChatMessage>>",
        "    impl Iterator",
        "mod boswell_store::vault",
    ] {
        assert!(now.lines().any(|it| it == line), "{line} is missing");
    }
    for private in ["struct boswell_store::Inner", "fn append_lock"] {
        assert!(!now.contains(private), "{private} is private");
    }
}

/// Types that an agent author meets first: each method that can fail says how.
const MAIN_TYPES: [&str; 11] = [
    "Home",
    "Store",
    "WritableStore",
    "SessionWriter",
    "Session",
    "Follower",
    "Draft",
    "NewSession",
    "Receipt",
    "Ticket",
    "Revision",
];

fn says_errors(attribute: &syn::Attribute) -> bool {
    let source = attribute.span().source_text();
    source.is_some_and(|line| line.contains("# Errors"))
}

/// Public methods that return a `Result` and do not document their errors.
fn undocumented(item: &syn::ItemImpl) -> Vec<String> {
    let syn::Type::Path(path) = &*item.self_ty else {
        return Vec::new();
    };
    let name = path.path.segments.last().map(|it| it.ident.to_string());
    let Some(name) = name.filter(|name| MAIN_TYPES.contains(&name.as_str())) else {
        return Vec::new();
    };
    let is_silent = |method: &&syn::ImplItemFn| {
        is_public(&method.vis)
            && text(&method.sig.output).contains("Result<")
            && !method.attrs.iter().any(says_errors)
    };
    let methods = item.items.iter().filter_map(|item| match item {
        syn::ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    methods
        .filter(is_silent)
        .map(|method| format!("{name}::{}", method.sig.ident))
        .collect()
}

#[test]
fn every_method_of_the_main_types_that_can_fail_says_how() {
    let mut silent = Vec::new();
    for name in ["model", "dialect", "store"] {
        let lib = workspace::root()
            .join("crates")
            .join(name)
            .join("src/lib.rs");
        Module::load(&lib).walk(&mut |item| {
            if let syn::Item::Impl(item) = item {
                silent.extend(undocumented(item));
            }
        });
    }
    assert!(silent.is_empty(), "no `# Errors`: {}", silent.join(", "));
    let bare = "impl Store { /// Reads. pub fn read(&self) -> Result<()> { Ok(()) } }";
    let bare = bare.replace("Reads. ", "Reads.\n");
    assert_eq!(
        undocumented(&syn::parse_str(&bare).unwrap()),
        ["Store::read"]
    );
}
