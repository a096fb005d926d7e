//! Servers and users that must be refused, with the reason and what to do.

use std::time::Duration;

use boswell_model::ErrorKind;
use boswell_remote::{PostgresBackend, PostgresOptions};

use crate::bed;

fn refused(address: &str) -> boswell_model::Error {
    let options = PostgresOptions::parse(address, bed::tenant()).unwrap();
    PostgresBackend::open(options.patience(Duration::from_millis(200)))
        .map(drop)
        .unwrap_err()
}

#[test]
fn a_wrong_password_is_denied_at_once_and_not_repeated_in_the_error() {
    let Some(server) = bed::ready_server() else {
        return;
    };
    server.sql("postgres", "ALTER ROLE app PASSWORD 'right'");
    server.sql(
        "postgres",
        "COPY (SELECT 'host all app 127.0.0.1/32 scram-sha-256' UNION ALL \
         SELECT 'host all all 127.0.0.1/32 trust') TO PROGRAM 'cat > pg_hba.conf'",
    );
    server.sql("postgres", "SELECT pg_reload_conf()");
    let address = server.address("app", "postgres");
    let error = refused(&format!("{address} password=wr0ng-one"));
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    assert!(!format!("{error:?}").contains("wr0ng-one"), "{error:?}");
    assert!(error.advice().is_some());
    let right = PostgresOptions::parse(&format!("{address} password=right"), bed::tenant());
    assert!(PostgresBackend::open(right.unwrap()).is_ok());
}

#[test]
fn a_server_that_acknowledges_before_its_disk_has_it_is_refused() {
    let Some(server) = bed::server() else { return };
    let address = server.address(bed::USER, "postgres");
    let error = refused(&format!("{address} options='-c synchronous_commit=off'"));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
    assert!(
        error
            .reason()
            .is_some_and(|why| why.contains("synchronous_commit is off"))
    );
}

#[test]
fn a_superuser_is_refused_because_tenants_would_not_be_apart() {
    let Some(server) = bed::server() else { return };
    let error = refused(&server.address("boswell", "postgres"));
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    assert!(error.to_string().contains("row-level security"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_unavailable_after_the_patience() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let error = refused(&boswell_testkit::postgres_server::address(
        port, "app", "postgres",
    ));
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

#[test]
fn an_address_that_is_not_valid_is_named_without_its_password() {
    let error = PostgresOptions::parse("postgres://u:s3cret@[broken", bed::tenant()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}
