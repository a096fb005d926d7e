//! A private server with tables, and stores on it.

use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::by_name;
use boswell_remote::{DatabaseSchema, PostgresBackend, PostgresOptions, Tenant};
use boswell_store::disk::SystemIds;
use boswell_store::{Store, WritableStore};
use boswell_testkit::postgres_server::{PostgresServer, address};

pub(crate) const TENANT: &str = "lab";

/// Starts a server with tables.
pub(crate) fn server() -> PostgresServer {
    let server = PostgresServer::start_or_skip("shared_buffers = 256MB").unwrap();
    server.sql("postgres", "CREATE ROLE app LOGIN");
    let schema = DatabaseSchema::at(&server.address("boswell", "postgres")).unwrap();
    schema.migrate(Some("app")).unwrap();
    server
}

pub(crate) fn options(port: u16, tenant: &str) -> PostgresOptions {
    let tenant = Tenant::new(tenant).unwrap();
    PostgresOptions::parse(&address(port, "app", "postgres"), tenant)
        .unwrap()
        .patience(Duration::from_secs(300))
}

pub(crate) fn backend(options: PostgresOptions) -> Arc<PostgresBackend> {
    Arc::new(PostgresBackend::open(options).unwrap())
}

pub(crate) fn store(backend: &Arc<PostgresBackend>) -> WritableStore {
    let store = Store::on(by_name("boswell").unwrap(), backend.clone(), "postgres");
    WritableStore::on_logs(store, backend.clone(), Arc::new(SystemIds))
}

/// Ids of the entries of a session, in the order of its log.
pub(crate) fn ids(store: &Store, session: &str) -> Vec<String> {
    let session = store.session(session).unwrap();
    let log = session.log();
    log.entries()
        .filter_map(|(_, head)| Some(log.names.text(head.id?).to_owned()))
        .filter(|id| id.starts_with("e-"))
        .collect()
}
