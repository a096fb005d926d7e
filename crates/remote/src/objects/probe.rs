//! Refuses a server that ignores conditions: it would replace what others have stored.

use boswell_model::{Error, ErrorKind, Result};

use super::client::{Objects, PutOutcome};

/// Stores a small object twice with other contents, and deletes it.
pub(super) fn check(objects: &Objects) -> Result<()> {
    let key = format!("probe/{}", objects.unique());
    let checked = twice(objects, &key);
    let deleted = objects.delete(&key);
    checked.and(deleted)
}

fn twice(objects: &Objects, key: &str) -> Result<()> {
    objects.put_if_absent(key, b"first")?;
    let second = objects.put_if_absent(key, b"second")?;
    let found = objects.get(key, None)?;
    if second == PutOutcome::Existed && found.as_deref() == Some(b"first") {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        "the object storage ignores the condition `If-None-Match: *`",
    )
    .because("an object was replaced, though it was to be stored only if there was none")
    .advising("use a server with conditional writes, such as S3, MinIO, Ceph or Garage"))
}
