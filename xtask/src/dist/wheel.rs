//! The Python wheel with the program, for `uvx`, `pipx` and `pip`.
//!
//! It contains no Python code: the program is a script of the wheel, which installers copy into the
//! `bin` folder of the environment.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::archives::{self, ArchiveBytes, PackedFiles};
use super::contents::Contents;
use super::release::Release;
use crate::Outcome;

/// The name on PyPI; `boswell` belongs to another project there.
pub(super) const NAME: &str = "boswell-sessions";
/// The same name as file names of wheels write it.
pub(super) const FILE_NAME: &str = "boswell_sessions";

/// The wheel of one platform.
pub(super) fn package(release: &Release, contents: &Contents) -> Outcome<ArchiveBytes> {
    let version = &release.version;
    let base = format!("{FILE_NAME}-{version}");
    let about = format!("{base}.dist-info");
    let target = contents.target;
    let mut files = PackedFiles::default();
    files.add_program(
        format!("{base}.data/scripts/{}", target.program()),
        contents.program.clone(),
    );
    files.add(
        format!("{about}/METADATA"),
        metadata(release, contents.page("README.md")?),
    );
    let mut wheel = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n".to_owned();
    for tag in target.wheel {
        wheel.push_str(&format!("Tag: py3-none-{tag}\n"));
    }
    files.add(format!("{about}/WHEEL"), wheel);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files.add(
            format!("{about}/licenses/{licence}"),
            contents.page(licence)?,
        );
    }
    let record = format!("{about}/RECORD");
    let mut lines = String::new();
    for (path, file) in files.iter() {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
        lines.push_str(&format!("{path},sha256={hash},{}\n", file.bytes.len()));
    }
    lines.push_str(&format!("{record},,\n"));
    files.add(record, lines);
    Ok(ArchiveBytes {
        name: format!("{base}-py3-none-{}.whl", target.wheel.join(".")),
        bytes: archives::zip(&files)?,
    })
}

fn metadata(release: &Release, readme: &[u8]) -> Vec<u8> {
    let mut text = format!(
        "Metadata-Version: 2.1\nName: {NAME}\nVersion: {}\nSummary: {}\n\
         License: {}\nProject-URL: Source, {}\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n",
        release.version, release.description, release.licence, release.repository
    )
    .into_bytes();
    text.extend_from_slice(readme);
    text
}
