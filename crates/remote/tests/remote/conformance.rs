//! The promises of every backend, kept by PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use boswell_model::SessionRef;
use boswell_remote::{PostgresBackend, Tenant};
use boswell_store::backend::{Backend, LogBackend, LogClaim, LogName};
use boswell_store::{Wait, WritableStore};
use boswell_testkit::conformance::{self, Failure, WritePlace};
use boswell_testkit::cutting_proxy::{Cut, CuttingProxy};
use boswell_testkit::postgres_server::PostgresServer;

use crate::bed;

/// A tenant of a server, reached through a proxy.
struct Place {
    server: Arc<PostgresServer>,
    proxy: CuttingProxy,
    tenant: Tenant,
    backend: Arc<PostgresBackend>,
    kills: bool,
}

impl Place {
    fn on(server: &Arc<PostgresServer>, kills: bool) -> Place {
        let (proxy, tenant) = (CuttingProxy::to(server.port()), bed::tenant());
        let options = bed::options(proxy.port(), &tenant);
        Place {
            server: Arc::clone(server),
            proxy,
            tenant,
            backend: bed::backend(options),
            kills,
        }
    }
}

impl WritePlace for Place {
    fn store(&self) -> WritableStore {
        bed::store(&self.backend)
    }

    fn crash(&self) {
        if self.kills {
            self.server.kill();
            self.server.start();
        }
    }

    fn expire_leases(&self) -> bool {
        let run_out = format!(
            "UPDATE boswell.logs SET until = now() - interval '1 s' \
             WHERE tenant = '{}' AND holder IS NOT NULL",
            self.tenant
        );
        self.server.sql("postgres", &run_out);
        true
    }

    fn fail_next_append(&self, _failure: Failure) -> bool {
        // A lost connection does not fail an append here: see `a_place_without_patience`.
        false
    }
}

#[test]
fn rows_of_postgres_keep_every_promise_of_writing() {
    let Some(server) = bed::server() else { return };
    conformance::backend_writes(&|| Box::new(Place::on(server, false)));
}

#[test]
fn what_postgres_acknowledged_survives_the_death_of_its_processes() {
    let Some(server) = bed::ready_server().map(Arc::new) else {
        return;
    };
    conformance::acknowledged_survives(&|| Box::new(Place::on(&server, true)));
}

/// A place whose appends are sent once, so that a cut connection fails them.
struct Hasty(Place, Arc<PostgresBackend>);

impl WritePlace for Hasty {
    fn store(&self) -> WritableStore {
        bed::store(&self.1)
    }

    fn expire_leases(&self) -> bool {
        self.0.expire_leases()
    }

    fn fail_next_append(&self, failure: Failure) -> bool {
        self.0.proxy.cut_next(match failure {
            Failure::Before => Cut::BeforeCommit,
            Failure::After => Cut::AfterCommit,
        });
        true
    }
}

#[test]
fn a_place_without_patience_names_what_is_in_doubt() {
    let Some(server) = bed::server() else { return };
    conformance::failures(&|| {
        let place = Place::on(server, false);
        let options = bed::options(place.proxy.port(), &place.tenant).patience(Duration::ZERO);
        Box::new(Hasty(place, bed::backend(options)))
    });
}

/// Makes a backend with these objects.
fn with_objects(server: &PostgresServer, objects: &[(String, Vec<u8>)]) -> Arc<dyn Backend> {
    let backend = bed::backend(bed::options(server.port(), &bed::tenant()));
    for (key, bytes) in objects {
        let session = SessionRef::new("pi", key.as_str());
        let claim = LogClaim {
            session: &session,
            wait: Wait::No,
            program: "test",
            now: boswell_model::Instant::from_millis(0),
        };
        let lease = backend.lease(&claim).unwrap();
        let name = LogName {
            session: &session,
            key,
            visible: None,
            just_made: true,
        };
        backend.create(&name, bytes, &lease).unwrap();
    }
    backend
}

#[test]
fn rows_of_postgres_keep_every_promise_of_reading() {
    let Some(server) = bed::server() else { return };
    conformance::backend_reads(&|objects| with_objects(server, objects));
}
