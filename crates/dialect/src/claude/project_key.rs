//! The name of the folder that contains a project's sessions.

/// Keys longer than this many UTF-16 units are cut and end with a hash of the whole path.
pub const LONGEST: usize = 200;

/// Returns the folder name for a project at `path`, which must be the real path: links resolved,
/// not normalised.
///
/// Every UTF-16 unit outside `[A-Za-z0-9]` becomes a dash, so different paths share a key, and a
/// key is never decoded: the lines of a session contain its path.
pub fn project_key(path: &str) -> String {
    let mut key: String = path
        .encode_utf16()
        .map(|unit| {
            if is_plain(unit) {
                char::from(unit as u8)
            } else {
                '-'
            }
        })
        .collect();
    if key.len() > LONGEST {
        key.truncate(LONGEST);
        key.push('-');
        key.push_str(&base36(hash(path).unsigned_abs()));
    }
    key
}

/// Whether a folder may belong to `path`: its name is the key, or for long paths the key with any
/// hash, because older versions used another hash.
///
/// A match of a long key is only a candidate: compare the `cwd` of its lines before you rely on it.
pub fn may_be_key_of(folder: &str, path: &str) -> bool {
    let key = project_key(path);
    folder == key
        || (key.len() > LONGEST
            && folder.len() > LONGEST
            && folder
                .get(..=LONGEST)
                .is_some_and(|start| key.starts_with(start)))
}

fn is_plain(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric())
}

/// Computes the 32-bit string hash `h * 31 + unit`, wrapping.
fn hash(path: &str) -> i32 {
    path.encode_utf16().fold(0i32, |h, unit| {
        h.wrapping_shl(5)
            .wrapping_sub(h)
            .wrapping_add(i32::from(unit))
    })
}

fn base36(mut value: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(value % 36, 36).unwrap_or('0'));
        value /= 36;
        if value == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_that_is_no_letter_or_digit_becomes_a_dash() {
        for (path, key) in [
            ("/w/my project", "-w-my-project"),
            ("/w/.hidden.dir", "-w--hidden-dir"),
            ("/w/a_b", "-w-a-b"),
            ("/w/a-b", "-w-a-b"),
            ("/w/a.b", "-w-a-b"),
            ("/w/a-b/c", "-w-a-b-c"),
            ("/w/a/b-c", "-w-a-b-c"),
            ("/w/проект", "-w-------"),
            ("/w/项目一", "-w----"),
            ("/w/p🚀q", "-w-p--q"),
            ("/w/cafe\u{301}", "-w-cafe-"),
            ("/w/caf\u{e9}", "-w-caf-"),
            ("/w/ABC", "-w-ABC"),
            (r"C:\Users\me", "C--Users-me"),
            ("", ""),
        ] {
            assert_eq!(project_key(path), key, "{path}");
        }
    }

    #[test]
    fn keys_over_two_hundred_units_are_cut_and_hashed() {
        let base = "/srv/demo/paths/";
        let d = vec!["d".repeat(60); 4].join("/");
        let mut e = d.clone();
        e.replace_range(e.len() - 1.., "e");
        let xiang = vec!["项".repeat(50); 5].join("/");
        let rocket = vec!["🚀".repeat(40); 5].join("/");
        for (tail, hash) in [
            (d, "-sgbea1"),
            (e, "-sgbea2"),
            (xiang, "-25e6qi"),
            (rocket, "-x2mf26"),
        ] {
            let key = project_key(&format!("{base}{tail}"));
            assert!(key.ends_with(hash), "{key}");
            assert_eq!(key.len(), LONGEST + hash.len());
        }
        assert_eq!(project_key(&"x".repeat(200)).len(), 200);
        assert!(project_key(&"x".repeat(201)).len() > 201);
    }

    #[test]
    fn the_smallest_hash_has_a_positive_name() {
        assert_eq!(base36(i32::MIN.unsigned_abs()), "zik0zk");
        assert_eq!(base36(0), "0");
    }

    #[test]
    fn folders_of_older_hashes_are_candidates_for_long_paths_only() {
        let path = "/".to_owned() + &"d".repeat(250);
        let key = project_key(&path);
        let other = format!("{}-older", &key[..LONGEST]);
        assert!(may_be_key_of(&key, &path) && may_be_key_of(&other, &path));
        assert!(!may_be_key_of("-w-a-b-older", "/w/a-b"));
        assert!(!may_be_key_of(&format!("{}x", &key[..LONGEST]), &path));
    }
}
