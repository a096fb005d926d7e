//! `team`: logging in, what the team shares, and what its administrators do.

use std::io::Read as _;
use std::process::ExitCode;

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};
use boswell_team::{TeamSession, TeamToken};
use clap::{Args, Subcommand};

use super::team_login::TeamLogin;
use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::terminal::one_line;
use crate::words::size;

/// Log in to your team's server, and see what it has
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell team login https://team.example < token.txt
  boswell team list
  boswell team audit                      who read your sessions, and what you did
  boswell team token bob --days 30        for administrators: let somebody in
  boswell team erase --person bob         with a receipt")]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    what: TeamCommand,
}

#[derive(Debug, Subcommand)]
enum TeamCommand {
    /// Log in with a token, which is read from standard input
    Login {
        /// Address of the server
        #[arg(value_name = "https://HOST")]
        url: String,
    },
    /// Forget the token on this machine
    Logout,
    /// List sessions of the team that you can fetch
    List {
        /// Only those of this project
        #[arg(long)]
        project: Option<String>,
        /// Only those with this text in their name, title or folder
        #[arg(long = "match", value_name = "TEXT")]
        text: Option<String>,
    },
    /// Show what you did, and what others did with your sessions
    Audit,
    /// Delete a session of yours from the server
    Delete {
        /// Session of the team: DIALECT:ID or the start of an id
        session: String,
    },
    /// Make a token, for yourself or as an administrator for others
    Token {
        /// Name of the person, who is added if an administrator asks
        person: String,
        /// Valid for so many days [default: 90]
        #[arg(long)]
        days: Option<u16>,
        /// Make the person an administrator
        #[arg(long)]
        admin: bool,
    },
    /// List projects, or make and change one
    Project {
        /// Name of the project
        name: Option<String>,
        /// Delete its sessions so many days after their last push; 0 keeps them
        #[arg(long, value_name = "DAYS")]
        keep: Option<u16>,
        /// Legal hold: nothing of it is deleted or taken back
        #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
        hold: Option<bool>,
    },
    /// Give a person a role in a project: reader, writer, owner or none
    Member {
        /// Name of the project
        project: String,
        /// Name of the person
        person: String,
        /// The role
        role: String,
    },
    /// Erase a person: tokens, roles and sessions, with a receipt
    Erase {
        /// Name of the person
        #[arg(long)]
        person: String,
        /// Do it; without this only what would be erased is said
        #[arg(long)]
        apply: bool,
    },
    /// Delete what is past its retention, now
    Sweep,
}

fn yes_or_no(text: &str) -> std::result::Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("write yes or no".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &TeamArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    match &args.what {
        TeamCommand::Login { url } => login(app, url, &mut out)?,
        TeamCommand::Logout => TeamLogin::forget(app)?,
        TeamCommand::List { project, text } => {
            list(app, (project.as_deref(), text.as_deref()), &mut out)?;
        }
        TeamCommand::Delete { session } => {
            let login = TeamLogin::open(app)?;
            let found = super::fetch::find(&login, &format!("{}/{session}", login.person))?;
            login.client.delete(&login.person, &found.session)?;
            say(&format!("{} was deleted from the server", found.session));
        }
        TeamCommand::Erase {
            person,
            apply: false,
        } => {
            say(&format!(
                "this deletes every session that {person} pushed, and lets {person} in no more"
            ));
            say("nothing was erased; add `--apply` to do it");
            return Ok(ExitCode::from(2));
        }
        other => manage(app, other, &mut out)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The token comes from standard input: an argument would be in lists of processes.
fn login(app: &App, url: &str, out: &mut Output) -> Result<()> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(4096).read_to_string(&mut text);
    read.map_err(|error| Error::io("standard input", "read", error))?;
    let login = TeamLogin::make(app, url, TeamToken::parse(&text)?)?;
    if out.json {
        return out.object(&Json::object().with("person", login.person.as_str()));
    }
    out.line(&format!(
        "logged in to {} as {}",
        login.client.url(),
        login.person
    ))
}

fn list(app: &App, (project, text): (Option<&str>, Option<&str>), out: &mut Output) -> Result<()> {
    let login = TeamLogin::open(app)?;
    let mut after = None;
    loop {
        let (rows, next) = login.client.sessions(project, text, after.as_deref())?;
        for row in rows {
            show(&row, out)?;
        }
        match next {
            Some(next) if !out.gone() => after = Some(next),
            _ => return Ok(()),
        }
    }
}

fn show(row: &TeamSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&row.to_json());
    }
    let with = match row.projects.is_empty() {
        true => "private".to_owned(),
        false => row.projects.join(","),
    };
    let title = one_line(row.title.as_deref().unwrap_or_default());
    let redacted = if row.redacted { "  redacted" } else { "" };
    out.line(&format!(
        "{}/{}  {}  {with}{redacted}  {title}",
        one_line(&row.owner),
        one_line(&row.session),
        size(row.bytes)
    ))
}

/// Runs what is one request, and prints its answer.
fn manage(app: &App, what: &TeamCommand, out: &mut Output) -> Result<()> {
    let login = TeamLogin::open(app)?;
    let none = Json::object();
    let ask = |method: &str, path: &[&str], about: &Json| login.client.manage(method, path, about);
    let answer = match what {
        TeamCommand::Audit => ask("GET", &["audit"], &none)?,
        TeamCommand::Token {
            person,
            days,
            admin,
        } => {
            let about = none.with_some("days", days.map(u32::from));
            let about = about.with_some("admin", admin.then_some(true));
            ask("POST", &["people", person, "tokens"], &about)?
        }
        TeamCommand::Project { name: None, .. } => ask("GET", &["projects"], &none)?,
        TeamCommand::Project {
            name: Some(name),
            keep,
            hold,
        } => {
            let about = none.with_some("days", keep.map(u32::from));
            ask("PUT", &["projects", name], &about.with_some("hold", *hold))?
        }
        TeamCommand::Member {
            project,
            person,
            role,
        } => {
            let path = ["projects", project, "members", person];
            match role.as_str() {
                "none" => ask("DELETE", &path, &none)?,
                role => ask("PUT", &path, &none.with("role", role))?,
            }
        }
        TeamCommand::Erase { person, .. } => ask("DELETE", &["people", person], &none)?,
        TeamCommand::Sweep => ask("POST", &["sweep"], &none)?,
        _ => Vec::new(),
    };
    print(&answer, out)
}

/// Prints an answer: rows of a list, or the members of one object.
fn print(answer: &[u8], out: &mut Output) -> Result<()> {
    if answer.is_empty() {
        say("done");
        return Ok(());
    }
    let strange = |_| Error::new(ErrorKind::Damaged, "the server's answer is not JSON");
    let raw = Raw::parse(answer.trim_ascii()).map_err(strange)?;
    let rows: Vec<Raw<'_>> = match raw.get("lines").or(raw.get("projects")) {
        Some(rows) => rows.items().collect(),
        None => vec![raw],
    };
    for row in rows {
        if out.json {
            out.object(&Json::from(row))?;
            continue;
        }
        let members = row.members().map(|(name, value)| {
            let text = value.text().map(|it| it.into_owned());
            let text = text.unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into_owned());
            format!("{} {}", name.to_text(), one_line(&text))
        });
        let members: Vec<String> = members.collect();
        out.line(&members.join("  "))?;
    }
    Ok(())
}
