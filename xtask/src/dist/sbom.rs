//! The bill of materials: every crate of the lock file, as CycloneDX 1.5.
//!
//! Crates that are linked into the program have the scope `required`; those that only tests, the
//! build or chores use are listed too, as `excluded`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Outcome, workspace};

/// A crate of the lock file.
#[derive(Debug)]
struct LockedCrate {
    name: String,
    version: String,
    /// SHA-256 of the packed crate; none for the crates of this workspace.
    checksum: Option<String>,
    /// `name`, or `name version` where the lock file has several versions.
    dependencies: Vec<String>,
}

impl LockedCrate {
    fn purl(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// What cargo knows of the crates beyond the lock file, by `name@version`.
#[derive(Debug, Default)]
pub(super) struct CrateFacts {
    licences: BTreeMap<String, String>,
    /// Crates that are linked into the program, or run while it is built, on any platform.
    linked: BTreeSet<String>,
}

impl CrateFacts {
    /// Asks cargo. Every crate must have been downloaded.
    pub(super) fn ask() -> Outcome<CrateFacts> {
        let everything = tree(&["--workspace", "--all-features", "--edges", "all"])?;
        let mut licences = BTreeMap::new();
        for (name, licence) in everything {
            if !licence.is_empty() {
                // Older crates separate alternatives by `/`, which SPDX does not know.
                let licence = licence.replace(" / ", "/").replace('/', " OR ");
                licences.insert(name, licence);
            }
        }
        let linked = tree(&["--package", "boswell", "--edges", "normal,build"])?;
        let linked = linked.into_iter().map(|(name, _)| name).collect();
        Ok(CrateFacts { licences, linked })
    }
}

/// Returns `name@version` and the licence of each crate that `cargo tree` lists.
fn tree(options: &[&str]) -> Outcome<Vec<(String, String)>> {
    let mut cargo = workspace::cargo();
    cargo.args(["tree", "--locked", "--target", "all"]);
    cargo.args(["--prefix", "none", "--format", "{p}|{l}"]);
    let output = cargo.args(options).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("cargo tree: {why}").into());
    }
    let mut found = BTreeSet::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        // A crate that was listed before is marked.
        let line = line.trim_end_matches(" (*)");
        let (package, licence) = line.split_once('|').unwrap_or((line, ""));
        let mut words = package.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            continue;
        };
        let version = version.trim_start_matches('v');
        found.insert((format!("{name}@{version}"), licence.trim().to_owned()));
    }
    Ok(found.into_iter().collect())
}

fn text_of(table: &toml::Table, key: &str) -> Option<String> {
    table.get(key)?.as_str().map(str::to_owned)
}

fn locked_crates(lock: &str) -> Outcome<Vec<LockedCrate>> {
    let lock: toml::Table = toml::from_str(lock)?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let mut crates = Vec::new();
    for package in packages.ok_or("the lock file lists no packages")? {
        let package = package.as_table().ok_or("a package is not a table")?;
        let dependencies = package.get("dependencies").and_then(toml::Value::as_array);
        let dependencies = dependencies.into_iter().flatten();
        crates.push(LockedCrate {
            name: text_of(package, "name").ok_or("a package has no name")?,
            version: text_of(package, "version").ok_or("a package has no version")?,
            checksum: text_of(package, "checksum"),
            dependencies: dependencies
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
        });
    }
    Ok(crates)
}

/// Writes the bill of materials for a lock file.
pub(super) fn cyclonedx(lock: &str, facts: &CrateFacts, version: &str) -> Outcome<String> {
    let crates = locked_crates(lock)?;
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for it in &crates {
        components.push(component(it, facts));
        let mut needs = Vec::new();
        for dependency in &it.dependencies {
            needs.push(find(&crates, dependency)?.purl());
        }
        dependencies.push(json!({"ref": it.purl(), "dependsOn": needs}));
    }
    let page = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": serial_number(lock),
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "boswell",
                "name": "boswell",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&page)?))
}

fn component(it: &LockedCrate, facts: &CrateFacts) -> Value {
    let key = format!("{}@{}", it.name, it.version);
    let scope = if facts.linked.contains(&key) {
        "required"
    } else {
        "excluded"
    };
    let mut component = json!({
        "type": "library",
        "bom-ref": it.purl(),
        "name": it.name,
        "version": it.version,
        "scope": scope,
        "purl": it.purl(),
    });
    if let Some(checksum) = &it.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(licence) = facts.licences.get(&key) {
        component["licenses"] = json!([{"expression": licence}]);
    }
    component
}

/// Finds the crate that an entry of a dependency list names.
fn find<'c>(crates: &'c [LockedCrate], dependency: &str) -> Outcome<&'c LockedCrate> {
    let mut words = dependency.split_whitespace();
    let (name, version) = (words.next().unwrap_or(""), words.next());
    crates
        .iter()
        .find(|it| it.name == name && version.is_none_or(|version| it.version == version))
        .ok_or_else(|| format!("the lock file has no package `{dependency}`").into())
}

/// A UUID made from the lock file, so that the same release has the same number.
fn serial_number(lock: &str) -> String {
    let mut bytes: [u8; 16] = [0; 16];
    for (to, from) in bytes.iter_mut().zip(Sha256::digest(lock.as_bytes())) {
        *to = from;
    }
    // The marks of version 8 (made by the application) and of the usual variant.
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = super::release::hex(&bytes);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!(
        "urn:uuid:{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}
