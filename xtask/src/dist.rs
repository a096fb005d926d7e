//! `cargo xtask dist`: everything that is published: archives, packages, checksums, installers.

mod archives;
mod build;
mod check;
mod contents;
mod debian;
mod installers;
mod manifests;
mod npm;
mod release;
mod sbom;
mod sign;
mod targets;
mod template;
#[cfg(all(test, unix))]
mod tests;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Outcome, workspace};
use contents::{Contents, Generated};
use release::Release;
use sbom::CrateFacts;
use sign::Signer;
use targets::{TARGETS, Target};

/// Maximum size of the program; if it is larger, check what was added. The screen, the server with
/// its page, MCP and SQLite are in it; archives have a third of the size.
const LARGEST: u64 = 36 << 20;

/// What was asked for.
#[derive(Debug, Default)]
struct Options {
    targets: Vec<&'static Target>,
    /// A program to pack instead of building one.
    binary: Option<PathBuf>,
    /// Install and remove what was packed.
    check: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Options> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--check" => options.check = true,
                "--binary" => {
                    let path = rest.next().ok_or("`--binary` needs a path")?;
                    options.binary = Some(PathBuf::from(path));
                }
                "all" => options.targets.extend(TARGETS.iter()),
                triple => options.targets.push(targets::named(triple)?),
            }
        }
        if options.binary.is_some() && options.targets.len() > 1 {
            return Err("`--binary` is the program of one target".into());
        }
        Ok(options)
    }

    /// Whether only what an earlier run packed is checked.
    fn only_checks(&self) -> bool {
        self.check && self.binary.is_none() && self.targets.is_empty()
    }
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let mut options = Options::parse(arguments)?;
    let folder = workspace::target()?.join("dist");
    if !options.only_checks() {
        if options.targets.is_empty() {
            options.targets.push(targets::host()?);
        }
        pack(&folder, &options)?;
    }
    if options.check && check::failures(&folder)? > 0 {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Packs the program that the tests built, and returns how many ways to install it failed. A
/// release build would take longer than all tests.
pub(crate) fn sample() -> Outcome<u32> {
    let target = workspace::target()?;
    let folder = target.join("dist-sample");
    let options = Options {
        targets: vec![targets::host()?],
        binary: Some(stripped(&target.join("debug").join("boswell"))?),
        check: true,
    };
    pack(&folder, &options)?;
    check::failures(&folder)
}

/// A copy without debug information, which is most of a program that was built for tests.
fn stripped(program: &Path) -> Outcome<PathBuf> {
    let copy = program.with_file_name("boswell-stripped");
    let mut strip = Command::new("strip");
    workspace::must_succeed(strip.arg("-o").arg(&copy).arg(program))?;
    Ok(copy)
}

/// Builds every target, and writes the folder of the release.
fn pack(folder: &Path, options: &Options) -> Outcome {
    let release = Release::of_checkout()?;
    let signer = Signer::from_environment()?;
    let mut programs = Vec::new();
    for target in &options.targets {
        let program = match &options.binary {
            Some(path) => path.clone(),
            None => checked_size(build::program(target)?)?,
        };
        programs.push((*target, program));
    }
    let runs_here = programs.iter().find(|(target, _)| target.runs_here());
    let generated = match runs_here {
        Some((_, program)) => Generated::by(program)?,
        None => Generated::by(&build::for_this_machine()?)?,
    };
    let mut built = Vec::new();
    for (target, program) in &programs {
        built.push(Contents::new(target, program, &generated)?);
    }
    workspace::fetch()?;
    let facts = CrateFacts::ask()?;
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    release::write(folder, &release, &built, &facts, signer.as_ref())?;
    report(folder, &release, signer.is_some(), options)
}

fn checked_size(program: PathBuf) -> Outcome<PathBuf> {
    let size = std::fs::metadata(&program)?.len();
    if size > LARGEST {
        return Err(format!("the program has {size} bytes, more than {LARGEST}").into());
    }
    Ok(program)
}

/// Prints what was made, and what it lacks for a publication.
fn report(folder: &Path, release: &Release, is_signed: bool, options: &Options) -> Outcome {
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS"))?;
    for line in sums.lines() {
        println!("xtask: {line}");
    }
    println!("xtask: all of this is in {}", folder.display());
    if !is_signed {
        println!("xtask: this release is not signed: BOSWELL_SIGNING_KEY is not set");
    }
    if release.is_nowhere() {
        println!(
            "xtask: the repository in Cargo.toml is a placeholder: installers download nothing, \
             and manifests name addresses that do not exist"
        );
    }
    let built: Vec<&str> = options.targets.iter().map(|target| target.triple).collect();
    let all = TARGETS.iter().map(|target| target.triple);
    let missing: Vec<&str> = all.filter(|triple| !built.contains(triple)).collect();
    if !missing.is_empty() {
        println!("xtask: manifests do not list {}", missing.join(", "));
    }
    Ok(())
}
