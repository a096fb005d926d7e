//! The comparison with oh-my-pi.

use std::process::Command;

use boswell_store::Session;
use serde_json::{Value, json};

use super::{ask, goes_on, loads_all};
use crate::picture::Picture;

/// Whether a call has no result. Current versions of oh-my-pi omit such calls from their context,
/// although the file contains them.
fn has_open_call(messages: &[Value]) -> bool {
    let blocks = messages
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten());
    let mut calls = blocks
        .filter(|block| block["type"] == "toolCall")
        .map(|block| &block["id"]);
    calls.any(|call| {
        !messages
            .iter()
            .any(|message| message["toolCallId"] == *call)
    })
}

fn compare_omp(said: &Value, session: &Session, what: &str) {
    let picture = Picture::of(session);
    assert_eq!(
        said["leaf"].as_str(),
        picture.tip.as_deref(),
        "{what}: leaf"
    );
    let entries: Vec<Value> = picture
        .entries
        .iter()
        .map(|(id, parent)| json!([id, parent]))
        .collect();
    let theirs: Vec<Value> = said["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| json!([entry["id"], entry["parentId"]]))
        .collect();
    let slot = |log: &boswell_store::model::Log| log.slots().any(|slot| log.word(slot) == "title");
    let skipped = usize::from(slot(session.log()));
    assert_eq!(theirs, entries[skipped..], "{what}: tree");
    assert_eq!(
        said["name"].as_str(),
        picture.title.as_deref(),
        "{what}: title"
    );
    assert_eq!(said["labels"], json!(picture.labels), "{what}: labels");
    let context = session.context(session.tip().unwrap()).unwrap();
    let native = |item| {
        serde_json::from_slice(
            &session
                .render(item)
                .unwrap()
                .message
                .native
                .unwrap()
                .to_bytes(),
        )
        .unwrap()
    };
    let ours: Vec<Value> = context.items.iter().map(native).collect();
    if !has_open_call(&ours) {
        assert_eq!(said["messages"], Value::Array(ours), "{what}: context");
    }
}

fn ask_omp(requests: &[Value]) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let mut bun = Command::new(std::env::var_os("BOSWELL_BUN").unwrap_or_else(|| "bun".into()));
    bun.env("HOME", home.path());
    ask(bun, "native_omp.mjs", requests)
}

fn omp_package() -> Option<()> {
    if std::env::var_os("BOSWELL_OMP_PACKAGE").is_some() {
        return Some(());
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "BOSWELL_OMP_PACKAGE is not set: oh-my-pi itself cannot be asked"
    );
    eprintln!(
        "SKIPPED: BOSWELL_OMP_PACKAGE is not set, oh-my-pi itself was not asked (run `cargo xtask test`)"
    );
    None
}

#[test]
fn oh_my_pi_loads_what_every_operation_wrote_and_stands_where_we_stand() {
    if omp_package().is_some() {
        loads_all("omp", &ask_omp, &compare_omp);
    }
}

#[test]
fn what_oh_my_pi_adds_is_read_by_us_and_we_go_on_from_there() {
    if omp_package().is_some() {
        goes_on("omp", "omp", &ask_omp, &compare_omp);
    }
}
