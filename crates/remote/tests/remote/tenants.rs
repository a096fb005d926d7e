//! Tenants see nothing of each other: by every call of a backend, and by SQL that forgets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use boswell_model::{ErrorKind, SessionRef};
use boswell_remote::{PostgresBackend, Tenant};
use boswell_store::backend::{Backend, LogLookup};
use boswell_store::{Draft, NewSession, Wait, WritableStore};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::bed;

/// What a tenant does: which one, to which session.
#[derive(Debug, Clone, Copy)]
enum Act {
    Create,
    Append,
    Delete,
    Look,
}

/// What a tenant must find: the prompts of its sessions, in order.
type Model = BTreeMap<String, Vec<String>>;

fn act() -> impl Strategy<Value = (usize, usize, Act)> {
    let acts = prop_oneof![
        3 => Just(Act::Create),
        4 => Just(Act::Append),
        1 => Just(Act::Delete),
        2 => Just(Act::Look)
    ];
    (0..3_usize, 0..3_usize, acts)
}

#[test]
fn whatever_tenants_do_each_finds_its_own_sessions_and_no_other() {
    let Some(server) = bed::server() else { return };
    let config = Config {
        cases: 6,
        failure_persistence: None,
        ..Config::default()
    };
    let strategy = proptest::collection::vec(act(), 1..30);
    TestRunner::new(config)
        .run(&strategy, |acts| {
            let tenants: Vec<Tenant> = (0..3).map(|_| bed::tenant()).collect();
            let backends: Vec<_> = tenants
                .iter()
                .map(|tenant| bed::backend(bed::options(server.port(), tenant).connections(2)))
                .collect();
            let mut models: Vec<Model> = vec![Model::new(); 3];
            for (n, (tenant, session, act)) in acts.into_iter().enumerate() {
                let (store, model) = (bed::store(&backends[tenant]), &mut models[tenant]);
                // The same ids for every tenant.
                let id = format!("s{session}");
                let text = format!("{}-{n}", tenants[tenant]);
                step(&store, model, &id, &text, act);
                sees_its_own(&backends[tenant], &models[tenant]);
            }
            for (backend, model) in backends.iter().zip(&models) {
                sees_its_own(backend, model);
            }
            Ok(())
        })
        .unwrap();
}

fn step(store: &WritableStore, model: &mut Model, id: &str, text: &str, act: Act) {
    let there = model.contains_key(id);
    match act {
        Act::Create => {
            let made = store.create(NewSession::in_project("/p").with_id(id));
            assert_eq!(
                made.is_err(),
                there,
                "an id is taken by its own tenant only"
            );
            model.entry(id.to_owned()).or_default();
        }
        Act::Append => match store.writer(id, Wait::No) {
            Ok(writer) => {
                writer.append(Draft::user(text)).unwrap();
                model.get_mut(id).unwrap().push(text.to_owned());
            }
            Err(error) => assert!(!there && error.kind() == ErrorKind::NotFound, "{error}"),
        },
        Act::Delete => {
            assert_eq!(store.delete(id, Wait::No).is_ok(), there);
            model.remove(id);
        }
        Act::Look => assert_eq!(store.session(id).is_ok(), there),
    }
}

fn sees_its_own(backend: &Arc<PostgresBackend>, model: &Model) {
    let store = bed::store(backend);
    let (page, next) = store.page(None, 50).unwrap();
    assert!(next.is_none());
    let mut listed: Vec<_> = page.iter().map(|it| it.reference.id.clone()).collect();
    listed.sort();
    assert_eq!(listed, model.keys().cloned().collect::<Vec<_>>());
    assert_eq!(store.list().unwrap().sessions.len(), model.len());
    let names: Vec<_> = (0..3)
        .map(|n| SessionRef::new("boswell", format!("s{n}")))
        .collect();
    let ends = backend.ends_of(&names).unwrap().unwrap();
    for (name, end) in names.iter().zip(ends) {
        assert_eq!(end.is_some(), model.contains_key(&name.id));
        let found = backend.find_log(name).unwrap();
        assert_eq!(found != LogLookup::Absent, model.contains_key(&name.id));
    }
    for (id, prompts) in model {
        let session = store.session(id).unwrap();
        let texts: Vec<String> = session
            .log()
            .slots()
            .skip(1)
            .map(|slot| session.entry(slot).unwrap().view.unwrap().text())
            .collect();
        assert_eq!(&texts, prompts);
    }
}

