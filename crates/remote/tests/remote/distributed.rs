//! What distributed PostgreSQL asks of tables and statements: the distribution column `tenant` in
//! every key and in every predicate, and functions that can be sent whole to one worker.

use std::collections::BTreeSet;

use boswell_remote::{DatabaseSchema, STATEMENTS, TEAM_STATEMENTS};

use crate::bed;

#[test]
fn every_statement_names_the_tenant_first() {
    for statement in STATEMENTS.iter().chain(TEAM_STATEMENTS) {
        let sql = statement.sql;
        let calls = sql.matches("boswell.").count();
        let by_function = sql.contains("FROM boswell.") && sql.contains("($1, $2");
        let by_predicate = sql.matches("tenant = $1").count();
        // One table or one function each: a second one would be a join over shards.
        assert_eq!(calls, 1, "{}: {sql}", statement.name);
        assert!(
            by_function ^ (by_predicate == 1),
            "{}: {sql}",
            statement.name
        );
    }
}

#[test]
fn every_key_of_a_table_begins_with_the_tenant() {
    let Some(server) = bed::server() else { return };
    let keys = server.sql(
        "postgres",
        "SELECT c.relname || ' ' || i.relname || ' ' || a.attname FROM pg_index x \
         JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'boswell' \
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]",
    );
    let keys: Vec<&str> = keys
        .lines()
        .filter(|key| !key.starts_with("versions "))
        .collect();
    assert!(keys.len() >= 4, "{keys:?}");
    for key in keys {
        assert!(key.ends_with(" tenant"), "{key}");
    }
}

#[test]
fn statements_inside_of_functions_name_the_tenant_too() {
    let functions = [
        include_str!("../../sql/functions.sql"),
        include_str!("../../sql/team.sql"),
    ]
    .concat();
    let (mut count, mut text) = (0, String::new());
    for line in functions
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"))
    {
        text.push_str(line);
        text.push('\n');
    }
    for statement in text.split(';') {
        let touches = ["UPDATE boswell.", "DELETE FROM boswell.", "FROM boswell."]
            .iter()
            .any(|word| statement.contains(word));
        if touches {
            count += 1;
            assert!(statement.contains("tenant = p_tenant"), "{statement}");
        }
        if statement.contains("INSERT INTO boswell.") {
            count += 1;
            assert!(
                statement.contains("(tenant, ") && statement.contains("VALUES (p_tenant, "),
                "{statement}"
            );
        }
    }
    assert!(count >= 12, "only {count} statements were found");
}

#[test]
fn every_function_is_distributed_by_its_tenant_with_the_arguments_that_it_has() {
    let Some(server) = bed::server() else { return };
    let there = server.sql(
        "postgres",
        "SELECT p.proname || '(' || replace(replace(replace(pg_get_function_identity_arguments(p.oid), \
           'OUT ', '-'), 'integer', 'int'), ', ', ',') || ')' FROM pg_proc p \
         JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'boswell'",
    );
    let named: BTreeSet<String> = there
        .lines()
        .map(|line| {
            let (name, arguments) = line.trim_end_matches(')').split_once('(').unwrap();
            let inputs = arguments.split(',').filter(|it| !it.starts_with('-'));
            let types: Vec<&str> = inputs.map(|it| it.rsplit(' ').next().unwrap()).collect();
            format!("boswell.{name}({})", types.join(","))
        })
        .collect();
    let text = DatabaseSchema::distribution();
    let distributed: BTreeSet<String> = text
        .split("create_distributed_function(")
        .skip(1)
        .map(|call| call.split('\'').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(distributed, named);
    assert_eq!(text.matches("'p_tenant'").count(), named.len());
}

#[test]
fn tails_pages_and_ids_are_read_by_an_index_and_nothing_is_sorted() {
    let Some(server) = bed::server() else { return };
    let database = bed::database(server);
    bed::migrate(server, &database);
    server.sql(
        &database,
        "INSERT INTO boswell.logs (tenant, session, dialect, log, key, shown, next, epoch, touched) \
         SELECT 't' || i % 4, 'boswell:s' || i, 'boswell', gen_random_uuid(), 'sessions/p/1_s' || i || '.jsonl', \
                true, 1, 1, now() - make_interval(secs => i) FROM generate_series(1, 20000) i; \
         INSERT INTO boswell.lines SELECT 't', '00000000-0000-0000-0000-000000000001', i, '{}' \
         FROM generate_series(1, 50000) i; ANALYZE boswell.logs; ANALYZE boswell.lines",
    );
    let cases = [
        (
            "PAGE",
            "'t1', 'boswell', 253402300799000000, '', 50",
            "logs_by_time",
        ),
        ("HEAD", "'t1', 'boswell:s5'", "logs_pkey"),
        (
            "HEAD_AT",
            "'t1', 'sessions/p/1_s5.jsonl'",
            "logs_tenant_key_key",
        ),
        (
            "LINES_BEFORE",
            "'t', '00000000-0000-0000-0000-000000000001', 50001, 64, 65536",
            "lines_pkey",
        ),
        (
            "LINES",
            "'t', '00000000-0000-0000-0000-000000000001', 40000, 50001, 64",
            "lines_pkey",
        ),
    ];
    for (name, arguments, index) in cases {
        let statement = STATEMENTS.iter().find(|it| it.name == name).unwrap();
        let types = match name {
            "PAGE" => "text, text, bigint, text, bigint",
            "HEAD" | "HEAD_AT" => "text, text",
            _ => "text, uuid, bigint, bigint, bigint",
        };
        let plan = server.sql(
            &database,
            &format!(
                "PREPARE it({types}) AS {}; EXPLAIN EXECUTE it({arguments})",
                statement.sql
            ),
        );
        assert!(plan.contains(index), "{name}: {plan}");
        assert!(!plan.contains("Seq Scan"), "{name}: {plan}");
        // Only a page of bytes, which is short, is put into the order of the log.
        assert!(
            name == "LINES_BEFORE" || !plan.contains("Sort"),
            "{name}: {plan}"
        );
    }
}
