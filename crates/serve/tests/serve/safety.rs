//! Requests of other pages, other programs and other people.

use boswell_serve::Changes;

use crate::bench::{Bench, CLAUDE, bearer};

#[test]
fn a_host_that_is_not_loopback_is_misdirected_everywhere() {
    let bench = Bench::writing();
    for path in [
        "/",
        "/healthz",
        "/assets/app.js",
        "/openapi.json",
        "/v1/stores",
        "/v1/login",
    ] {
        for host in [
            "evil.example",
            "evil.example:17400",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "127.0.0.1@evil.example",
            "0.0.0.0",
            "",
        ] {
            let host = format!("Host: {host}");
            let answer = bench.ask("GET", path, &[&host, &bearer(&bench.write)], b"");
            assert!(
                matches!(answer.status, 421 | 400),
                "{path} {host}: {}",
                answer.status
            );
        }
    }
    for host in [
        "localhost:1234",
        "127.0.0.1:17400",
        "[::1]:8080",
        "LOCALHOST",
    ] {
        let host = format!("Host: {host}");
        bench
            .ask("GET", "/v1/stores", &[&host, &bearer(&bench.read)], b"")
            .is(200);
    }
    let twice = bench.raw(
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    assert!(matches!(twice.status, 421 | 400), "{}", twice.status);
    let absolute = bench.raw(
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    );
    assert!(matches!(absolute.status, 421 | 400), "{}", absolute.status);
}

#[test]
fn requests_of_other_origins_are_refused_and_nothing_allows_them() {
    let bench = Bench::writing();
    let token = bearer(&bench.write);
    for method in ["GET", "POST", "OPTIONS", "DELETE"] {
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost:3000",
            "file://",
        ] {
            let origin = format!("Origin: {origin}");
            let path = format!("/v1/sessions/{CLAUDE}");
            let answer = bench.ask(method, &path, &[&origin, &token], b"");
            assert_eq!(answer.status, 403, "{method} {origin}: {}", answer.text());
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    for site in ["cross-site", "same-site"] {
        let site = format!("Sec-Fetch-Site: {site}");
        for path in ["/v1/stores", "/v1/events", "/assets/app.js", "/"] {
            bench.ask("GET", path, &[&site, &token], b"").is(403);
        }
        // Following a link to the page is all that another site may do.
        let dest = "Sec-Fetch-Dest: document";
        bench.ask("GET", "/", &[&site, dest], b"").is(200);
        bench
            .ask("GET", "/v1/stores", &[&site, dest, &token], b"")
            .is(403);
    }
    let ours = format!("Origin: http://{}", bench.address);
    bench
        .ask("GET", "/v1/stores", &[&ours, &token], b"")
        .is(200);
    let options = bench.ask("OPTIONS", "/v1/stores", &[&token], b"");
    assert!(matches!(options.status, 403 | 405), "{}", options.status);
}

#[test]
fn a_missing_short_or_wrong_token_is_refused() {
    let bench = Bench::writing();
    let token = &bench.write;
    let almost = format!("{}x", &token[..token.len() - 1]);
    for header in [
        String::new(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: Basic {token}"),
        format!("Authorization: {token}"),
        bearer(&token[..token.len() - 1]),
        bearer(&format!("{token}x")),
        bearer(&almost),
        bearer(&token.to_uppercase()),
        format!("Cookie: token={token}"),
        format!("X-Api-Key: {token}"),
    ] {
        let headers: Vec<&str> = [header.as_str()]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect();
        let answer = bench.ask("GET", "/v1/stores", &headers, b"").is(401);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(answer.header("set-cookie"), None);
    }
    let in_address = format!("/v1/stores?token={token}");
    bench.ask("GET", &in_address, &[], b"").is(401);
    bench
        .ask("GET", "/v1/stores", &[&bearer(token), &bearer(token)], b"")
        .is(401);
    bench.ask("GET", "/healthz", &[], b"").is(200);
}

#[test]
fn the_token_for_reading_changes_nothing() {
    let bench = Bench::writing();
    let before = bench.get(&format!("/v1/sessions/{CLAUDE}")).is(200).json();
    for (method, below) in [
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/entries"),
        ("POST", "/repair"),
        ("POST", "/fork"),
        ("POST", "/branch"),
        ("POST", "/rewind"),
        ("POST", "/label"),
        ("POST", "/close"),
        ("POST", "/restore"),
    ] {
        let path = format!("/v1/sessions/{CLAUDE}{below}");
        let answer = bench.ask(method, &path, &[&bearer(&bench.read)], b"{\"title\":\"x\"}");
        assert_eq!(answer.status, 403, "{method} {below}: {}", answer.text());
    }
    bench
        .ask("POST", "/v1/sessions", &[&bearer(&bench.read)], b"{}")
        .is(403);
    bench
        .ask("POST", "/v1/ops/x/undo", &[&bearer(&bench.read)], b"{}")
        .is(403);
    bench
        .ask(
            "POST",
            "/v1/changes",
            &[&bearer(&bench.read)],
            b"{\"allow\":true}",
        )
        .is(403);
    let after = bench.get(&format!("/v1/sessions/{CLAUDE}")).is(200).json();
    assert_eq!(before, after);
}

#[test]
fn a_server_that_reads_refuses_even_the_token_for_changes() {
    let bench = Bench::reading();
    let path = format!("/v1/sessions/{CLAUDE}");
    let answer = bench.change("PATCH", &path, "{\"title\":\"x\"}").is(403);
    assert!(answer.text().contains("only reads"), "{}", answer.text());
}

#[test]
fn a_page_gets_in_with_its_code_once_and_may_then_be_allowed_to_change() {
    let bench = Bench::start(Changes::OnceAllowed);
    let code = bench.page_url.split("#k=").nth(1).unwrap().to_owned();
    let body = format!("{{\"code\":\"{code}\"}}");
    let login = |body: &str| bench.ask("POST", "/v1/login", &[], body.as_bytes());
    login("{\"code\":\"wrong\"}").is(401);
    let token = login(&body).is(200).json()["token"]
        .as_str()
        .unwrap()
        .to_owned();
    login(&body).is(401);
    let page = bearer(&token);
    bench.ask("GET", "/v1/stores", &[&page], b"").is(200);
    let path = format!("/v1/sessions/{CLAUDE}");
    bench
        .ask("PATCH", &path, &[&page], b"{\"title\":\"x\"}")
        .is(403);
    let about = bench.ask("GET", "/v1", &[&page], b"").is(200).json();
    assert_eq!(
        (&about["scope"], &about["may_allow_changes"]),
        (&"read".into(), &true.into())
    );
    let allowed = bench
        .ask("POST", "/v1/changes", &[&page], b"{\"allow\":true}")
        .is(200)
        .json();
    let writer = bearer(allowed["token"].as_str().unwrap());
    bench
        .ask("PATCH", &path, &[&writer], b"{\"title\":\"A new name\"}")
        .is(200);
}

#[test]
fn no_name_in_an_address_is_a_path() {
    let bench = Bench::reading();
    let secret = bench.temp.path().join("secret.jsonl");
    std::fs::write(&secret, "{\"type\":\"user\",\"text\":\"the secret\"}\n").unwrap();
    let encoded: String = secret
        .display()
        .to_string()
        .bytes()
        .map(|byte| format!("%{byte:02x}"))
        .collect();
    let names = [
        "..",
        "%2e%2e",
        "%2e%2e%2f%2e%2e%2fsecret",
        "..%2f..%2fsecret.jsonl",
        "%2fetc%2fpasswd",
        "..%5c..%5csecret",
        "%00",
        "a%00b",
        "%c0%ae%c0%ae",
        "%ff",
        "claude:%2e%2e%2fx",
        "@last",
        "@here",
        "-rf",
        "~",
        "secret.jsonl",
        "claude:%2fetc%2fpasswd",
        &encoded,
    ];
    for name in names {
        for path in [
            format!("/v1/sessions/{name}"),
            format!("/v1/sessions/{name}/entries"),
            format!("/v1/sessions/{name}/export"),
            format!("/v1/sessions/{name}/events"),
            format!("/v1/sessions/{CLAUDE}/entries/{name}"),
            format!("/v1/sessions/{CLAUDE}/attachments/{name}"),
            format!("/v1/sessions/{CLAUDE}/entries/{name}/subagents"),
            format!("/v1/sessions/{CLAUDE}/entries/{name}/media/0"),
            format!("/v1/sessions/{CLAUDE}/entries/x/media/{name}"),
            format!("/v1/sessions/{CLAUDE}/entries?branch={name}"),
            format!("/v1/sessions/{CLAUDE}/heads?branch={name}"),
            format!("/v1/blobs/{name}"),
            format!("/v1/take/{name}"),
            format!("/assets/{name}"),
        ] {
            let answer = bench.get(&path);
            assert!(
                matches!(answer.status, 400 | 404),
                "{path}: {}",
                answer.text()
            );
            assert!(!answer.text().contains("the secret"), "{path}");
            assert!(!answer.text().contains("root:"), "{path}");
        }
    }
    bench.get("/v1/../../etc/passwd").is(404);
}

#[test]
fn every_answer_forbids_what_a_page_does_not_need() {
    let bench = Bench::reading();
    for path in ["/", "/v1/stores", "/v1/none", "/healthz"] {
        let answer = bench.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert_eq!(
            answer.header("referrer-policy"),
            Some("no-referrer"),
            "{path}"
        );
        assert_eq!(answer.header("set-cookie"), None, "{path}");
        assert!(
            answer.header("cache-control").unwrap().contains("no-"),
            "{path}"
        );
    }
}

#[cfg(unix)]
#[test]
fn tokens_and_redirects_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::reading();
    let folder = bench.temp.path().join("d/own/serve");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let page = boswell_serve::ServeFolder::open(&bench.temp.path().join("d/own"))
        .unwrap()
        .redirect("http://127.0.0.1:1/#k=code")
        .unwrap();
    for file in [folder.join("read.token"), folder.join("write.token"), page] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn an_address_that_others_reach_needs_a_proxy_with_tls() {
    let bench = Bench::reading();
    let bind = |address: &str, origin: Option<&str>| {
        boswell_serve::Server::bind(&boswell_serve::ServeConfig {
            app: bench.app.clone(),
            phrase: |advice| advice.word().to_owned(),
            command: |_| None,
            version: "test",
            address: address.parse().unwrap(),
            port: Some(0),
            public_origin: origin.map(str::to_owned),
            changes: Changes::Never,
            clinvoker: false,
            mcp: false,
            lifetime: boswell_serve::Lifetime::UntilStopped,
            limit: None,
        })
    };
    assert!(bind("0.0.0.0", None).is_err());
    assert!(bind("127.0.0.1", Some("http://host.example")).is_err());
    assert!(bind("127.0.0.1", Some("https://host.example/path")).is_err());
    assert!(bind("127.0.0.1", Some("https://host.example")).is_ok());
}
