//! Every statement that a backend runs, with the types of its parameters.
//!
//! Each names the tenant in its predicate, or calls a function whose first argument is the tenant:
//! distributed PostgreSQL then sends it whole to the one worker with the tenant's rows, and
//! row-level security is only the second wall. `tests/remote/distributed.rs` checks all of them.

use tokio_postgres::types::Type;

/// A statement and the types of its parameters.
#[derive(Debug)]
pub struct SqlStatement {
    /// What it is for.
    pub name: &'static str,
    /// The text.
    pub sql: &'static str,
    pub(in crate::postgres) types: &'static [Type],
}

macro_rules! statements {
    ($(#[$about:meta])* $all:ident; $($(#[$doc:meta])* $id:ident($($kind:ident),*) = $sql:expr;)*) => {
        $($(#[$doc])* pub(in crate::postgres) static $id: SqlStatement = SqlStatement {
            name: stringify!($id),
            sql: $sql,
            types: &[$(Type::$kind),*],
        };)*

        $(#[$about])*
        pub static $all: &[&SqlStatement] = &[$(&$id),*];
    };
}
pub(super) use statements;

statements! {
    /// Every statement of the backend that reads or changes rows of a tenant.
    STATEMENTS;
    TAKE_LEASE(TEXT, TEXT, TEXT, UUID, TEXT, INT4) =
        "SELECT taken, other, left_ms FROM boswell.take_lease($1, $2, $3, $4, $5, $6)";
    RENEW_LEASE(TEXT, TEXT, INT8, INT4) = "SELECT kept FROM boswell.renew_lease($1, $2, $3, $4)";
    RELEASE_LEASE(TEXT, TEXT, INT8) = "SELECT released FROM boswell.release_lease($1, $2, $3)";
    CREATE_LOG(
        TEXT, TEXT, INT8, TEXT, BOOL, BYTEA_ARRAY, INT8, TEXT, TEXT, TEXT, TEXT, INT8, INT8, INT8,
        BYTEA_ARRAY, UUID_ARRAY
    ) = "SELECT at, why FROM boswell.create_log(\
         $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
    APPEND(
        TEXT, TEXT, UUID, INT8, INT8, INT4, BYTEA_ARRAY, INT8, TEXT, TEXT, TEXT, TEXT, INT8, INT8,
        INT8, BYTEA_ARRAY, UUID_ARRAY
    ) = "SELECT at, why, now_key FROM boswell.append(\
         $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    DELETE_LOG(TEXT, TEXT, INT8) = "SELECT why FROM boswell.delete_log($1, $2, $3)";
    CLAIM_BLOB(TEXT, BYTEA, UUID) = "SELECT claimed FROM boswell.claim_blob($1, $2, $3)";
    MARK_BLOBS(TEXT, BYTEA_ARRAY, INT8, UUID) =
        "SELECT * FROM boswell.mark_blobs($1, $2, $3, $4)";
    /// Ends the mark of a sweep whose objects are deleted.
    UNMARK_BLOBS(TEXT, BYTEA_ARRAY, UUID) =
        "DELETE FROM boswell.blobs WHERE tenant = $1 AND sha256 = ANY ($2) \
         AND sweep = $3 \
         AND log = '00000000-0000-0000-0000-000000000000'";
    /// Shows a hidden log. Nothing changes if another writer has done so.
    PUBLISH(TEXT, TEXT, UUID, TEXT) =
        "UPDATE boswell.logs SET key = $4, shown = true \
         WHERE tenant = $1 AND session = $2 AND log = $3 RETURNING key";
    /// The head of a session's log.
    HEAD(TEXT, TEXT) =
        "SELECT log, key, next, bytes, epoch, shown, (extract(epoch FROM touched) * 1000)::bigint \
         FROM boswell.logs WHERE tenant = $1 AND session = $2 AND key IS NOT NULL";
    /// The head of the log at a key.
    HEAD_AT(TEXT, TEXT) =
        "SELECT log, key, next, bytes, epoch, shown, (extract(epoch FROM touched) * 1000)::bigint \
         FROM boswell.logs WHERE tenant = $1 AND key = $2";
    IS_FOLDER(TEXT, TEXT, TEXT) =
        "SELECT EXISTS (SELECT 1 FROM boswell.logs WHERE tenant = $1 AND key > $2 AND key < $3)";
    /// Logs right below a folder; the range has its keys, and the number is the length of its name.
    FILES(TEXT, TEXT, TEXT, INT4) =
        "SELECT key, bytes, (extract(epoch FROM touched) * 1000)::bigint FROM boswell.logs \
         WHERE tenant = $1 AND key > $2 AND key < $3 AND strpos(substr(key, $4), '/') = 0";
    FOLDERS(TEXT, TEXT, TEXT, INT4) =
        "SELECT DISTINCT split_part(substr(key, $4), '/', 1) FROM boswell.logs \
         WHERE tenant = $1 AND key > $2 AND key < $3 AND strpos(substr(key, $4), '/') > 0";
    /// Lines from a position on.
    LINES(TEXT, UUID, INT8, INT8, INT8) =
        "SELECT seq, line FROM boswell.lines \
         WHERE tenant = $1 AND log = $2 AND seq >= $3 AND seq < $4 ORDER BY seq LIMIT $5";
    /// Lines from a position on while they fit into a number of bytes, at least one.
    LINES_WITHIN(TEXT, UUID, INT8, INT8, INT8, INT8) =
        "SELECT seq, line FROM (\
           SELECT seq, line, sum(octet_length(line)) OVER (ORDER BY seq) AS total FROM (\
             SELECT seq, line FROM boswell.lines \
             WHERE tenant = $1 AND log = $2 AND seq >= $3 AND seq < $4 ORDER BY seq LIMIT $5\
           ) AS page\
         ) AS sums WHERE total <= $6 OR seq = $3 ORDER BY seq";
    /// Lines before a position, the last ones first, while they fit into a number of bytes.
    LINES_BEFORE(TEXT, UUID, INT8, INT8, INT8) =
        "SELECT seq, line FROM (\
           SELECT seq, line, sum(octet_length(line)) OVER (ORDER BY seq DESC) AS total FROM (\
             SELECT seq, line FROM boswell.lines \
             WHERE tenant = $1 AND log = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4\
           ) AS page\
         ) AS sums WHERE total <= $5 OR seq = $3 - 1 ORDER BY seq";
    /// A page of sessions, behind a time in microseconds and a session.
    PAGE(TEXT, TEXT, INT8, TEXT, INT8) =
        "SELECT session, key, bytes, next, (extract(epoch FROM touched) * 1000000)::bigint, \
                project, title, prompt, status, created, active, messages FROM boswell.logs \
         WHERE tenant = $1 AND dialect = $2 AND shown \
           AND (touched, session) < (timestamptz 'epoch' + $3 * interval '1 microsecond', $4) \
         ORDER BY touched DESC, session DESC LIMIT $5";
    /// Where logs end: one query for everything that is followed.
    ENDS(TEXT, TEXT_ARRAY) =
        "SELECT session, next FROM boswell.logs \
         WHERE tenant = $1 AND session = ANY ($2) AND key IS NOT NULL";
}

/// What a connection is checked for: rows of no tenant.
pub(super) static CHECK: SqlStatement = SqlStatement {
    name: "CHECK",
    sql: "SELECT current_setting('synchronous_commit'), current_setting('fsync'), \
          (SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user)",
    types: &[],
};

/// The version of the tables.
pub(super) static VERSION_FOUND: SqlStatement = SqlStatement {
    name: "VERSION_FOUND",
    sql: "SELECT max(version) FROM boswell.versions",
    types: &[],
};
