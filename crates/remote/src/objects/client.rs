//! [`Objects`]: the five calls.

use std::ops::Range;
use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::blobs::{BlobId, base64};
use jiff::Timestamp;
use rusty_s3::S3Action;
use rusty_s3::actions::ListObjectsV2;

use super::exchange::{Exchange, Method, strange};
use super::options::ObjectsOptions;
use super::probe;

/// How often a value is fetched whose content is wrong.
const FETCHES: u32 = 3;

/// A bucket. Clones share connections.
#[derive(Debug, Clone)]
pub struct Objects {
    exchange: Arc<Exchange>,
}

/// What a put found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// The object was stored.
    Stored,
    /// There was one, and it is unchanged.
    Existed,
}

/// What is known of an object without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The key below the prefix of the options.
    pub key: String,
    /// The number of bytes.
    pub size: u64,
    /// When it was stored, by the clock of the server; `None` if the server does not say.
    pub modified: Option<Instant>,
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct ObjectPage {
    /// The objects, in the order of their keys.
    pub objects: Vec<ObjectInfo>,
    /// The time of the server when it answered.
    pub now: Option<Instant>,
    /// Whether others follow behind the last one.
    pub more: bool,
}

impl Objects {
    /// Connects, and checks that the server heeds conditions: a small object is stored, is not
    /// replaced, and is deleted again.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a server that replaces an object in spite of the condition, `Denied` for
    /// wrong keys, `NotFound` if there is no such bucket, `Unavailable` if it does not answer.
    pub fn open(options: ObjectsOptions) -> Result<Objects> {
        let objects = Objects {
            exchange: Arc::new(Exchange::new(options)),
        };
        probe::check(&objects)?;
        Ok(objects)
    }

    /// Returns a word that no other caller has.
    pub(super) fn unique(&self) -> String {
        self.exchange.options.clock.uuid_v4()
    }

    /// Stores an object unless there is one of this key.
    ///
    /// An answer that was lost is asked for again: if the object is then there with these bytes, it
    /// was stored.
    ///
    /// # Errors
    ///
    /// Those of the server; `Unavailable` if it did not answer in time.
    pub fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome> {
        let key = self.full(key)?;
        let (options, sum) = (&self.exchange.options, checksum(bytes));
        let headers = [
            ("if-none-match", "*"),
            ("x-amz-checksum-sha256", sum.as_str()),
        ];
        let mut action = options.bucket.put_object(Some(&options.credentials), &key);
        for (name, value) in headers {
            action.headers_mut().insert(name, value);
        }
        let reply = self
            .exchange
            .call(&action, &headers, Method::Put(bytes), &[412])?;
        if reply.status != 412 {
            return Ok(PutOutcome::Stored);
        }
        if reply.repeated && self.read(&key, None)?.is_some_and(|found| found == bytes) {
            return Ok(PutOutcome::Stored);
        }
        Ok(PutOutcome::Existed)
    }

    /// Stores an object in place of one whose content is damaged.
    pub(crate) fn replace(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let key = self.full(key)?;
        let (options, sum) = (&self.exchange.options, checksum(bytes));
        let headers = [("x-amz-checksum-sha256", sum.as_str())];
        let mut action = options.bucket.put_object(Some(&options.credentials), &key);
        action.headers_mut().insert(headers[0].0, headers[0].1);
        self.exchange
            .call(&action, &headers, Method::Put(bytes), &[])?;
        Ok(())
    }

    /// Returns an object, or a range of its bytes; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Those of the server; `Unavailable` if it did not answer in time.
    pub fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Option<Vec<u8>>> {
        self.read(&self.full(key)?, range)
    }

    fn read(&self, key: &str, range: Option<Range<u64>>) -> Result<Option<Vec<u8>>> {
        if range.as_ref().is_some_and(Range::is_empty) {
            return Ok(Some(Vec::new()));
        }
        let options = &self.exchange.options;
        let action = options.bucket.get_object(Some(&options.credentials), key);
        let wanted = range
            .clone()
            .map(|range| format!("bytes={}-{}", range.start, range.end - 1));
        let headers: Vec<(&str, &str)> = wanted
            .iter()
            .map(|wanted| ("range", wanted.as_str()))
            .collect();
        let reply = self
            .exchange
            .call(&action, &headers, Method::Get, &[404, 416])?;
        match (reply.status, range) {
            (404, _) => self.missing(&reply.body),
            // The range is behind the end.
            (416, _) => Ok(Some(Vec::new())),
            // A server may ignore the range and return everything.
            (200, Some(range)) => Ok(Some(part(&reply.body, &range).to_vec())),
            _ => Ok(Some(reply.body)),
        }
    }

