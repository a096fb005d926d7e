//! Names of objects. The tenant comes first, so that a policy of the bucket can be given for each
//! tenant, and deleting one is deleting a prefix.

use boswell_store::blobs::BlobId;

use crate::Tenant;

/// The prefix of all blobs of a tenant.
pub(crate) fn blobs_of_tenant(tenant: &Tenant) -> String {
    format!("{tenant}/blobs/")
}

/// The key of a blob. Two digits are a folder of their own: servers on disks list them faster.
pub(crate) fn blob_key(tenant: &Tenant, id: &BlobId) -> String {
    let digits = id.to_string();
    let folder = digits.get(..2).unwrap_or_default();
    format!("{}{folder}/{digits}", blobs_of_tenant(tenant))
}

/// The blob that a key is of; `None` for a key that [`blob_key`] does not make.
pub(crate) fn blob_of(tenant: &Tenant, key: &str) -> Option<BlobId> {
    let id = BlobId::parse(key.rsplit('/').next()?)?;
    (blob_key(tenant, &id) == key).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_blob_and_nothing_else_does() -> boswell_model::Result<()> {
        let (tenant, other) = (Tenant::new("team-a")?, Tenant::new("team")?);
        let id = BlobId::of(b"x");
        let key = blob_key(&tenant, &id);
        assert!(key.starts_with("team-a/blobs/2d/2d711642b726b044"));
        assert_eq!(blob_of(&tenant, &key), Some(id));
        assert_eq!(blob_of(&other, &key), None);
        assert_eq!(blob_of(&tenant, &format!("team-a/blobs/00/{id}")), None);
        assert_eq!(blob_of(&tenant, "team-a/blobs/2d/notes.txt"), None);
        Ok(())
    }
}
