//! A database, servers on it, and people with tokens.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use boswell_remote::{DatabaseSchema, PostgresOptions, TeamDatabase, Tenant};
use boswell_team::{
    TeamClient, TeamIdentity, TeamListener, TeamServer, TeamServerConfig, TeamStop, TeamToken,
};
use boswell_testkit::postgres_server::PostgresServer;

fn postgres() -> Option<&'static Arc<PostgresServer>> {
    static SERVER: OnceLock<Option<Arc<PostgresServer>>> = OnceLock::new();
    let start = || {
        let server = PostgresServer::start_or_skip("")?;
        server.sql("postgres", "CREATE ROLE app LOGIN");
        let schema = DatabaseSchema::at(&server.address("boswell", "postgres")).unwrap();
        schema.migrate(Some("app")).unwrap();
        Some(Arc::new(server))
    };
    SERVER.get_or_init(start).as_ref()
}

/// A server that runs on a thread.
pub(crate) struct Running {
    pub(crate) url: String,
    stop: TeamStop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Ends it in order, and waits for its end.
    pub(crate) fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// A team on the database that all tests share.
pub(crate) struct Team {
    pub(crate) database: Arc<PostgresServer>,
    pub(crate) tenant: Tenant,
}

impl Team {
    pub(crate) fn new() -> Option<Team> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Some(Team {
            database: Arc::clone(postgres()?),
            tenant: Tenant::new(format!("t{number}")).unwrap(),
        })
    }

    pub(crate) fn options(&self) -> PostgresOptions {
        let address = self.database.address("app", "postgres");
        PostgresOptions::parse(&address, self.tenant.clone()).unwrap()
    }

    pub(crate) fn config(&self) -> TeamServerConfig {
        TeamServerConfig {
            database: self.options(),
            listener: TeamListener::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))),
            identity: TeamIdentity::Token,
            public_origin: None,
            limit: None,
        }
    }

    pub(crate) fn serve(&self) -> Running {
        let server = TeamServer::bind(&self.config()).unwrap();
        let url = format!("http://{}", server.address().unwrap());
        let stop = server.stop();
        let thread = std::thread::spawn(move || server.run().unwrap());
        Running {
            url,
            stop,
            thread: Some(thread),
        }
    }

    /// Lets a person in; returns its token.
    pub(crate) fn token(&self, name: &str, admin: bool) -> TeamToken {
        let database = TeamDatabase::new(&self.options()).unwrap();
        let token = TeamToken::random().unwrap();
        let added = database.wait(async |database| {
            database.add_person(None, name, Some(admin)).await?;
            database.add_token(None, name, token.hash(), 1).await
        });
        added.unwrap();
        token
    }

    pub(crate) fn client(&self, url: &str, name: &str, admin: bool) -> TeamClient {
        TeamClient::new(url, self.token(name, admin)).unwrap()
    }

    pub(crate) fn count(&self, table: &str) -> u64 {
        let tenant = &self.tenant;
        let sql = format!("SELECT count(*) FROM boswell.{table} WHERE tenant = '{tenant}'");
        self.database.sql("postgres", &sql).parse().unwrap()
    }
}

/// Sends a request as it is, and returns the answer as text.
pub(crate) fn ask(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}
