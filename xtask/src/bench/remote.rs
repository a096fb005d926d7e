//! Sessions in PostgreSQL beside raw SQL: runs `remote_lab`, which has the client library that this
//! program does without.

use super::group::Group;
use super::lab::Lab;
use super::table::{Row, rows};
use crate::{Outcome, workspace};

/// Sessions of the page, and entries of the context.
const SIZES: [&str; 2] = ["1000000", "100000"];

pub(crate) struct RemoteGroup;

impl Group for RemoteGroup {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn about(&self) -> &'static str {
        "Sessions in a private PostgreSQL with columns, tenant and row-level security, in turns with raw SQL on the same server: prepared `INSERT`s of the same bytes, and the bare query of a page"
    }

    fn measure(&self, _lab: &Lab) -> Outcome<Vec<Row>> {
        let mut cargo = workspace::cargo();
        cargo.args(["run", "--release", "-p", "boswell-remote"]);
        cargo.args(["--no-default-features", "--features", "postgres"]);
        cargo
            .args(["--example", "remote_lab", "--", "bench"])
            .args(SIZES);
        let output = cargo.stderr(std::process::Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("remote_lab failed".into());
        }
        rows(&String::from_utf8(output.stdout)?)
    }
}
