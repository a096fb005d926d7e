//! Sessions: lists, reading, pushing, sharing.

use axum::body::Body;
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use boswell_model::ErrorKind;
use boswell_model::json::{Json, Raw};
use boswell_remote::{
    PublishOutcome, SharedFile, SharedManifest, SharedManifestDraft, SharedPage, SharedRow,
    TeamPerson,
};

use super::answer::{LARGEST_JSON, Reply, done, json, read as read_body, revised};
use super::metrics::Metrics;
use super::problem::TeamProblem;
use super::state::TeamState;
use crate::manifest::{PART, TeamFile, TeamManifest, TeamSession, is_hash, part_name, texts};

/// The longest page of a list.
const LONGEST_PAGE: u32 = 500;
/// Between the parts of a cursor: no name has it.
const BETWEEN: char = '\u{1f}';

type Named = Path<(String, String)>;
type NamedPart = Path<(String, String, String)>;

/// Lists sessions that the person may see.
pub(super) async fn list(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    RawQuery(query): RawQuery,
) -> Reply {
    let page = page_of(query.as_deref().unwrap_or_default())?;
    let rows = state.database.page(&person, &page).await?;
    let full = rows.len() as u32 == page.limit;
    let next = rows.last().filter(|_| full).map(|row| {
        let SharedRow {
            pushed,
            owner,
            session,
            ..
        } = row;
        format!("{pushed}{BETWEEN}{owner}{BETWEEN}{session}")
    });
    let rows: Vec<Json> = rows
        .into_iter()
        .map(|row| session_of(row).to_json())
        .collect();
    let answer = Json::object().with("sessions", rows);
    Ok(json(
        &answer.with("next", next.map_or(Json::Null, Json::from)),
    ))
}

fn page_of(query: &str) -> Result<SharedPage, TeamProblem> {
    let mut page = SharedPage {
        limit: 100,
        ..SharedPage::default()
    };
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = value.into_owned();
        match name.as_ref() {
            "project" => page.project = Some(value),
            "text" => page.text = Some(value),
            "limit" => {
                let limit = value
                    .parse()
                    .ok()
                    .filter(|it| (1..=LONGEST_PAGE).contains(it));
                page.limit = limit.ok_or_else(|| TeamProblem::invalid("`limit` is 1 to 500"))?;
            }
            "after" => page.after = Some(cursor(&value)?),
            other => {
                let what = format!("`{}` is not known", other.escape_debug());
                return Err(TeamProblem::invalid(what));
            }
        }
    }
    Ok(page)
}

fn cursor(text: &str) -> Result<(i64, String, String), TeamProblem> {
    let mut parts = text.splitn(3, BETWEEN);
    let wrong = || TeamProblem::invalid("`after` is not the cursor of a page");
    let time = parts.next().and_then(|time| time.parse().ok());
    let (Some(time), Some(owner), Some(session)) = (time, parts.next(), parts.next()) else {
        return Err(wrong());
    };
    Ok((time, owner.to_owned(), session.to_owned()))
}

fn session_of(row: SharedRow) -> TeamSession {
    TeamSession {
        owner: row.owner,
        session: row.session,
        title: row.title,
        folder: row.folder,
        redacted: row.redacted,
        active: row.active,
        revision: row.revision,
        bytes: row.bytes,
        projects: row.projects,
    }
}

/// Returns what a session consists of.
pub(super) async fn read(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session)): Named,
) -> Reply {
    let found = state.database.read(&person, &owner, &session).await?;
    let found = found.ok_or_else(TeamProblem::no_session)?;
    let (revision, projects) = (found.revision, texts(&found.projects));
    let answer = manifest_of(found).to_json();
    Ok(revised(json(&answer.with("projects", projects)), revision))
}

fn manifest_of(found: SharedManifest) -> TeamManifest {
    let file = |file: SharedFile| TeamFile {
        name: file.name,
        bytes: file.bytes,
        sha256: file.sha256,
        parts: file.parts,
    };
    TeamManifest {
        dialect: found.dialect,
        title: found.title,
        folder: found.folder,
        redacted: found.redacted,
        active: found.active,
        files: found.files.into_iter().map(file).collect(),
    }
}

/// Returns a part of a session.
pub(super) async fn part(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session, part)): NamedPart,
) -> Reply {
    let found = state
        .database
        .part(&person, (&owner, &session), &part)
        .await?;
    let bytes = found.ok_or_else(TeamProblem::no_session)?;
    Metrics::add(&state.metrics.sent, bytes.len() as u64);
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Stores a part of a session of one's own, under the hash of its bytes.
pub(super) async fn store(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session, part)): NamedPart,
    body: Body,
) -> Reply {
    require_own(&person, &owner)?;
    let bytes = read_body(body, PART).await?;
    if part_name(&bytes) != part {
        return Err(TeamProblem::invalid(
            "the part has another hash than its name",
        ));
    }
    Metrics::add(&state.metrics.received, bytes.len() as u64);
    let database = &state.database;
    database
        .store_part(&person, &session, &part, bytes.to_vec())
        .await?;
    Ok(done())
}

