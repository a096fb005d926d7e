//! [`Tenant`]: whose rows and objects they are.

use std::fmt;

use boswell_model::{Error, ErrorKind, Result};

/// Whose sessions a backend sees: up to 64 lower-case letters, digits, `-` and `_`.
///
/// ```
/// use boswell_remote::Tenant;
///
/// assert_eq!(Tenant::new("team-a")?.as_str(), "team-a");
/// assert!(Tenant::new("").is_err() && Tenant::new("a'b").is_err());
/// # Ok::<(), boswell_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant(String);

impl Tenant {
    /// Makes a tenant of its name.
    ///
    /// # Errors
    ///
    /// `Invalid` if the name has other characters: it is part of every row, and of keys of objects.
    pub fn new(name: impl Into<String>) -> Result<Tenant> {
        let name = name.into();
        let fits =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
            return Ok(Tenant(name));
        }
        let what = format!("`{}` is not the name of a tenant", name.escape_debug());
        Err(Error::new(ErrorKind::Invalid, what)
            .advising("use 1 to 64 lower-case letters, digits, `-` and `_`"))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
