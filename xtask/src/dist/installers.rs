//! `install.sh` and `install.ps1`, with the address, targets and key of a release filled in.

use super::archives::ArchiveBytes;
use super::release::Release;
use super::targets::TARGETS;
use super::template;
use crate::Outcome;

const SHELL: &str = include_str!("../../dist/install.sh");
const POWERSHELL: &str = include_str!("../../dist/install.ps1");

/// Both installers. Without a key they say that the release is not signed; with a placeholder as
/// address they install only from files next to them.
pub(super) fn all(release: &Release, key: Option<&str>) -> Outcome<Vec<ArchiveBytes>> {
    let address = if release.is_nowhere() {
        String::new()
    } else {
        release.address()
    };
    let mut cases = String::new();
    for target in &TARGETS {
        if let Some(uname) = target.uname {
            cases.push_str(&format!("\"{uname}\") echo {} ;;\n        ", target.triple));
        }
    }
    let windows = TARGETS.iter().find(|target| target.is_windows());
    let windows = windows.ok_or("there is no target for Windows")?;
    let values = [
        ("VERSION", release.version.as_str()),
        ("RELEASE", address.as_str()),
        ("KEY", key.unwrap_or_default()),
        ("CASES", cases.trim_end()),
        ("WINDOWS", windows.triple),
    ];
    let mut installers = Vec::new();
    for (name, text) in [("install.sh", SHELL), ("install.ps1", POWERSHELL)] {
        installers.push(ArchiveBytes {
            name: name.to_owned(),
            bytes: template::fill(text, &values)?.into_bytes(),
        });
    }
    Ok(installers)
}
