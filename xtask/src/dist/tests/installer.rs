use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::super::sign::Signer;
use super::super::targets;
use super::{Packed, files_below, is_missing, release, said};
use crate::workspace;

/// A folder of programs that stand before, or instead of, those of the machine.
struct Programs(PathBuf);

impl Programs {
    /// The programs that the installer uses, without `left_out`.
    fn without(folder: &Path, left_out: &[&str]) -> Programs {
        let programs = folder.join("programs");
        std::fs::create_dir_all(&programs).expect("folders can be made");
        let used = [
            "sh",
            "uname",
            "dirname",
            "mktemp",
            "cp",
            "mv",
            "rm",
            "mkdir",
            "chmod",
            "gzip",
            "tar",
            "sed",
            "head",
            "tail",
            "cat",
            "sha256sum",
            "shasum",
            "openssl",
            "minisign",
            "curl",
        ];
        for name in used.iter().filter(|name| !left_out.contains(name)) {
            if let Some(path) = workspace::on_path(name) {
                std::os::unix::fs::symlink(path, programs.join(name)).expect("links can be made");
            }
        }
        Programs(programs)
    }
}

impl Packed {
    fn prefix(&self) -> PathBuf {
        self.temp.path().join("some prefix")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        command.env_clear().current_dir("/");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    fn install(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = self.command();
        command.arg(self.dist().join("install.sh")).args(arguments);
        let command = command.envs(variables.iter().copied());
        command.output().expect("sh runs")
    }

    /// Installs into the prefix, and fails unless it ends with a code.
    fn must_end(&self, code: i32, why: &str) -> String {
        let output = self.install(&[], &[("PREFIX", &self.prefix())]);
        assert_eq!(output.status.code(), Some(code), "{why}: {}", said(&output));
        said(&output)
    }

    fn must_have_installed_nothing(&self) {
        assert!(!self.prefix().exists(), "something was installed");
    }
}

/// Changes one bit of a file.
fn tamper(path: &Path) {
    let mut bytes = std::fs::read(path).expect("the file is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("files can be written");
}

fn signer() -> Signer {
    let pair = minisign::KeyPair::generate_unencrypted_keypair().expect("a key can be made");
    let text = pair.sk.to_box(None).expect("a key is text").to_string();
    Signer::new(&text, None).expect("the key is read")
}

#[test]
fn the_installer_verifies_installs_says_what_is_next_and_removes_everything_again() {
    let packed = Packed::for_this_machine();
    let prefix = packed.prefix();
    for _ in ["the first time", "over an earlier one"] {
        let text = packed.must_end(0, "a good archive");
        for needed in [
            "boswell 9.9.9 is in",
            "add ",
            "next: ",
            "demo",
            "--uninstall",
            "not signed",
        ] {
            assert!(text.contains(needed), "{needed}: {text}");
        }
    }
    let expected = [
        "bin/boswell",
        "share/bash-completion/completions/boswell",
        "share/fish/vendor_completions.d/boswell.fish",
        "share/man/man1/boswell-list.1",
        "share/man/man1/boswell.1",
        "share/zsh/site-functions/_boswell",
    ];
    assert_eq!(files_below(&prefix), expected);
    let mine = prefix.join("share/man/man1/mine.1");
    std::fs::write(&mine, "mine").expect("files can be written");
    let output = packed.install(&["--uninstall"], &[("PREFIX", &prefix)]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        files_below(&prefix),
        ["share/man/man1/mine.1"],
        "other files stay"
    );
}

#[test]
fn an_archive_without_the_promised_checksum_is_not_installed() {
    let packed = Packed::for_this_machine();
    tamper(&packed.archive());
    let text = packed.must_end(4, "a tampered archive");
    assert!(text.contains("does not have the checksum"), "{text}");
    packed.write(&release(), None);
    let sums = packed.dist().join("SHA256SUMS");
    for text in ["00  another.tar.gz\n", ""] {
        std::fs::write(&sums, text).expect("files can be written");
        packed.must_end(4, "sums without the archive");
    }
    std::fs::remove_file(&sums).expect("files can be removed");
    packed.must_end(2, "no sums");
    packed.write(&release(), None);
    std::fs::remove_file(packed.archive()).expect("files can be removed");
    packed.must_end(2, "no archive");
    packed.must_have_installed_nothing();
}

#[test]
fn a_program_that_does_not_run_here_is_not_installed() {
    let packed = Packed::for_this_machine();
    let mut broken = super::contents(packed.target);
    broken.program = b"#!/bin/sh\nexit 1\n".to_vec();
    let archive = broken.archive("9.9.9").expect("it is packed");
    let sum = boswell_testkit::sha256::hex(&archive.bytes);
    std::fs::write(packed.archive(), archive.bytes).expect("files can be written");
    let sums = format!("{sum}  {}\n", archive.name);
    std::fs::write(packed.dist().join("SHA256SUMS"), sums).expect("files can be written");
    let text = packed.must_end(2, "a program that fails");
    assert!(text.contains("does not run on this machine"), "{text}");
    packed.must_have_installed_nothing();
}

/// Tries a signed release with the programs of a folder, which leave out one that verifies.
fn signed_release_is_verified(left_out: &[&str]) {
    let packed = Packed::new(targets::host().expect("this machine has releases"));
    packed.write(&release(), Some(&signer()));
    let programs = Programs::without(packed.temp.path(), left_out);
    let prefix = packed.prefix();
    let install = |arguments: &[&str]| {
        packed.install(arguments, &[("PREFIX", &prefix), ("PATH", &programs.0)])
    };
    let signature = packed.dist().join("SHA256SUMS.minisig");
    let good = std::fs::read(&signature).expect("it is there");

    // The checksums are changed together with the archive: only the signature can tell.
    let sums = packed.dist().join("SHA256SUMS");
    let old = std::fs::read(&sums).expect("it is there");
    std::fs::write(&sums, [&old[..], b"00  more\n"].concat()).expect("files can be written");
    let output = install(&[]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("signature"), "{}", said(&output));
    std::fs::write(&sums, &old).expect("files can be written");

    // A signature by another key.
    let other = signer().sign("SHA256SUMS", &old).expect("it is signed");
    std::fs::write(&signature, other).expect("files can be written");
    let output = install(&[]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));

    std::fs::remove_file(&signature).expect("files can be removed");
    let output = install(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    packed.must_have_installed_nothing();

    let output = install(&["--without-signature"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("not verified"), "{}", said(&output));

    std::fs::write(&signature, good).expect("files can be written");
    let output = install(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("note:"), "{}", said(&output));
}

#[test]
fn a_signature_is_verified_with_openssl() {
    if !is_missing("openssl") {
        signed_release_is_verified(&["minisign"]);
    }
}

#[test]
fn a_signature_is_verified_with_minisign() {
    if !is_missing("minisign") {
        signed_release_is_verified(&["openssl"]);
    }
}

#[test]
fn a_signed_release_is_not_installed_where_nothing_can_verify_it() {
    let packed = Packed::new(targets::host().expect("this machine has releases"));
    packed.write(&release(), Some(&signer()));
    let programs = Programs::without(packed.temp.path(), &["minisign", "openssl"]);
    let prefix = packed.prefix();
    let output = packed.install(&[], &[("PREFIX", &prefix), ("PATH", &programs.0)]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("--without-signature"),
        "{}",
        said(&output)
    );
    packed.must_have_installed_nothing();
}

#[test]
fn the_installer_goes_into_the_home_folder_and_asks_for_one_if_there_is_none() {
    let packed = Packed::for_this_machine();
    let output = packed.install(&[], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("neither PREFIX nor HOME")
            && said(&output).contains("PREFIX=/usr/local")
    );
    let home = packed.temp.path().join("home");
    let output = packed.install(&[], &[("HOME", &home)]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(home.join(".local/bin/boswell").is_file());
    let output = packed.install(&["--upgrade"], &[("HOME", &home)]);
    assert_eq!(output.status.code(), Some(2));
}

/// Runs a script that comes through a pipe, in a folder.
fn piped(packed: &Packed, script: &[u8], folder: &Path) -> Output {
    let file = packed.temp.path().join("piped");
    std::fs::write(&file, script).expect("files can be written");
    let mut command = packed.command();
    command.current_dir(folder).env("PREFIX", packed.prefix());
    let input = std::fs::File::open(&file).expect("the file is there");
    let command = command.stdin(Stdio::from(input));
    command.output().expect("sh runs")
}

/// A release with an address, and the folder that the address names.
fn served() -> (Packed, PathBuf) {
    let packed = Packed::new(targets::host().expect("this machine has releases"));
    let server = packed.temp.path().join("server");
    let mut release = release();
    release.repository = format!("file://{}", server.display());
    packed.write(&release, None);
    let folder = server.join("releases/download/v9.9.9");
    std::fs::create_dir_all(&folder).expect("folders can be made");
    (packed, folder)
}

fn upload(packed: &Packed, folder: &Path) {
    for name in ["SHA256SUMS".to_owned(), packed.target.archive_name("9.9.9")] {
        std::fs::copy(packed.dist().join(&name), folder.join(&name)).expect("files can be copied");
    }
}

#[test]
fn through_a_pipe_the_files_are_downloaded_and_those_of_the_current_folder_are_not_used() {
    if is_missing("curl") {
        return;
    }
    let (packed, folder) = served();
    let script = std::fs::read(packed.dist().join("install.sh")).expect("it is there");
    // Nothing is there to download; the release in the current folder must not be taken.
    let output = piped(&packed, &script, &packed.dist());
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    packed.must_have_installed_nothing();
    upload(&packed, &folder);
    tamper(&folder.join(packed.target.archive_name("9.9.9")));
    let output = piped(&packed, &script, &packed.dist());
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    packed.must_have_installed_nothing();
    upload(&packed, &folder);
    let output = piped(&packed, &script, Path::new("/"));
    assert!(output.status.success(), "{}", said(&output));
    assert!(packed.prefix().join("bin/boswell").is_file());
}

#[test]
fn a_script_that_was_cut_off_on_its_way_installs_nothing() {
    if is_missing("curl") {
        return;
    }
    let (packed, folder) = served();
    upload(&packed, &folder);
    let script = std::fs::read(packed.dist().join("install.sh")).expect("it is there");
    let call = b"main \"$@\"\n";
    assert!(script.ends_with(call), "the last line starts it");
    let body = script.len() - call.len();
    for cut in [body / 4, body / 2, body * 3 / 4, body - 300, body] {
        piped(&packed, &script[..cut], Path::new("/"));
        packed.must_have_installed_nothing();
    }
    let output = piped(&packed, &script, Path::new("/"));
    assert!(output.status.success(), "{}", said(&output));
}
