//! The Debian package. It needs no other package, because the program is static, and runs no
//! scripts.

use super::archives::{self, ArchiveBytes, PackedFiles};
use super::contents::Contents;
use super::release::Release;
use crate::Outcome;

/// The revision of the packaging of one version.
const REVISION: u32 = 1;

/// The package for a target; none if Debian has no name for its processor.
pub(super) fn package(release: &Release, contents: &Contents) -> Outcome<Option<ArchiveBytes>> {
    let Some(processor) = contents.target.debian else {
        return Ok(None);
    };
    let version = format!("{}-{REVISION}", release.version);
    let files = installed(contents)?;
    let size: usize = files.iter().map(|(_, file)| file.bytes.len()).sum();
    let control = format!(
        "Package: boswell\nVersion: {version}\nArchitecture: {processor}\n\
         Maintainer: {}\nInstalled-Size: {}\nSection: utils\nPriority: optional\n\
         Homepage: {}\nDescription: {}\n \
         Boswell works on the files that the agents already write,\n \
         where they are, in the agents' own formats.\n",
        release.maintainer,
        size.div_ceil(1024),
        release.repository,
        release.description.trim_end_matches('.'),
    );
    let mut about = PackedFiles::default();
    about.add("control", control);
    let bytes = archives::ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", archives::tar_gz(&about)?),
        ("data.tar.gz", archives::tar_gz(&files)?),
    ])?;
    let name = format!("boswell_{version}_{processor}.deb");
    Ok(Some(ArchiveBytes { name, bytes }))
}

/// The files where Debian's policy wants them.
fn installed(contents: &Contents) -> Outcome<PackedFiles> {
    let mut files = PackedFiles::default();
    files.add_program("usr/bin/boswell", contents.program.clone());
    for (name, bytes) in &contents.generated.manuals {
        files.add(
            format!("usr/share/man/man1/{name}.gz"),
            archives::gzip(bytes)?,
        );
    }
    for (name, bytes) in &contents.generated.completions {
        let place = match name.as_str() {
            "boswell.bash" => "bash-completion/completions/boswell",
            "_boswell" => "zsh/vendor-completions/_boswell",
            "boswell.fish" => "fish/vendor_completions.d/boswell.fish",
            _ => continue,
        };
        files.add(format!("usr/share/{place}"), bytes.clone());
    }
    let documents = "usr/share/doc/boswell";
    files.add(
        format!("{documents}/README.md"),
        contents.page("README.md")?,
    );
    let changes = archives::gzip(contents.page("CHANGELOG.md")?)?;
    files.add(format!("{documents}/changelog.gz"), changes);
    let mut copyright =
        b"Licence: MIT or Apache-2.0, at your choice. Both texts follow.\n\n".to_vec();
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copyright.extend_from_slice(contents.page(licence)?);
        copyright.push(b'\n');
    }
    files.add(format!("{documents}/copyright"), copyright);
    Ok(files)
}
