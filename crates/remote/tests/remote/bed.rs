//! One server for all tests of this program, a database with tables, and stores on it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use boswell_dialect::by_name;
use boswell_remote::{DatabaseSchema, PostgresBackend, PostgresOptions, Tenant};
use boswell_store::{Store, WritableStore};
use boswell_testkit::ids::SeededIds;
use boswell_testkit::postgres_server::{PostgresServer, address};

/// The user that owns nothing.
pub(crate) const USER: &str = "app";

/// The server that tests share which do not stop it; `None` if PostgreSQL is not installed.
pub(crate) fn server() -> Option<&'static Arc<PostgresServer>> {
    static SERVER: OnceLock<Option<Arc<PostgresServer>>> = OnceLock::new();
    SERVER.get_or_init(|| ready_server().map(Arc::new)).as_ref()
}

/// Starts a server with tables in the database `postgres`.
pub(crate) fn ready_server() -> Option<PostgresServer> {
    let server = PostgresServer::start_or_skip("")?;
    server.sql("postgres", &format!("CREATE ROLE {USER} LOGIN"));
    migrate(&server, "postgres");
    Some(server)
}

/// Makes the tables of a database.
pub(crate) fn migrate(server: &PostgresServer, database: &str) {
    let schema = DatabaseSchema::at(&server.address("boswell", database)).unwrap();
    schema.migrate(Some(USER)).unwrap();
}

/// Makes a database of its own, without tables.
pub(crate) fn database(server: &PostgresServer) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("db{}", COUNT.fetch_add(1, Ordering::Relaxed));
    server.sql("postgres", &format!("CREATE DATABASE {name}"));
    name
}

/// Returns a tenant that no other test has.
pub(crate) fn tenant() -> Tenant {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    Tenant::new(format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed))).unwrap()
}

/// Options for a port of this machine, with little patience where a test wants errors.
pub(crate) fn options(port: u16, tenant: &Tenant) -> PostgresOptions {
    let address = address(port, USER, "postgres");
    PostgresOptions::parse(&address, tenant.clone())
        .unwrap()
        .patience(Duration::from_secs(30))
}

pub(crate) fn backend(options: PostgresOptions) -> Arc<PostgresBackend> {
    Arc::new(PostgresBackend::open(options).unwrap())
}

/// Returns a store on a backend, with ids of its own.
pub(crate) fn store(backend: &Arc<PostgresBackend>) -> WritableStore {
    static SEED: AtomicU32 = AtomicU32::new(1);
    let ids = SeededIds::new(u64::from(SEED.fetch_add(1, Ordering::Relaxed)));
    let own = by_name("boswell").unwrap();
    let store = Store::on(own, backend.clone(), "postgres");
    WritableStore::on_logs(store, backend.clone(), Arc::new(ids))
}

/// Ids of the entries of a session, in the order of its log.
pub(crate) fn entries(store: &Store, session: &str) -> Vec<String> {
    let session = store.session(session).unwrap();
    let log = session.log();
    log.entries()
        .filter_map(|(_, head)| Some(log.names.text(head.id?).to_owned()))
        .filter(|id| id.starts_with('e'))
        .collect()
}
