//! [`Link`]: connections to one database for one tenant, and the one way to run a statement.
//!
//! `BEGIN`, `SET LOCAL boswell.tenant`, the statement and `COMMIT` are sent together and cost one
//! round trip. The tenant ends with the transaction, so that a connection which a pooler hands to
//! another client carries none, and a statement outside of a transaction sees no row.
//!
//! Statements are not prepared by name: a pooler in transaction mode may run each on another
//! connection of the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use futures_util::future::join3;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::Failure;
use super::options::{PostgresOptions, may_encrypt};
use super::schema::VERSION;
use super::statements::SqlStatement;
use crate::Tenant;

/// The longest time that connecting, and one statement, may take.
const CONNECTING: Duration = Duration::from_secs(10);
const ANSWERING: Duration = Duration::from_secs(60);

/// The first pause before a call is repeated, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// The arguments of a statement.
pub(super) type Arguments = Vec<Box<dyn ToSql + Send + Sync>>;

/// Connections of one tenant.
#[derive(Debug)]
pub(super) struct Link {
    pool: Pool,
    begin: String,
    pub(super) tenant: Tenant,
    pub(super) patience: Duration,
    refusal: Refusal,
}

/// Why the last connection was refused by our own checks.
type Refusal = Arc<Mutex<Option<Failure>>>;

/// What a statement returned.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) rows: Vec<Row>,
    /// Whether the statement was sent before and that connection was lost: it may have been run.
    pub(super) repeated: bool,
}

impl Link {
    pub(super) fn new(options: &PostgresOptions) -> Result<Link> {
        let refusal = Refusal::default();
        let mut config = options.config.clone();
        config.connect_timeout(CONNECTING);
        let settings = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = if may_encrypt(&config) {
            Manager::from_config(config, encryption(options.roots.as_deref())?, settings)
        } else {
            Manager::from_config(config, NoTls, settings)
        };
        let seen = Arc::clone(&refusal);
        let checked = Hook::async_fn(move |client, _| {
            let seen = Arc::clone(&seen);
            Box::pin(async move {
                check_connection(client).await.map_err(|failure| {
                    let text = failure.error.to_string();
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                    HookError::message(text)
                })
            })
        });
        let pool = Pool::builder(manager)
            .max_size(options.connections)
            .runtime(Runtime::Tokio1)
            .create_timeout(Some(CONNECTING))
            .wait_timeout(Some(ANSWERING))
            .post_create(checked)
            .build()
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        let tenant = options.tenant.clone();
        Ok(Link {
            pool,
            // The name of a tenant has no quotes.
            begin: format!("BEGIN; SET LOCAL boswell.tenant = '{tenant}'"),
            tenant,
            patience: options.patience,
            refusal,
        })
    }

    /// Runs a statement. A failure that passes is tried again as long as `patience` lasts; the
    /// caller knows that doing it twice does no harm.
    pub(super) async fn ask(
        &self,
        statement: &'static SqlStatement,
        arguments: Arguments,
    ) -> Result<Answer> {
        self.ask_with("", statement, arguments).await
    }

    /// As [`ask`](Link::ask), with further settings that end with the transaction.
    pub(super) async fn ask_with(
        &self,
        settings: &str,
        statement: &'static SqlStatement,
        arguments: Arguments,
    ) -> Result<Answer> {
        let begin = format!("{}{settings}", self.begin);
        let deadline = Instant::now() + self.patience;
        let (mut pause, mut repeated) = (PAUSES.0, false);
        loop {
            let failure = match self.connection().await {
                Ok(client) => match run(&begin, client, statement, &arguments).await {
                    Ok(rows) => return Ok(Answer { rows, repeated }),
                    Err(failure) => {
                        repeated = true;
                        failure
                    }
                },
                Err(failure) => failure,
            };
            if !failure.passes || Instant::now() + pause >= deadline {
                return Err(failure.error);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn connection(&self) -> std::result::Result<Object, Failure> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error.into(),
            PoolError::PostCreateHook(error) => self
                .refusal
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .unwrap_or_else(|| Failure::unreachable(error.to_string())),
            other => Failure::unreachable(other.to_string()),
        })
    }
}

