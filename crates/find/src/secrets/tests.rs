use super::*;

fn found(text: &str) -> Vec<(&'static str, String)> {
    let secrets = Secrets::new().unwrap();
    let found = secrets.find(text.as_bytes());
    found
        .into_iter()
        .map(|it| (it.kind, text[it.range].to_owned()))
        .collect()
}

#[test]
fn what_only_looks_like_a_secret_is_left_alone() {
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b and sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 0199a1b2-5678-7abc-8def-0123456789ab",
        "set ANTHROPIC_API_KEY=sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "task-management-and-other-long-words-with-dashes",
        "postgres://user:${PASSWORD}@db/x and http://localhost:8080/@scope",
        "postgres://user:password@localhost/db redis://:password@localhost https://user:pass@example.com",
        "std::collections::HashMap.entry(key).or_insert_with(Vec::new)",
        "disk-sk-abcdefghij",
        "\"integrity\": \"sha512-9n2Fm5v3ZyXq1M8o0uHh7lVb4kq0ZPZ3d7oOZ4mYb7k7J5c5m5q8e1w8p3gqk2u1r9d6x0y4a2s5f8h1j3l6n9==\"",
        "api_key = \"0123456789abcdef0123456789abcdef0123456789\"",
        "client_secret=process.env.CLIENT_SECRET_2",
        "password: correct-horse-battery-staple",
        "api_key=YOUR_API_KEY_GOES_HERE_123",
        "access_token = tokenStore.get(Access2)",
        "password: string; apiKey?: string; token: str = None",
        "type=\"password\" name=\"password\" autocomplete=\"current-password\"",
        "password = \"<your-password>\" secret: \"changeme\" token: '{{ token }}' PASSWORD=$DB_PASSWORD",
        "\"input_tokens\": 12345, \"max_token\": 4096, tokens: 100000",
        "Authorization: Bearer $TOKEN, `Bearer ${token}`, Authorization: Bearer <token>",
        "Basic authentication and Basic understanding123 of it",
        "docker run -u 1000:1000 -p 8080:80 img; mkdir -p a/b; cargo test -p find; ssh -p 2222 host",
        "curl -u user:password https://example.com; curl -X POST https://example.com",
        "the machine has a login and a password",
        "private_key = \"certs/server.pem\" password_file: /run/secrets/db_password",
        "function(e,t,n){return e.password=t,e.token=n.token,e.apiKey=n.apiKey}",
        "Cookie: theme=dark; lang=en; Set-Cookie: Path=/; Max-Age=3600",
        "PWD=/home/bob/work pwd: \"/home/bob\"",
        "session_token: 6f9619ff, token: 6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_picture_in_base64_is_not_searched_for_keys() {
    let mut rng = boswell_testkit::Rng::for_part(1, "picture");
    for _ in 0..40 {
        let mut picture = boswell_testkit::base64::encode(&rng.bytes(6_000));
        for prefix in [
            "AKIA",
            "AIza",
            "EAAC",
            "LTAI",
            "AQVN",
            "AAAAAAAAAAAAAAAAAAAAAAAA",
        ] {
            let at = rng.below(picture.len() - 100);
            picture.replace_range(at..at + prefix.len() + 1, &format!("+{prefix}"));
        }
        assert_eq!(found(&format!("{{\"data\":\"{picture}\"}}")), []);
    }
}

#[test]
fn a_value_of_a_telling_name_is_found_however_it_is_written() {
    for (text, secret) in [
        (
            "\"client_secret\": \"q7Zt2LmX9vKpR4wYb8Nc\"",
            "q7Zt2LmX9vKpR4wYb8Nc",
        ),
        ("password=\"hunter2\"", "hunter2"),
        ("api_key = \"abc123\"", "abc123"),
        (
            "auth_token: 6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        ),
        ("{\\\"password\\\":\\\"hunter2\\\",\\\"x\\\":1}", "hunter2"),
        ("PASSWORD=p@ss!w0rd#1\\nNEXT=1", "p@ss!w0rd#1"),
        (
            "login --token=9f8e7d6c5b4a39281706f5e4d3c2b1a0ffX",
            "9f8e7d6c5b4a39281706f5e4d3c2b1a0ffX",
        ),
        ("postgres://admin:PASS@db/x", "PASS"),
        ("redis://:pw@host", "pw"),
        ("curl -u user:pw https://x", "pw"),
        ("postgres://u:p%40ss%2Fw0rd@db:5432/x", "p%40ss%2Fw0rd"),
        ("postgres://u:p@ss@db/x", "p@ss"),
        ("密码是abc123def", "abc123def"),
    ] {
        let values: Vec<String> = found(text).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [secret], "{text}");
    }
}

#[test]
fn a_masked_secret_cannot_be_used() {
    let secrets = Secrets::new().unwrap();
    let text = "token ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
    let found = secrets.find(text.as_bytes());
    assert_eq!(found[0].masked(text.as_bytes()), "ghp_… (40 bytes)");
    assert_eq!(secrets.redact(text), "token [github-token removed]");
    let text = "password=\"hunter2\"";
    assert_eq!(
        secrets.find(text.as_bytes())[0].masked(text.as_bytes()),
        "… (7 bytes)"
    );
}

#[test]
fn the_beginning_of_a_key_at_the_end_of_a_cut_text_is_removed() {
    let secrets = Secrets::new().unwrap();
    let text = "use ghp_0a1B2c3D";
    assert_eq!(secrets.redact(text), text);
    assert_eq!(
        secrets.redact_into(text, true, &mut SecretCount::default()),
        "use [github-token removed]"
    );
    // The end of a sentence is not a truncated key.
    assert_eq!(
        secrets.redact_into("we use ghp_ tokens", true, &mut SecretCount::default()),
        "we use ghp_ tokens"
    );
}

#[test]
fn long_runs_of_prefixes_are_searched_in_linear_time() {
    let secrets = Secrets::new().unwrap();
    for piece in [
        "-eyJ",
        "password=",
        "curl -u ",
        "ghp_",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "\\u0067",
        "cookie: a=b;",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        // Quadratic work on a megabyte would not finish.
        assert!(secrets.find(text.as_bytes()).len() < text.len());
    }
}

#[test]
fn keys_that_follow_each_other_without_a_gap_are_both_removed() {
    let secrets = Secrets::new().unwrap();
    let key = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
    assert_eq!(
        secrets.redact(&format!("a {key}{key} b")),
        "a [github-token removed] b"
    );
}

#[test]
fn secrets_are_counted_once_each_with_their_kinds() {
    let secrets = Secrets::new().unwrap();
    let mut count = SecretCount::default();
    let text = "password=\"hunter2\" ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R api_key='abc123' api_key='abc123'";
    secrets.redact_into(text, false, &mut count);
    assert_eq!(count.to_string(), "3 secrets (2 kinds)");
    assert_eq!(SecretCount::default().to_string(), "0 secrets (0 kinds)");
}
