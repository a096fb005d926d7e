//! Where objects are stored, and how patiently they are asked for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{IdSource, SystemIds};
use rusty_s3::{Bucket, Credentials, UrlStyle};
use url::Url;

/// How to reach a bucket.
#[derive(Clone)]
pub struct ObjectsOptions {
    pub(super) bucket: Bucket,
    pub(super) credentials: Credentials,
    /// Empty, or a name that ends with `/`.
    pub(super) prefix: String,
    pub(super) attempts: u32,
    pub(super) page: usize,
    pub(super) timeout: Duration,
    pub(super) clock: Arc<dyn IdSource>,
}

impl fmt::Debug for ObjectsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectsOptions")
            .field("bucket", &self.bucket.base_url().as_str())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl ObjectsOptions {
    /// Reads an address: `s3://BUCKET[/PREFIX]?endpoint=https://HOST&region=REGION`. Without an
    /// endpoint it is that of Amazon in the region; `style=path` or `style=host` says where the
    /// bucket's name stands in the address, by default in the path where an endpoint is given.
    ///
    /// ```
    /// use boswell_remote::ObjectsOptions;
    ///
    /// let address = "s3://agents/boswell?endpoint=https://objects.example&region=eu-1";
    /// assert!(ObjectsOptions::parse(address, "key", "secret", None).is_ok());
    /// assert!(ObjectsOptions::parse("https://objects.example", "key", "secret", None).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// `Invalid` if it is not such an address.
    pub fn parse(
        address: &str,
        key: &str,
        secret: &str,
        token: Option<&str>,
    ) -> Result<ObjectsOptions> {
        let url = Url::parse(address).map_err(|error| invalid(error.to_string()))?;
        let bucket = bucket(&url)?;
        let credentials = match token {
            Some(token) => Credentials::new_with_token(key, secret, token),
            None => Credentials::new(key, secret),
        };
        Ok(ObjectsOptions {
            bucket,
            credentials,
            prefix: prefix(url.path())?,
            attempts: 6,
            page: 1000,
            timeout: Duration::from_secs(30),
            clock: Arc::new(SystemIds),
        })
    }

    /// Sets how often a call is sent whose answer is a failure that passes (6). Pauses between them
    /// begin with 50 ms and double.
    #[must_use]
    pub fn attempts(mut self, count: u32) -> ObjectsOptions {
        self.attempts = count.max(1);
        self
    }

    /// Sets how many objects a page of a list has at most (1,000).
    #[must_use]
    pub fn page(mut self, count: usize) -> ObjectsOptions {
        self.page = count.clamp(1, 1000);
        self
    }

    /// Sets how long one call may take (30 s).
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> ObjectsOptions {
        self.timeout = time;
        self
    }

    /// Sets the clock that requests are signed by. If the server's differs, its own is used.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn IdSource>) -> ObjectsOptions {
        self.clock = clock;
        self
    }
}

/// Returns the prefix of a path. Parts that a URL resolves would lead out of it.
fn prefix(path: &str) -> Result<String> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return Ok(String::new());
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let parts_fit = path.split('/').all(|part| !["", ".", ".."].contains(&part));
    if !parts_fit || !path.bytes().all(fits) {
        return Err(invalid(
            "its prefix has other characters than letters, digits, `-`, `_`, `.`",
        ));
    }
    Ok(format!("{path}/"))
}

/// Returns the bucket that an address names.
fn bucket(url: &Url) -> Result<Bucket> {
    let name = url.host_str().filter(|_| url.scheme() == "s3");
    let name = name.ok_or_else(|| invalid("it does not begin with s3://BUCKET"))?;
    let region = setting(url, "region").unwrap_or_else(|| "us-east-1".to_owned());
    let given = setting(url, "endpoint");
    let style = match setting(url, "style").as_deref() {
        Some("host") => UrlStyle::VirtualHost,
        Some("path") => UrlStyle::Path,
        Some(_) => return Err(invalid("style is `path` or `host`")),
        None if given.is_some() => UrlStyle::Path,
        None => UrlStyle::VirtualHost,
    };
    let endpoint = given.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let endpoint = Url::parse(&endpoint).map_err(|error| invalid(error.to_string()))?;
    Bucket::new(endpoint, style, name.to_owned(), region)
        .map_err(|error| invalid(error.to_string()))
}

fn setting(url: &Url, wanted: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    pairs.find_map(|(key, value)| (key == wanted).then(|| value.into_owned()))
}

fn invalid(why: impl Into<String>) -> Error {
    Error::new(
        ErrorKind::Invalid,
        "the address of the object storage is not valid",
    )
    .because(why)
    .advising("write it as s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION")
}
