//! Finds the installed version of an agent without starting it.
//!
//! An installer puts the version into a path of the program (`…/versions/2.1.325`), a package
//! manager into the `package.json` above it.

use std::path::{Path, PathBuf};

use boswell_dialect::Environment;
use boswell_model::json::Raw;

use crate::system::read_text;

/// How many folders above a program its package may be.
const MOST_FOLDERS: usize = 4;

/// Returns the version of the program that a shell would start by this name.
pub(crate) fn version(env: &Environment, program: &str) -> Option<String> {
    let folders = env.var("PATH")?;
    let mut places = std::env::split_paths(folders)
        .filter(|folder| folder.is_absolute())
        .map(|it| it.join(program));
    let program: PathBuf =
        places.find_map(|place| place.canonicalize().ok().filter(|real| real.is_file()))?;
    named(&program).or_else(|| packaged(&program))
}

fn named(program: &Path) -> Option<String> {
    program
        .ancestors()
        .filter_map(|part| part.file_name()?.to_str())
        .find(|name| is_version(name))
        .map(str::to_owned)
}

fn packaged(program: &Path) -> Option<String> {
    let folders = program.ancestors().skip(1).take(MOST_FOLDERS);
    let package = folders
        .filter_map(|folder| read_text(&folder.join("package.json")).ok())
        .next()?;
    let version = Raw::parse(package.as_bytes())
        .ok()?
        .get("version")?
        .text()?
        .into_owned();
    is_version(&version).then_some(version)
}

fn is_version(name: &str) -> bool {
    let mut parts = name.split(['.', '-']);
    let mut number = || {
        parts
            .next()
            .is_some_and(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
    };
    number() && number() && number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_three_numbers() {
        assert!(is_version("2.1.325") && is_version("0.1.0-beta.3"));
        assert!(
            !is_version("2.1")
                && !is_version("claude")
                && !is_version("v1.2.3")
                && !is_version("python3.11")
        );
    }
}