    /// Returns what is known of an object; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Those of the server; `Unavailable` if it did not answer in time.
    pub fn head(&self, key: &str) -> Result<Option<ObjectInfo>> {
        let (full, options) = (self.full(key)?, &self.exchange.options);
        let action = options
            .bucket
            .head_object(Some(&options.credentials), &full);
        let reply = self.exchange.call(&action, &[], Method::Head, &[404])?;
        if reply.status == 404 {
            return Ok(None);
        }
        let size = reply.length.ok_or_else(|| strange("it says no length"))?;
        Ok(Some(ObjectInfo {
            key: key.to_owned(),
            size,
            modified: reply.modified.map(instant),
        }))
    }

    /// Returns objects whose keys begin with a prefix, behind a key.
    ///
    /// # Errors
    ///
    /// Those of the server; `Unavailable` if it did not answer in time.
    pub fn list(&self, prefix: &str, after: Option<&str>) -> Result<ObjectPage> {
        let options = &self.exchange.options;
        let full = |key: &str| format!("{}{key}", options.prefix);
        let mut action = options.bucket.list_objects_v2(Some(&options.credentials));
        action.with_prefix(full(prefix));
        action.with_max_keys(options.page);
        if let Some(after) = after {
            action.with_start_after(full(after));
        }
        let reply = self.exchange.call(&action, &[], Method::Get, &[])?;
        let text = String::from_utf8(reply.body).map_err(|error| strange(error.to_string()))?;
        let found = ListObjectsV2::parse_response(&text)
            .map_err(|error| strange(format!("its list cannot be read: {error}")))?;
        let info = |object: rusty_s3::actions::list_objects_v2::ListObjectsContent| {
            let key = object.key.strip_prefix(&options.prefix)?.to_owned();
            let modified = object.last_modified.and_then(|time| time.parse().ok());
            Some(ObjectInfo {
                key,
                size: object.size.unwrap_or(0),
                modified: modified.map(instant),
            })
        };
        Ok(ObjectPage {
            more: found.next_continuation_token.is_some(),
            objects: found.contents.into_iter().filter_map(info).collect(),
            now: reply.date.map(instant),
        })
    }

    /// Deletes an object. There need not be one.
    ///
    /// # Errors
    ///
    /// Those of the server; `Unavailable` if it did not answer in time.
    pub fn delete(&self, key: &str) -> Result<()> {
        self.delete_once(key).map(drop)
    }

    /// As [`delete`](Objects::delete). Returns false if it was sent more than once: an earlier copy
    /// may still be on its way.
    pub(crate) fn delete_once(&self, key: &str) -> Result<bool> {
        let (key, options) = (self.full(key)?, &self.exchange.options);
        let action = options
            .bucket
            .delete_object(Some(&options.credentials), &key);
        let reply = self.exchange.call(&action, &[], Method::Delete, &[404])?;
        if reply.status == 404 {
            self.missing(&reply.body)?;
        }
        Ok(!reply.repeated)
    }

    /// Returns a value whose key is made of its hash, checked. What has other bytes is fetched
    /// again: they may have been changed on their way.
    pub(crate) fn get_checked(&self, key: &str, id: &BlobId) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        for _ in 0..FETCHES {
            let Some(bytes) = self.get(key, None)? else {
                return Ok(None);
            };
            let hash = BlobId::of(&bytes);
            if hash == *id {
                return Ok(Some(bytes));
            }
            found = Some((bytes.len(), hash));
        }
        let why = found.map(|(len, hash)| format!("its {len} bytes have the hash {hash}"));
        Err(
            Error::new(ErrorKind::Damaged, format!("blob {id} is damaged"))
                .because(why.unwrap_or_default())
                .advising(format!("replace the object `{key}` from a backup")),
        )
    }

    fn full(&self, key: &str) -> Result<String> {
        let parts_fit = key.split('/').all(|part| !["", ".", ".."].contains(&part));
        if !parts_fit {
            let what = format!("`{}` is not the key of an object", key.escape_debug());
            return Err(Error::new(ErrorKind::Invalid, what));
        }
        Ok(format!("{}{key}", self.exchange.options.prefix))
    }

    /// An object that is not there; an error if it is the bucket that is missing.
    fn missing(&self, body: &[u8]) -> Result<Option<Vec<u8>>> {
        if String::from_utf8_lossy(body).contains("NoSuchBucket") {
            return Err(super::failure::CallFailure::of_status(404, body).error);
        }
        Ok(None)
    }
}

fn part<'a>(bytes: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let at =
        |position: u64| usize::try_from(position).map_or(bytes.len(), |at| at.min(bytes.len()));
    bytes.get(at(range.start)..at(range.end)).unwrap_or(b"")
}

fn checksum(bytes: &[u8]) -> String {
    base64::encode(BlobId::of(bytes).bytes())
}

fn instant(time: Timestamp) -> Instant {
    Instant::from_millis(time.as_millisecond())
}
