//! `serve`: the HTTP server. `web`: the same for a while, with its page in a browser.

mod other_host;
#[cfg(feature = "remote")]
mod team_server;

use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use boswell_app::shape::{ServingShape, Shape as _};
use boswell_model::{Error, ErrorKind, Result};
use boswell_serve::{Changes, Lifetime, ServeConfig, Server};
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::time;
use crate::words::{command, phrase};

/// Serve sessions over HTTP: JSON, live updates and a page
///
/// Only programs on this machine that know a token get an answer. Other machines come through `ssh
/// -L`, or through a proxy with TLS.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell serve                read with the token in serve/read.token
  boswell serve --write        also change, with the token in serve/write.token")]
pub(crate) struct ServeArgs {
    /// Listen at this port [default: the last one used, or 17400, or a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen at this address
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Let programs change sessions
    #[arg(long)]
    write: bool,
    /// Stand behind a proxy with TLS that has this origin
    #[arg(long, value_name = "https://HOST")]
    public_origin: Option<String>,
    /// Also answer the session interface of another program
    #[arg(long, value_enum, value_name = "PROGRAM")]
    compat: Option<CompatArg>,
    /// Stop after this time (10s, 5m)
    #[arg(long = "for", value_name = "TIME")]
    limit: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Serve the sessions of a team in PostgreSQL instead; without a value, BOSWELL_DATABASE
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["write", "compat", "open"]
    )]
    database: Option<String>,
    /// Whose sessions these are, in a database of several teams
    #[arg(
        long,
        value_name = "NAME",
        requires = "database",
        default_value = "team"
    )]
    tenant: String,
    /// Listen at this Unix socket (with --database)
    #[arg(long, value_name = "PATH", requires = "database", conflicts_with_all = ["port", "listen"])]
    socket: Option<std::path::PathBuf>,
    /// Trust this header of a proxy to name the person (with --socket)
    #[arg(long, value_name = "NAME", requires = "socket")]
    identity_header: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompatArg {
    /// The server of clinvoker: `/api/v1/sessions`
    Clinvoker,
}

/// Look at sessions in a browser
///
/// Serves the page until a minute after it was closed. The page reads; it asks before it may change
/// something.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell web              open the page
  boswell web --no-open    only print its address
  boswell web --host box   the sessions of another machine, through ssh")]
pub(crate) struct WebArgs {
    /// Listen at this port [default: the last one used, or 17400, or a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Stop after this time (10s, 5m)
    #[arg(long = "for", value_name = "TIME")]
    limit: Option<String>,
    /// Print the address instead of opening a browser
    #[arg(long)]
    no_open: bool,
    /// Look at the sessions of another machine that has boswell, through ssh
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Runs `serve`.
pub(crate) fn run(app: &App, args: &ServeArgs) -> Result<ExitCode> {
    if let Some(address) = &args.database {
        return team(app, args, address);
    }
    let config = ServeConfig {
        address: args.listen,
        port: args.port,
        public_origin: args.public_origin.clone(),
        changes: if args.write {
            Changes::Always
        } else {
            Changes::Never
        },
        clinvoker: args.compat == Some(CompatArg::Clinvoker),
        mcp: true,
        lifetime: Lifetime::UntilStopped,
        limit: args.limit.as_deref().map(time::span).transpose()?,
        ..config(app)
    };
    if args.write {
        app.requests.may_write()?;
    }
    let server = Server::bind(&config)?;
    announce(app, &server, &config)?;
    if args.open {
        open(app, &server)?;
    }
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "remote")]
fn team(app: &App, args: &ServeArgs, address: &str) -> Result<ExitCode> {
    team_server::run(app, args, address)
}

#[cfg(not(feature = "remote"))]
fn team(_: &App, args: &ServeArgs, _: &str) -> Result<ExitCode> {
    let ServeArgs {
        tenant,
        socket,
        identity_header,
        ..
    } = args;
    let what = format!("this program has no server for the team {tenant}");
    let place = socket.as_ref().map(|it| format!(" at {}", it.display()));
    let by = identity_header.as_ref().map(|it| format!(" with {it}"));
    let what = [Some(what), place, by].into_iter().flatten();
    Err(Error::new(ErrorKind::Unsupported, what.collect::<String>())
        .because("it was built without the feature `remote`")
        .advising("run `cargo install boswell --features remote`"))
}

