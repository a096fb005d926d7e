//! The async writer on tokio keeps the same guarantees, in order, even if futures are dropped.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use boswell_store::writer::AsyncWriter;
use boswell_store::{
    Draft, Durability, ErrorKind, Expect, Home, NewSession, Outcome, Session, SessionWriter, Wait,
    WritableStore,
};
use tokio::runtime::{Builder, Runtime};

fn runtime(threads: usize) -> Runtime {
    Builder::new_current_thread()
        .max_blocking_threads(threads)
        .build()
        .unwrap()
}

/// Runs a test on one thread, with several threads for blocking work.
fn on_tokio<T>(test: impl Future<Output = T>) -> T {
    runtime(4).block_on(test)
}

fn new(store: &WritableStore) -> SessionWriter {
    store
        .create(NewSession::in_project("/proj/demo").with_id("a"))
        .unwrap()
}

fn texts(session: &Session) -> Vec<String> {
    let context = session.context(session.tip().unwrap()).unwrap();
    context
        .items
        .iter()
        .map(|item| session.entry(item.slot).unwrap().view.unwrap().text())
        .collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

#[test]
fn it_does_what_the_blocking_writer_does() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    on_tokio(async {
        let new = NewSession::in_project("/proj/demo").with_id("a");
        let writer = AsyncWriter::create(&store, new).await.unwrap();
        let asked = writer.append(Draft::user("why?")).await.unwrap();
        assert_eq!(
            (asked.durable, writer.reference().id.as_str()),
            (Durability::Fsync, "a")
        );
        writer
            .submit(Draft::assistant("who knows"))
            .await
            .unwrap()
            .wait()
            .await
            .unwrap();
        writer.branch(&asked.entry).await.unwrap();
        let two = vec![Draft::assistant("because"), Draft::user("of what?")];
        let receipts = writer
            .append_all(two, Expect::Any, Durability::Os)
            .await
            .unwrap();
        assert_eq!(
            texts(&writer.session().await.unwrap()),
            ["why?", "because", "of what?"]
        );
        assert_eq!(writer.rewind(&receipts[1].entry).await.unwrap(), "of what?");
        writer
            .compact("in short", &receipts[0].entry, 10)
            .await
            .unwrap();
        assert_eq!(
            texts(&writer.session().await.unwrap()).last().unwrap(),
            "because"
        );
        writer
            .branch_with_summary(Some(&asked.entry), "left")
            .await
            .unwrap();
        writer.reset().await.unwrap();
        assert!(texts(&writer.session().await.unwrap()).is_empty());
        writer.clone().finish(Outcome::Completed).await.unwrap();
        assert_eq!(
            writer.append(Draft::user("late")).await.unwrap_err().kind(),
            ErrorKind::Invalid
        );
        AsyncWriter::open(&store, "a", Wait::No)
            .await
            .unwrap()
            .flush()
            .await
            .unwrap();
    });
}

#[test]
fn calls_are_written_in_the_order_in_which_they_were_made() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    on_tokio(async {
        let writer = AsyncWriter::new(new(&store));
        let replies: Vec<_> = numbers(200)
            .into_iter()
            .map(|text| writer.append(Draft::user(text)))
            .collect();
        for reply in replies.into_iter().rev() {
            reply.await.unwrap();
        }
        assert_eq!(texts(&writer.session().await.unwrap()), numbers(200));
    });
}

#[test]
fn dropping_a_future_neither_loses_nor_doubles_the_entry() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    on_tokio(async {
        let writer = AsyncWriter::new(new(&store));
        let mut context = Context::from_waker(Waker::noop());
        for (number, text) in numbers(100).into_iter().enumerate() {
            let reply = writer.append(Draft::user(text));
            match number % 3 {
                0 => drop(reply),
                1 => {
                    let _ = pin!(reply).poll(&mut context);
                }
                _ => drop(reply.await.unwrap()),
            }
        }
        writer.flush().await.unwrap();
        assert_eq!(texts(&writer.session().await.unwrap()), numbers(100));
    });
}

#[test]
fn an_entry_with_an_id_can_be_asked_for_again_after_its_future_was_dropped() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    on_tokio(async {
        let writer = AsyncWriter::new(new(&store));
        drop(writer.append(Draft::user("once").with_id("e1")));
        assert!(
            writer
                .append(Draft::user("once").with_id("e1"))
                .await
                .unwrap()
                .deduplicated
        );
        assert_eq!(texts(&writer.session().await.unwrap()), ["once"]);
    });
}

#[test]
fn errors_come_back_and_do_not_hold_up_what_follows() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    on_tokio(async {
        let writer = AsyncWriter::new(new(&store));
        let stale = writer.append_with(
            Draft::user("no"),
            Expect::Revision("7".parse().unwrap()),
            Durability::Fsync,
        );
        let fine = writer.append(Draft::user("yes"));
        assert_eq!(stale.await.unwrap_err().kind(), ErrorKind::Conflict);
        fine.await.unwrap();
        assert_eq!(texts(&writer.session().await.unwrap()), ["yes"]);
        let missing = AsyncWriter::open(&store, "nobody", Wait::No).await;
        assert!(missing.unwrap_err().is_not_found());
    });
}

#[test]
fn a_runtime_that_ended_is_an_answer_and_not_a_wait_without_end() {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    let first = runtime(1);
    let writer = AsyncWriter::on(new(&store), first.handle().clone());
    let replies: Vec<_> = numbers(50)
        .into_iter()
        .map(|text| writer.append(Draft::user(text)))
        .collect();
    drop(first);
    let late = writer.append(Draft::user("late"));
    let (written, error) = on_tokio(async {
        let mut written = 0;
        for reply in replies {
            written += usize::from(reply.await.is_ok());
        }
        (written, late.await.unwrap_err())
    });
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let stored = texts(&store.session("a").unwrap());
    assert_eq!(
        stored,
        numbers(written),
        "what was acknowledged is there, in order, and nothing else"
    );
}
