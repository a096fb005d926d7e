//! Opens files below a folder without following a symbolic link out of it.
//!
//! Anything in a store may have been planted: a link must not put a file from elsewhere into an
//! export, an import, an index or the vault. Links that stay inside the folder are followed, and
//! the folder itself may be reached through links.
//!
//! On Linux the kernel refuses such links itself (`openat2`). On other systems, and on kernels
//! without that call, the file is opened first and then compared with its real path: a check before
//! opening could be outrun by a rename.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{LeadsOutside, NOTHING, Stat, StatKind, real};

/// The metadata of a link that leads out of the folder: nothing of its target is shown.
const OUTSIDE: Stat = Stat {
    kind: StatKind::Outside,
    ..NOTHING
};

/// The purpose of opening a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// To read bytes. A pipe does not block.
    Reading,
    /// To list a folder.
    Listing,
    /// To read metadata only, which needs no permission to read.
    Looking,
}

/// Opens `root/below`. An empty `below` is the folder itself.
#[cfg(target_os = "linux")]
pub(super) fn open(root: &Path, below: &str, what_for: For) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    let (path, flags) = (root.join(below), flags(what_for));
    if below.is_empty() {
        return Ok(openat(CWD, &path, flags, Mode::empty())?.into());
    }
    // Most paths contain no link; then this is the only system call.
    match openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(file) => return Ok(file.into()),
        Err(Errno::LOOP) => {}
        // A kernel before 5.6, or a container whose filter does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => return open_and_compare(root, &path, what_for),
        Err(error) => return Err(error.into()),
    }
    let folder = openat(
        CWD,
        root,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    match openat2(
        &folder,
        below,
        flags,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
    ) {
        Ok(file) => Ok(file.into()),
        // The kernel fails at every absolute link, also at one that leads back inside, and at races
        // with a rename.
        Err(Errno::XDEV | Errno::AGAIN) => {
            let inside = real_path(root, &path)?;
            Ok(openat2(
                CWD,
                &inside,
                flags,
                Mode::empty(),
                ResolveFlags::NO_SYMLINKS,
            )?
            .into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_os = "linux")]
fn flags(what_for: For) -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::CLOEXEC
        | match what_for {
            For::Reading => OFlags::RDONLY | OFlags::NONBLOCK,
            For::Listing => OFlags::RDONLY | OFlags::DIRECTORY,
            For::Looking => OFlags::PATH,
        }
}

/// Opens `root/below`. An empty `below` is the folder itself.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(root: &Path, below: &str, what_for: For) -> io::Result<File> {
    let path = root.join(below);
    if below.is_empty() {
        open_following(&path, what_for)
    } else {
        open_and_compare(root, &path, what_for)
    }
}

#[cfg(target_os = "linux")]
fn open_following(path: &Path, what_for: For) -> io::Result<File> {
    Ok(rustix::fs::openat(
        rustix::fs::CWD,
        path,
        flags(what_for),
        rustix::fs::Mode::empty(),
    )?
    .into())
}

#[cfg(not(target_os = "linux"))]
fn open_following(path: &Path, _what_for: For) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    options.open(path)
}

/// For systems that cannot refuse links themselves: opens the path, and compares the opened file
/// with what its real path leads to.
///
/// Checked after opening, because what was at the path a moment ago proves nothing.
fn open_and_compare(root: &Path, path: &Path, what_for: For) -> io::Result<File> {
    let file = open_following(path, what_for)?;
    let inside = real_path(root, path)?;
    let (opened, there) = (
        real::stat(&file.metadata()?),
        real::stat(&std::fs::symlink_metadata(inside)?),
    );
    if opened.identity == there.identity {
        return Ok(file);
    }
    Err(io::Error::other(
        "it was replaced while it was opened; try again",
    ))
}

/// Returns the path with links resolved, if it is below the folder.
fn real_path(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let (root, target) = (root.canonicalize()?, path.canonicalize()?);
    if target.starts_with(root) {
        return Ok(target);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        LeadsOutside {
            path: path.to_owned(),
            target,
        },
    ))
}

/// Returns the metadata of `root/below`; `None` if nothing is there.
pub(super) fn stat(root: &Path, below: &str) -> io::Result<Option<Stat>> {
    match open(root, below, For::Looking).and_then(|file| file.metadata()) {
        Ok(meta) => Ok(Some(real::stat(&meta))),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) if LeadsOutside::of(&error).is_some() => Ok(Some(OUTSIDE)),
        Err(error) => Err(error),
    }
}

