//! Following a session, and many at once.

use boswell_model::SessionRef;
use boswell_store::backend::Backend;
use boswell_store::{Draft, Follower, NewSession};

use crate::bed;

#[test]
fn a_follower_goes_on_where_it_was_when_the_server_was_restarted() {
    let Some(server) = bed::ready_server() else {
        return;
    };
    let tenant = bed::tenant();
    let backend = bed::backend(bed::options(server.port(), &tenant));
    let store = bed::store(&backend);
    let writer = store
        .create(NewSession::in_project("/p").with_id("s"))
        .unwrap();
    let hasty = bed::options(server.port(), &tenant).patience(std::time::Duration::ZERO);
    let mut hasty = Follower::new(&bed::store(&bed::backend(hasty)), "s").unwrap();
    let mut follower = Follower::new(&bed::store(&backend), "s").unwrap();
    let (mut seen, mut seen_hastily) = (Vec::new(), Vec::new());
    for round in 0..3 {
        for turn in 0..5 {
            let id = format!("e{round}-{turn}");
            writer.append(Draft::user("x").with_id(id)).unwrap();
            let news = follower.poll().unwrap().entries;
            seen.extend(news.into_iter().filter_map(|it| it.id.map(String::from)));
        }
        server.stop();
        assert!(
            hasty.poll().is_err(),
            "without patience a poll fails, and the next one tries again"
        );
        server.start();
        let news = loop {
            if let Ok(news) = hasty.poll() {
                break news.entries;
            }
        };
        seen_hastily.extend(news.into_iter().filter_map(|it| it.id.map(String::from)));
    }
    let all: Vec<String> = (0..3)
        .flat_map(|r| (0..5).map(move |t| format!("e{r}-{t}")))
        .collect();
    assert_eq!(seen, all);
    assert_eq!(seen_hastily, all);
}

#[test]
fn the_ends_of_many_sessions_are_one_statement() {
    let Some(server) = bed::server() else { return };
    let backend = bed::backend(bed::options(server.port(), &bed::tenant()));
    let store = bed::store(&backend);
    let names: Vec<SessionRef> = (0..20)
        .map(|n| SessionRef::new("boswell", format!("s{n}")))
        .collect();
    for name in &names {
        store
            .create(NewSession::in_project("/p").with_id(name.id.as_str()))
            .unwrap()
            .release()
            .unwrap();
    }
    let before = backend.ends_of(&names).unwrap().unwrap();
    let receipt = store
        .shared_writer("s7")
        .unwrap()
        .append(Draft::user("x"))
        .unwrap();
    let after = backend.ends_of(&names).unwrap().unwrap();
    let moved: Vec<usize> = (0..20).filter(|n| before[*n] != after[*n]).collect();
    assert_eq!(moved, [7]);
    assert_eq!(after[7], Some(receipt.revision.end()));
}