/// Returns which parts have to be sent.
pub(super) async fn missing(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session)): Named,
    body: Body,
) -> Reply {
    require_own(&person, &owner)?;
    let body = read_body(body, LARGEST_JSON).await?;
    let wrong = || TeamProblem::invalid("a list `parts` of hashes is needed");
    let raw = Raw::parse(body.trim_ascii()).map_err(|_| wrong())?;
    let parts = raw.get("parts").ok_or_else(wrong)?;
    let part = |it: Raw<'_>| it.text().map(|it| it.into_owned()).filter(|it| is_hash(it));
    let parts: Option<Vec<String>> = parts.items().map(part).collect();
    let parts = parts.ok_or_else(wrong)?;
    let missing = state.database.missing(&person, &session, parts).await?;
    Ok(json(&Json::object().with("missing", texts(&missing))))
}

/// Publishes a session of one's own, if it has the revision that the client knows.
pub(super) async fn publish(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session)): Named,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    require_own(&person, &owner)?;
    let follows = condition(&headers)?;
    let body = read_body(body, LARGEST_JSON).await?;
    let manifest = TeamManifest::parse(&body)?;
    let is_named = session
        .split_once(':')
        .is_some_and(|(it, _)| it == manifest.dialect);
    if !is_named {
        return Err(TeamProblem::invalid("the session is of another dialect"));
    }
    let draft = draft_of(manifest, follows);
    match state.database.publish(&person, &session, draft).await? {
        PublishOutcome::Published(revision) => {
            Metrics::add(&state.metrics.published, 1);
            Ok(revised(
                json(&Json::object().with("revision", revision)),
                revision,
            ))
        }
        PublishOutcome::Same(revision) => Ok(revised(
            json(&Json::object().with("revision", revision)),
            revision,
        )),
        PublishOutcome::Moved(actual) => Err(TeamProblem::new(
            StatusCode::PRECONDITION_FAILED,
            ErrorKind::Conflict,
            "the session changed since",
        )
        .with("expected", follows)
        .with("actual", actual)),
        PublishOutcome::Missing => Err(TeamProblem::new(
            StatusCode::CONFLICT,
            ErrorKind::Conflict,
            "parts of the session are missing",
        )
        .hinting("ask for `missing`, store these parts, and publish again")),
        PublishOutcome::Torn => Err(TeamProblem::invalid("a file is not as long as its parts")),
    }
}

/// The revision that a push follows: `If-Match: "3"`, or `If-None-Match: *` for a new session.
fn condition(headers: &HeaderMap) -> Result<u64, TeamProblem> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|it: &HeaderValue| it.to_str().ok())
    };
    if text(header::IF_NONE_MATCH) == Some("*") {
        return Ok(0);
    }
    let tag = text(header::IF_MATCH).and_then(|tag| tag.trim_matches('"').parse().ok());
    tag.filter(|tag| *tag > 0).ok_or_else(|| {
        let what = "`If-Match` with a revision is needed, or `If-None-Match: *`";
        TeamProblem::new(StatusCode::PRECONDITION_REQUIRED, ErrorKind::Invalid, what)
    })
}

fn draft_of(manifest: TeamManifest, follows: u64) -> SharedManifestDraft {
    let hash = manifest.hash();
    let file = |file: TeamFile| SharedFile {
        name: file.name,
        bytes: file.bytes,
        sha256: file.sha256,
        parts: file.parts,
    };
    SharedManifestDraft {
        follows,
        manifest: hash,
        dialect: manifest.dialect,
        title: manifest.title,
        folder: manifest.folder,
        redacted: manifest.redacted,
        active: manifest.active,
        files: manifest.files.into_iter().map(file).collect(),
    }
}

/// Deletes a session of one's own.
pub(super) async fn delete(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session)): Named,
) -> Reply {
    require_own(&person, &owner)?;
    state.database.delete(&person, &session).await?;
    Ok(done())
}

/// Shares a session of one's own with a project.
pub(super) async fn share(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session, project)): NamedPart,
) -> Reply {
    require_own(&person, &owner)?;
    let database = &state.database;
    database.share(&person, &session, (&project, true)).await?;
    Ok(done())
}

/// Takes a session of one's own back.
pub(super) async fn take_back(
    State(state): State<TeamState>,
    Extension(person): Extension<TeamPerson>,
    Path((owner, session, project)): NamedPart,
) -> Reply {
    require_own(&person, &owner)?;
    let database = &state.database;
    database.share(&person, &session, (&project, false)).await?;
    Ok(done())
}

fn require_own(person: &TeamPerson, owner: &str) -> Result<(), TeamProblem> {
    if person.name() == owner {
        return Ok(());
    }
    let what = "only its owner may change a session";
    Err(TeamProblem::new(
        StatusCode::FORBIDDEN,
        ErrorKind::Denied,
        what,
    ))
}
