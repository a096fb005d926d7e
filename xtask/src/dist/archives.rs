//! Archives whose bytes depend on their contents alone: order, times, owners and modes are fixed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Write as _};

use flate2::{Compression, GzBuilder};
use zip::write::SimpleFileOptions;

use crate::Outcome;

/// The first second of 1980, which is the earliest time that a zip file can express.
const FIXED_TIME: u64 = 315_532_800;

/// A finished archive or package, to be written into the folder of the release.
#[derive(Debug)]
pub(super) struct ArchiveBytes {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// A file of a package.
#[derive(Debug, Clone)]
pub(super) struct PackedFile {
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl PackedFile {
    fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }
}

/// The files of a package by their paths, with `/` between folders.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedFiles(BTreeMap<String, PackedFile>);

impl PackedFiles {
    pub(super) fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let file = PackedFile {
            bytes: bytes.into(),
            is_program: false,
        };
        self.0.insert(path.into(), file);
    }

    pub(super) fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let file = PackedFile {
            bytes: bytes.into(),
            is_program: true,
        };
        self.0.insert(path.into(), file);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &PackedFile)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The same files below a folder.
    pub(super) fn below(&self, folder: &str) -> PackedFiles {
        let files = self.0.iter();
        PackedFiles(
            files
                .map(|(path, file)| (format!("{folder}/{path}"), file.clone()))
                .collect(),
        )
    }

    /// Every folder that contains a file or another folder.
    fn folders(&self) -> BTreeSet<&str> {
        let mut folders = BTreeSet::new();
        for path in self.0.keys() {
            folders.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
        }
        folders
    }
}

/// Compresses bytes. The header has no time and no name.
pub(super) fn gzip(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Packs files as `tar.gz`, with an entry for each folder: dpkg makes no folders by itself.
pub(super) fn tar_gz(files: &PackedFiles) -> Outcome<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for folder in files.folders() {
        let mut header = tar_header(tar::EntryType::Directory, 0, 0o755)?;
        header.set_path(format!("{folder}/"))?;
        header.set_cksum();
        tar.append(&header, std::io::empty())?;
    }
    for (path, file) in files.iter() {
        let size = u64::try_from(file.bytes.len())?;
        let mut header = tar_header(tar::EntryType::Regular, size, file.mode())?;
        header.set_path(path)?;
        header.set_cksum();
        tar.append(&header, file.bytes.as_slice())?;
    }
    gzip(&tar.into_inner()?)
}

fn tar_header(kind: tar::EntryType, size: u64, mode: u32) -> Outcome<tar::Header> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_mtime(FIXED_TIME);
    Ok(header)
}

/// Packs files as `zip`.
pub(super) fn zip(files: &PackedFiles) -> Outcome<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, file) in files.iter() {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(file.mode());
        zip.start_file(path, options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Packs files as the `ar` archive that a Debian package is.
pub(super) fn ar(files: &[(&str, Vec<u8>)]) -> Outcome<Vec<u8>> {
    let mut ar = ar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let size = u64::try_from(bytes.len())?;
        let mut header = ar::Header::new(name.as_bytes().to_vec(), size);
        header.set_mode(0o100_644);
        header.set_mtime(FIXED_TIME);
        ar.append(&header, bytes.as_slice())?;
    }
    Ok(ar.into_inner()?)
}
