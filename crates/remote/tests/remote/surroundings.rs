//! Encryption, a pooler in transaction mode, and a disk that is full.

use std::sync::Arc;

use boswell_model::ErrorKind;
use boswell_remote::{PostgresBackend, PostgresOptions};
use boswell_store::{Draft, NewSession, Wait};
use boswell_testkit::postgres_server::PostgresServer;
use boswell_testkit::postgres_surroundings::{PgBouncer, SmallDisk, TestCertificate};

use crate::bed::{self, entries};

fn encrypted(server: &PostgresServer, mode: &str) -> PostgresOptions {
    let address = server.address(bed::USER, "postgres");
    let address = address.replace("sslmode=disable", &format!("sslmode={mode}"));
    PostgresOptions::parse(&address, bed::tenant()).unwrap()
}

#[test]
fn a_server_is_trusted_by_its_root_and_by_no_other() {
    let (Some(own), Some(other)) = (
        TestCertificate::make_or_skip(),
        TestCertificate::make_or_skip(),
    ) else {
        return;
    };
    let files = [
        ("server.crt", own.certificate.clone()),
        ("server.key", own.key),
    ];
    let Some(server) = PostgresServer::start_with_files("ssl = on", &files) else {
        return;
    };
    server.sql("postgres", &format!("CREATE ROLE {} LOGIN", bed::USER));
    bed::migrate(&server, "postgres");
    for mode in ["require", "prefer"] {
        let trusted = encrypted(&server, mode).root_certificates(own.certificate.clone());
        let backend = Arc::new(PostgresBackend::open(trusted).unwrap());
        let store = bed::store(&backend);
        let writer = store.create(NewSession::in_project("/p")).unwrap();
        writer.append(Draft::user("x")).unwrap();
        let plain = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                     WHERE a.usename = 'app' AND NOT s.ssl";
        assert_eq!(server.sql("postgres", plain), "0", "{mode}");
        let wrong = encrypted(&server, mode).root_certificates(other.certificate.clone());
        let error = PostgresBackend::open(wrong).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
        assert!(error.to_string().contains("certificate"), "{error}");
        assert!(error.advice().is_some());
    }
}

#[test]
fn a_server_without_encryption_is_refused_where_the_address_requires_it() {
    let Some(server) = bed::server() else { return };
    let error = PostgresBackend::open(encrypted(server, "require"));
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
}

#[test]
fn tenants_that_share_connections_of_a_pooler_see_nothing_of_each_other() {
    let Some(server) = bed::server() else { return };
    let Some(pooler) = PgBouncer::start_or_skip(server.port(), &[bed::USER], 2) else {
        return;
    };
    // Six tenants with three connections each, over two of the server.
    let tenants: Vec<_> = (0..6).map(|_| bed::tenant()).collect();
    std::thread::scope(|scope| {
        for tenant in &tenants {
            let options = bed::options(pooler.port(), tenant).connections(3);
            scope.spawn(move || {
                let store = bed::store(&bed::backend(options));
                let writer = store.create(NewSession::in_project("/p").with_id("s"));
                let writer = writer.unwrap();
                for turn in 0..20 {
                    let id = format!("e-{tenant}-{turn}");
                    writer.append(Draft::user("x").with_id(id)).unwrap();
                    assert_eq!(store.page(None, 10).unwrap().0.len(), 1);
                    let found = entries(&store, "s");
                    assert_eq!(found.len(), turn + 1);
                    let own = format!("e-{tenant}-");
                    assert!(found.iter().all(|id| id.starts_with(&own)), "{found:?}");
                }
                writer.release().unwrap();
                store.delete("s", Wait::No).unwrap();
                assert!(store.page(None, 10).unwrap().0.is_empty());
            });
        }
    });
    // SQL that forgets the tenant, on the connections that had those of all.
    let address = boswell_testkit::postgres_server::address(pooler.port(), bed::USER, "postgres");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let rows = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        let all = "SELECT session FROM boswell.logs";
        let mut count = 0;
        for _ in 0..20 {
            count += client.query_typed(all, &[]).await.unwrap().len();
        }
        count
    });
    assert_eq!(rows, 0);
}

#[test]
fn a_full_disk_of_the_server_refuses_an_append_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount_or_skip(32) else {
        return;
    };
    let Some(server) = bed::ready_server() else {
        return;
    };
    let folder = disk.folder().display();
    server.sql(
        "postgres",
        &format!("CREATE TABLESPACE small LOCATION '{folder}'"),
    );
    server.sql("postgres", "CREATE DATABASE d TABLESPACE small");
    bed::migrate(&server, "d");
    server.sql(
        "d",
        "CREATE TABLE filler AS SELECT repeat('x', 2000) FROM generate_series(1, 2500)",
    );
    let options = PostgresOptions::parse(&server.address(bed::USER, "d"), bed::tenant()).unwrap();
    let backend = bed::backend(options);
    let store = bed::store(&backend);
    let writer = store
        .create(NewSession::in_project("/p").with_id("s"))
        .unwrap();
    let (mut acknowledged, text) = (Vec::new(), "y".repeat(200_000));
    let error = loop {
        let id = format!("e{}", acknowledged.len());
        match writer.append(Draft::user(text.as_str()).with_id(id.as_str())) {
            Ok(_) => acknowledged.push(id),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 500, "the disk is small");
    };
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error:?}");
    assert!(error.advice().is_some());
    assert!(!acknowledged.is_empty());
    drop(writer);
    assert_eq!(entries(&store, "s"), acknowledged, "it can still be read");
    server.sql("d", "DROP TABLE filler");
    let writer = store.writer("s", Wait::No).unwrap();
    let id = format!("e{}", acknowledged.len());
    writer
        .append(Draft::user(text.as_str()).with_id(id.as_str()))
        .unwrap();
    acknowledged.push(id);
    assert_eq!(entries(&store, "s"), acknowledged);
    drop(writer);
    drop(server);
}
