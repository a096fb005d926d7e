//! A team in the tables of version 4: tokens, pushes, retention, erasure, the audit.

use std::collections::BTreeSet;
use std::future::Future;

use boswell_model::{ErrorKind, Result};
use boswell_remote::{
    ProjectRule, PublishOutcome, SharedFile, SharedManifestDraft, SharedPage, TeamDatabase,
    TeamPerson, Tenant,
};

use crate::bed;

/// A team on a runtime of its own.
pub(crate) struct Team {
    runtime: tokio::runtime::Runtime,
    pub(crate) database: TeamDatabase,
    pub(crate) tenant: Tenant,
}

impl Team {
    pub(crate) fn new(port: u16) -> Team {
        let tenant = bed::tenant();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let options = bed::options(port, &tenant).connections(2);
        let database = TeamDatabase::new(&options).unwrap();
        Team {
            runtime,
            database,
            tenant,
        }
    }

    pub(crate) fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(future)
    }

    pub(crate) fn person(&self, name: &str, admin: bool) -> TeamPerson {
        self.wait(self.database.add_person(None, name, Some(admin)))
            .unwrap();
        self.enter(name)
    }

    /// A person with the roles that it has now.
    pub(crate) fn enter(&self, name: &str) -> TeamPerson {
        self.wait(self.database.enter_as(name)).unwrap()
    }

    pub(crate) fn push(
        &self,
        by: &TeamPerson,
        session: &str,
        text: &str,
        follows: u64,
    ) -> PublishOutcome {
        let hash = hash(text);
        let part = self
            .database
            .store_part(by, session, &hash, text.as_bytes().to_vec());
        self.wait(part).unwrap();
        let publish = self.database.publish(by, session, draft(text, follows));
        self.wait(publish).unwrap()
    }

    pub(crate) fn share(
        &self,
        by: &TeamPerson,
        session: &str,
        project: &str,
        on: bool,
    ) -> Result<()> {
        self.wait(self.database.share(by, session, (project, on)))
    }

    /// The sessions that a person sees: in lists, by reading, and by part.
    pub(crate) fn seen(&self, by: &TeamPerson) -> BTreeSet<(String, String)> {
        let page = SharedPage {
            limit: 100,
            ..SharedPage::default()
        };
        let rows = self.wait(self.database.page(by, &page)).unwrap();
        rows.into_iter().map(|it| (it.owner, it.session)).collect()
    }
}

/// The name of a part. Its bytes are not checked here: that is what the server does.
pub(crate) fn hash(text: &str) -> String {
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{sum:064x}")
}

fn draft(text: &str, follows: u64) -> SharedManifestDraft {
    SharedManifestDraft {
        follows,
        manifest: hash(text),
        dialect: "claude".to_owned(),
        title: Some(text.to_owned()),
        folder: Some("/w".to_owned()),
        redacted: false,
        active: Some(1),
        files: vec![SharedFile {
            name: "projects/-w/a.jsonl".to_owned(),
            bytes: text.len() as u64,
            sha256: hash(text),
            parts: vec![hash(text)],
        }],
    }
}

#[test]
fn tokens_let_their_person_in_until_they_expire() {
    let Some(server) = bed::server() else { return };
    let team = Team::new(server.port());
    let alice = team.person("alice", false);
    assert_eq!(alice.name(), "alice");
    assert_eq!(alice.projects().collect::<Vec<_>>(), ["team"]);
    let add = |by: Option<&TeamPerson>, name: &str, hash: [u8; 32]| {
        team.wait(team.database.add_token(by, name, hash, 1))
    };
    add(Some(&alice), "alice", [1; 32]).unwrap();
    let bob = team.person("bob", false);
    let denied = add(Some(&alice), "bob", [2; 32]).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    assert_eq!(
        add(None, "nobody", [3; 32]).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(team.wait(team.database.enter([1; 32])).unwrap(), alice);
    assert_ne!(alice, bob);
    let unknown = team.wait(team.database.enter([9; 32])).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Denied);
    server.sql(
        "postgres",
        &format!(
            "UPDATE boswell.tokens SET expires = now() WHERE tenant = '{}'",
            team.tenant
        ),
    );
    let expired = team.wait(team.database.enter([1; 32])).unwrap_err();
    assert!(expired.to_string().contains("expired"), "{expired}");
    // Another team does not know the token.
    let other = Team::new(server.port());
    add(None, "alice", [4; 32]).unwrap();
    assert!(team.wait(team.database.enter([4; 32])).is_ok());
    assert!(other.wait(other.database.enter([4; 32])).is_err());
}

