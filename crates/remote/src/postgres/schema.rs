//! [`DatabaseSchema`]: makes and changes the tables, as their owner.
//!
//! Versions are applied in order, each in one transaction with its row in `boswell.versions`, so
//! that a migration which is interrupted leaves the version before it. Of two that run at once, one
//! waits for the other.

use boswell_model::{Error, ErrorKind, Result};
use tokio_postgres::{Client, Config};

use super::bridge::Bridge;
use super::failure::Failure;
use super::link::{connect, same_version};
use super::options::parse_address;
use super::statements::{CHECK, VERSION_FOUND};

/// The version of the tables that this program reads and writes.
pub(super) const VERSION: i32 = 4;

/// Each version's changes, in order.
const MIGRATIONS: &[(i32, &str)] = &[
    (1, include_str!("../../sql/0001-logs.sql")),
    (2, include_str!("../../sql/0002-columns.sql")),
    (3, include_str!("../../sql/0003-blobs.sql")),
    (4, include_str!("../../sql/0004-team.sql")),
];

/// Functions, replaced as a whole by every migration.
const FUNCTIONS: &[&str] = &[
    include_str!("../../sql/functions.sql"),
    include_str!("../../sql/team.sql"),
];

/// What the role of programs may do with the tables of a team: nothing in the audit can be changed.
const TEAM_TABLES: &[(&str, &str)] = &[
    (
        "SELECT, INSERT, UPDATE, DELETE",
        "people, boswell.tokens, boswell.projects, boswell.members, boswell.shared, \
         boswell.shared_files, boswell.shared_parts",
    ),
    ("SELECT, INSERT", "audit, boswell.receipts"),
];

/// Statements for distributed PostgreSQL.
const DISTRIBUTE: &str = include_str!("../../sql/distribute.sql");

const VERSIONS: &str = "CREATE SCHEMA IF NOT EXISTS boswell; \
     CREATE TABLE IF NOT EXISTS boswell.versions (\
       version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())";

/// Of concurrent migrations one waits for the other.
const ONE_AT_A_TIME: &str = "SELECT pg_advisory_xact_lock(7350011)";

/// The tables of a database, for their owner.
#[derive(Debug)]
pub struct DatabaseSchema {
    bridge: Bridge,
    config: Config,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseReport {
    /// The version of the tables; 0 if there are none.
    pub version: i32,
    /// The version that this program needs.
    pub needed: i32,
    /// Version of the server.
    pub server: String,
    /// Whether a commit waits for the disk (`synchronous_commit` and `fsync`).
    pub durable: bool,
    /// Whether row-level security holds this user.
    pub held: bool,
}

impl DatabaseSchema {
    /// Names the database. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is not an address of PostgreSQL.
    pub fn at(address: &str) -> Result<DatabaseSchema> {
        Ok(DatabaseSchema {
            bridge: Bridge::new()?,
            config: parse_address(address)?,
        })
    }

    /// Makes the tables where there are none, brings older ones to the version of this program, and
    /// lets `role` use them. Returns the version before.
    ///
    /// # Errors
    ///
    /// `TooNew` if the tables are newer, `Denied` if this user may not change them, `NotFound` if
    /// there is no such role; `Unavailable` if the server cannot be reached.
    pub fn migrate(&self, role: Option<&str>) -> Result<i32> {
        self.migrate_to(VERSION, role)
    }

    /// As [`migrate`](DatabaseSchema::migrate), to an older version: for tests of migrations.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](DatabaseSchema::migrate).
    #[doc(hidden)]
    pub fn migrate_to(&self, version: i32, role: Option<&str>) -> Result<i32> {
        let config = self.config.clone();
        let grants = role.map(|role| grants(role, version)).transpose()?;
        self.bridge.wait(async move {
            let mut client = connect(&config).await?;
            bring_to(&mut client, version, grants.as_deref())
                .await
                .map_err(|failure| failure.error)
        })
    }

    /// Looks at the database without changing it.
    ///
    /// # Errors
    ///
    /// `Denied` for a wrong password, `Unavailable` if the server cannot be reached.
    pub fn check(&self) -> Result<DatabaseReport> {
        let config = self.config.clone();
        self.bridge.wait(async move {
            let client = connect(&config).await?;
            report(&client).await.map_err(|failure| failure.error)
        })
    }

