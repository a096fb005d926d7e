//! Kills, cuts, take-overs and processes: counts what was acknowledged, lost and doubled.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use boswell_store::{Body, Draft, ErrorKind, NewSession, Store, Wait, WritableStore};
use boswell_testkit::cutting_proxy::{Cut, CuttingProxy};
use boswell_testkit::postgres_server::PostgresServer;

use crate::lab::{self, TENANT};

/// How often each thing happens.
pub(crate) struct Amounts {
    pub(crate) kills: usize,
    pub(crate) cuts: usize,
    pub(crate) takeovers: usize,
    /// Of each of eight processes.
    pub(crate) appends: usize,
}

/// What became of acknowledged entries.
struct Tally {
    what: String,
    acknowledged: usize,
    lost: usize,
    doubled: usize,
    /// Refusals, and those of them that gave no reason.
    refused: usize,
    seconds: f64,
}

pub(crate) fn run(amounts: &Amounts) {
    let server = lab::server();
    let rows = [
        timed(|| kills(&server, amounts.kills)),
        timed(|| cuts(&server, amounts.cuts)),
        timed(|| takeovers(&server, amounts.takeovers)),
        timed(|| processes(&server, amounts.appends)),
    ];
    println!("| what | acknowledged | lost | doubled | refused, with a reason | seconds |");
    println!("|---|--:|--:|--:|--:|--:|");
    for row in &rows {
        let Tally {
            what,
            acknowledged,
            lost,
            doubled,
            refused,
            seconds,
        } = row;
        println!("| {what} | {acknowledged} | {lost} | {doubled} | {refused} | {seconds:.0} |");
    }
    let bad: usize = rows.iter().map(|row| row.lost + row.doubled).sum();
    assert_eq!(bad, 0, "entries were lost or doubled");
}

fn timed(run: impl FnOnce() -> Tally) -> Tally {
    let begun = Instant::now();
    let mut tally = run();
    tally.seconds = begun.elapsed().as_secs_f64();
    eprintln!("{}: {} acknowledged", tally.what, tally.acknowledged);
    tally
}

fn tally(what: String, store: &Store, session: &str, acknowledged: &[String]) -> Tally {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in lab::ids(store, session) {
        *counts.entry(id).or_default() += 1;
    }
    Tally {
        what,
        acknowledged: acknowledged.len(),
        lost: acknowledged
            .iter()
            .filter(|id| !counts.contains_key(*id))
            .count(),
        doubled: counts.values().filter(|count| **count > 1).count(),
        refused: 0,
        seconds: 0.0,
    }
}

fn kills(server: &PostgresServer, count: usize) -> Tally {
    let backend = lab::backend(lab::options(server.port(), TENANT));
    let store = lab::store(&backend);
    let writer = store
        .create(NewSession::in_project("/p").with_id("kills"))
        .unwrap();
    let (done, acknowledged_so_far) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut ids = Vec::new();
            while !done.load(Ordering::Acquire) {
                let id = format!("e-{}", ids.len());
                writer
                    .append(Draft::user("x").with_id(id.as_str()))
                    .unwrap();
                ids.push(id);
                acknowledged_so_far.store(ids.len(), Ordering::Release);
            }
            ids
        });
        for kill in 1..=count {
            // Some appends are acknowledged between two kills.
            while acknowledged_so_far.load(Ordering::Acquire) < 5 * kill && !load.is_finished() {
                std::thread::yield_now();
            }
            server.kill();
            server.start();
        }
        done.store(true, Ordering::Release);
        load.join().unwrap()
    });
    tally(
        format!("{count} kills of the postmaster under load"),
        &store,
        "kills",
        &acknowledged,
    )
}