#[test]
fn a_push_is_published_as_a_whole_or_not_at_all_and_knows_itself_again() {
    let Some(server) = bed::server() else { return };
    let team = Team::new(server.port());
    let alice = team.person("alice", false);
    let session = "claude:a";
    let publish = |text: &str, follows| {
        let publish = team.database.publish(&alice, session, draft(text, follows));
        team.wait(publish).unwrap()
    };
    assert_eq!(publish("one", 0), PublishOutcome::Missing);
    assert!(team.seen(&alice).is_empty(), "nothing of it is seen");
    let missing = vec![hash("one"), hash("two")];
    let asked = team.database.missing(&alice, session, missing.clone());
    assert_eq!(team.wait(asked).unwrap().len(), 2);
    assert_eq!(
        team.push(&alice, session, "one", 0),
        PublishOutcome::Published(1)
    );
    let asked = team.database.missing(&alice, session, missing);
    assert_eq!(team.wait(asked).unwrap(), [hash("two")]);
    assert_eq!(publish("one", 0), PublishOutcome::Same(1));
    assert_eq!(
        team.push(&alice, session, "two", 0),
        PublishOutcome::Moved(1)
    );
    assert_eq!(publish("two", 1), PublishOutcome::Published(2));
    let read = team.database.read(&alice, "alice", session);
    let read = team.wait(read).unwrap().unwrap();
    assert_eq!((read.revision, read.files), (2, draft("two", 1).files));
    let part = |text: &str| {
        let part = team
            .database
            .part(&alice, ("alice", session), &hash(text))
            .await_in(&team);
        part.unwrap()
    };
    assert_eq!(part("two").as_deref(), Some(&b"two"[..]));
    assert_eq!(part("one"), None, "what no revision names is gone");
    let mut torn = draft("two", 2);
    torn.manifest = hash("torn");
    torn.files[0].bytes += 1;
    let publish = team.database.publish(&alice, session, torn);
    assert_eq!(team.wait(publish).unwrap(), PublishOutcome::Torn);
}

/// Waits for a future on the runtime of a team.
trait AwaitIn<T> {
    fn await_in(self, team: &Team) -> Result<T>;
}

impl<T, F: Future<Output = Result<T>>> AwaitIn<T> for F {
    fn await_in(self, team: &Team) -> Result<T> {
        team.wait(self)
    }
}

#[test]
fn of_two_first_pushes_at_once_one_is_told_that_the_other_was_faster() {
    let Some(server) = bed::server() else { return };
    let team = Team::new(server.port());
    let alice = team.person("alice", false);
    for text in ["one", "two"] {
        let name = hash(text);
        let part = team.database.store_part(&alice, "pi:a", &name, text.into());
        team.wait(part).unwrap();
    }
    let push = |text: &'static str| {
        let (database, alice) = (team.database.clone(), alice.clone());
        let publish = async move { database.publish(&alice, "pi:a", draft(text, 0)).await };
        team.runtime.spawn(publish)
    };
    let (one, two) = (push("one"), push("two"));
    let outcomes = team.runtime.block_on(async { [one.await, two.await] });
    let mut outcomes = outcomes.map(|it| format!("{:?}", it.unwrap().unwrap()));
    outcomes.sort();
    assert!(outcomes[0].starts_with("Moved"), "{outcomes:?}");
    assert_eq!(outcomes[1], "Published(1)");
}

