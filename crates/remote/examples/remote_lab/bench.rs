//! Measures appends, pages, contexts and followers beside raw SQL, in turns, on the same server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use boswell_model::SessionRef;
use boswell_remote::{PostgresBackend, STATEMENTS};
use boswell_store::backend::Backend;
use boswell_store::{Draft, Durability, Expect, NewSession, SessionWriter};
use boswell_testkit::postgres_server::PostgresServer;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::lab::{self, TENANT};

/// Text of an entry whose line has about 1 KiB.
const TEXT: usize = 860;
const ROUNDS: usize = 400;
const BATCH: usize = 16;
const DRIVERS: usize = 32;

pub(crate) fn run(sessions: usize, entries: usize) {
    let server = lab::server();
    server.sql(
        "postgres",
        "CREATE TABLE public.raw (tenant text NOT NULL, log text NOT NULL, seq bigint NOT NULL, line bytea NOT NULL, \
         PRIMARY KEY (tenant, log, seq)); ALTER TABLE public.raw ALTER COLUMN line SET STORAGE EXTERNAL; \
         GRANT ALL ON public.raw TO app",
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    one_driver(&server, &runtime);
    many_drivers(&server, &runtime);
    context(&server, entries);
    page(&server, &runtime, sessions);
    follow(&server);
}

/// Prints a row for `cargo xtask bench`; `target` is a sign and a limit.
fn row(what: &str, ours: &str, raw: &str, ratio: f64, target: (&str, f64)) {
    println!(
        "{what}\t{ours}\t{raw}\t{ratio:.3}\t{}\t{}",
        target.0, target.1
    );
}

fn draft() -> Draft {
    Draft::user("x".repeat(TEXT))
}

fn writer(server: &PostgresServer, id: &str, connections: usize) -> SessionWriter {
    let options = lab::options(server.port(), TENANT).connections(connections);
    let store = lab::store(&lab::backend(options));
    store
        .create(NewSession::in_project("/p").with_id(id))
        .unwrap()
}

/// A connection that inserts the same bytes.
struct Raw {
    client: Client,
    insert: Statement,
    log: String,
    next: i64,
}

impl Raw {
    async fn new(port: u16, log: &str) -> Raw {
        let address = boswell_testkit::postgres_server::address(port, "app", "postgres");
        let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
        tokio::spawn(connection);
        let insert = client
            .prepare("INSERT INTO public.raw VALUES ('t', $1, $2, $3)")
            .await
            .unwrap();
        Raw {
            client,
            insert,
            log: log.to_owned(),
            next: 0,
        }
    }

    async fn add(&mut self, line: &[u8]) {
        self.next += 1;
        self.client
            .execute(&self.insert, &[&self.log, &self.next, &line])
            .await
            .unwrap();
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn one_driver(server: &PostgresServer, runtime: &tokio::runtime::Runtime) {
    let writer = writer(server, "one", 2);
    let mut raw = runtime.block_on(Raw::new(server.port(), "one"));
    let line = vec![b'x'; 1024];
    let (mut ours, mut theirs, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS + 50 {
        let begun = Instant::now();
        runtime.block_on(raw.add(&line));
        let inserted = begun.elapsed();
        let begun = Instant::now();
        writer.append(draft()).unwrap();
        let appended = begun.elapsed();
        // The first rounds fill caches of both.
        if round >= 50 {
            theirs.push(inserted);
            ours.push(appended);
        }
        if round % 8 == 7 {
            let batch = (0..BATCH).map(|_| draft()).collect();
            let begun = Instant::now();
            writer
                .append_all(batch, Expect::Any, Durability::Fsync)
                .unwrap();
            batches.push(begun.elapsed());
        }
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    row(
        "durable append of 1 KiB, one driver",
        &format!("{ours:.2} ms"),
        &format!("{theirs:.2} ms"),
        ours / theirs,
        ("<=", 2.5),
    );
    let line = median(&mut batches) / BATCH as f64;
    row(
        "a line of a batch of 16, against one by one",
        &format!("{line:.3} ms"),
        &format!("{ours:.2} ms (ours)"),
        ours / line,
        (">=", 8.0),
    );
}

/// Appends for a while on many threads; returns how many in a second.
fn rate<T: Send>(workers: Vec<T>, mut_step: impl Fn(&mut T) + Sync) -> (f64, Vec<T>) {
    let time = Duration::from_secs(4);
    let begun = Instant::now();
    let mut_step = &mut_step;
    let done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .into_iter()
            .map(|mut worker| {
                scope.spawn(move || {
                    let mut count = 0;
                    while begun.elapsed() < time {
                        mut_step(&mut worker);
                        count += 1;
                    }
                    (count, worker)
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let count: usize = done.iter().map(|(count, _)| count).sum();
    (
        count as f64 / begun.elapsed().as_secs_f64(),
        done.into_iter().map(|(_, worker)| worker).collect(),
    )
}

fn many_drivers(server: &PostgresServer, runtime: &tokio::runtime::Runtime) {
    let backend = lab::backend(lab::options(server.port(), TENANT).connections(DRIVERS));
    let store = lab::store(&backend);
    let create = |n: usize| {
        store
            .create(NewSession::in_project("/p").with_id(format!("many-{n}")))
            .unwrap()
    };
    let mut writers: Vec<SessionWriter> = (0..DRIVERS).map(create).collect();
    let mut raws: Vec<Raw> = (0..DRIVERS)
        .map(|n| runtime.block_on(Raw::new(server.port(), &format!("many-{n}"))))
        .collect();
    let line = vec![b'x'; 1024];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (rate_raw, back) = rate(raws, |raw: &mut Raw| runtime.block_on(raw.add(&line)));
        raws = back;
        let (rate_ours, back) = rate(writers, |writer: &mut SessionWriter| {
            writer.append(draft()).unwrap();
        });
        writers = back;
        theirs.push(rate_raw);
        ours.push(rate_ours);
    }
    let middle = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (ours, theirs) = (middle(&mut ours), middle(&mut theirs));
    row(
        "32 drivers",
        &format!("{ours:.0}/s"),
        &format!("{theirs:.0}/s"),
        ours / theirs,
        (">=", 0.4),
    );
}

fn rows_read(server: &PostgresServer) -> f64 {
    // Counters of a connection are published when it has been idle for a moment.
    std::thread::sleep(Duration::from_millis(1500));
    let sql = "SELECT idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'lines'";
    server.sql("postgres", sql).parse().unwrap()
}

fn context(server: &PostgresServer, entries: usize) {
    let writer = writer(server, "long", 2);
    let mut left = entries;
    while left > 0 {
        let count = left.min(500);
        let batch = (0..count).map(|_| draft()).collect();
        writer
            .append_all(batch, Expect::Any, Durability::Fsync)
            .unwrap();
        left -= count;
    }
    let kept = writer.append(draft()).unwrap().entry;
    writer
        .append_all(
            (0..2000).map(|_| draft()).collect(),
            Expect::Any,
            Durability::Fsync,
        )
        .unwrap();
    writer.compact("what came before", kept, 1000).unwrap();
    let needed = 2003.0;
    let before = rows_read(server);
    let begun = Instant::now();
    let (session, tip) = writer.read_for_context(None).unwrap();
    assert_eq!(session.context(tip).unwrap().items.len(), 2002);
    let time = begun.elapsed().as_secs_f64() * 1e3;
    let read = rows_read(server) - before;
    let what = format!("rows read for a context of {needed} of {entries} entries, {time:.0} ms");
    row(
        &what,
        &format!("{read:.0}"),
        &format!("{needed:.0} needed"),
        read / needed,
        ("<=", 3.0),
    );
}

/// Fills the table of logs.
fn fill(server: &PostgresServer, sessions: usize) {
    server.sql(
        "postgres",
        &format!(
            "INSERT INTO boswell.logs (tenant, session, dialect, log, key, shown, next, bytes, epoch, touched, \
             project, title, prompt, created, active, messages) \
             SELECT 'pages', 'boswell:s' || i, 'boswell', gen_random_uuid(), 'sessions/p/1_s' || i || '.jsonl', true, 9, \
             4000, 1, now() - make_interval(secs => i), '/p', 'title ' || i, 'prompt ' || i, 1, 2, 8 \
             FROM generate_series(1, {sessions}) i"
        ),
    );
    server.sql("postgres", "VACUUM ANALYZE boswell.logs");
}

fn page(server: &PostgresServer, runtime: &tokio::runtime::Runtime, sessions: usize) {
    fill(server, sessions);
    let store = lab::store(&lab::backend(
        lab::options(server.port(), "pages").connections(2),
    ));
    let bare = STATEMENTS.iter().find(|it| it.name == "PAGE").unwrap();
    let address = boswell_testkit::postgres_server::address(server.port(), "boswell", "postgres");
    let (client, connection) = runtime
        .block_on(tokio_postgres::connect(&address, NoTls))
        .unwrap();
    runtime.spawn(connection);
    let bare = runtime.block_on(client.prepare(bare.sql)).unwrap();
    let (mut ours, mut theirs, mut after, mut cursor) = (
        Vec::new(),
        Vec::new(),
        None,
        (253_402_300_799_000_000_i64, String::new()),
    );
    for _ in 0..200 {
        let begun = Instant::now();
        let (page, next) = store.page(after.as_ref(), 50).unwrap();
        ours.push(begun.elapsed());
        assert_eq!(page.len(), 50);
        let begun = Instant::now();
        let page = async {
            // Multiplied by an interval, so the server takes it for a float.
            let touched = cursor.0 as f64;
            let after: [&(dyn ToSql + Sync); 5] =
                [&"pages", &"boswell", &touched, &cursor.1, &50_i64];
            client.query(&bare, &after).await.unwrap()
        };
        let rows = runtime.block_on(page);
        theirs.push(begun.elapsed());
        let last = rows.last().unwrap();
        (after, cursor) = (next, (last.get(4), last.get(0)));
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let what = format!("a page of 50 of {sessions} sessions");
    row(
        &what,
        &format!("{ours:.2} ms"),
        &format!("{theirs:.2} ms"),
        ours / theirs,
        ("<=", 2.0),
    );
}

/// CPU seconds of this process and of the server's processes so far.
fn cpu(server: &PostgresServer) -> f64 {
    let pids = server.sql("postgres", "SELECT pid FROM pg_stat_activity");
    let own = std::process::id().to_string();
    let ticks = |pid: &str| -> u64 {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
            return 0;
        };
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let all = pids.lines().chain([own.as_str()]).map(ticks).sum::<u64>();
    all as f64 / 100.0
}

fn follow(server: &PostgresServer) {
    let backend = lab::backend(lab::options(server.port(), "follow").connections(4));
    let store = lab::store(&backend);
    let names: Vec<SessionRef> = (0..1000)
        .map(|n| SessionRef::new("boswell", format!("f{n}")))
        .collect();
    for name in &names {
        store
            .create(NewSession::in_project("/p").with_id(name.id.as_str()))
            .unwrap()
            .release()
            .unwrap();
    }
    let writer = store.shared_writer("f500").unwrap();
    let done = AtomicBool::new(false);
    let (used, begun) = (cpu(server), Instant::now());
    let (written, seen) = std::thread::scope(|scope| {
        let polling = scope.spawn(|| seen_ends(&backend, &names, &done));
        let mut written = Vec::new();
        for _ in 0..40 {
            // Not a multiple of the poll, so that every delay occurs.
            std::thread::sleep(Duration::from_millis(287));
            let end = writer.append(draft()).unwrap().revision.end();
            written.push((end, Instant::now()));
        }
        std::thread::sleep(Duration::from_millis(600));
        done.store(true, Ordering::Release);
        (written, polling.join().unwrap())
    });
    let used = (cpu(server) - used) / begun.elapsed().as_secs_f64() * 100.0;
    let worst = longest(&written, &seen);
    let what = "an entry of one of 1,000 followed sessions is seen, one poll in 250 ms";
    row(
        what,
        &format!("{worst:.0} ms"),
        "300 ms allowed",
        worst / 300.0,
        ("<=", 1.0),
    );
    let what = "CPU of that, with the server's";
    row(
        what,
        &format!("{used:.1} % of a core"),
        "2 % allowed",
        used / 2.0,
        ("<=", 1.0),
    );
}

/// The longest time in milliseconds from an end that was written to the first look that saw it.
fn longest(written: &[(u64, Instant)], seen: &[(u64, Instant)]) -> f64 {
    let delay = |(end, at): &(u64, Instant)| {
        let first = seen.iter().find(|(seen, _)| seen >= end).unwrap();
        first.1.saturating_duration_since(*at)
    };
    written.iter().map(delay).max().unwrap().as_secs_f64() * 1e3
}

/// Polls the ends of all sessions; returns each new end with the time when it was seen.
fn seen_ends(
    backend: &PostgresBackend,
    names: &[SessionRef],
    done: &AtomicBool,
) -> Vec<(u64, Instant)> {
    let (mut before, mut seen) = (backend.ends_of(names).unwrap().unwrap(), Vec::new());
    while !done.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(250));
        let now = backend.ends_of(names).unwrap().unwrap();
        let moved = now
            .iter()
            .zip(&before)
            .filter(|(now, before)| now != before);
        seen.extend(moved.filter_map(|(now, _)| Some(((*now)?, Instant::now()))));
        before = now;
    }
    seen
}
