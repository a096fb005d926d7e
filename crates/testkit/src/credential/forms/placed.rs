//! Passwords, headers and private keys, recognised by their position.

use super::super::{Credential, draw};
use super::{ALNUM, ALPHA, BASE64, DIGIT, UPPER, body};
use crate::Rng;

/// Returns a typical password: short, with special characters, or of letters only.
fn password(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => format!(
            "{}{}",
            draw(rng, "bcdfghklmnprstvz", 5),
            draw(rng, DIGIT, 2)
        ),
        1 => format!("{}!{}", draw(rng, ALPHA, 6), draw(rng, DIGIT, 3)),
        2 => format!(
            "{}#{}{}",
            draw(rng, UPPER, 3),
            draw(rng, ALPHA, 4),
            draw(rng, DIGIT, 2)
        ),
        _ => format!("{}{}", draw(rng, ALPHA, 9), draw(rng, DIGIT, 1)),
    }
}

/// Positions of a password: `PW` is replaced by it.
const PLACES: &[(&str, &str)] = &[
    ("postgres address", "postgres://admin:PW@db/x"),
    (
        "postgres address with a port",
        "postgresql://app_user:PW@db.internal.example.org:5432/app?sslmode=require",
    ),
    ("redis address without a user", "redis://:PW@cache:6379/0"),
    (
        "mongo address",
        "mongodb+srv://root:PW@cluster0.ab1cd.mongodb.net/test",
    ),
    ("mysql address", "mysql://svc:PW@10.0.0.7/orders"),
    ("amqp address", "amqps://svc:PW@mq.example.org/vhost"),
    (
        "git address",
        "https://ci-bot:PW@git.example.org/team/app.git",
    ),
    ("ftp address", "ftp://deploy:PW@files.example.org"),
    ("quoted password", "password=\"PW\""),
    ("spaced password", "password = 'PW'"),
    ("json password", "{\"password\": \"PW\"}"),
    ("yaml password", "db:\n  password: PW\n  port: 5432"),
    ("env password", "DB_PASSWORD=PW\n"),
    ("short pass", "SMTP_PASS=PW"),
    ("option password", "tool --password PW --verbose"),
    ("option with equals", "tool --password=PW"),
    ("curl", "curl -sS -u deploy:PW https://api.example.org/v1"),
    (
        "curl quoted",
        "curl --user 'deploy:PW' https://api.example.org",
    ),
    ("curl glued", "curl -udeploy:PW https://api.example.org"),
    (
        "curl over lines",
        "curl https://api.example.org \\\n  -H 'Accept: x' \\\n  -u \"deploy:PW\"",
    ),
    ("mysql client", "mysql -h db -u root -pPW app"),
    ("sshpass", "sshpass -p 'PW' ssh root@host"),
    (
        "docker login",
        "docker login -u bob -p PW registry.example.org",
    ),
    ("redis client", "redis-cli -h cache -a PW ping"),
    (
        "netrc on a line",
        "machine api.example.org login bob password PW",
    ),
    (
        "netrc over lines",
        "machine api.example.org\n  login bob\n  password PW\n",
    ),
    ("pgpass", "db.example.org:5432:app:bob:PW"),
    ("prose", "the password is PW"),
    ("chinese prose", "数据库密码：PW"),
    ("xml", "<password>PW</password>"),
];

/// Headers: `KEY` is replaced by a value.
const HEADERS: &[(&str, &str)] = &[
    ("cookie", "Cookie: theme=dark; session=KEY"),
    ("cookie of php", "cookie: PHPSESSID=KEY; lang=en"),
    (
        "set-cookie",
        "Set-Cookie: connect.sid=KEY; Path=/; HttpOnly",
    ),
    ("cookie in json", "\"Cookie\": \"sessionid=KEY\""),
    ("curl cookie", "curl -b 'session=KEY' https://example.org"),
    ("bearer", "Authorization: Bearer KEY"),
    ("bearer in json", "\"authorization\": \"Bearer KEY\""),
    ("token", "Authorization: token KEY"),
    ("bare authorization", "Authorization: KEY"),
    ("api key header", "x-api-key: KEY"),
    (
        "query",
        "https://api.example.org/v1?access_token=KEY&page=2",
    ),
    (
        "sas",
        "https://acct.blob.core.windows.net/c?sv=2022&sig=KEYKEYKEY%3D",
    ),
];

pub(crate) fn placed(rng: &mut Rng) -> Vec<Credential> {
    [
        passwords(rng),
        headers(rng),
        pairs_and_accounts(rng),
        private_keys(rng),
    ]
    .concat()
}

fn passwords(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    for (issuer, place) in PLACES {
        let mut secret = password(rng);
        // A `#` ends the host of a URL, so URLs contain it escaped, like `@`.
        if issuer.ends_with("address")
            || place.contains("://admin")
            || place.contains("://app")
            || place.contains("://:")
        {
            secret = secret.replace('#', "%40");
        }
        all.push(Credential {
            issuer,
            text: place.replace("PW", &secret),
            secret,
            joins: false,
        });
    }
    all
}

fn headers(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    for (issuer, place) in HEADERS {
        let secret = body(rng, ALNUM, 26);
        all.push(Credential {
            issuer,
            text: place.replace("KEY", &secret),
            secret,
            joins: false,
        });
    }
    all
}

/// A user and a password in base64, and an account key in a connection string.
fn pairs_and_accounts(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    let pair = crate::base64::encode(format!("bob:{}", password(rng)).as_bytes());
    all.push(Credential {
        issuer: "basic",
        text: format!("Authorization: Basic {pair}"),
        secret: pair.clone(),
        joins: false,
    });
    all.push(Credential {
        issuer: "basic alone",
        text: format!("-H \"x: Basic {pair}\""),
        secret: pair,
        joins: false,
    });
    let key = format!("{}==", draw(rng, BASE64, 86));
    let text = format!(
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={key};EndpointSuffix=core.windows.net"
    );
    all.push(Credential {
        issuer: "azure storage",
        text,
        secret: key,
        joins: false,
    });
    all
}

/// PEM blocks, complete and without their end.
fn private_keys(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    for name in [
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let lines: Vec<String> = (0..8).map(|_| draw(rng, BASE64, 64)).collect();
        let secret = lines.get(3).cloned().unwrap_or_default();
        let text = format!(
            "-----BEGIN {name}-----\n{}\n-----END {name}-----",
            lines.join("\n")
        );
        all.push(Credential {
            issuer: "private key",
            text,
            secret: secret.clone(),
            joins: false,
        });
        let cut = format!("-----BEGIN {name}-----\n{}\n", lines.join("\n"));
        all.push(Credential {
            issuer: "private key without an end",
            text: cut,
            secret,
            joins: false,
        });
    }
    all
}