/// Runs a statement in a transaction of its own, in one round trip.
async fn run(
    begin: &str,
    client: Object,
    statement: &'static SqlStatement,
    arguments: &Arguments,
) -> std::result::Result<Vec<Row>, Failure> {
    let typed: Vec<(&(dyn ToSql + Sync), Type)> = arguments
        .iter()
        .zip(statement.types)
        .map(|(value, kind)| (value.as_ref() as &(dyn ToSql + Sync), kind.clone()))
        .collect();
    // All three are sent before the first answer is read.
    let sent = join3(
        client.batch_execute(begin),
        client.query_typed(statement.sql, &typed),
        client.batch_execute("COMMIT"),
    );
    match timeout(ANSWERING, sent).await {
        Ok((begun, rows, committed)) => {
            begun?;
            let rows = rows?;
            committed?;
            Ok(rows)
        }
        Err(_) => {
            // The answer may come later: the next user of this connection must not get it.
            drop(Object::take(client));
            Err(Failure::unreachable(format!(
                "no answer within {} s",
                ANSWERING.as_secs()
            )))
        }
    }
}

/// Checks what a receipt relies on, once per connection.
async fn check_connection(client: &Client) -> std::result::Result<(), Failure> {
    // Distributed PostgreSQL passes `SET LOCAL` on to its workers only then; elsewhere it means
    // nothing.
    let row = client
        .batch_execute("SET citus.propagate_set_commands = 'local'")
        .await
        .map(|()| client.query_typed_one(super::statements::CHECK.sql, &[]))?
        .await?;
    let (commit, sync): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
    if commit == "off" || sync == "off" {
        let what = "the database acknowledges what is not on its disk";
        return Err(Failure::lasting(
            Error::new(ErrorKind::Unsupported, what)
                .because(format!("synchronous_commit is {commit}, fsync is {sync}"))
                .advising("set both to on for this database and its users"),
        ));
    }
    if row.try_get(2)? {
        let what = "this user of the database is not held by row-level security";
        return Err(Failure::lasting(
            Error::new(ErrorKind::Denied, what)
                .because("it is a superuser or has BYPASSRLS, so that tenants are not apart")
                .advising("make an ordinary user, and run `boswell db init --role NAME`"),
        ));
    }
    let found: Option<i32> = client
        .query_typed_one(super::statements::VERSION_FOUND.sql, &[])
        .await?
        .try_get(0)?;
    same_version(found.unwrap_or(0)).map_err(Failure::lasting)
}

/// Fails unless the tables have the version of this program.
pub(super) fn same_version(found: i32) -> Result<()> {
    let what = format!("the tables have version {found}, this program needs {VERSION}");
    match found.cmp(&VERSION) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(Error::new(ErrorKind::Conflict, what)
            .advising("run `boswell db migrate` as the owner of the tables")),
        std::cmp::Ordering::Greater => {
            Err(Error::new(ErrorKind::TooNew, what).advising(boswell_model::Advice::Upgrade))
        }
    }
}

/// Connects once, without a pool and without the checks of one: for the owner of the tables.
pub(super) async fn connect(config: &Config) -> Result<Client> {
    let mut config = config.clone();
    config.connect_timeout(CONNECTING);
    let failed = |error| Failure::from(error).error;
    if may_encrypt(&config) {
        let (client, connection) = config.connect(encryption(None)?).await.map_err(failed)?;
        tokio::spawn(connection);
        return Ok(client);
    }
    let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
    tokio::spawn(connection);
    Ok(client)
}

/// Certificates are checked against these roots, in PEM, or those of the system.
fn encryption(pem: Option<&[u8]>) -> Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    match pem {
        Some(pem) => {
            for root in CertificateDer::pem_slice_iter(pem) {
                let added = root
                    .map_err(|error| error.to_string())
                    .and_then(|root| roots.add(root).map_err(|error| error.to_string()));
                added.map_err(|why| {
                    Error::new(ErrorKind::Invalid, "a root certificate cannot be read").because(why)
                })?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
