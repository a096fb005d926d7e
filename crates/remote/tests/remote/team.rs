//! A team in the tables of version 4: who sees what, by every call and by SQL that forgets to say
//! who asks.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use boswell_model::{ErrorKind, Result};
use boswell_remote::{
    ProjectRule, PublishOutcome, SharedFile, SharedManifestDraft, SharedPage, TeamDatabase,
    TeamPerson, Tenant,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::bed;

/// A team on a runtime of its own.
struct Team {
    runtime: tokio::runtime::Runtime,
    database: TeamDatabase,
    tenant: Tenant,
}

impl Team {
    fn new(port: u16) -> Team {
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

    fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(future)
    }

    fn person(&self, name: &str, admin: bool) -> TeamPerson {
        self.wait(self.database.add_person(None, name, Some(admin)))
            .unwrap();
        self.enter(name)
    }

    /// A person with the roles that it has now.
    fn enter(&self, name: &str) -> TeamPerson {
        self.wait(self.database.enter_as(name)).unwrap()
    }

    fn push(&self, by: &TeamPerson, session: &str, text: &str, follows: u64) -> PublishOutcome {
        let hash = hash(text);
        let part = self
            .database
            .store_part(by, session, &hash, text.as_bytes().to_vec());
        self.wait(part).unwrap();
        let publish = self.database.publish(by, session, draft(text, follows));
        self.wait(publish).unwrap()
    }

    fn share(&self, by: &TeamPerson, session: &str, project: &str, on: bool) -> Result<()> {
        self.wait(self.database.share(by, session, (project, on)))
    }

    /// The sessions that a person sees: in lists, by reading, and by part.
    fn seen(&self, by: &TeamPerson) -> BTreeSet<(String, String)> {
        let page = SharedPage {
            limit: 100,
            ..SharedPage::default()
        };
        let rows = self.wait(self.database.page(by, &page)).unwrap();
        rows.into_iter().map(|it| (it.owner, it.session)).collect()
    }
}

/// The name of a part. Its bytes are not checked here: that is what the server does.
fn hash(text: &str) -> String {
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

/// What somebody does: who, with which of its sessions, and what.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Push,
    Share(usize),
    TakeBack(usize),
    Delete,
    Join(usize),
    Leave(usize),
}

const PEOPLE: [&str; 3] = ["ann", "ben", "cat"];
const PROJECTS: [&str; 3] = ["shop", "site", "team"];

fn deed() -> impl Strategy<Value = (usize, usize, usize, Deed)> {
    let deeds = prop_oneof![
        4 => Just(Deed::Push),
        4 => (0..3_usize).prop_map(Deed::Share),
        2 => (0..3_usize).prop_map(Deed::TakeBack),
        1 => Just(Deed::Delete),
        3 => (0..2_usize).prop_map(Deed::Join),
        1 => (0..2_usize).prop_map(Deed::Leave),
    ];
    (0..2_usize, 0..3_usize, 0..2_usize, deeds)
}

/// What a team must be like: the readers of each session, and the members of each project.
#[derive(Debug, Default)]
struct Model {
    sessions: BTreeMap<(String, String), BTreeSet<String>>,
    members: BTreeSet<(String, String)>,
}

impl Model {
    fn seen_by(&self, person: &str) -> BTreeSet<(String, String)> {
        let is_in = |project: &String| {
            project == "team" || self.members.contains(&(project.clone(), person.to_owned()))
        };
        let sees = |((owner, _), projects): &(&(String, String), &BTreeSet<String>)| {
            owner == person || projects.iter().any(is_in)
        };
        self.sessions
            .iter()
            .filter(sees)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

#[test]
fn whatever_people_do_each_sees_what_is_shared_with_them_and_nothing_else() {
    let Some(server) = bed::server() else { return };
    let config = Config {
        cases: 5,
        failure_persistence: None,
        ..Config::default()
    };
    let strategy = proptest::collection::vec(deed(), 1..40);
    let run = |deeds: Vec<(usize, usize, usize, Deed)>| {
        let teams = [Team::new(server.port()), Team::new(server.port())];
        let mut models = [Model::default(), Model::default()];
        for team in &teams {
            let admin = team.person("root", true);
            for name in PEOPLE {
                team.person(name, false);
            }
            for project in &PROJECTS[..2] {
                let set = team
                    .database
                    .set_project(&admin, project, ProjectRule::default());
                team.wait(set).unwrap();
            }
        }
        for (n, (team, person, session, deed)) in deeds.into_iter().enumerate() {
            let names = (PEOPLE[person], format!("claude:s{session}"));
            act(&teams[team], &mut models[team], names, n, deed);
        }
        for (team, model) in teams.iter().zip(&models) {
            PEOPLE.iter().for_each(|person| sees(team, model, person));
        }
        forgotten(server, &teams, &models);
        Ok(())
    };
    TestRunner::new(config).run(&strategy, run).unwrap();
}

fn act(team: &Team, model: &mut Model, (person, session): (&str, String), n: usize, deed: Deed) {
    let by = team.enter(person);
    let name = (person.to_owned(), session.clone());
    let there = model.sessions.contains_key(&name);
    match deed {
        Deed::Push => {
            let read = team
                .wait(team.database.read(&by, person, &session))
                .unwrap();
            let follows = read.map_or(0, |it| it.revision);
            // The same session of another person is another one.
            let text = format!("{} {person} {n}", team.tenant);
            let done = team.push(&by, &session, &text, follows);
            assert_eq!(done, PublishOutcome::Published(follows + 1));
            model.sessions.entry(name).or_default();
        }
        Deed::Share(project) | Deed::TakeBack(project) => {
            let (project, on) = (PROJECTS[project], matches!(deed, Deed::Share(_)));
            let member = (project.to_owned(), person.to_owned());
            let may = project == "team" || model.members.contains(&member) || !on;
            let done = team.share(&by, &session, project, on);
            assert_eq!(done.is_ok(), there && may, "{done:?}");
            if let Some(projects) = model.sessions.get_mut(&name).filter(|_| may) {
                projects.remove(project);
                projects.extend(on.then(|| project.to_owned()));
            }
        }
        Deed::Delete => {
            let done = team.wait(team.database.delete(&by, &session));
            assert_eq!(done.is_ok(), there);
            model.sessions.remove(&name);
        }
        Deed::Join(project) | Deed::Leave(project) => {
            let admin = team.enter("root");
            let role = matches!(deed, Deed::Join(_)).then_some("writer");
            let names = (PROJECTS[project], person);
            team.wait(team.database.set_role(&admin, names, role))
                .unwrap();
            let member = (PROJECTS[project].to_owned(), person.to_owned());
            match role {
                Some(_) => model.members.insert(member),
                None => model.members.remove(&member),
            };
        }
    }
}

/// A person sees by every call exactly what the model says.
fn sees(team: &Team, model: &Model, person: &str) {
    let by = team.enter(person);
    let wanted = model.seen_by(person);
    assert_eq!(team.seen(&by), wanted);
    for owner in PEOPLE {
        for session in ["claude:s0", "claude:s1"] {
            let read = team.wait(team.database.read(&by, owner, session)).unwrap();
            let name = (owner.to_owned(), session.to_owned());
            assert_eq!(read.is_some(), wanted.contains(&name), "{person} {name:?}");
            let Some(read) = read else { continue };
            let text = read.title.unwrap();
            assert!(
                text.starts_with(&format!("{} {owner} ", team.tenant)),
                "{text}"
            );
            let name = hash(&text);
            let part = team.database.part(&by, (owner, session), &name);
            assert_eq!(team.wait(part).unwrap().unwrap(), text.as_bytes());
        }
    }
    let mut own: BTreeMap<String, usize> = BTreeMap::new();
    for (_, session) in model.seen_by(person) {
        *own.entry(session).or_default() += 1;
    }
    for (session, count) in own {
        let page = SharedPage {
            text: Some(session),
            limit: 100,
            ..SharedPage::default()
        };
        let rows = team.wait(team.database.page(&by, &page)).unwrap();
        assert_eq!(rows.len(), count);
    }
}

/// SQL that forgets who asks, or for which team, finds and changes nothing.
fn forgotten(
    server: &boswell_testkit::postgres_server::PostgresServer,
    teams: &[Team; 2],
    models: &[Model; 2],
) {
    let as_app = |sql: &str| server.sql("postgres", &format!("SET ROLE app; {sql}"));
    let tables = ["shared", "shared_files", "shared_parts"];
    let tenant = &teams[0].tenant;
    for before in [
        String::new(),
        "SET boswell.person = 'ann'; SET boswell.readers = 'person:ann project:team';".to_owned(),
        format!("SET boswell.tenant = '{tenant}';"),
        format!(
            "SET boswell.tenant = '{tenant}'; SET boswell.person = ''; SET boswell.readers = '';"
        ),
        format!(
            "BEGIN; SET LOCAL boswell.tenant = '{tenant}'; SET LOCAL boswell.person = 'ann'; COMMIT;"
        ),
    ] {
        for table in tables {
            assert_eq!(
                as_app(&format!("{before} SELECT count(*) FROM boswell.{table}")),
                "0",
                "{before}"
            );
            as_app(&format!("{before} DELETE FROM boswell.{table}"));
            as_app(&format!(
                "{before} UPDATE boswell.{table} SET readers = '{{project:team}}'"
            ));
        }
    }
    // Who asks is set, and the predicate forgotten: one sees what one may see, and changes one's own.
    let set = format!(
        "SET boswell.tenant = '{tenant}'; SET boswell.person = 'cat'; \
         SET boswell.readers = 'person:cat project:team';"
    );
    let team_only = Model {
        sessions: models[0].sessions.clone(),
        members: BTreeSet::new(),
    };
    let count = as_app(&format!("{set} SELECT count(*) FROM boswell.shared"));
    assert_eq!(count, team_only.seen_by("cat").len().to_string());
    as_app(&format!(
        "{set} UPDATE boswell.shared SET title = 'taken' WHERE owner <> 'cat'"
    ));
    as_app(&format!(
        "{set} DELETE FROM boswell.shared_parts WHERE owner <> 'cat'"
    ));
    for (team, model) in teams.iter().zip(models) {
        PEOPLE.iter().for_each(|person| sees(team, model, person));
    }
}
