//! Who sees what: by every call, and by SQL that forgets to say who asks.

use std::collections::{BTreeMap, BTreeSet};

use boswell_remote::{ProjectRule, PublishOutcome, SharedPage};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::bed;
use crate::team::{Team, hash};

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
    // Who asks is set, and the predicate forgotten: one sees what one may see, and changes one's
    // own.
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
