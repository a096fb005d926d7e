//! Packages of npm that tests use and that are no agents, several in one folder below
//! `target/clients`.

use std::path::PathBuf;

use crate::{Outcome, workspace};

/// Packages that are installed together.
pub(super) struct PackageSet {
    /// The folder below `target/clients`.
    folder: &'static str,
    /// The variable with the folder.
    pub(super) variable: &'static str,
    packages: &'static [&'static str],
}

/// playwright-core drives a browser that is installed already, axe-core checks pages for
/// accessibility; and the compiler of TypeScript.
pub(super) const BROWSER: PackageSet = PackageSet {
    folder: "playwright",
    variable: "BOSWELL_PLAYWRIGHT",
    packages: &[
        "playwright-core@1.65.0",
        "axe-core@4.14.0",
        "typescript@7.0.2",
    ],
};

/// Both lines of the conformance runner of the Model Context Protocol, and its official client.
pub(super) const MCP: PackageSet = PackageSet {
    folder: "mcp",
    variable: "BOSWELL_MCP_TOOLS",
    packages: &[
        "conformance@npm:@modelcontextprotocol/conformance@0.1.16",
        "conformance-alpha@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
        "@modelcontextprotocol/sdk@1.32.2",
    ],
};

impl PackageSet {
    /// Returns the folder with the packages.
    pub(super) fn install(&self) -> Outcome<PathBuf> {
        let versions = self.packages.join(" ");
        if let Some(given) = std::env::var_os(self.variable) {
            println!("xtask: {versions} are taken from {}", self.variable);
            return Ok(PathBuf::from(given));
        }
        let folder = workspace::target()?.join("clients").join(self.folder);
        // Written last, so that an interrupted install is not treated as complete.
        let stamp = folder.join("installed");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
            println!("xtask: {versions} are already installed");
            return Ok(folder);
        }
        println!(
            "xtask: installing {versions} from npm into target/clients/{} (no install scripts)",
            self.folder
        );
        std::fs::create_dir_all(&folder)?;
        for package in self.packages {
            super::npm_install(&folder, package)?;
        }
        std::fs::write(&stamp, &versions)?;
        Ok(folder)
    }
}
