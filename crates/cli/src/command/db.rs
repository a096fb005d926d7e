//! `db`: makes, changes and checks the tables of boswell in PostgreSQL.

use std::process::ExitCode;
use std::time::Duration;

use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_remote::{
    DatabaseSchema, Objects, ObjectsOptions, PostgresBackend, PostgresOptions, TeamDatabase, Tenant,
};
use boswell_team::TeamToken;
use clap::{Args, Subcommand};

use crate::app::App;
use crate::output::Output;

/// Make, migrate and check the tables of boswell in PostgreSQL
///
/// The tables belong to the user of the address. Programs use another user, which owns nothing and
/// sees one tenant at a time: `--role` lets it in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell db init --database postgres://owner@db.example/agents --role boswell_app
  BOSWELL_DATABASE=postgres://boswell_app@db.example/agents boswell db check
  boswell db sweep --tenant team-a --objects 's3://agents?endpoint=https://objects.example'")]
pub(crate) struct DbArgs {
    #[command(subcommand)]
    what: DbCommand,
}

#[derive(Debug, Subcommand)]
enum DbCommand {
    /// Make the tables, or bring older ones to this version
    Init(MigrateArgs),
    /// Bring tables of an older version to this one
    Migrate(MigrateArgs),
    /// Say whether sessions can be stored there, and why not
    Check(DatabaseArgs),
    /// Delete stored objects of a tenant that no session names any more
    Sweep(SweepArgs),
    /// Print the statements that distribute the tables by tenant (Citus)
    Distribute,
    /// Let a person into a team, and print a token for it
    Person(PersonArgs),
}

#[derive(Debug, Args)]
struct PersonArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Name of the person: lower-case letters, digits and . _ @ -
    name: String,
    /// The team, as for `serve --tenant`
    #[arg(long, value_name = "NAME", default_value = "team")]
    tenant: String,
    /// Make the person an administrator of the team
    #[arg(long)]
    admin: bool,
    /// The token is valid for so many days
    #[arg(long, default_value_t = 90)]
    days: u16,
}

#[derive(Debug, Args)]
struct DatabaseArgs {
    /// Address of the database: postgres://USER@HOST/DATABASE
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "BOSWELL_DATABASE",
        hide_env_values = true
    )]
    database: String,
}

#[derive(Debug, Args)]
struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// The user that programs connect as, which must exist
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
}

#[derive(Debug, Args)]
struct SweepArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Whose objects: the name of a tenant
    #[arg(long, value_name = "NAME")]
    tenant: String,
    /// Address of the object storage: s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION
    #[arg(long, value_name = "ADDRESS", env = "BOSWELL_OBJECTS")]
    objects: String,
    /// Leave what was stored, or lost its last name, less than so many hours ago
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=87_600))]
    hours: u64,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &DbArgs) -> Result<ExitCode> {
    match &args.what {
        DbCommand::Init(args) | DbCommand::Migrate(args) => migrate(app, args),
        DbCommand::Check(args) => check(app, args),
        DbCommand::Person(args) => person(app, args),
        DbCommand::Sweep(args) => sweep(app, args),
        DbCommand::Distribute => {
            let mut out = Output::plain(app);
            out.line(DatabaseSchema::distribution().trim_end())?;
            out.finish()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns how the object storage is reached. Its keys come from the environment alone: options are
/// shown in lists of processes.
fn objects(app: &App, address: &str) -> Result<ObjectsOptions> {
    let environment = app.requests.environment();
    let needed = |name: &str| {
        environment.var(name).ok_or_else(|| {
            let what = format!("the keys of the object storage are not given: {name} is not set");
            Error::new(ErrorKind::Invalid, what)
                .advising("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        })
    };
    let (key, secret) = (
        needed("AWS_ACCESS_KEY_ID")?,
        needed("AWS_SECRET_ACCESS_KEY")?,
    );
    ObjectsOptions::parse(address, key, secret, environment.var("AWS_SESSION_TOKEN"))
}

fn may_write(app: &App) -> Result<()> {
    if app.requests.is_read_only() {
        let what = "this command writes, and boswell may only read";
        return Err(Error::new(ErrorKind::Denied, what).advising(Advice::AllowWriting));
    }
    Ok(())
}

fn sweep(app: &App, args: &SweepArgs) -> Result<ExitCode> {
    may_write(app)?;
    let options = objects(app, &args.objects)?;
    let tenant = Tenant::new(args.tenant.as_str())?;
    let database = PostgresOptions::parse(&args.database.database, tenant)?;
    let backend = PostgresBackend::open(database)?.with_objects(Objects::open(options)?);
    let report = backend.sweep(Duration::from_secs(args.hours * 3600))?;
    let mut out = Output::plain(app);
    if out.json {
        let object = Json::object()
            .with("listed", report.listed)
            .with("young", report.young)
            .with("named", report.named)
            .with("deleted", report.deleted)
            .with("bytes", report.bytes);
        out.object(&object)?;
    } else {
        out.line(&format!(
            "{} objects: {} are named or claimed, {} are younger than {} hours, {} were deleted ({} bytes)",
            report.listed, report.named, report.young, args.hours, report.deleted, report.bytes
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn migrate(app: &App, args: &MigrateArgs) -> Result<ExitCode> {
    may_write(app)?;
    let schema = DatabaseSchema::at(&args.database.database)?;
    let before = schema.migrate(args.role.as_deref())?;
    let now = schema.check()?.version;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&Json::object().with("before", before).with("version", now))?;
    } else if before == now {
        out.line(&format!("the tables have version {now} already"))?;
    } else {
        out.line(&format!("the tables have version {now}, they had {before}"))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn check(app: &App, args: &DatabaseArgs) -> Result<ExitCode> {
    let report = DatabaseSchema::at(&args.database)?.check()?;
    let mut out = Output::plain(app);
    if out.json {
        let object = Json::object()
            .with("version", report.version)
            .with("needed", report.needed)
            .with("server", report.server.as_str())
            .with("durable", report.durable)
            .with("held", report.held);
        out.object(&object)?;
    } else {
        let words = |yes: bool| if yes { "yes" } else { "no" };
        out.line(&format!("PostgreSQL {}", report.server))?;
        out.line(&format!(
            "tables            version {} of {}",
            report.version, report.needed
        ))?;
        out.line(&format!("commits are on disk  {}", words(report.durable)))?;
        out.line(&format!("user sees one tenant {}", words(report.held)))?;
    }
    out.finish()?;
    report.require_usable()?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a person as whoever has the database: the first administrator of a team.
fn person(app: &App, args: &PersonArgs) -> Result<ExitCode> {
    if app.requests.is_read_only() {
        let what = "this command writes, and boswell may only read";
        return Err(Error::new(ErrorKind::Denied, what).advising(Advice::AllowWriting));
    }
    let tenant = Tenant::new(args.tenant.as_str())?;
    let options = PostgresOptions::parse(&args.database.database, tenant)?;
    let database = TeamDatabase::new(&options.connections(1))?;
    let token = TeamToken::random()?;
    database.wait(async |database| {
        let admin = args.admin.then_some(true);
        database.add_person(None, &args.name, admin).await?;
        database
            .add_token(None, &args.name, token.hash(), args.days)
            .await
    })?;
    let mut out = Output::plain(app);
    if out.json {
        let object = Json::object().with("person", args.name.as_str());
        out.object(&object.with("token", token.reveal()))?;
    } else {
        out.line(token.reveal())?;
        crate::error_report::say(&format!(
            "this is the only time that the token of {} is shown",
            args.name
        ));
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
