//! No file may contain the path of a folder on a developer's machine.

use std::path::Path;

use crate::sources;
use crate::workspace;

/// Returns the folder around the checkout; the checkout itself if that folder has a common name: a
/// temporary folder, a home folder, the root.
fn telltale(root: &Path) -> String {
    let parent = root.parent().unwrap_or(root);
    let is_common = match parent.components().count() {
        0 | 1 => true,
        2 => ["tmp", "root", "home", "src", "build", "mnt", "opt", "srv"]
            .iter()
            .any(|name| parent.ends_with(name)),
        3 => {
            parent.starts_with("/home")
                || parent.starts_with("/Users")
                || parent.starts_with("/tmp")
        }
        _ => false,
    };
    format!("{}/", if is_common { root } else { parent }.display())
}

#[test]
fn no_file_names_a_folder_of_the_machine_it_was_written_on() {
    let telltale = telltale(&workspace::root());
    let wrong: Vec<_> = sources::all()
        .into_iter()
        .filter(|file| sources::text(file).contains(&telltale))
        .collect();
    assert!(wrong.is_empty(), "{telltale} is named in {wrong:?}");
}

#[test]
fn commonplace_folders_tell_nothing() {
    assert_eq!(telltale(Path::new("/tmp/boswell")), "/tmp/boswell/");
    assert_eq!(
        telltale(Path::new("/home/user/boswell")),
        "/home/user/boswell/"
    );
    assert_eq!(telltale(Path::new("/data/team/boswell")), "/data/team/");
    assert_eq!(telltale(Path::new("/data/boswell")), "/data/");
}
