//! The npm packages: one with a small launcher, and one for each platform with the program.
//!
//! npm installs the platform packages that fit, because each names its `os` and `cpu`. Nothing runs
//! at installation and nothing is downloaded beyond the packages.

use serde_json::{Map, Value, json};

use super::archives::{self, ArchiveBytes, PackedFiles};
use super::contents::Contents;
use super::release::Release;
use super::targets::{TARGETS, Target};
use super::template;
use crate::Outcome;

/// The name on npm, which `npx` takes.
pub(super) const NAME: &str = "boswell";

const LAUNCHER: &str = include_str!("../../dist/npm/boswell.js");
const OLDEST_NODE: &str = ">=18";

/// The package that people name.
pub(super) fn main_package(release: &Release, readme: &[u8]) -> Outcome<ArchiveBytes> {
    let mut platforms = Map::new();
    let mut optional = Map::new();
    for target in &TARGETS {
        let (platform, processor) = target.npm;
        platforms.insert(
            format!("{platform} {processor}"),
            Value::from(target.npm_name()),
        );
        optional.insert(target.npm_name(), Value::from(release.version.clone()));
    }
    let platforms = serde_json::to_string_pretty(&platforms)?;
    let mut page = page(release, NAME, &release.description);
    page["bin"] = json!({"boswell": "bin/boswell.js"});
    page["files"] = json!(["bin"]);
    page["engines"] = json!({"node": OLDEST_NODE});
    page["optionalDependencies"] = Value::Object(optional);
    let mut files = PackedFiles::default();
    files.add("README.md", readme);
    let launcher = template::fill(LAUNCHER, &[("PLATFORMS", platforms.as_str())])?;
    files.add_program("bin/boswell.js", launcher);
    packed(release, NAME, page, files)
}

/// The package with the program of one platform.
pub(super) fn platform_package(release: &Release, contents: &Contents) -> Outcome<ArchiveBytes> {
    let target: &Target = contents.target;
    let name = target.npm_name();
    let (platform, processor) = target.npm;
    let description = format!("The program of {NAME} for {platform} {processor}.");
    let mut page = page(release, &name, &description);
    page["os"] = json!([platform]);
    page["cpu"] = json!([processor]);
    page["files"] = json!(["bin"]);
    page["preferUnplugged"] = json!(true);
    let mut files = PackedFiles::default();
    files.add("README.md", format!("# {name}\n\n{description}\n"));
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files.add(licence, contents.page(licence)?);
    }
    files.add_program(
        format!("bin/{}", target.program()),
        contents.program.clone(),
    );
    packed(release, &name, page, files)
}

fn page(release: &Release, name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "version": release.version,
        "description": description,
        "license": release.licence,
        "homepage": release.repository,
        "repository": {"type": "git", "url": format!("git+{}.git", release.repository)},
    })
}

fn packed(
    release: &Release,
    name: &str,
    page: Value,
    mut files: PackedFiles,
) -> Outcome<ArchiveBytes> {
    files.add(
        "package.json",
        format!("{}\n", serde_json::to_string_pretty(&page)?),
    );
    Ok(ArchiveBytes {
        name: format!("{name}-{}.tgz", release.version),
        bytes: archives::tar_gz(&files.below("package"))?,
    })
}
