//! Errors of the server and of connections, in the words of boswell.

use boswell_model::{Advice, Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// Why a call failed, and whether the same call may succeed later.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) passes: bool,
}

impl Failure {
    /// A failure that stays.
    pub(super) fn lasting(error: Error) -> Failure {
        Failure {
            error,
            passes: false,
        }
    }

    pub(super) fn unreachable(why: impl Into<String>) -> Failure {
        let error = Error::new(ErrorKind::Unavailable, "the database cannot be reached")
            .because(why)
            .advising(Advice::RetryLater);
        Failure {
            error,
            passes: true,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        let Some(server) = error.as_db_error() else {
            return of_connection(&error);
        };
        let (what, code) = (server.message().to_owned(), server.code());
        let say = |kind, text: &str| Error::new(kind, text.to_owned()).because(what.clone());
        if passes(code) {
            let text = match *code {
                SqlState::QUERY_CANCELED => "the database took longer than it allows a statement",
                _ => "the database cannot answer now",
            };
            let error = say(ErrorKind::Unavailable, text).advising(Advice::RetryLater);
            return Failure {
                error,
                passes: true,
            };
        }
        Failure::lasting(of_server(code, say))
    }
}

/// Whether a statement may succeed when it is sent again.
fn passes(code: &SqlState) -> bool {
    let again = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::QUERY_CANCELED,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    again.contains(code) || code.code().starts_with("08")
}

const SWEPT: &str = "a large value was deleted by a sweep before the entry was added";

/// Whether an append was undone because a sweep took a value that it names.
pub(super) fn is_swept(error: &Error) -> bool {
    error.to_string().contains(SWEPT)
}

fn of_server(code: &SqlState, say: impl Fn(ErrorKind, &str) -> Error) -> Error {
    if code.code() == "BW001" {
        return say(ErrorKind::Conflict, SWEPT)
            .advising("open the session again, and append the entry again");
    }
    match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => say(
            ErrorKind::Denied,
            "the database refused the user or the password",
        )
        .advising("check user and password in the address of the database"),
        SqlState::INSUFFICIENT_PRIVILEGE => {
            say(ErrorKind::Denied, "the database denies the access").advising(
                "let the owner of the tables run `boswell db init --role NAME` for this user",
            )
        }
        SqlState::INVALID_CATALOG_NAME => say(ErrorKind::NotFound, "there is no such database")
            .advising("create it with `createdb`, then run `boswell db init`"),
        SqlState::UNDEFINED_TABLE
        | SqlState::UNDEFINED_FUNCTION
        | SqlState::INVALID_SCHEMA_NAME => {
            say(ErrorKind::NotFound, "the database has no tables of boswell")
                .advising("run `boswell db init` as the owner of the database")
        }
        SqlState::DISK_FULL => say(ErrorKind::NoSpace, "the disk of the database is full")
            .advising("make room on the database server, and open the session again"),
        SqlState::UNIQUE_VIOLATION => say(ErrorKind::Conflict, "the key is taken"),
        SqlState::CHARACTER_NOT_IN_REPERTOIRE | SqlState::UNTRANSLATABLE_CHARACTER => {
            say(ErrorKind::Invalid, "the database cannot store the name")
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            say(ErrorKind::Unavailable, "the database only reads")
                .advising("connect to the primary server")
        }
        _ => say(ErrorKind::Internal, "the database refused a statement")
            .because(format!("SQLSTATE {}", code.code())),
    }
}

fn of_connection(error: &tokio_postgres::Error) -> Failure {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let text = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
    let refused = |kind, what: &'static str, advice: &'static str| {
        let error = Error::new(kind, what).because(text.clone());
        Failure::lasting(error.advising(advice))
    };
    if text.contains("certificate") {
        return refused(
            ErrorKind::Denied,
            "the certificate of the database is not trusted",
            "name the file with its root in SSL_CERT_FILE",
        );
    }
    if text.contains("server does not support TLS") {
        return refused(
            ErrorKind::Unsupported,
            "the database does not encrypt connections, and the address requires it",
            "set ssl = on in the server, or write sslmode=disable for a network that is trusted",
        );
    }
    Failure::unreachable(text)
}
