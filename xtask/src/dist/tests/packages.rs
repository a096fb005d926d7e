use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;

use super::super::manifests;
use super::super::release::Published;
use super::super::targets::{self, TARGETS};
use super::super::{debian, npm, wheel};
use super::{contents, is_missing, release, said};

/// Unpacks a package of npm, as npm does.
fn unpack(bytes: &[u8], to: &Path) {
    let temp = tempfile::tempdir().unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(bytes))
        .unpack(temp.path())
        .unwrap();
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(temp.path().join("package"), to).unwrap();
}

#[test]
fn the_launcher_of_npm_starts_the_program_of_the_platform_package() {
    if is_missing("node") {
        return;
    }
    let temp = tempfile::tempdir_in(crate::workspace::target().unwrap()).unwrap();
    let modules = temp.path().join("node_modules");
    let host = targets::host().unwrap();
    let main = npm::main_package(&release(), b"page").unwrap();
    unpack(&main.bytes, &modules.join(npm::NAME));
    let launcher = modules.join("boswell/bin/boswell.js");
    let start = |arguments: &[&str]| {
        let mut node = Command::new("node");
        node.arg(&launcher).args(arguments).output().unwrap()
    };
    let output = start(&["--version"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("is not installed"),
        "{}",
        said(&output)
    );

    let platform = npm::platform_package(&release(), &contents(host)).unwrap();
    unpack(&platform.bytes, &modules.join(host.npm_name()));
    let output = start(&["--version"]);
    assert_eq!(said(&output), "boswell 9.9.9\n");
    assert_eq!(start(&["end", "7"]).status.code(), Some(7));
}

#[test]
fn the_main_package_of_npm_names_every_platform_package() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("main");
    unpack(&npm::main_package(&release(), b"").unwrap().bytes, &folder);
    let page = std::fs::read_to_string(folder.join("package.json")).unwrap();
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let optional = page["optionalDependencies"].as_object().unwrap();
    assert_eq!(optional.len(), TARGETS.len());
    for target in &TARGETS {
        let package = npm::platform_package(&release(), &contents(target)).unwrap();
        let folder = temp.path().join(target.triple);
        unpack(&package.bytes, &folder);
        let page = std::fs::read_to_string(folder.join("package.json")).unwrap();
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let name = page["name"].as_str().unwrap();
        assert_eq!(optional[name], page["version"], "{name}");
        assert!(folder.join("bin").join(target.program()).is_file());
    }
}

#[test]
fn the_record_of_a_wheel_has_the_hash_of_every_file() {
    let package = wheel::package(&release(), &contents(targets::host().unwrap())).unwrap();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(package.bytes)).unwrap();
    let mut text = String::new();
    let record = "boswell_sessions-9.9.9.dist-info/RECORD";
    zip.by_name(record)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text.lines().count(), zip.len());
    for line in text.lines().filter(|line| !line.starts_with(record)) {
        let [path, hash, size] = line.split(',').collect::<Vec<_>>().try_into().unwrap();
        let mut bytes = Vec::new();
        zip.by_name(path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(size, bytes.len().to_string(), "{path}");
        let expected = boswell_testkit::sha256::hex(&bytes);
        let hash = hash.strip_prefix("sha256=").unwrap();
        let hash = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(hash)
            .unwrap();
        assert_eq!(super::super::release::hex(&hash), expected, "{path}");
    }
}

#[test]
fn dpkg_reads_the_debian_package() {
    if is_missing("dpkg-deb") {
        return;
    }
    let intel = targets::named("x86_64-unknown-linux-musl").unwrap();
    let package = debian::package(&release(), &contents(intel))
        .unwrap()
        .unwrap();
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join(&package.name);
    std::fs::write(&path, package.bytes).unwrap();
    let ask = |option: &str| {
        let output = Command::new("dpkg-deb")
            .arg(option)
            .arg(&path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let about = ask("--field");
    for line in [
        "Package: boswell",
        "Version: 9.9.9-1",
        "Architecture: amd64",
    ] {
        assert!(about.contains(line), "{line}: {about}");
    }
    let contents = ask("--contents");
    for line in [
        "-rwxr-xr-x root/root",
        " usr/bin/boswell\n",
        " usr/share/man/man1/boswell-list.1.gz\n",
        " usr/share/doc/boswell/copyright\n",
    ] {
        assert!(contents.contains(line), "{line}: {contents}");
    }
    let windows = targets::named("x86_64-pc-windows-gnu").unwrap();
    assert!(
        debian::package(&release(), &super::contents(windows))
            .unwrap()
            .is_none()
    );
}

#[test]
fn manifests_name_every_target_of_theirs_with_its_own_checksum() {
    let mut published = Vec::new();
    for target in &TARGETS {
        let sha256 = boswell_testkit::sha256::hex(target.triple.as_bytes());
        published.push(Published { target, sha256 });
    }
    let all = manifests::all(&release(), &published).unwrap();
    let text = |path: &str| {
        let (_, text) = all.iter().find(|(known, _)| known == path).unwrap();
        text
    };
    let mut named = 0;
    for it in &published {
        let archive = it.target.archive_name("9.9.9");
        for (path, is_listed) in [
            ("homebrew/boswell.rb", it.target.homebrew.is_some()),
            ("aur/PKGBUILD", it.target.arch_linux.is_some()),
            ("aur/.SRCINFO", it.target.arch_linux.is_some()),
            ("scoop/boswell.json", it.target.scoop.is_some()),
            (
                "winget/Boswell.Boswell.installer.yaml",
                it.target.winget.is_some(),
            ),
        ] {
            let text = text(path);
            let sums = [it.sha256.clone(), it.sha256.to_uppercase()];
            let has_sum = sums.iter().any(|sum| text.contains(sum));
            assert_eq!(has_sum, is_listed, "{path}: {}", it.target.triple);
            assert_eq!(text.contains(&archive), is_listed, "{path}: {archive}");
            named += u32::from(is_listed);
        }
    }
    assert_eq!(named, 4 + 2 * 2 + 1 + 1);
}

#[test]
fn the_build_script_of_arch_linux_is_valid_and_says_what_its_summary_says() {
    if is_missing("bash") {
        return;
    }
    let published = [Published {
        target: targets::named("x86_64-unknown-linux-musl").unwrap(),
        sha256: "0".repeat(64),
    }];
    let all = manifests::all(&release(), &published).unwrap();
    let text = |path: &str| {
        all.iter()
            .find(|(known, _)| known == path)
            .unwrap()
            .1
            .clone()
    };
    let mut script = text("aur/PKGBUILD");
    script.push_str("\nprintf '%s\\n' \"$pkgname\" \"$pkgver\" \"$url\" \"${source_x86_64[0]}\" \"${arch[0]}\"\n");
    let output = Command::new("bash")
        .args(["-euc", &script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let printed = said(&output);
    assert_eq!(printed.lines().count(), 5, "{printed}");
    let summary = text("aur/.SRCINFO");
    for value in printed.lines() {
        assert!(
            summary.contains(&format!(" = {value}\n")),
            "{value}: {summary}"
        );
    }
}
