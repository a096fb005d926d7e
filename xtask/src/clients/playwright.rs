//! playwright-core, which drives a browser that is installed already, axe-core, which checks pages
//! for accessibility, and the compiler of TypeScript. They are downloaded from npm into
//! `target/clients/playwright`.

use std::path::PathBuf;

use crate::{Outcome, workspace};

const PACKAGES: [&str; 3] = [
    "playwright-core@1.65.0",
    "axe-core@4.14.0",
    "typescript@7.0.2",
];

/// Returns the folder with the packages.
pub(super) fn playwright() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_PLAYWRIGHT") {
        println!("xtask: playwright-core is taken from BOSWELL_PLAYWRIGHT");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("playwright");
    let versions = PACKAGES.join(" ");
    // Written last, so that an interrupted install is not treated as complete.
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
        println!("xtask: {versions} are already installed");
        return Ok(folder);
    }
    println!(
        "xtask: installing {versions} from npm into target/clients/playwright (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    for package in PACKAGES {
        super::npm_install(&folder, package)?;
    }
    std::fs::write(&stamp, &versions)?;
    Ok(folder)
}
