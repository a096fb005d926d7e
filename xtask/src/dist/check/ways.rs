//! The ways to install that can be tried on this machine.

use std::path::{Path, PathBuf};

use super::{Missing, Place, must_pass, said_by};
use crate::dist::{npm, wheel};
use crate::{Outcome, workspace};

/// A way to install: `None` if it worked, else the program that it needs.
type Way = fn(&Place<'_>) -> Outcome<Missing>;

pub(super) const WAYS: [(&str, Way); 7] = [
    ("archive", archive),
    ("install.sh", installer),
    ("install.sh with a tampered archive", tampered),
    ("npm install", npm_install),
    ("npx", npx),
    ("pip install", pip),
    ("dpkg", dpkg),
];

/// The program that a way needs, if it is not there.
fn absent(program: &'static str) -> Missing {
    match workspace::on_path(program) {
        Some(_) => None,
        None => Some(program),
    }
}

fn text(path: &Path) -> Outcome<&str> {
    path.to_str()
        .ok_or_else(|| format!("{} is not Unicode", path.display()).into())
}

/// The one file of the release whose name begins and ends in a way.
fn file(place: &Place<'_>, begin: &str, end: &str) -> Outcome<PathBuf> {
    for entry in std::fs::read_dir(place.dist)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(begin) && name.ends_with(end) {
            return Ok(entry.path());
        }
    }
    Err(format!("the release has no {begin}…{end}").into())
}

fn archive(place: &Place<'_>) -> Outcome<Missing> {
    let folder = place.folder("unpacked")?;
    let packed = place.dist.join(place.target.archive_name(place.version));
    let mut tar = place.command("tar")?;
    must_pass(tar.arg("-xzf").arg(packed).arg("-C").arg(&folder))?;
    let inside = folder.join(place.target.folder(place.version));
    place.try_out(&[text(&inside.join("boswell"))?])?;
    Ok(None)
}

/// Copies what the installer needs into a folder of its own.
fn downloads(place: &Place<'_>) -> Outcome<PathBuf> {
    let folder = place.folder("my downloads")?;
    let archive = place.target.archive_name(place.version);
    for name in ["install.sh", "SHA256SUMS", "SHA256SUMS.minisig", &archive] {
        if place.dist.join(name).exists() {
            std::fs::copy(place.dist.join(name), folder.join(name))?;
        }
    }
    Ok(folder)
}

fn installer(place: &Place<'_>) -> Outcome<Missing> {
    let script = downloads(place)?.join("install.sh");
    let prefix = place.folder("some prefix")?;
    must_pass(place.command("sh")?.arg(&script).env("PREFIX", &prefix))?;
    place.try_out(&[text(&prefix.join("bin/boswell"))?])?;
    let mut remove = place.command("sh")?;
    must_pass(
        remove
            .arg(&script)
            .arg("--uninstall")
            .env("PREFIX", &prefix),
    )?;
    place.must_be_empty(&prefix)?;
    Ok(None)
}

fn tampered(place: &Place<'_>) -> Outcome<Missing> {
    let folder = downloads(place)?;
    let archive = folder.join(place.target.archive_name(place.version));
    let mut bytes = std::fs::read(&archive)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&archive, bytes)?;
    let prefix = place.folder("some prefix")?;
    let mut install = place.command("sh")?;
    install
        .arg(folder.join("install.sh"))
        .env("PREFIX", &prefix);
    let output = install.output()?;
    if output.status.code() != Some(4) {
        return Err(format!("it was not refused: {}", said_by(&output)).into());
    }
    place.must_be_empty(&prefix)?;
    Ok(None)
}

/// The two packages of npm that this machine needs.
fn npm_packages(place: &Place<'_>) -> [PathBuf; 2] {
    [npm::NAME.to_owned(), place.target.npm_name()]
        .map(|name| place.dist.join(format!("{name}-{}.tgz", place.version)))
}

fn npm_install(place: &Place<'_>) -> Outcome<Missing> {
    if absent("npm").is_some() {
        return Ok(absent("npm"));
    }
    let project = place.folder("project")?;
    std::fs::write(project.join("package.json"), "{\"private\": true}\n")?;
    let quiet = ["--no-audit", "--no-fund", "--offline"];
    let mut install = place.command("npm")?;
    install.current_dir(&project).arg("install").args(quiet);
    must_pass(install.args(npm_packages(place)))?;
    let program = project.join("node_modules/.bin/boswell");
    place.try_out(&[text(&program)?])?;
    let mut remove = place.command("npm")?;
    remove.current_dir(&project).arg("uninstall").args(quiet);
    remove.arg(npm::NAME).arg(place.target.npm_name());
    must_pass(&mut remove)?;
    if program.exists() {
        return Err("the command is still there".into());
    }
    Ok(None)
}

fn npx(place: &Place<'_>) -> Outcome<Missing> {
    if absent("npx").is_some() {
        return Ok(absent("npx"));
    }
    let [main, platform] = npm_packages(place);
    let (main, platform) = (text(&main)?, text(&platform)?);
    // With a name instead of files this is `npx boswell`.
    let start = [
        "npx",
        "--yes",
        "--offline",
        "--package",
        main,
        "--package",
        platform,
        "--",
        "boswell",
    ];
    place.try_out(&start)?;
    Ok(None)
}

fn pip(place: &Place<'_>) -> Outcome<Missing> {
    if absent("python3").is_some() {
        return Ok(absent("python3"));
    }
    let environment = place.folder("environment")?;
    let mut make = place.command("python3")?;
    must_pass(make.args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let begin = format!("{}-", wheel::FILE_NAME);
    let tag = place.target.wheel.first().copied().unwrap_or_default();
    let wheel = file(
        place,
        &begin,
        &format!("{}.whl", place.target.wheel.join(".")),
    )
    .map_err(|error| format!("{tag}: {error}"))?;
    let mut install = place.command(&python)?;
    install.args(["-m", "pip", "install", "--quiet", "--no-index"]);
    must_pass(install.arg(wheel))?;
    let program = environment.join("bin/boswell");
    place.try_out(&[text(&program)?])?;
    let mut remove = place.command(&python)?;
    must_pass(remove.args(["-m", "pip", "uninstall", "--quiet", "--yes", wheel::NAME]))?;
    if program.exists() {
        return Err("the command is still there".into());
    }
    Ok(None)
}

fn dpkg(place: &Place<'_>) -> Outcome<Missing> {
    if absent("dpkg").is_some() {
        return Ok(absent("dpkg"));
    }
    let Some(processor) = place.target.debian else {
        return Ok(None);
    };
    let package = file(place, "boswell_", &format!("_{processor}.deb"))?;
    let root = place.folder("root")?;
    let database = root.join("var/lib/dpkg");
    for folder in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(database.join(folder))?;
    }
    std::fs::write(database.join("status"), "")?;
    let options = [
        format!("--root={}", root.display()),
        "--force-not-root".to_owned(),
        // Users who are not root have no `sbin` folders in their path.
        "--force-bad-path".to_owned(),
        "--log=/dev/null".to_owned(),
    ];
    must_pass(
        place
            .command("dpkg")?
            .args(&options)
            .arg("--install")
            .arg(package),
    )?;
    place.try_out(&[text(&root.join("usr/bin/boswell"))?])?;
    must_pass(
        place
            .command("dpkg")?
            .args(&options)
            .args(["--purge", "boswell"]),
    )?;
    place.must_be_empty(&root.join("usr"))?;
    Ok(None)
}
