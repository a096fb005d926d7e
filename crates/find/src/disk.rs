//! The folder that the index lives in: the only file of this crate that touches the file system.
//!
//! Whatever is written goes to a new name first, is synced, and then takes its place by a rename, so that a death at any moment
//! leaves the old file or the new one. The steps are methods of a trait, so that a test can stop after each of them.
#![expect(clippy::disallowed_methods, reason = "the index is derived data in a folder of its own, not session bytes")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the index asks of its folder. Names have no folders in them.
pub(crate) trait Disk: Send + Sync + std::fmt::Debug {
    /// How people name the folder.
    fn place(&self) -> String;
    /// Names of all files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Opens a file for reading.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Makes the folder, readable by its owner only.
    fn make(&self) -> io::Result<()>;
    /// Writes a new file; its bytes may still be in memory only.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Brings the bytes of a file to the disk.
    fn sync(&self, name: &str) -> io::Result<()>;
    /// Gives a file another name, in place of what had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Brings the names to the disk.
    fn sync_names(&self) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Takes the lock of the one writer; an error of kind `WouldBlock` when another has it. It ends with what is returned.
    fn lock(&self) -> io::Result<Box<dyn std::fmt::Debug + Send>>;
}

/// A file that was opened: it stays what it was, even when its name is gone.
pub(crate) trait DiskFile: Send + Sync + std::fmt::Debug {
    /// Its length.
    fn len(&self) -> io::Result<u64>;
    /// Fills `buffer` from position `at`; an error when the file ends before.
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()>;
}

/// Puts a file in place: old or new, never half.
pub(crate) fn put(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = format!("{name}.new");
    disk.write(&fresh, bytes)?;
    disk.sync(&fresh)?;
    disk.rename(&fresh, name)?;
    disk.sync_names()
}

/// Reads a whole file, refused when it is longer than `limit`.
pub(crate) fn read_whole(disk: &dyn Disk, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(name)?;
    let len = file.len()?;
    if len > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is longer than it can be"));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A folder of the file system.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Folder {
        Folder { root: root.to_path_buf() }
    }
}

impl Disk for Folder {
    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(File::open(self.root.join(name))?))
    }

    fn make(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.root)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.root.join(name))?.write_all(bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.root.join(name))?.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }

    fn sync_names(&self) -> io::Result<()> {
        #[cfg(unix)]
        File::open(&self.root)?.sync_all()?;
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.root.join(name))
    }

    fn lock(&self) -> io::Result<Box<dyn std::fmt::Debug + Send>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.root.join("lock"))?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(Box::new(file))
    }
}

impl DiskFile for File {
    fn len(&self) -> io::Result<u64> {
        self.metadata().map(|meta| meta.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, at)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match std::os::windows::fs::FileExt::seek_read(self, rest, at + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => done += count,
            }
        }
        Ok(())
    }
}
