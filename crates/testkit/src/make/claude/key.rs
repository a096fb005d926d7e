//! The folder name of a project.

/// Returns the project key: every UTF-16 unit outside `[A-Za-z0-9]` becomes `-`; above 200 units a
/// hash ends it.
pub fn project_key(path: &str) -> String {
    let units: Vec<u16> = path.encode_utf16().collect();
    let plain = |unit: u16| {
        char::from_u32(u32::from(unit))
            .filter(char::is_ascii_alphanumeric)
            .unwrap_or('-')
    };
    let key: String = units.iter().map(|&unit| plain(unit)).collect();
    if key.len() <= 200 {
        return key;
    }
    let hash = units.iter().fold(0i32, |h, &unit| {
        (h << 5).wrapping_sub(h).wrapping_add(i32::from(unit))
    });
    format!("{}-{}", &key[..200], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_what_the_client_made() {
        assert_eq!(project_key("/srv/my project"), "-srv-my-project");
        assert_eq!(project_key("/srv/.hidden.dir"), "-srv--hidden-dir");
        assert_eq!(project_key("/srv/a_b"), project_key("/srv/a-b"));
        assert_eq!(project_key("/srv/项目一"), "-srv----");
        assert_eq!(project_key("/srv/p\u{1f680}q"), "-srv-p--q");
        assert_eq!(project_key("/srv/cafe\u{301}"), "-srv-cafe-");
    }

    #[test]
    fn long_paths_end_in_a_hash_over_all_units() {
        let long =
            |part: &str, times: usize| format!("/srv/demo/paths/{}", vec![part; times].join("/"));
        let d = "d".repeat(60);
        let key = project_key(&long(&d, 4));
        assert!(key.ends_with("-sgbea1"), "{key}");
        assert_eq!(key.len(), 200 + 7);
        let other = long(&d, 4);
        assert!(project_key(&format!("{}e", &other[..other.len() - 1])).ends_with("-sgbea2"));
        assert!(project_key(&long(&"项".repeat(50), 5)).ends_with("-25e6qi"));
        assert!(project_key(&long(&"\u{1f680}".repeat(40), 5)).ends_with("-x2mf26"));
        assert_eq!(project_key(&format!("/{}", "a".repeat(199))).len(), 200);
    }
}
