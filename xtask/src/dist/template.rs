//! Fills in the templates of `xtask/dist`.

use crate::Outcome;

/// Replaces each `@NAME@` by its value. A name without value is an error: a package with a
/// placeholder in it must not be made.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Outcome<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('@') {
        let (before, after) = rest.split_at(at);
        filled.push_str(before);
        let after = &after[1..];
        let end = after.find(|c: char| !c.is_ascii_uppercase() && c != '_');
        match end.filter(|end| *end > 0 && after[*end..].starts_with('@')) {
            Some(end) => {
                let name = &after[..end];
                let value = values.iter().find(|(known, _)| *known == name);
                let (_, value) = value.ok_or_else(|| format!("`@{name}@` has no value"))?;
                filled.push_str(value);
                rest = &after[end + 1..];
            }
            None => {
                filled.push('@');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn names_are_replaced_and_other_at_signs_stay() {
        let filled = fill("a@B@c \"$@\" x@y.z @C_D@", &[("B", "1@B@"), ("C_D", "2")]);
        assert_eq!(filled.unwrap(), "a1@B@c \"$@\" x@y.z 2");
    }

    #[test]
    fn a_name_without_value_is_an_error() {
        assert!(fill("@VERSION@", &[("OTHER", "1")]).is_err());
    }
}
