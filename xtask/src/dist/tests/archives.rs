use super::super::archives::{PackedFiles, ar, tar_gz, zip};
use super::super::targets::TARGETS;
use super::{Packed, contents};

fn files(names: &[&str]) -> PackedFiles {
    let mut files = PackedFiles::default();
    for name in names {
        files.add(*name, format!("text of {name}"));
    }
    files.add_program("a/program", "#!/bin/sh\n");
    files
}

#[test]
fn the_order_in_which_files_are_added_does_not_change_an_archive() {
    let one = files(&["a/1", "b/c/2", "z"]);
    let other = files(&["z", "b/c/2", "a/1"]);
    assert_eq!(tar_gz(&one).unwrap(), tar_gz(&other).unwrap());
    assert_eq!(zip(&one).unwrap(), zip(&other).unwrap());
}

#[test]
fn a_tar_archive_has_fixed_owners_and_times_and_a_folder_before_its_files() {
    let packed = tar_gz(&files(&["a/1", "b/c/2"])).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
    let mut seen = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(
            (header.uid().unwrap(), header.gid().unwrap()),
            (0, 0),
            "{seen:?}"
        );
        assert_eq!(header.mtime().unwrap(), 315_532_800);
        let path = entry.path().unwrap().display().to_string();
        seen.push((path, header.mode().unwrap()));
    }
    let expected = [
        ("a/", 0o755),
        ("b/", 0o755),
        ("b/c/", 0o755),
        ("a/1", 0o644),
        ("a/program", 0o755),
        ("b/c/2", 0o644),
    ];
    assert_eq!(seen, expected.map(|(path, mode)| (path.to_owned(), mode)));
}

#[test]
fn a_zip_archive_keeps_which_file_is_a_program() {
    let packed = zip(&files(&["b/c/2"])).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(packed)).unwrap();
    let mut modes = Vec::new();
    for at in 0..archive.len() {
        let file = archive.by_index(at).unwrap();
        let name = file.name().unwrap().into_owned();
        modes.push((name, file.unix_mode().unwrap() & 0o777));
    }
    let expected = [("a/program", 0o755), ("b/c/2", 0o644)];
    assert_eq!(modes, expected.map(|(path, mode)| (path.to_owned(), mode)));
}

#[test]
fn an_ar_archive_has_its_members_in_the_order_given() {
    let packed = ar(&[("zz", b"1".to_vec()), ("aa", b"22".to_vec())]).unwrap();
    let mut archive = ar::Archive::new(packed.as_slice());
    let mut names = Vec::new();
    while let Some(entry) = archive.next_entry() {
        let header = entry.unwrap().header().clone();
        names.push((header.identifier().to_vec(), header.size()));
    }
    assert_eq!(names, [(b"zz".to_vec(), 1), (b"aa".to_vec(), 2)]);
}

#[test]
fn two_releases_of_the_same_program_are_equal_in_every_byte() {
    for target in &TARGETS {
        let (one, other) = (Packed::new(target), Packed::new(target));
        one.write(&super::release(), None);
        other.write(&super::release(), None);
        assert_eq!(one.sums(), other.sums());
        let sums: Vec<(String, String)> = one.sums();
        assert!(
            sums.iter()
                .any(|(name, _)| *name == target.archive_name("9.9.9"))
        );
    }
}

#[test]
fn the_checksums_are_those_of_another_implementation() {
    let packed = Packed::for_this_machine();
    let sums = packed.sums();
    assert!(sums.len() >= 7, "{sums:?}");
    for (name, sum) in sums {
        let bytes = std::fs::read(packed.dist().join(&name)).unwrap();
        assert_eq!(boswell_testkit::sha256::hex(&bytes), sum, "{name}");
    }
}

#[test]
fn every_file_of_the_release_but_manifests_has_a_checksum() {
    let packed = Packed::for_this_machine();
    let mut names: Vec<String> = packed.sums().into_iter().map(|(name, _)| name).collect();
    names.push("SHA256SUMS".to_owned());
    names.sort();
    let mut found = super::files_below(&packed.dist());
    // Manifests are published elsewhere, and contain checksums themselves.
    found.retain(|name| !name.contains('/'));
    assert_eq!(names, found);
}

#[test]
fn the_archive_for_windows_has_the_program_and_completions_of_windows() {
    let windows = TARGETS.iter().find(|target| target.is_windows()).unwrap();
    let archive = contents(windows).archive("9.9.9").unwrap();
    let cursor = std::io::Cursor::new(archive.bytes);
    let zip = zip::ZipArchive::new(cursor).unwrap();
    let names: Vec<String> = zip
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    for name in ["boswell.exe", "completions/boswell.ps1", "LICENSE-MIT"] {
        let path = format!("{}/{name}", windows.folder("9.9.9"));
        assert!(names.contains(&path), "{path}: {names:?}");
    }
}
