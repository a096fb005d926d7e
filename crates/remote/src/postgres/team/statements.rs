//! Every statement of a team's tables. Each names the tenant, as those of the backend do, and those
//! that read sessions also who may see them: before anything is ordered or counted.

use tokio_postgres::types::Type;

use crate::postgres::statements::{SqlStatement, statements};

statements! {
    /// Every statement of [`TeamDatabase`](super::TeamDatabase).
    TEAM_STATEMENTS;
    PERSON(TEXT, TEXT, TEXT, BOOL) = "SELECT why FROM boswell.team_person($1, $2, $3, $4)";
    TOKEN(TEXT, TEXT, TEXT, BYTEA, INT4) =
        "SELECT why FROM boswell.team_token($1, $2, $3, $4, $5)";
    ENTER(TEXT, BYTEA, TEXT) = "SELECT who, is_admin, sees, why FROM boswell.team_enter($1, $2, $3)";
    PROJECT(TEXT, TEXT, BOOL, TEXT, INT4, BOOL) =
        "SELECT why FROM boswell.team_project($1, $2, $3, $4, $5, $6)";
    MEMBER(TEXT, TEXT, BOOL, TEXT, TEXT, TEXT) =
        "SELECT why FROM boswell.team_member($1, $2, $3, $4, $5, $6)";
    PART(TEXT, TEXT, TEXT, TEXT, BYTEA) = "SELECT why FROM boswell.team_part($1, $2, $3, $4, $5)";
    MISSING(TEXT, TEXT, TEXT, TEXT_ARRAY) =
        "SELECT missing FROM boswell.team_missing($1, $2, $3, $4)";
    PUBLISH_SHARED(
        TEXT, TEXT, TEXT, INT8, TEXT, TEXT, TEXT, TEXT, BOOL, INT8, TEXT_ARRAY, INT8_ARRAY,
        TEXT_ARRAY, TEXT_ARRAY
    ) = "SELECT now_at, why FROM boswell.team_publish(\
         $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    SHARE(TEXT, TEXT, TEXT, TEXT, BOOL) = "SELECT why FROM boswell.team_share($1, $2, $3, $4, $5)";
    DELETE_SHARED(TEXT, TEXT, TEXT, TEXT, TEXT) =
        "SELECT why FROM boswell.team_delete($1, $2, $3, $4, $5)";
    NOTE(TEXT, TEXT, TEXT, TEXT, TEXT, TEXT) =
        "SELECT why FROM boswell.team_note($1, $2, $3, $4, $5, $6)";
    READ(TEXT, TEXT, TEXT_ARRAY, TEXT, TEXT) =
        "SELECT now_at, of_dialect, of_title, of_folder, is_redacted, last_active, seen_by, names, \
                sizes, sums, parts_of FROM boswell.team_read($1, $2, $3, $4, $5)";
    ERASE(TEXT, TEXT, TEXT, UUID) =
        "SELECT erased, freed, revoked, kept FROM boswell.team_erase($1, $2, $3, $4)";
    SWEEP(TEXT, INT4) = "SELECT expired, abandoned FROM boswell.team_sweep($1, $2)";
    /// A page of sessions that these readers may see, the last pushed first.
    SHARED_PAGE(TEXT, TEXT_ARRAY, TEXT, TEXT, INT8, TEXT, TEXT, INT8) =
        "SELECT owner, session, title, folder, redacted, active, revision, bytes, readers, \
                (extract(epoch FROM pushed) * 1000000)::bigint FROM boswell.shared \
         WHERE tenant = $1 AND readers && $2 AND ($3::text IS NULL OR $3 = ANY (readers)) \
           AND ($4::text IS NULL OR strpos(lower(session || ' ' || coalesce(title, '') || ' ' || \
                coalesce(folder, '')), $4) > 0) \
           AND (pushed, owner, session) < \
               (timestamptz 'epoch' + $5 * interval '1 microsecond', $6, $7) \
         ORDER BY pushed DESC, owner DESC, session DESC LIMIT $8";
    /// One part of a session that these readers may see.
    PART_BYTES(TEXT, TEXT_ARRAY, TEXT, TEXT, TEXT) =
        "SELECT bytes FROM boswell.shared_parts \
         WHERE tenant = $1 AND readers && $2 AND owner = $3 AND session = $4 AND hash = $5";
    /// What was done by a person or to what is theirs, the last first.
    AUDIT(TEXT, TEXT, INT8, INT8) =
        "SELECT (extract(epoch FROM at) * 1000000)::bigint, actor, act, owner, session, detail \
         FROM boswell.audit WHERE tenant = $1 AND (actor = $2 OR owner = $2) \
           AND at < timestamptz 'epoch' + $3 * interval '1 microsecond' \
         ORDER BY at DESC, id DESC LIMIT $4";
    PROJECTS(TEXT) =
        "SELECT project, keep_days, hold FROM boswell.projects WHERE tenant = $1 ORDER BY project";
}