/// Runs `web`.
pub(crate) fn web(app: &App, args: &WebArgs) -> Result<ExitCode> {
    let limit = args.limit.as_deref().map(time::span).transpose()?;
    if let Some(host) = &args.host {
        return other_host::run(app, args, host);
    }
    let config = ServeConfig {
        port: args.port,
        changes: Changes::OnceAllowed,
        lifetime: Lifetime::WhilePagesAreOpen,
        limit,
        ..config(app)
    };
    let server = Server::bind(&config)?;
    if app.json {
        announce(app, &server, &config)?;
    }
    if args.no_open || is_remote(app) {
        print_url(app, &server)?;
    } else {
        open(app, &server)?;
    }
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

fn config(app: &App) -> ServeConfig {
    ServeConfig {
        app: app.requests.clone(),
        phrase,
        command,
        version: env!("CARGO_PKG_VERSION"),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: None,
        public_origin: None,
        changes: Changes::Never,
        clinvoker: false,
        mcp: false,
        lifetime: Lifetime::UntilStopped,
        limit: None,
    }
}

/// Prints where the server listens and where its tokens are.
fn announce(app: &App, server: &Server, config: &ServeConfig) -> Result<()> {
    let path = |scope: &str| server.folder().token_path(scope).display().to_string();
    let shape = ServingShape {
        url: format!("http://{}", server.address()),
        address: server.address().to_string(),
        read_token: path("read"),
        write_token: (config.changes == Changes::Always).then(|| path("write")),
        mcp_token: config.mcp.then(|| path("mcp")),
        pid: std::process::id(),
    };
    let mut out = Output::plain(app);
    if out.json {
        out.object(&shape.object())?;
    } else {
        out.line(&shape.url)?;
        if !app.quiet {
            say(&format!("token for reading: {}", shape.read_token));
            if let Some(token) = &shape.write_token {
                say(&format!("token for changes: {token}"));
            }
            if let Some(token) = &shape.mcp_token {
                say(&format!("token for agents, at /mcp: {token}"));
            }
        }
    }
    out.finish()
}

/// Prints an address that lets a page in, and how to reach it from another machine.
fn print_url(app: &App, server: &Server) -> Result<()> {
    let url = server.page_url()?;
    let port = server.address().port();
    if app.json {
        return Ok(());
    }
    let mut out = Output::plain(app);
    out.line(&url)?;
    out.finish()?;
    if !app.quiet {
        say("the address is valid once, for ten minutes");
        if is_remote(app) {
            say(&format!(
                "from your own machine: ssh -L {port}:127.0.0.1:{port} {}",
                here(app)
            ));
        }
    }
    Ok(())
}

/// How this machine was reached by ssh.
fn here(app: &App) -> String {
    let env = app.requests.environment();
    let connection = env.var("SSH_CONNECTION").unwrap_or_default();
    let address = connection.split_whitespace().nth(2);
    let user = env.var("USER").or(env.var("LOGNAME"));
    match (user, address) {
        (Some(user), Some(address)) => format!("{user}@{address}"),
        _ => "USER@HOST".to_owned(),
    }
}

/// Whether a browser of the user is on another machine, or there is none.
fn is_remote(app: &App) -> bool {
    let env = app.requests.environment();
    let is_ssh = env.var("SSH_CONNECTION").is_some() || env.var("SSH_TTY").is_some();
    let is_container = env.var("container").is_some()
        || ["/.dockerenv", "/run/.containerenv"]
            .iter()
            .any(|mark| Path::new(mark).exists());
    let has_display = cfg!(any(target_os = "macos", windows))
        || env.var("DISPLAY").is_some()
        || env.var("WAYLAND_DISPLAY").is_some();
    is_ssh || is_container || !has_display
}

/// Opens the page through a file that only its owner can read: the code in the address is in no
/// argument list.
fn open(app: &App, server: &Server) -> Result<()> {
    if is_remote(app) {
        return print_url(app, server);
    }
    open_page(&server.folder().redirect(&server.page_url()?)?)?;
    if !app.quiet && std::io::stderr().is_terminal() {
        say(&format!("the page is at http://{}", server.address()));
    }
    Ok(())
}

fn open_page(page: &Path) -> Result<()> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(
            ErrorKind::Unavailable,
            format!("cannot start `{program}` to open the page"),
        )
        .caused_by(error)
        .advising("print the address with `boswell web --no-open`")),
    }
}
