//! Facts, capabilities and powers agree.

use std::sync::Arc;

use boswell_dialect::{Capability, Dialect, NewSession, Support};
use boswell_model::{ErrorKind, Result};
use boswell_store::backend::FsBackend;
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::{Home, Store, WritableStore};

use super::DialectRule::{AbsentPowerIsUnsupported, FactsAgreeWithPowers, IdsAreValid};
use super::{DialectSuite, Findings};
use crate::ids::SeededIds;

pub(super) fn run(suite: &DialectSuite, findings: &mut Findings) {
    let dialect = suite.dialect;
    named(dialect, findings);
    capabilities(dialect, findings);
    absent(dialect, findings);
    for id in [
        "",
        "-",
        "--help",
        "-rf",
        "-01990000-1234-7abc-8def-0123456789ab",
    ] {
        findings.expect(IdsAreValid, !dialect.id_is_valid(id), || {
            format!("`{id}` is taken for a valid id")
        });
    }
}

/// Returns a writable store of the dialect on a disk in memory.
pub(super) fn writable(dialect: &'static dyn Dialect) -> (WritableStore, Arc<MemoryDisk>) {
    let memory = Arc::new(MemoryDisk::default());
    let disk: Arc<dyn Disk> = memory.clone();
    let backend = Arc::new(FsBackend::on(Arc::clone(&disk), "/root"));
    let ids = Arc::new(SeededIds::new(11));
    let store = Home::on(disk, ids, "/home").writable(Store::on(dialect, backend, "/root"));
    (store, memory)
}

fn named(dialect: &dyn Dialect, findings: &mut Findings) {
    let facts = dialect.facts();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_word = !facts.name.is_empty() && facts.name.bytes().all(plain);
    findings.expect(FactsAgreeWithPowers, is_word, || {
        format!("the name `{}` is not a lower-case word", facts.name)
    });
    findings.expect(FactsAgreeWithPowers, dialect.name() == facts.name, || {
        "`name` is not the name of the facts".to_owned()
    });
    let powers = dialect.powers();
    let needed = [
        (
            "creates_by_plan",
            facts.creates_by_plan,
            powers.edits.is_some(),
        ),
        (
            "parent_needs_full_log",
            facts.parent_needs_full_log,
            powers.append.is_some(),
        ),
    ];
    for (fact, stated, has_power) in needed {
        findings.expect(FactsAgreeWithPowers, has_power || !stated, || {
            format!("`{fact}` is stated without the power that it speaks of")
        });
    }
    let read = facts.capabilities.support(Capability::Read);
    findings.expect(FactsAgreeWithPowers, read == Support::Native, || {
        "a dialect that cannot read is none".to_owned()
    });
}

fn capabilities(dialect: &dyn Dialect, findings: &mut Findings) {
    let (table, powers) = (dialect.facts().capabilities, dialect.powers());
    for operation in Capability::ALL {
        let stated = match table.support(operation) {
            Support::Native | Support::Rewrites => true,
            Support::Note | Support::No => false,
        };
        let (can, must) = match operation {
            Capability::Read | Capability::Context => continue,
            Capability::Resume => (powers.runtime.is_some(), false),
            Capability::Append => (
                powers.append.is_some() || powers.plans(operation),
                powers.append.is_some() || powers.plans(operation),
            ),
            _ => (
                powers.append.is_some() || powers.plans(operation),
                powers.plans(operation),
            ),
        };
        let word = operation.word();
        findings.expect(FactsAgreeWithPowers, can || !stated, || {
            format!("`{word}` is stated, and no power can do it")
        });
        findings.expect(FactsAgreeWithPowers, stated || !must, || {
            format!("a power can `{word}`, and the capabilities do not state it")
        });
    }
}

/// Checks that a missing power is refused in the same way everywhere, before anything is written.
fn absent(dialect: &'static dyn Dialect, findings: &mut Findings) {
    let (powers, (store, disk)) = (dialect.powers(), writable(dialect));
    let mut refused = |what: &str, answer: Result<()>| {
        let error = answer.err();
        let clean = error
            .as_ref()
            .is_some_and(|it| it.kind() == ErrorKind::Unsupported && it.advice().is_some());
        findings.expect(AbsentPowerIsUnsupported, clean, || match &error {
            Some(error) => format!("{what}: {error}"),
            None => format!("{what} is allowed without the power"),
        });
    };
    if powers.append.is_none() {
        refused("appender", dialect.appender().map(drop));
        let new = NewSession::in_project("/proj");
        refused("creating a session", store.create(new).map(drop));
    }
    if powers.edits.is_none() {
        refused("planner", dialect.planner().map(drop));
    }
    let left = disk
        .list(std::path::Path::new("/root"))
        .map_or(0, |names| names.len());
    let wrote = powers.append.is_none() && left > 0;
    findings.expect(AbsentPowerIsUnsupported, !wrote, || {
        "what was refused left files behind".to_owned()
    });
}