#[test]
fn retention_deletes_hold_keeps_and_erasure_gives_a_receipt() {
    let Some(server) = bed::server() else { return };
    let team = Team::new(server.port());
    let (admin, alice) = (team.person("root", true), team.person("alice", false));
    for project in ["shop", "court"] {
        let rule = ProjectRule::default();
        team.wait(team.database.set_project(&admin, project, rule))
            .unwrap();
        let role = team
            .database
            .set_role(&admin, (project, "alice"), Some("writer"));
        team.wait(role).unwrap();
    }
    let alice = team.enter(alice.name());
    for (session, project) in [
        ("claude:a", "shop"),
        ("claude:b", "court"),
        ("claude:c", "team"),
    ] {
        team.push(&alice, session, session, 0);
        team.share(&alice, session, project, true).unwrap();
    }
    let rule = |project: &'static str, days, hold| {
        let rule = ProjectRule { days, hold };
        team.wait(team.database.set_project(&admin, project, rule))
            .unwrap();
    };
    let sweep = || team.wait(team.database.sweep(24)).unwrap().sessions;
    rule("shop", Some(7), None);
    rule("court", Some(7), Some(true));
    assert_eq!(sweep(), 0, "nothing is old enough");
    server.sql(
        "postgres",
        &format!(
            "UPDATE boswell.shared SET pushed = now() - interval '8 days' WHERE tenant = '{}'",
            team.tenant
        ),
    );
    assert_eq!(sweep(), 1, "the hold keeps the other one");
    let held = team.share(&alice, "claude:b", "court", false).unwrap_err();
    assert_eq!(held.kind(), ErrorKind::Conflict, "{held}");
    let held = team
        .wait(team.database.delete(&alice, "claude:b"))
        .unwrap_err();
    assert_eq!(held.kind(), ErrorKind::Conflict, "{held}");

    let bob = team.person("bob", false);
    let denied = team.wait(team.database.erase(&bob, "alice")).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    let receipt = team.wait(team.database.erase(&alice, "alice")).unwrap();
    assert_eq!((receipt.sessions, receipt.held), (1, 1), "{receipt:?}");
    assert!(team.wait(team.database.enter_as("alice")).is_err());
    let left = |table: &str| {
        let tenant = &team.tenant;
        server.sql(
            "postgres",
            &format!("SELECT count(*) FROM boswell.{table} WHERE tenant = '{tenant}'"),
        )
    };
    assert_eq!(
        (left("shared"), left("receipts")),
        ("1".to_owned(), "1".to_owned())
    );
    rule("court", None, Some(false));
    assert_eq!(sweep(), 1, "once the hold ends, retention goes on");
    assert_eq!(left("shared_parts"), "0");
}

#[test]
fn the_audit_is_seen_by_those_concerned_and_changed_by_nobody() {
    let Some(server) = bed::server() else { return };
    let team = Team::new(server.port());
    let (alice, bob) = (team.person("alice", false), team.person("bob", false));
    let eve = team.person("eve", false);
    team.push(&alice, "pi:a", "text", 0);
    team.share(&alice, "pi:a", "team", true).unwrap();
    team.wait(team.database.read(&bob, "alice", "pi:a"))
        .unwrap()
        .unwrap();
    let acts = |by: &TeamPerson| -> Vec<String> {
        let lines = team.wait(team.database.audit(by, None, 50)).unwrap();
        lines
            .into_iter()
            .map(|it| format!("{} {} {}", it.actor, it.act, it.session))
            .collect()
    };
    assert!(
        acts(&alice).contains(&"bob read pi:a".to_owned()),
        "{:?}",
        acts(&alice)
    );
    assert!(acts(&bob).contains(&"bob read pi:a".to_owned()));
    assert!(
        !acts(&eve).iter().any(|it| it.contains("pi:a")),
        "{:?}",
        acts(&eve)
    );
    // The role of the server may not change what was noted, whatever it sets.
    for change in [
        "UPDATE boswell.audit SET act = 'x'",
        "DELETE FROM boswell.audit",
        "TRUNCATE boswell.audit",
    ] {
        let tried = format!(
            "DO $$ BEGIN SET LOCAL ROLE app; SET LOCAL boswell.tenant = '{}'; SET LOCAL boswell.person = '*'; \
             {change}; RAISE 'changed'; EXCEPTION WHEN insufficient_privilege THEN NULL; END $$",
            team.tenant
        );
        server.sql("postgres", &tried);
    }
}
