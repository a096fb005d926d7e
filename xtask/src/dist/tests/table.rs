use std::collections::BTreeSet;

use super::super::build::Toolchain;
use super::super::targets::{self, TARGETS};
use crate::sources;

#[test]
fn names_in_the_table_occur_once() {
    let mut names = BTreeSet::new();
    let mut count = 0;
    for target in &TARGETS {
        names.insert(target.triple.to_owned());
        names.insert(target.npm_name());
        count += 2;
        for tag in target.wheel {
            names.insert((*tag).to_owned());
            count += 1;
        }
    }
    assert_eq!(names.len(), count, "{names:?}");
}

#[test]
fn a_target_is_named_by_its_triple_only() {
    for target in &TARGETS {
        assert_eq!(targets::named(target.triple).unwrap().triple, target.triple);
    }
    let error = targets::named("linux").unwrap_err().to_string();
    assert!(error.contains("x86_64-unknown-linux-musl"), "{error}");
}

#[test]
fn the_c_compiler_fits_target_and_machine() {
    let of = |triple, machine| Toolchain::of(targets::named(triple).unwrap(), machine);
    let (intel, arm) = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl");
    assert_eq!(of(intel, "x86_64"), Toolchain::Musl);
    assert_eq!(of(arm, "x86_64"), Toolchain::Zig);
    assert_eq!(of(arm, "aarch64"), Toolchain::Musl);
    assert_eq!(of("aarch64-apple-darwin", "aarch64"), Toolchain::Zig);
    assert_eq!(of("x86_64-pc-windows-gnu", "x86_64"), Toolchain::Mingw);
}

#[test]
fn the_flake_has_the_systems_of_the_table() {
    let flake = sources::text(std::path::Path::new("flake.nix"));
    let list = flake.split("systems = [").nth(1).unwrap();
    let list = list.split(']').next().unwrap();
    let listed: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let known: BTreeSet<&str> = TARGETS.iter().filter_map(|target| target.nix).collect();
    assert_eq!(listed, known);
}

#[test]
fn the_page_for_packagers_names_every_target() {
    let page = sources::text(std::path::Path::new("docs/packaging.md"));
    for target in &TARGETS {
        assert!(page.contains(&format!("`{}`", target.triple)), "{target:?}");
    }
}
