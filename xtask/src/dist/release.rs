//! A release: its facts, and the folder with everything that is published.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::archives::ArchiveBytes;
use super::contents::Contents;
use super::sbom::{self, CrateFacts};
use super::sign::Signer;
use super::{debian, installers, manifests, npm, wheel};
use crate::{Outcome, workspace};

/// Hosts below this name do not exist, so nothing can be downloaded from them by accident.
const PLACEHOLDER: &str = ".invalid/";

/// What `Cargo.toml` says of the release, and where it will be.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) version: String,
    pub(super) description: String,
    pub(super) licence: String,
    pub(super) repository: String,
    /// For packages whose format requires a maintainer.
    pub(super) maintainer: String,
}

impl Release {
    /// Reads the manifest of the program.
    pub(super) fn of_checkout() -> Outcome<Release> {
        let metadata = workspace::metadata()?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let program = packages
            .clone()
            .find(|package| package["name"] == "boswell");
        let program = program.ok_or("there is no package `boswell`")?;
        let field = |name: &str| {
            let text = program[name].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("crates/cli/Cargo.toml has no `{name}`"))
        };
        let maintainer = program["authors"][0].as_str();
        Ok(Release {
            version: field("version")?,
            description: field("description")?,
            licence: field("license")?,
            repository: field("repository")?,
            maintainer: maintainer
                .ok_or("crates/cli/Cargo.toml names no author")?
                .to_owned(),
        })
    }

    /// Whether the address of the repository is still a placeholder.
    pub(super) fn is_nowhere(&self) -> bool {
        self.repository.contains(PLACEHOLDER)
    }

    /// The address of the folder with the files of this version.
    pub(super) fn address(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }
}

/// A published archive of one target, as manifests name it.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) target: &'static super::targets::Target,
    pub(super) sha256: String,
}

/// Returns bytes in lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes every package of the built programs into a folder, which must be empty.
pub(super) fn write(
    folder: &Path,
    release: &Release,
    built: &[Contents],
    facts: &CrateFacts,
    signer: Option<&Signer>,
) -> Outcome {
    let mut sums = Vec::new();
    let mut put = |file: ArchiveBytes| -> Outcome<String> {
        std::fs::write(folder.join(&file.name), &file.bytes)?;
        let sum = sha256(&file.bytes);
        sums.push((file.name, sum.clone()));
        Ok(sum)
    };
    let mut published = Vec::new();
    for contents in built {
        let sha256 = put(contents.archive(&release.version)?)?;
        let target = contents.target;
        published.push(Published { target, sha256 });
        put(npm::platform_package(release, contents)?)?;
        put(wheel::package(release, contents)?)?;
        if let Some(package) = debian::package(release, contents)? {
            put(package)?;
        }
    }
    let readme = std::fs::read(workspace::root().join("README.md"))?;
    put(npm::main_package(release, &readme)?)?;
    put(bill_of_materials(release, facts)?)?;
    let key = signer.map(Signer::public_key);
    for installer in installers::all(release, key.as_deref())? {
        put(installer)?;
    }
    sums.sort();
    write_sums(folder, &sums, signer)?;
    manifests::write(folder, release, &published)
}

fn bill_of_materials(release: &Release, facts: &CrateFacts) -> Outcome<ArchiveBytes> {
    let lock = std::fs::read_to_string(workspace::root().join("Cargo.lock"))?;
    Ok(ArchiveBytes {
        name: format!("boswell-{}.cdx.json", release.version),
        bytes: sbom::cyclonedx(&lock, facts, &release.version)?.into_bytes(),
    })
}

/// Writes checksums, their signature and its public key.
fn write_sums(folder: &Path, sums: &[(String, String)], signer: Option<&Signer>) -> Outcome {
    let text: String = sums
        .iter()
        .map(|(name, sum)| format!("{sum}  {name}\n"))
        .collect();
    std::fs::write(folder.join("SHA256SUMS"), &text)?;
    if let Some(signer) = signer {
        let signature = signer.sign("SHA256SUMS", text.as_bytes())?;
        std::fs::write(folder.join("SHA256SUMS.minisig"), signature)?;
        let key = format!(
            "untrusted comment: public key of boswell's releases\n{}\n",
            signer.public_key()
        );
        std::fs::write(folder.join("minisign.pub"), key)?;
    }
    Ok(())
}
