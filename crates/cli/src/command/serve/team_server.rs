//! `serve --database`: the server of a team.

use std::net::SocketAddr;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_remote::{PostgresOptions, Tenant};
use boswell_team::{TeamIdentity, TeamListener, TeamServer, TeamServerConfig};

use super::ServeArgs;
use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::time;

/// The port that is used if none is given.
const PORT: u16 = 17450;

pub(super) fn run(app: &App, args: &ServeArgs, address: &str) -> Result<ExitCode> {
    let address = match address {
        "" => app
            .requests
            .environment()
            .var("BOSWELL_DATABASE")
            .unwrap_or_default(),
        given => given,
    };
    if address.is_empty() {
        let what = "no database is named";
        return Err(Error::new(ErrorKind::Invalid, what)
            .advising("give `--database postgres://USER@HOST/DATABASE`, or set BOSWELL_DATABASE"));
    }
    let options = PostgresOptions::parse(address, Tenant::new(args.tenant.as_str())?)?;
    let config = TeamServerConfig {
        database: options.connections(16),
        listener: match &args.socket {
            Some(path) => TeamListener::Socket(path.clone()),
            None => TeamListener::Tcp(SocketAddr::new(args.listen, args.port.unwrap_or(PORT))),
        },
        identity: match &args.identity_header {
            Some(name) => TeamIdentity::ProxyHeader(name.clone()),
            None => TeamIdentity::Token,
        },
        public_origin: args.public_origin.clone(),
        limit: args.limit.as_deref().map(time::span).transpose()?,
    };
    let server = TeamServer::bind(&config)?;
    announce(app, args, &server)?;
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints where it listens.
fn announce(app: &App, args: &ServeArgs, server: &TeamServer) -> Result<()> {
    let place = match (&args.socket, server.address()) {
        (None, Some(address)) => format!("http://{address}"),
        (socket, _) => socket
            .as_ref()
            .map_or_else(String::new, |it| it.display().to_string()),
    };
    let mut out = Output::plain(app);
    if out.json {
        let object = Json::object()
            .with("url", place)
            .with("tenant", args.tenant.as_str());
        out.object(&object.with("pid", std::process::id()))?;
    } else {
        out.line(&place)?;
        if !app.quiet {
            say("let the first person in with `boswell db person NAME --admin`");
        }
    }
    out.finish()
}