    /// Returns the statements that distribute the tables by tenant, for Citus.
    pub fn distribution() -> &'static str {
        DISTRIBUTE
    }
}

impl DatabaseReport {
    /// Fails if sessions cannot be stored there, and says what to do.
    ///
    /// # Errors
    ///
    /// `Conflict` or `TooNew` for tables of another version, `Unsupported` if a commit does not
    /// wait for the disk, `Denied` if this user sees all tenants.
    pub fn require_usable(&self) -> Result<()> {
        same_version(self.version)?;
        if !self.durable {
            let what = "the database acknowledges what is not on its disk";
            return Err(Error::new(ErrorKind::Unsupported, what)
                .advising("set synchronous_commit and fsync to on"));
        }
        if !self.held {
            let what = "this user of the database is not held by row-level security";
            return Err(Error::new(ErrorKind::Denied, what)
                .advising("connect as the user that `boswell db init --role NAME` named"));
        }
        Ok(())
    }
}

/// Migrates and grants in one transaction: two programs that grant the same rights at once fail.
async fn bring_to(
    client: &mut Client,
    version: i32,
    grants: Option<&str>,
) -> std::result::Result<i32, Failure> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(ONE_AT_A_TIME).await?;
    transaction.batch_execute(VERSIONS).await?;
    let row = transaction.query_typed_one(VERSION_FOUND.sql, &[]).await?;
    let before = row.try_get::<_, Option<i32>>(0)?.unwrap_or(0);
    if before > VERSION {
        return Err(same_version(before).map_or_else(Failure::lasting, |()| {
            Failure::unreachable("the version changed")
        }));
    }
    for (number, sql) in MIGRATIONS {
        if *number > before && *number <= version {
            let noted = format!("{sql}; INSERT INTO boswell.versions (version) VALUES ({number})");
            transaction.batch_execute(&noted).await?;
        }
    }
    if version == VERSION {
        for functions in FUNCTIONS {
            transaction.batch_execute(functions).await?;
        }
    }
    if let Some(grants) = grants {
        transaction.batch_execute(grants).await?;
    }
    transaction.commit().await?;
    Ok(before)
}

async fn report(client: &Client) -> std::result::Result<DatabaseReport, Failure> {
    let row = client.query_typed_one(CHECK.sql, &[]).await?;
    let (commit, sync): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
    let server = client
        .query_typed_one("SELECT current_setting('server_version')", &[])
        .await?
        .try_get(0)?;
    let there = client
        .query_typed_one("SELECT to_regclass('boswell.versions') IS NOT NULL", &[])
        .await?
        .try_get(0)?;
    let version = if there {
        let row = client.query_typed_one(VERSION_FOUND.sql, &[]).await?;
        row.try_get::<_, Option<i32>>(0)?.unwrap_or(0)
    } else {
        0
    };
    Ok(DatabaseReport {
        version,
        needed: VERSION,
        server,
        durable: commit != "off" && sync != "off",
        held: !row.try_get::<_, bool>(2)?,
    })
}

/// What a role needs. It owns nothing, and row-level security holds it.
fn grants(role: &str, version: i32) -> Result<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if role.is_empty() || !role.chars().all(fits) {
        let what = format!("`{}` is not the name of a role", role.escape_debug());
        return Err(
            Error::new(ErrorKind::Invalid, what).advising("use letters, digits, `-` and `_`")
        );
    }
    let team = TEAM_TABLES.iter().filter(|_| version >= 4);
    let team: String = team
        .map(|(rights, tables)| format!("; GRANT {rights} ON boswell.{tables} TO \"{role}\""))
        .collect();
    let blobs = if version < 3 { "" } else { ", boswell.blobs" };
    Ok(format!(
        "GRANT USAGE ON SCHEMA boswell TO \"{role}\"; \
         GRANT SELECT ON boswell.versions TO \"{role}\"; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON boswell.logs, boswell.lines{blobs} TO \"{role}\"; \
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA boswell TO \"{role}\"{team}"
    ))
}
