//! People, projects, the audit, erasure and retention.

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, RawQuery, State};
use boswell_model::json::{Json, Raw};
use boswell_remote::{AuditLine, ProjectRule, TeamPerson};

use super::answer::{Reply, done, json, read};
use super::metrics::Metrics;
use super::problem::TeamProblem;
use super::state::TeamState;
use crate::token::TeamToken;

/// The largest body that names somebody.
const LARGEST: usize = 64 << 10;
/// How long a token is valid if nothing else is asked for, and at most.
const DAYS: (u16, u16) = (90, 366);
/// Parts that were stored so many hours ago and never published are abandoned.
pub(super) const STAGED_HOURS: u16 = 24;

/// Says who asks.
pub(super) async fn me(Extension(person): Extension<TeamPerson>) -> Reply {
    let projects: Vec<Json> = person.projects().map(Json::from).collect();
    let answer = Json::object()
        .with("person", person.name())
        .with("admin", person.is_admin());
    Ok(json(&answer.with("projects", projects)))
}

/// Lists what a person did, and what others did to its sessions.
pub(super) async fn audit(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    RawQuery(query): RawQuery,
) -> Reply {
    let query = query.unwrap_or_default();
    let before = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "before")
        .and_then(|(_, value)| value.parse().ok());
    let lines = state.database.audit(&person, before, 200).await?;
    let line = |line: AuditLine| {
        Json::object()
            .with("at", line.at)
            .with("actor", line.actor)
            .with("act", line.act)
            .with("owner", line.owner)
            .with("session", line.session)
            .with("detail", line.detail)
    };
    let lines: Vec<Json> = lines.into_iter().map(line).collect();
    Ok(json(&Json::object().with("lines", lines)))
}

/// Lists projects.
pub(super) async fn projects(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
) -> Reply {
    let projects = state.database.projects(&person).await?;
    let project = |(name, days, hold): (String, Option<i32>, bool)| {
        Json::object()
            .with("project", name)
            .with("days", days.map_or(Json::Null, Json::from))
            .with("hold", hold)
    };
    let projects: Vec<Json> = projects.into_iter().map(project).collect();
    Ok(json(&Json::object().with("projects", projects)))
}

/// Makes a project, or changes how it keeps its sessions.
pub(super) async fn set_project(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path(project): Path<String>,
    body: Body,
) -> Reply {
    let body = read(body, LARGEST).await?;
    let asked = object(&body)?;
    let days = asked.get("days").filter(|it| !it.is_null());
    let days = days.map(|it| it.u64().and_then(|it| u16::try_from(it).ok()));
    let rule = ProjectRule {
        days: match days {
            Some(None) => return Err(TeamProblem::invalid("`days` is a number of days")),
            given => given.flatten(),
        },
        hold: asked.get("hold").and_then(|it| it.bool()),
    };
    state.database.set_project(&person, &project, rule).await?;
    Ok(done())
}

/// Gives a person a role.
pub(super) async fn set_role(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((project, member)): Path<(String, String)>,
    body: Body,
) -> Reply {
    let body = read(body, LARGEST).await?;
    let role = object(&body)?
        .get("role")
        .and_then(|it| Some(it.text()?.into_owned()));
    let role = role.ok_or_else(|| TeamProblem::invalid("`role` is needed"))?;
    let database = &state.database;
    database
        .set_role(&person, (&project, &member), Some(&role))
        .await?;
    Ok(done())
}

/// Takes the role of a person away.
pub(super) async fn end_role(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((project, member)): Path<(String, String)>,
) -> Reply {
    let database = &state.database;
    database
        .set_role(&person, (&project, &member), None)
        .await?;
    Ok(done())
}

/// Makes a token: an administrator for anybody, who is added, and everybody for itself.
pub(super) async fn token(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path(name): Path<String>,
    body: Body,
) -> Reply {
    let body = read(body, LARGEST).await?;
    let asked = object(&body)?;
    let days = asked.get("days").and_then(|it| it.u64());
    let days = days.map_or(DAYS.0, |days| {
        u16::try_from(days).unwrap_or(DAYS.1).min(DAYS.1)
    });
    let database = &state.database;
    let admin = asked.get("admin").and_then(|it| it.bool());
    if person.is_admin() {
        database.add_person(Some(&person), &name, admin).await?;
    }
    let token = TeamToken::random()?;
    database
        .add_token(Some(&person), &name, token.hash(), days)
        .await?;
    let answer = Json::object()
        .with("person", name)
        .with("days", u32::from(days));
    Ok(json(&answer.with("token", token.reveal())))
}

/// Erases a person, and returns the receipt.
pub(super) async fn erase(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path(name): Path<String>,
) -> Reply {
    let receipt = state.database.erase(&person, &name).await?;
    let answer = Json::object()
        .with("receipt", receipt.id)
        .with("person", receipt.person)
        .with("sessions", receipt.sessions)
        .with("bytes", receipt.bytes)
        .with("tokens", receipt.tokens);
    Ok(json(&answer.with("held", receipt.held)))
}

/// Deletes what is past its retention, now.
pub(super) async fn sweep(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
) -> Reply {
    if !person.is_admin() {
        let what = "only an administrator of the team may do this";
        let kind = boswell_model::ErrorKind::Denied;
        return Err(boswell_model::Error::new(kind, what).into());
    }
    let count = state.database.sweep(STAGED_HOURS).await?;
    Metrics::add(&state.metrics.swept, count.sessions);
    let answer = Json::object().with("sessions", count.sessions);
    Ok(json(&answer.with("parts", count.parts)))
}

/// Reads a body that is an object; an empty one has no members.
fn object(body: &Bytes) -> Result<Raw<'_>, TeamProblem> {
    let text = match body.trim_ascii() {
        b"" => b"{}".as_slice(),
        text => text,
    };
    Raw::parse(text).map_err(|_| TeamProblem::invalid("the body is not JSON"))
}