/// Returns the metadata of what a link below the folder leads to.
pub(super) fn behind_link(root: &Path, path: &Path) -> Stat {
    match real_path(root, path) {
        Ok(inside) => std::fs::symlink_metadata(inside).map_or(NOTHING, |meta| real::stat(&meta)),
        Err(error) if LeadsOutside::of(&error).is_some() => OUTSIDE,
        // The link is dangling, or leads back to itself.
        Err(_) => NOTHING,
    }
}

#[cfg(unix)]
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "files and links are made to be opened"
)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A store that is reached through a link, and a secret outside of it.
    fn planted() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("real/s/results")).unwrap();
        std::fs::create_dir_all(at("elsewhere/deep")).unwrap();
        std::fs::write(at("real/s/results/a.txt"), "inside").unwrap();
        std::fs::write(at("elsewhere/secret"), "secret").unwrap();
        std::fs::write(at("elsewhere/deep/secret"), "secret").unwrap();
        symlink("real", at("store")).unwrap();
        symlink("a.txt", at("real/s/results/relative")).unwrap();
        symlink(at("store/s/results/a.txt"), at("real/s/results/absolute")).unwrap();
        symlink("s", at("real/again")).unwrap();
        symlink(at("elsewhere/secret"), at("real/s/absolute")).unwrap();
        symlink("../../elsewhere/secret", at("real/s/relative")).unwrap();
        symlink("../../elsewhere", at("real/s/deep")).unwrap();
        symlink("/proc/self/root", at("real/s/magic")).unwrap();
        symlink("loop", at("real/s/loop")).unwrap();
        symlink("nowhere", at("real/s/dangling")).unwrap();
        let store = at("store");
        (folder, store)
    }

    const INSIDE: [&str; 4] = [
        "s/results/a.txt",
        "s/results/relative",
        "s/results/absolute",
        "again/results/relative",
    ];
    const OUT: [&str; 5] = [
        "s/absolute",
        "s/relative",
        "s/deep/secret",
        "s/deep/deep/secret",
        "again/deep/secret",
    ];

    #[test]
    fn links_inside_a_store_are_read_and_links_out_of_it_are_refused() {
        let (_folder, root) = planted();
        type Way = fn(&Path, &str) -> io::Result<File>;
        let ways: [Way; 2] = [
            |root, below| open(root, below, For::Reading),
            |root, below| open_and_compare(root, &root.join(below), For::Reading),
        ];
        for way in ways {
            for below in INSIDE {
                let mut text = String::new();
                way(&root, below)
                    .unwrap()
                    .read_to_string(&mut text)
                    .unwrap();
                assert_eq!(text, "inside", "{below}");
            }
            for below in OUT {
                let error = way(&root, below).unwrap_err();
                let refused =
                    LeadsOutside::of(&error).unwrap_or_else(|| panic!("{below}: {error}"));
                assert!(refused.target.ends_with("secret"), "{refused}");
            }
            for below in ["s/loop", "s/dangling", "s/nothing"] {
                assert!(
                    LeadsOutside::of(&way(&root, below).unwrap_err()).is_none(),
                    "{below}"
                );
            }
        }
    }

    #[test]
    fn a_look_at_a_link_that_leads_out_of_a_store_tells_nothing_about_its_target() {
        let (_folder, root) = planted();
        for below in INSIDE {
            let seen = stat(&root, below).unwrap().unwrap();
            assert_eq!((seen.kind, seen.len), (StatKind::File, 6), "{below}");
        }
        for below in OUT.iter().chain(&["s/deep", "s/magic"]) {
            assert_eq!(stat(&root, below).unwrap(), Some(OUTSIDE), "{below}");
        }
        assert_eq!(stat(&root, "s/dangling").unwrap(), None);
        assert_eq!(
            stat(&root, "").unwrap().unwrap().kind,
            StatKind::Folder,
            "the store itself may be a link"
        );
    }

    #[test]
    fn a_listing_says_which_links_lead_out_of_the_store() {
        let (_folder, root) = planted();
        let mut listed = super::super::listing::list_below(&root, "s", &|_| true).unwrap();
        listed.sort_by(|(a, _), (b, _)| a.cmp(b));
        let kinds: Vec<_> = listed
            .iter()
            .map(|(name, stat)| (name.as_str(), stat.kind))
            .collect();
        let (folder, other, outside) = (StatKind::Folder, StatKind::Other, StatKind::Outside);
        let expected = [
            ("absolute", outside),
            ("dangling", other),
            ("deep", outside),
            ("loop", other),
            ("magic", outside),
            ("relative", outside),
            ("results", folder),
        ];
        assert_eq!(kinds, expected);
        let error = super::super::listing::list_below(&root, "s/deep", &|_| true).unwrap_err();
        assert!(LeadsOutside::of(&error).is_some(), "{error}");
        assert_eq!(
            super::super::listing::list_below(&root, "again", &|_| true)
                .unwrap()
                .len(),
            7
        );
    }
}
