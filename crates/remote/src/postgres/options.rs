//! Where the database is, and which tenant is bound to a backend.

use std::str::FromStr;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::Tenant;

/// How to reach a database, and for which tenant.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(super) config: Config,
    pub(super) tenant: Tenant,
    pub(super) connections: usize,
    pub(super) lease: Duration,
    pub(super) patience: Duration,
    pub(super) holder: String,
    pub(super) roots: Option<Vec<u8>>,
}

impl PostgresOptions {
    /// Reads an address in the form of PostgreSQL: `postgres://user@host/database` or
    /// `host=… dbname=…`.
    ///
    /// The connection is encrypted if the server offers it, and must be with `sslmode=require`. A
    /// server's certificate is checked against the roots of the system.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is not such an address. The error does not repeat it: it may contain a
    /// password.
    pub fn parse(address: &str, tenant: Tenant) -> Result<PostgresOptions> {
        let mut config = parse_address(address)?;
        if config.get_application_name().is_none() {
            config.application_name("boswell");
        }
        Ok(PostgresOptions {
            config,
            tenant,
            connections: 8,
            lease: Duration::from_secs(30),
            patience: Duration::from_secs(15),
            holder: "boswell".to_owned(),
            roots: None,
        })
    }

    /// Sets the largest number of connections (8). Writers that commit at the same time need one
    /// each: the server then writes them to disk together.
    #[must_use]
    pub fn connections(mut self, count: usize) -> PostgresOptions {
        self.connections = count.max(1);
        self
    }

    /// Sets how long a lease lasts that is not renewed (30 s). A writer renews it three times as
    /// often.
    #[must_use]
    pub fn lease(mut self, time: Duration) -> PostgresOptions {
        self.lease = time.clamp(Duration::from_millis(100), Duration::from_secs(3600));
        self
    }

    /// Sets how long a call is repeated while the server cannot be reached (15 s).
    #[must_use]
    pub fn patience(mut self, time: Duration) -> PostgresOptions {
        self.patience = time;
        self
    }

    /// Sets the certificates that a server's is checked against, in PEM, in place of the roots of
    /// the system.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> PostgresOptions {
        self.roots = Some(pem.into());
        self
    }

    /// Sets how this program is named to others that want a lease: host and process.
    #[must_use]
    pub fn holder(mut self, name: impl Into<String>) -> PostgresOptions {
        self.holder = name.into();
        self
    }
}

/// Reads an address without a default for encryption that is weaker than `prefer`.
pub(super) fn parse_address(address: &str) -> Result<Config> {
    Config::from_str(address).map_err(|error| {
        let why = std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), ToString::to_string);
        Error::new(
            ErrorKind::Invalid,
            "the address of the database is not valid",
        )
        .because(why)
        .advising("write it as postgres://USER@HOST/DATABASE")
    })
}

/// Whether a connection may be encrypted at all.
pub(super) fn may_encrypt(config: &Config) -> bool {
    config.get_ssl_mode() != SslMode::Disable
}
