//! Large values of sessions in PostgreSQL.

use std::sync::Arc;

use boswell_dialect::ChatMessage;
use boswell_model::{ErrorKind, Part};
use boswell_remote::{Objects, PostgresBackend, Tenant};
use boswell_store::{Draft, Follower, NewSession, Wait, WritableStore};
use boswell_testkit::object_proxy::HttpFault;

use crate::{bed, postgres_bed};

/// A store with objects, and what it is made of.
pub(crate) struct Lab {
    pub(crate) tenant: Tenant,
    pub(crate) backend: Arc<PostgresBackend>,
    pub(crate) store: WritableStore,
    pub(crate) objects: Objects,
}

impl Lab {
    pub(crate) fn new(objects: Objects) -> Option<Lab> {
        let port = postgres_bed::server()?.port();
        let tenant = postgres_bed::tenant();
        let backend = PostgresBackend::open(postgres_bed::options(port, &tenant)).unwrap();
        let backend = Arc::new(backend.with_objects(objects.clone()));
        Some(Lab {
            store: postgres_bed::store(&backend),
            tenant,
            backend,
            objects,
        })
    }

    /// Keys of the objects of this tenant.
    pub(crate) fn keys(&self) -> Vec<String> {
        let page = self.objects.list(&format!("{}/", self.tenant), None);
        let keys = page.unwrap().objects.into_iter().map(|object| object.key);
        keys.collect()
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        postgres_bed::server().unwrap().sql("postgres", sql)
    }
}

pub(crate) fn lab() -> Option<Lab> {
    Lab::new(bed::objects()?)
}

/// A text of 300 KB.
pub(crate) fn large(word: &str) -> String {
    let mut text = format!("{word}: ");
    while text.len() < 300_000 {
        text.push_str("many words of a large value, ");
    }
    text
}

pub(crate) fn texts(store: &WritableStore, session: &str) -> Vec<String> {
    let session = store.session(session).unwrap();
    let messages = session.messages().unwrap();
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    let text = |message: &ChatMessage| message.parts.iter().map(part).collect();
    messages.iter().map(text).collect()
}

#[test]
fn a_large_text_is_an_object_and_comes_back_in_messages_context_and_followers() {
    let Some(lab) = lab() else { return };
    let new = NewSession::in_project("/p").with_id("s");
    let writer = lab.store.create(new).unwrap();
    let mut follower = Follower::new(&lab.store, "s").unwrap();
    let text = large("first");
    writer.append(Draft::user(text.as_str())).unwrap();
    writer.append(Draft::user("short")).unwrap();
    assert_eq!(lab.keys().len(), 1, "{:?}", lab.keys());
    let prefix = format!("{}/blobs/", lab.tenant);
    assert!(lab.keys()[0].starts_with(&prefix), "the tenant comes first");
    let tenant = &lab.tenant;
    let longest = lab.sql(&format!(
        "SELECT max(octet_length(line)) < 10000 FROM boswell.lines WHERE tenant = '{tenant}'"
    ));
    assert_eq!(longest, "t", "the line is short");
    assert_eq!(texts(&lab.store, "s"), [text.as_str(), "short"]);
    let news = format!("{:?}", follower.poll().unwrap().entries);
    assert!(news.contains(&text));
    // A title of a list is made of what stayed in the line.
    let page = lab.store.page(None, 10).unwrap().0;
    assert_eq!(page.len(), 1);
}

#[test]
fn without_object_storage_a_large_text_stays_in_its_line() {
    let Some(server) = postgres_bed::server() else {
        return;
    };
    let tenant = postgres_bed::tenant();
    let backend = postgres_bed::backend(postgres_bed::options(server.port(), &tenant));
    let store = postgres_bed::store(&backend);
    let new = NewSession::in_project("/p").with_id("s");
    let text = large("inside");
    store
        .create(new)
        .unwrap()
        .append(Draft::user(text.as_str()))
        .unwrap();
    assert_eq!(texts(&store, "s"), [text]);
    let named = server.sql(
        "postgres",
        &format!("SELECT count(*) FROM boswell.blobs WHERE tenant = '{tenant}'"),
    );
    assert_eq!(named, "0");
}

#[test]
fn an_object_is_there_before_the_line_that_names_it() {
    let Some((proxy, objects)) = bed::through_proxy() else {
        return;
    };
    let Some(lab) = Lab::new(objects) else { return };
    let new = NewSession::in_project("/p").with_id("s");
    let writer = lab.store.create(new).unwrap();
    for _ in 0..6 {
        proxy.fault_next("PUT", HttpFault::Status(500));
    }
    let error = writer
        .append(Draft::user(large("lost").as_str()))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(texts(&lab.store, "s").is_empty(), "no line names it");
    let text = large("kept");
    writer
        .append(Draft::user(text.as_str()).with_id("e1"))
        .unwrap();
    // The same id with the same content is the same entry.
    writer
        .append(Draft::user(text.as_str()).with_id("e1"))
        .unwrap();
    assert_eq!(texts(&lab.store, "s"), [text]);
}

#[test]
fn an_object_with_other_bytes_is_never_shown_as_the_value() {
    let Some((proxy, objects)) = bed::through_proxy() else {
        return;
    };
    let Some(lab) = Lab::new(objects) else { return };
    let new = NewSession::in_project("/p").with_id("s");
    let writer = lab.store.create(new).unwrap();
    let text = large("checked");
    writer.append(Draft::user(text.as_str())).unwrap();
    proxy.fault_next("GET", HttpFault::Flipped);
    assert_eq!(texts(&lab.store, "s"), [text.as_str()], "fetched again");
    for _ in 0..3 {
        proxy.fault_next("GET", HttpFault::Flipped);
    }
    let shown = texts(&lab.store, "s");
    assert!(shown[0].starts_with("checked: many"), "its beginning stays");
    assert!(
        shown[0].contains("blob:sha256:"),
        "and the name of the rest"
    );
    assert_eq!(texts(&lab.store, "s"), [text]);
}

#[test]
fn a_damaged_object_is_replaced_by_the_next_writer_of_the_value() {
    let Some(lab) = lab() else { return };
    let text = large("damaged");
    let new = |id: &str| {
        lab.store
            .create(NewSession::in_project("/p").with_id(id))
            .unwrap()
    };
    new("one").append(Draft::user(text.as_str())).unwrap();
    let key = lab.keys().remove(0);
    lab.objects.delete(&key).unwrap();
    lab.objects.put_if_absent(&key, b"other bytes").unwrap();
    new("two").append(Draft::user(text.as_str())).unwrap();
    assert_eq!(texts(&lab.store, "one"), [text.as_str()]);
    assert_eq!(texts(&lab.store, "two"), [text]);
    assert_eq!(lab.keys().len(), 1, "stored once for both");
}

#[test]
fn a_value_is_not_found_in_the_objects_of_another_tenant() {
    let Some(one) = lab() else { return };
    let other = lab().unwrap();
    let text = large("private");
    let new = |lab: &Lab| {
        lab.store
            .create(NewSession::in_project("/p").with_id("s"))
            .unwrap()
    };
    new(&one).append(Draft::user(text.as_str())).unwrap();
    let key = one.keys().remove(0);
    let id = key.rsplit('/').next().unwrap();
    let guess = format!("[boswell: 9 more characters in blob:sha256:{id}]");
    new(&other).append(Draft::user(guess.as_str())).unwrap();
    assert_eq!(texts(&other.store, "s"), [guess]);
    drop(other.store.writer("s", Wait::No).unwrap());
}
