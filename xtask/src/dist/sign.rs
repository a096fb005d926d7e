//! The signature of a release, in the form of minisign.
//!
//! `SHA256SUMS` is signed, which names every other file. The key comes from the environment and is
//! never written anywhere.

use std::io::Cursor;

use minisign::{PublicKey, SecretKey, SecretKeyBox};

use crate::Outcome;

/// The text of minisign's secret key file.
const KEY_VARIABLE: &str = "BOSWELL_SIGNING_KEY";
/// The password of that file; not set for a key without password.
const PASSWORD_VARIABLE: &str = "BOSWELL_SIGNING_PASSWORD";

/// Variables that no other program may see.
pub(super) const SECRETS: [&str; 2] = [KEY_VARIABLE, PASSWORD_VARIABLE];

/// Signs with one key.
pub(super) struct Signer {
    secret: SecretKey,
    public: PublicKey,
}

impl Signer {
    /// Takes the key from the environment; none if it names no key.
    pub(super) fn from_environment() -> Outcome<Option<Signer>> {
        let Some(key) = std::env::var(KEY_VARIABLE)
            .ok()
            .filter(|key| !key.is_empty())
        else {
            return Ok(None);
        };
        let password = std::env::var(PASSWORD_VARIABLE).ok();
        let signer = Signer::new(&key, password);
        Ok(Some(signer.map_err(|error| {
            format!("{KEY_VARIABLE} is not a usable secret key of minisign: {error}")
        })?))
    }

    /// Takes the text of a secret key file.
    pub(super) fn new(key: &str, password: Option<String>) -> Outcome<Signer> {
        let key = SecretKeyBox::from_string(key.trim_end())?;
        let secret = match password.filter(|password| !password.is_empty()) {
            Some(password) => key.into_secret_key(Some(password))?,
            // Without this distinction the crate would ask for a password on the terminal.
            None => key.into_unencrypted_secret_key()?,
        };
        let public = PublicKey::from_secret_key(&secret)?;
        Ok(Signer { secret, public })
    }

    /// The public key as one line, which installers contain.
    pub(super) fn public_key(&self) -> String {
        self.public.to_base64()
    }

    /// Signs a file. The comment is fixed: the default one contains the time.
    pub(super) fn sign(&self, name: &str, bytes: &[u8]) -> Outcome<String> {
        let trusted = format!("file:{name}");
        let signature = minisign::sign(
            Some(&self.public),
            &self.secret,
            Cursor::new(bytes),
            Some(&trusted),
            Some("signature of a release of boswell"),
        )?;
        Ok(signature.into_string())
    }
}