#[test]
fn sql_that_forgets_the_tenant_finds_and_changes_nothing() {
    let Some(server) = bed::server() else { return };
    let (one, two) = (bed::tenant(), bed::tenant());
    for tenant in [&one, &two] {
        let store = bed::store(&bed::backend(bed::options(server.port(), tenant)));
        let writer = store
            .create(NewSession::in_project("/p").with_id("s"))
            .unwrap();
        writer.append(Draft::user("x")).unwrap();
    }
    let as_app = |sql: &str| server.sql("postgres", &format!("SET ROLE app; {sql}"));
    // The tenant was never set, or was left empty, or ended with its transaction.
    for before in [
        "",
        "SET boswell.tenant = '';",
        "BEGIN; SET LOCAL boswell.tenant = 'x'; COMMIT;",
    ] {
        assert_eq!(
            as_app(&format!("{before} SELECT count(*) FROM boswell.logs")),
            "0",
            "{before}"
        );
        assert_eq!(
            as_app(&format!("{before} SELECT count(*) FROM boswell.lines")),
            "0",
            "{before}"
        );
        as_app(&format!("{before} DELETE FROM boswell.lines"));
        as_app(&format!("{before} UPDATE boswell.logs SET next = 1"));
    }
    // It was set, and the predicate forgotten.
    let set = format!("SET boswell.tenant = '{one}';");
    assert_eq!(
        as_app(&format!("{set} SELECT DISTINCT tenant FROM boswell.lines")),
        one.as_str()
    );
    assert_eq!(
        as_app(&format!(
            "{set} SELECT count(*) FROM boswell.logs WHERE tenant = '{two}'"
        )),
        "0"
    );
    // A row of another tenant cannot be written either.
    let moved = format!(
        "DO $$ BEGIN SET LOCAL ROLE app; SET LOCAL boswell.tenant = '{one}'; \
         UPDATE boswell.logs SET tenant = '{two}'; \
         EXCEPTION WHEN insufficient_privilege THEN NULL; END $$; \
         SELECT count(*) FROM boswell.logs WHERE tenant = '{two}'"
    );
    assert_eq!(server.sql("postgres", &moved), "1");
    for tenant in [&one, &two] {
        let store = bed::store(&bed::backend(bed::options(server.port(), tenant)));
        assert_eq!(store.session("s").unwrap().messages().unwrap().len(), 1);
    }
}

#[test]
fn functions_called_for_another_tenant_than_the_one_that_is_set_change_nothing() {
    let Some(server) = bed::server() else { return };
    let (one, two) = (bed::tenant(), bed::tenant());
    let store = bed::store(&bed::backend(bed::options(server.port(), &two)));
    let writer = store
        .create(NewSession::in_project("/p").with_id("s"))
        .unwrap();
    writer.append(Draft::user("x")).unwrap();
    let head = server.sql(
        "postgres",
        &format!(
            "SELECT log || ',' || next || ',' || epoch FROM boswell.logs WHERE tenant = '{two}'"
        ),
    );
    let parts: Vec<&str> = head.split(',').collect();
    let appended = format!(
        "SET ROLE app; SET boswell.tenant = '{one}'; \
         SELECT why FROM boswell.append('{two}', 'boswell:s', '{}', {}, {}, 1000, ARRAY['x'::bytea], 1, \
         NULL, NULL, NULL, NULL, NULL, NULL, 0, '{{}}', '{{}}')",
        parts[0], parts[1], parts[2]
    );
    assert_eq!(server.sql("postgres", &appended), "gone");
    writer.append(Draft::user("y")).unwrap();
    assert_eq!(store.session("s").unwrap().messages().unwrap().len(), 2);
}
