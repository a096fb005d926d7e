//! Versions of the tables: none, older, newer, and migrations that meet data.

use boswell_model::ErrorKind;
use boswell_remote::{DatabaseSchema, PostgresBackend, PostgresOptions, Tenant};
use boswell_store::{Draft, NewSession};

use crate::bed;

fn open(
    server: &boswell_testkit::postgres_server::PostgresServer,
    database: &str,
) -> boswell_model::Result<PostgresBackend> {
    let tenant = Tenant::new("t").unwrap();
    PostgresBackend::open(
        PostgresOptions::parse(&server.address(bed::USER, database), tenant).unwrap(),
    )
}

#[test]
fn tables_of_every_other_version_are_refused_and_older_ones_are_migrated_with_their_rows() {
    let Some(server) = bed::server() else { return };
    let database = bed::database(server);
    let schema = DatabaseSchema::at(&server.address("boswell", &database)).unwrap();
    assert_eq!(schema.check().unwrap().version, 0);
    let none = open(server, &database).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound, "{none:?}");
    assert!(none.advice().is_some());

    assert_eq!(schema.migrate_to(1, Some(bed::USER)).unwrap(), 0);
    let old = "INSERT INTO boswell.logs (tenant, session, dialect, log, key, shown, next, bytes, epoch, touched) \
               VALUES ('t', 'boswell:old', 'boswell', gen_random_uuid(), 'sessions/p/1_old.jsonl', true, 2, 4, 1, now()); \
               INSERT INTO boswell.lines (tenant, log, seq, line) SELECT 't', log, 1, E'{}\\n' FROM boswell.logs";
    server.sql(&database, old);
    let older = open(server, &database).unwrap_err();
    assert_eq!(older.kind(), ErrorKind::Conflict, "{older:?}");
    assert!(
        format!("{older:?}").contains("boswell db migrate"),
        "{older:?}"
    );

    assert_eq!(schema.migrate(Some(bed::USER)).unwrap(), 1);
    assert_eq!(
        schema.migrate(None).unwrap(),
        3,
        "a second migration changes nothing"
    );
    let backend = std::sync::Arc::new(open(server, &database).unwrap());
    let store = bed::store(&backend);
    assert_eq!(
        store.page(None, 10).unwrap().0.len(),
        1,
        "the row of the old version is there"
    );
    store
        .create(NewSession::in_project("/p"))
        .unwrap()
        .append(Draft::user("x"))
        .unwrap();
    let report = schema.check().unwrap();
    assert_eq!(
        (report.version, report.needed, report.durable),
        (3, 3, true)
    );
    assert!(!report.held, "the owner of this server is a superuser");
    assert!(report.require_usable().is_err());

    server.sql(
        &database,
        "INSERT INTO boswell.versions (version) VALUES (4)",
    );
    let newer = open(server, &database).unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::TooNew, "{newer:?}");
    assert_eq!(schema.migrate(None).unwrap_err().kind(), ErrorKind::TooNew);
}

#[test]
fn two_migrations_at_once_make_the_tables_once() {
    let Some(server) = bed::server() else { return };
    let database = bed::database(server);
    let address = server.address("boswell", &database);
    let migrate = || {
        DatabaseSchema::at(&address)
            .unwrap()
            .migrate(Some(bed::USER))
            .unwrap()
    };
    let befores: Vec<i32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(migrate)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(
        befores.iter().filter(|before| **before == 0).count(),
        1,
        "{befores:?}"
    );
    open(server, &database).unwrap();
}
