//! What other package managers read: where the archives of a release are, and their checksums.
//!
//! A manifest lists the targets that were built; one for which no target was built is not written.

use std::path::Path;

use serde_json::json;

use super::release::{Published, Release};
use super::template;
use crate::Outcome;

const HOMEBREW: &str = include_str!("../../dist/homebrew/boswell.rb");
const PKGBUILD: &str = include_str!("../../dist/aur/PKGBUILD");
const WINGET: [(&str, &str); 3] = [
    (
        "Boswell.Boswell.yaml",
        include_str!("../../dist/winget/version.yaml"),
    ),
    (
        "Boswell.Boswell.installer.yaml",
        include_str!("../../dist/winget/installer.yaml"),
    ),
    (
        "Boswell.Boswell.locale.en-US.yaml",
        include_str!("../../dist/winget/locale.yaml"),
    ),
];

/// Writes each manifest into a folder of its own.
pub(super) fn write(folder: &Path, release: &Release, published: &[Published]) -> Outcome {
    for (path, text) in all(release, published)? {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// The path and the text of each manifest.
pub(super) fn all(release: &Release, published: &[Published]) -> Outcome<Vec<(String, String)>> {
    let mut found = Vec::new();
    if published.iter().any(|it| it.target.homebrew.is_some()) {
        found.push(("homebrew/boswell.rb".into(), homebrew(release, published)?));
    }
    if published.iter().any(|it| it.target.arch_linux.is_some()) {
        let (build, source_info) = arch_linux(release, published)?;
        found.push(("aur/PKGBUILD".into(), build));
        found.push(("aur/.SRCINFO".into(), source_info));
    }
    if published.iter().any(|it| it.target.scoop.is_some()) {
        found.push(("scoop/boswell.json".into(), scoop(release, published)?));
    }
    if published.iter().any(|it| it.target.winget.is_some()) {
        let installers = winget_installers(release, published);
        for (name, text) in WINGET {
            let values = [
                &common(release)[..],
                &[("INSTALLERS", installers.trim_end())],
            ]
            .concat();
            found.push((format!("winget/{name}"), template::fill(text, &values)?));
        }
    }
    Ok(found)
}

/// What most templates name.
fn common(release: &Release) -> Vec<(&str, &str)> {
    vec![
        ("VERSION", release.version.as_str()),
        ("DESCRIPTION", release.description.trim_end_matches('.')),
        ("LICENCE", release.licence.as_str()),
        ("HOMEPAGE", release.repository.as_str()),
        ("MAINTAINER", release.maintainer.as_str()),
    ]
}

fn url(release: &Release, published: &Published) -> String {
    let name = published.target.archive_name(&release.version);
    format!("{}/{name}", release.address())
}

fn homebrew(release: &Release, published: &[Published]) -> Outcome<String> {
    let mut systems = String::new();
    for system in ["on_macos", "on_linux"] {
        let mut processors = String::new();
        for it in published {
            let Some(blocks) = it.target.homebrew.as_ref().filter(|it| it.system == system) else {
                continue;
            };
            processors.push_str(&format!(
                "    {} do\n      url \"{}\"\n      sha256 \"{}\"\n    end\n",
                blocks.processor,
                url(release, it),
                it.sha256
            ));
        }
        if !processors.is_empty() {
            systems.push_str(&format!("  {system} do\n{processors}  end\n\n"));
        }
    }
    let values = [&common(release)[..], &[("SYSTEMS", systems.trim_end())]].concat();
    template::fill(HOMEBREW, &values)
}

/// Returns `PKGBUILD`, and `.SRCINFO`, which repeats its fields for programs that run no shell.
fn arch_linux(release: &Release, published: &[Published]) -> Outcome<(String, String)> {
    let mut names = Vec::new();
    let (mut sources, mut fields) = (String::new(), String::new());
    for it in published {
        let Some(name) = it.target.arch_linux else {
            continue;
        };
        names.push(name);
        let url = url(release, it);
        sources.push_str(&format!(
            "source_{name}=(\"{url}\")\nsha256sums_{name}=('{}')\n",
            it.sha256
        ));
        fields.push_str(&format!(
            "\tsource_{name} = {url}\n\tsha256sums_{name} = {}\n",
            it.sha256
        ));
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let quoted = quoted.join(" ");
    let values = [
        &common(release)[..],
        &[
            ("PROCESSORS", quoted.as_str()),
            ("SOURCES", sources.trim_end()),
        ],
    ]
    .concat();
    let build = template::fill(PKGBUILD, &values)?;
    let processors: String = names
        .iter()
        .map(|name| format!("\tarch = {name}\n"))
        .collect();
    let source_info = format!(
        "pkgbase = boswell-bin\n\tpkgdesc = {}\n\tpkgver = {}\n\tpkgrel = 1\n\turl = {}\n\
         {processors}\tlicense = MIT OR Apache-2.0\n\tprovides = boswell\n\tconflicts = boswell\n\
         \toptions = !strip\n{fields}\npkgname = boswell-bin\n",
        release.description.trim_end_matches('.'),
        release.version,
        release.repository,
    );
    Ok((build, source_info))
}

fn scoop(release: &Release, published: &[Published]) -> Outcome<String> {
    let mut processors = serde_json::Map::new();
    for it in published {
        if let Some(name) = it.target.scoop {
            let folder = it.target.folder(&release.version);
            let value = json!({
                "url": url(release, it), "hash": it.sha256, "extract_dir": folder,
            });
            processors.insert(name.to_owned(), value);
        }
    }
    let page = json!({
        "version": release.version,
        "description": release.description,
        "homepage": release.repository,
        "license": "MIT|Apache-2.0",
        "architecture": processors,
        "bin": "boswell.exe",
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&page)?))
}

fn winget_installers(release: &Release, published: &[Published]) -> String {
    let mut installers = String::new();
    for it in published {
        if let Some(name) = it.target.winget {
            let folder = it.target.folder(&release.version);
            installers.push_str(&format!(
                "- Architecture: {name}\n  InstallerUrl: {}\n  InstallerSha256: {}\n  \
                 NestedInstallerFiles:\n  - RelativeFilePath: {folder}\\{}\n    \
                 PortableCommandAlias: boswell\n",
                url(release, it),
                it.sha256.to_uppercase(),
                it.target.program(),
            ));
        }
    }
    installers
}
