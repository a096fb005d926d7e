//! How the programs name the folder of a project. Every scheme loses information, so no name is
//! ever decoded.

use super::Flavour;
use crate::Surroundings;

/// Longest name: most file systems allow 255 bytes, and the header contains the whole path.
const LONGEST: usize = 240;

/// Returns the name of a project's folder.
pub(super) fn folder(flavour: Flavour, project: &str, around: &Surroundings) -> String {
    if matches!(flavour, Flavour::Pi | Flavour::Boswell) {
        return from_root(project);
    }
    let home = around.home.as_deref().and_then(|home| below(project, home));
    let tmp = || around.tmp.as_deref().and_then(|tmp| below(project, tmp));
    match home {
        Some(rest) => from_home(rest),
        None => tmp().map_or_else(|| from_root(project), from_tmp),
    }
}

/// Returns the folder for a moved project, named by the same scheme as its old folder.
///
/// A store does not record the home folder, but a name that omits it shows where it ends.
pub(super) fn folder_after(leaving: &str, was: &str, project: &str) -> String {
    let of = |name: fn(&str) -> String| {
        ancestors(was)
            .find(|above| below(was, above).is_some_and(|rest| name(rest) == leaving))
            .map(|above| below(project, above).map_or_else(|| from_root(project), name))
    };
    if leaving == from_root(was) {
        return from_root(project);
    }
    of(from_home)
        .or_else(|| of(from_tmp))
        .unwrap_or_else(|| from_root(project))
}

/// Whether a program of the family creates such names; other folders were named by the user.
pub(super) fn is_managed(name: &str) -> bool {
    name.starts_with('-')
}

/// Returns the rest of `path` below `folder`: empty for the folder itself, `None` if it is outside.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches(['/', '\\']);
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() {
        return Some("");
    }
    // xcsh treats every path that begins with two dots as outside.
    rest.strip_prefix(['/', '\\'])
        .filter(|rest| !rest.starts_with(".."))
        .map(|rest| rest.trim_end_matches('/'))
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path
        .match_indices(['/', '\\'])
        .map(|(at, _)| at)
        .chain([path.len()]);
    ends.filter_map(move |at| path.get(..at))
}

fn from_root(project: &str) -> String {
    let bare = project.strip_prefix(['/', '\\']).unwrap_or(project);
    format!("--{}--", flat(bare))
}

fn from_home(rest: &str) -> String {
    format!("-{}", flat(rest))
}

fn from_tmp(rest: &str) -> String {
    if rest.is_empty() {
        "-tmp".to_owned()
    } else {
        format!("-tmp-{}", flat(rest))
    }
}

fn flat(path: &str) -> String {
    let flat: String = path
        .chars()
        .map(|c| {
            if matches!(c, '/' | '\\' | ':') {
                '-'
            } else {
                c
            }
        })
        .collect();
    let mut cut = flat.len().min(LONGEST);
    while !flat.is_char_boundary(cut) {
        cut -= 1;
    }
    flat.get(..cut).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around() -> Surroundings {
        Surroundings {
            home: Some("/home/u".to_owned()),
            tmp: Some("/var/tmp".to_owned()),
        }
    }

    #[test]
    fn xcsh_and_oh_my_pi_name_projects_from_home_from_tmp_or_from_the_root() {
        for (project, name) in [
            ("/home/u/src/pi", "-src-pi"),
            ("/home/u", "-"),
            ("/home/u/会话/a:b", "-会话-a-b"),
            ("/home/user2", "--home-user2--"),
            ("/home/u/..odd", "--home-u-..odd--"),
            ("/var/tmp", "-tmp"),
            ("/var/tmp/x/y", "-tmp-x-y"),
            ("/srv/pi", "--srv-pi--"),
        ] {
            assert_eq!(folder(Flavour::Xcsh, project, &around()), name, "{project}");
            assert_eq!(folder(Flavour::Omp, project, &around()), name, "{project}");
        }
        assert_eq!(
            folder(Flavour::Xcsh, "/home/u/src", &Surroundings::default()),
            "--home-u-src--"
        );
    }

    #[test]
    fn pi_and_boswell_name_projects_from_the_root() {
        for flavour in [Flavour::Pi, Flavour::Boswell] {
            assert_eq!(
                folder(flavour, "/home/u/src:x\\y", &around()),
                "--home-u-src-x-y--"
            );
            assert_eq!(
                folder(flavour, "//srv", &around()),
                "---srv--",
                "one separator goes, no more"
            );
        }
        let long = folder(Flavour::Pi, &format!("/{}", "会".repeat(200)), &around());
        assert!(long.len() <= 255 && long.ends_with("会--"), "{long}");
    }

    #[test]
    fn a_project_that_moves_keeps_the_way_of_naming() {
        for (leaving, was, now, name) in [
            ("--srv-a--", "/srv/a", "/srv/b", "--srv-b--"),
            ("-src-a", "/home/u/src/a", "/home/u/b", "-b"),
            ("-src-a", "/home/u/src/a", "/srv/b", "--srv-b--"),
            ("-", "/home/u", "/home/u/x", "-x"),
            ("-tmp-a", "/var/tmp/a", "/var/tmp/b/c", "-tmp-b-c"),
            ("-elsewhere", "/srv/a", "/srv/b", "--srv-b--"),
        ] {
            assert_eq!(
                folder_after(leaving, was, now),
                name,
                "{leaving} {was} {now}"
            );
        }
    }
}