fn cuts(server: &PostgresServer, count: usize) -> Tally {
    let proxy = CuttingProxy::to(server.port());
    let backend = lab::backend(lab::options(proxy.port(), TENANT));
    let store = lab::store(&backend);
    let writer = store
        .create(NewSession::in_project("/p").with_id("cuts"))
        .unwrap();
    let moments = [
        Cut::BeforeStatement,
        Cut::BeforeCommit,
        Cut::AfterCommit,
        Cut::HalfClosed,
        Cut::Late(Duration::from_millis(5)),
    ];
    let mut acknowledged = Vec::new();
    for (n, cut) in (0..count).zip(moments.iter().cycle()) {
        proxy.cut_next(*cut);
        let id = format!("e-{n}");
        writer
            .append(Draft::user("x").with_id(id.as_str()))
            .unwrap();
        acknowledged.push(id);
    }
    assert_eq!(proxy.cuts(), count as u64, "every cut hit an append");
    tally(
        format!("{count} cuts before and after `COMMIT`"),
        &store,
        "cuts",
        &acknowledged,
    )
}

fn takeovers(server: &PostgresServer, count: usize) -> Tally {
    let store = lab::store(&lab::backend(lab::options(server.port(), TENANT)));
    store
        .create(NewSession::in_project("/p").with_id("leases"))
        .unwrap()
        .release()
        .unwrap();
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    for n in 0..count {
        refused += take_over(server, &store, n);
        acknowledged.extend([format!("e-{n}-old"), format!("e-{n}-new")]);
    }
    assert_eq!(refused, count, "every refusal gives its reason");
    let there = lab::ids(&store, "leases").len();
    assert_eq!(
        there,
        acknowledged.len(),
        "nothing that was refused is there"
    );
    let tally = tally(
        format!("{count} leases taken over"),
        &store,
        "leases",
        &acknowledged,
    );
    Tally { refused, ..tally }
}

/// Takes a lease over from a holder that is cut off; returns 1 if that one is told why it is
/// refused.
fn take_over(server: &PostgresServer, store: &WritableStore, n: usize) -> usize {
    let lease = Duration::from_millis(150);
    // A holder whose network is gone, so that its timer cannot renew.
    let proxy = CuttingProxy::to(server.port());
    let cut_off = lab::backend(lab::options(proxy.port(), TENANT).lease(lease));
    let old = lab::store(&cut_off)
        .writer("leases", Wait::Forever)
        .unwrap();
    old.append(Draft::user("x").with_id(format!("e-{n}-old")))
        .unwrap();
    proxy.pause(true);
    let new = store
        .writer("leases", Wait::For(Duration::from_secs(60)))
        .unwrap();
    proxy.pause(false);
    let late = old.append(Draft::user("x").with_id(format!("e-{n}-late")));
    let error = late.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    new.append(Draft::user("x").with_id(format!("e-{n}-new")))
        .unwrap();
    usize::from(error.reason().is_some())
}

fn processes(server: &PostgresServer, appends: usize) -> Tally {
    let store = lab::store(&lab::backend(lab::options(server.port(), TENANT)));
    store
        .create(NewSession::in_project("/p").with_id("shared"))
        .unwrap()
        .release()
        .unwrap();
    let program = std::env::current_exe().unwrap();
    let children: Vec<_> = (0..8)
        .map(|worker: u32| {
            let (port, worker, count) = (
                server.port().to_string(),
                worker.to_string(),
                appends.to_string(),
            );
            let mut child = Command::new(&program);
            child.args(["append", &port, TENANT, &worker, &count]);
            child.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut acknowledged = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        acknowledged.extend(text.lines().map(str::to_owned));
    }
    assert_eq!(acknowledged.len(), 8 * appends);
    tally(
        format!("8 processes × {appends} appends to one session"),
        &store,
        "shared",
        &acknowledged,
    )
}

/// One of eight processes: prints each id that was acknowledged.
pub(crate) fn append_as_process(port: u16, tenant: &str, worker: &str, count: usize) {
    let store = lab::store(&lab::backend(lab::options(port, tenant).connections(2)));
    let writer = store.shared_writer("shared").unwrap();
    for n in 0..count {
        let id = format!("e-{worker}-{n}");
        let draft = Draft::new(Body::Title(id.clone())).with_id(id.as_str());
        writer.append(draft).unwrap();
        println!("{id}");
    }
}
