//! What credentials look like, issuer by issuer.

use super::{Credential, draw};
use crate::Rng;

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const DIGIT: &str = "0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ALPHA: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Keys that begin with their issuer's sign: issuer, sign, letters, how many.
const SIGNED: &[(&str, &str, &str, usize)] = &[
    ("aws", "AKIA", BASE32, 16),
    ("aws temporary", "ASIA", BASE32, 16),
    ("aws bearer", "ABIA", BASE32, 16),
    ("aws context", "ACCA", BASE32, 16),
    ("aws session", "IQoJb3JpZ2lu", BASE64, 400),
    ("aws bedrock", "ABSK", BASE64, 128),
    ("google api", "AIza", URL, 35),
    ("google oauth secret", "GOCSPX-", URL, 28),
    ("google oauth", "ya29.", URL, 160),
    ("google refresh", "1//0", URL, 100),
    ("alibaba", "LTAI", ALNUM, 20),
    ("tencent", "AKID", ALNUM, 32),
    ("volcengine", "AKLT", ALNUM, 43),
    ("yandex api", "AQVN", URL, 36),
    ("digitalocean personal", "dop_v1_", HEX, 64),
    ("digitalocean oauth", "doo_v1_", HEX, 64),
    ("digitalocean refresh", "dor_v1_", HEX, 64),
    ("heroku", "HRKU-AA", URL, 58),
    ("cloudflare user", "cfut_", ALNUM, 48),
    ("cloudflare account", "cfat_", ALNUM, 48),
    ("cloudflare global", "cfk_", ALNUM, 48),
    ("fly", "fo1_", URL, 43),
    ("fly macaroon", "fm2_", BASE64, 200),
    ("clickhouse", "4b1d", ALNUM, 38),
    ("github classic", "ghp_", ALNUM, 36),
    ("github oauth", "gho_", ALNUM, 36),
    ("github user to server", "ghu_", ALNUM, 36),
    ("github server to server", "ghs_", ALNUM, 36),
    ("github refresh", "ghr_", ALNUM, 76),
    ("gitlab personal", "glpat-", URL, 20),
    ("gitlab deploy", "gldt-", URL, 20),
    ("gitlab runner", "glrt-", URL, 20),
    ("gitlab feed", "glft-", URL, 20),
    ("gitlab feature flags", "glffct-", URL, 20),
    ("gitlab scim", "glsoat-", URL, 20),
    ("gitlab trigger", "glptt-", HEX, 40),
    ("gitlab mail", "glimt-", URL, 25),
    ("gitlab agent", "glagent-", URL, 50),
    ("gitlab oauth", "gloas-", HEX, 64),
    ("gitlab registration", "GR1348941", URL, 20),
    ("npm", "npm_", ALNUM, 36),
    ("pypi", "pypi-AgEIcHlwaS5vcmc", URL, 150),
    ("rubygems", "rubygems_", HEX, 48),
    ("clojars", "CLOJARS_", LOWER, 60),
    ("nuget", "oy2", LOWER, 43),
    ("crates.io", "cio", ALNUM, 32),
    ("docker personal", "dckr_pat_", URL, 27),
    ("docker organisation", "dckr_oat_", URL, 32),
    ("artifactory", "AKCp", ALNUM, 69),
    ("artifactory reference", "cmVmdGtu", ALNUM, 56),
    ("sourcegraph", "sgp_", HEX, 40),
    ("sonarqube user", "squ_", HEX, 40),
    ("sonarqube project", "sqp_", HEX, 40),
    ("octopus", "API-", UPPER, 26),
    ("buildkite", "bkua_", HEX, 40),
    ("infracost", "ico-", ALNUM, 32),
    ("prefect", "pnu_", ALNUM, 36),
    ("pulumi", "pul-", HEX, 40),
    ("vault service", "hvs.", URL, 95),
    ("vault batch", "hvb.", URL, 150),
    ("doppler", "dp.pt.", ALNUM, 43),
    ("onepassword service", "ops_eyJ", BASE64, 250),
    ("age", "AGE-SECRET-KEY-1", UPPER, 58),
    ("tailscale", "tskey-auth-", ALNUM, 30),
    ("anthropic", "sk-ant-api03-", URL, 95),
    ("anthropic admin", "sk-ant-admin01-", URL, 95),
    ("anthropic oauth", "sk-ant-oat01-", URL, 95),
    ("openai project", "sk-proj-", URL, 156),
    ("openai service", "sk-svcacct-", URL, 156),
    ("openai admin", "sk-admin-", URL, 156),
    ("openai classic", "sk-", ALNUM, 48),
    ("deepseek", "sk-", HEX, 32),
    ("openrouter", "sk-or-v1-", HEX, 64),
    ("huggingface", "hf_", ALPHA, 34),
    ("huggingface organisation", "api_org_", ALPHA, 34),
    ("groq", "gsk_", ALNUM, 52),
    ("xai", "xai-", ALNUM, 80),
    ("perplexity", "pplx-", ALNUM, 48),
    ("replicate", "r8_", ALNUM, 37),
    ("cerebras", "csk-", LOWER, 48),
    ("nvidia", "nvapi-", URL, 64),
    ("tavily", "tvly-", ALNUM, 32),
    ("slack app", "xapp-1-A0123456789-1234567890123-", HEX, 64),
    ("slack bot", "xoxb-123456789012-1234567890123-", ALNUM, 24),
    (
        "slack user",
        "xoxp-123456789012-1234567890123-1234567890123-",
        HEX,
        32,
    ),
    ("slack browser", "xoxc-123456789012-1234567890123-", HEX, 64),
    ("slack configuration", "xoxe.xoxp-1-", UPPER, 163),
    ("slack refresh", "xoxe-1-", UPPER, 146),
    ("discord two factors", "mfa.", URL, 84),
    ("twilio", "SK", HEX, 32),
    ("mailgun", "key-", HEX, 32),
    ("notion classic", "secret_", ALNUM, 43),
    ("linear", "lin_api_", ALNUM, 40),
    ("atlassian", "ATATT3", URL, 186),
    ("bitbucket", "ATBB", ALNUM, 32),
    ("figma", "figd_", URL, 40),
    ("typeform", "tfp_", URL, 59),
    ("readme", "rdme_", LOWER, 70),
    ("adobe", "p8e-", LOWER, 32),
    ("facebook page", "EAAC", ALNUM, 160),
    ("twitter bearer", "AAAAAAAAAAAAAAAAAAAAAA", ALNUM, 90),
    ("dropbox", "sl.", URL, 136),
    ("frame.io", "fio-u-", URL, 64),
    ("stripe live", "sk_live_", ALNUM, 24),
    ("stripe restricted", "rk_live_", ALNUM, 99),
    ("stripe test", "sk_test_", ALNUM, 24),
    ("stripe webhook", "whsec_", ALNUM, 32),
    ("square", "sq0atp-", URL, 22),
    ("square secret", "sq0csp-", URL, 43),
    ("shopify admin", "shpat_", HEX, 32),
    ("shopify custom", "shpca_", HEX, 32),
    ("shopify private", "shppa_", HEX, 32),
    ("shopify shared", "shpss_", HEX, 32),
    ("duffel", "duffel_live_", URL, 43),
    ("easypost", "EZAK", ALNUM, 54),
    ("easypost test", "EZTK", ALNUM, 54),
    ("flutterwave", "FLWSECK_TEST-", HEX, 32),
    ("lob", "live_", HEX, 35),
    ("lob test", "test_", HEX, 35),
    ("shippo", "shippo_live_", HEX, 40),
    ("databricks", "dapi", HEX, 32),
    ("new relic user", "NRAK-", UPPER, 27),
    ("new relic browser", "NRJS-", HEX, 19),
    ("grafana cloud", "glc_", BASE64, 120),
    ("grafana classic", "eyJrIjoi", ALNUM, 100),
    ("sentry organisation", "sntrys_eyJpYXQiO", ALNUM, 200),
    ("sentry user", "sntryu_", HEX, 64),
    ("planetscale", "pscale_tkn_", URL, 43),
    ("planetscale password", "pscale_pw_", URL, 43),
    ("planetscale oauth", "pscale_oauth_", URL, 43),
    ("supabase", "sbp_", HEX, 40),
    ("supabase secret", "sb_secret_", URL, 31),
    ("neon", "napi_", LOWER, 64),
    ("netlify", "nfp_", ALNUM, 36),
    ("contentful management", "CFPAT-", URL, 43),
    ("vercel", "vcp_", ALNUM, 56),
    ("openshift", "sha256~", URL, 43),
    ("intra42", "s-s4t2ud-", HEX, 64),
];

pub(super) fn keys(rng: &mut Rng) -> Vec<Credential> {
    let mut keys: Vec<Credential> = SIGNED
        .iter()
        .map(|(issuer, sign, letters, count)| {
            plain(issuer, format!("{sign}{}", body(rng, letters, *count)))
        })
        .collect();
    keys.extend(joined(rng));
    keys
}

/// The middle of a key; its ends are letters, so that quotes and dots around it are not part of it,
/// and a digit is in it.
fn body(rng: &mut Rng, letters: &str, count: usize) -> String {
    let ends: String = letters
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let digits: String = letters.chars().filter(char::is_ascii_digit).collect();
    let digit = if digits.is_empty() {
        draw(rng, &ends, 1)
    } else {
        draw(rng, &digits, 1)
    };
    format!(
        "{}{digit}{}{}",
        draw(rng, &ends, 1),
        draw(rng, letters, count - 3),
        draw(rng, &ends, 1)
    )
}

fn plain(issuer: &'static str, text: String) -> Credential {
    Credential {
        issuer,
        secret: text.clone(),
        text,
        joins: true,
    }
}

/// Keys of several parts.
fn joined(rng: &mut Rng) -> Vec<Credential> {
    let mut d = |letters: &str, count| body(rng, letters, count);
    let uuid = |d: &mut dyn FnMut(&str, usize) -> String| {
        format!(
            "{}-{}-{}-{}-{}",
            d(HEX, 8),
            d(HEX, 4),
            d(HEX, 4),
            d(HEX, 4),
            d(HEX, 12)
        )
    };
    let made = [
        (
            "github fine-grained",
            format!("github_pat_{}_{}", d(ALNUM, 22), d(ALNUM, 59)),
        ),
        ("gitlab job", format!("glcbt-64_{}", d(URL, 20))),
        (
            "gitlab routable",
            format!("glpat-{}.01.{}", d(URL, 40), d(LOWER, 9)),
        ),
        (
            "azure client",
            format!("{}8Q~{}", d(ALNUM, 3), d(ALNUM, 34)),
        ),
        ("yandex token", format!("t1.{}.{}", d(URL, 60), d(URL, 86))),
        (
            "cloudflare origin",
            format!("v1.0-{}-{}", d(HEX, 24), d(HEX, 146)),
        ),
        ("castai", format!("castai_v1_{}_{}", d(HEX, 64), d(HEX, 8))),
        (
            "circleci",
            format!("CCIPAT_{}_{}", d(ALNUM, 22), d(HEX, 40)),
        ),
        (
            "harness",
            format!("pat.{}.{}.{}", d(ALNUM, 22), d(ALNUM, 24), d(ALNUM, 20)),
        ),
        (
            "terraform",
            format!("{}.atlasv1.{}", d(ALNUM, 14), d(ALNUM, 67)),
        ),
        (
            "onepassword",
            format!(
                "A3-{}-{}-{}-{}-{}",
                d(UPPER, 6),
                d(UPPER, 6),
                d(UPPER, 5),
                d(UPPER, 5),
                d(UPPER, 5)
            ),
        ),
        (
            "langsmith",
            format!("lsv2_pt_{}_{}", d(HEX, 32), d(HEX, 10)),
        ),
        ("launchdarkly", format!("sdk-{}", uuid(&mut d))),
        ("telegram", format!("{}:AA{}", d(DIGIT, 10), d(URL, 33))),
        ("sendgrid", format!("SG.{}.{}", d(URL, 22), d(URL, 43))),
        (
            "sendinblue",
            format!("xkeysib-{}-{}", d(HEX, 64), d(ALNUM, 16)),
        ),
        (
            "mailchimp",
            format!("{}-us{}", d(HEX, 32), d(DIGIT, 4).get(..2).unwrap_or("12")),
        ),
        ("notion", format!("ntn_{}{}", d(DIGIT, 11), d(ALNUM, 35))),
        ("airtable", format!("pat{}.{}", d(ALNUM, 14), d(HEX, 64))),
        ("postman", format!("PMAK-{}-{}", d(HEX, 24), d(HEX, 34))),
        ("mapbox", format!("sk.eyJ{}.{}", d(ALNUM, 60), d(ALNUM, 22))),
        ("plaid", format!("access-sandbox-{}", uuid(&mut d))),
        ("adyen", format!("AQE{}.{}", d(LOWER, 8), d(ALNUM, 60))),
        (
            "braintree",
            format!("access_token$production${}", d(LOWER, 16)),
        ),
        (
            "dynatrace",
            format!("dt0c01.{}.{}", d(UPPER, 24), d(UPPER, 64)),
        ),
        ("grafana", format!("glsa_{}_{}", d(ALNUM, 32), d(HEX, 8))),
        ("maxmind", format!("{}_{}_mmk", d(ALNUM, 6), d(ALNUM, 29))),
        (
            "authress",
            format!(
                "sc_{}.{}.acc_{}.{}",
                d(LOWER, 10),
                d(LOWER, 4),
                d(LOWER, 12),
                d(ALNUM, 60)
            ),
        ),
        (
            "json web token",
            format!("eyJ{}.eyJ{}.{}", d(ALNUM, 33), d(ALNUM, 80), d(URL, 43)),
        ),
        ("discord bot", discord(&mut d)),
        ("discord bot old", discord_of(17, &mut d)),
    ];
    let mut made: Vec<Credential> = made
        .into_iter()
        .map(|(issuer, text)| plain(issuer, text))
        .collect();
    let hook = d(ALNUM, 24);
    made.push(Credential {
        issuer: "slack webhook",
        text: format!(
            "https://hooks.slack.com/services/T0{}/B0{}/{hook}",
            d(UPPER, 8),
            d(UPPER, 8)
        ),
        secret: hook,
        joins: true,
    });
    let hook = d(URL, 68);
    made.push(Credential {
        issuer: "discord webhook",
        text: format!("https://discord.com/api/webhooks/{}/{hook}", d(DIGIT, 18)),
        secret: hook,
        joins: true,
    });
    made
}

fn discord(d: &mut dyn FnMut(&str, usize) -> String) -> String {
    discord_of(18, d)
}

/// The id is a number in base64; a time and a code follow.
fn discord_of(digits: usize, d: &mut dyn FnMut(&str, usize) -> String) -> String {
    let id = crate::base64::encode(format!("9{}", d(DIGIT, digits - 1)).as_bytes());
    format!(
        "{}.{}.{}",
        id.trim_end_matches('='),
        d(ALNUM, 6),
        d(URL, 38)
    )
}

/// Issuers without a sign of their own: how the variable is called, letters, how many.
const NAMED: &[(&str, &str, &str, usize)] = &[
    ("aws secret", "AWS_SECRET_ACCESS_KEY", BASE64, 40),
    ("datadog", "DATADOG_API_KEY", HEX, 32),
    ("datadog application", "DD_APP_KEY", HEX, 40),
    ("adafruit", "adafruit_api_key", ALNUM, 32),
    ("algolia", "ALGOLIA_ADMIN_KEY", HEX, 32),
    ("alibaba secret", "ALIYUN_ACCESS_SECRET", ALNUM, 30),
    ("asana", "asana_client_secret", HEX, 32),
    ("bitbucket secret", "bitbucket_client_secret", LOWER, 32),
    ("codecov", "CODECOV_TOKEN", LOWER, 32),
    ("cohere", "CO_API_KEY", ALNUM, 40),
    ("coinbase", "coinbase_api_secret", LOWER, 64),
    ("confluent", "confluent_api_secret", ALNUM, 64),
    ("contentful", "contentful_access_token", ALNUM, 43),
    ("discord secret", "discord_client_secret", ALNUM, 32),
    ("drone", "DRONE_TOKEN", ALNUM, 32),
    ("etsy", "etsy_api_key", LOWER, 24),
    ("facebook", "facebook_app_secret", HEX, 32),
    ("fastly", "FASTLY_API_TOKEN", ALNUM, 32),
    ("finnhub", "finnhub_api_key", LOWER, 20),
    ("flickr", "flickr_api_secret", HEX, 32),
    ("intercom", "intercom_access_token", ALNUM, 60),
    ("jfrog", "JFROG_API_KEY", ALNUM, 73),
    ("kraken", "kraken_api_secret", ALNUM, 88),
    ("linkedin", "LINKEDIN_CLIENT_SECRET", ALNUM, 16),
    ("looker", "looker_client_secret", LOWER, 24),
    ("mattermost", "mattermost_token", LOWER, 26),
    ("messagebird", "messagebird_api_key", ALNUM, 25),
    ("netlify classic", "NETLIFY_AUTH_TOKEN", ALNUM, 43),
    ("okta", "okta_api_token", ALNUM, 42),
    ("plaid secret", "PLAID_SECRET", HEX, 30),
    ("rapidapi", "RAPIDAPI_KEY", ALNUM, 50),
    ("sendbird", "sendbird_api_token", HEX, 40),
    ("sentry", "SENTRY_AUTH_TOKEN", HEX, 64),
    ("sonar", "SONAR_TOKEN", HEX, 40),
    ("sumologic", "sumologic_access_key", ALNUM, 64),
    ("tencent secret", "TENCENTCLOUD_SECRET_KEY", ALNUM, 32),
    ("travis", "travis_token", ALNUM, 22),
    ("trello", "TRELLO_API_KEY", HEX, 32),
    ("twilio token", "TWILIO_AUTH_TOKEN", HEX, 32),
    ("twitch", "twitch_client_secret", LOWER, 30),
    ("twitter key", "TWITTER_API_KEY", ALNUM, 25),
    ("twitter secret", "twitter_api_secret", ALNUM, 50),
    ("wandb", "WANDB_API_KEY", HEX, 40),
    ("zendesk", "zendesk_secret_key", ALNUM, 40),
    ("any interface", "INTERNAL_API_KEY", ALNUM, 24),
    ("any password", "db_password", ALNUM, 10),
    ("any secret", "clientSecret", ALNUM, 20),
    ("any token", "accessToken", HEX, 40),
];

/// How values are set.
const SET: [&str; 12] = [
    "NAME=VALUE",
    "NAME = \"VALUE\"",
    "NAME: 'VALUE'",
    "export NAME=\"VALUE\"",
    "\"NAME\": \"VALUE\"",
    "'NAME' => 'VALUE'",
    "NAME := \"VALUE\"",
    "NAME: VALUE\n",
    "const NAME: string = \"VALUE\";",
    "os.environ[\"NAME\"] = \"VALUE\"",
    "run --NAME VALUE",
    "<NAME>VALUE</NAME>",
];

pub(super) fn assigned(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    for (issuer, name, letters, count) in NAMED {
        for set in SET {
            let secret = body(rng, letters, *count);
            let text = set.replace("NAME", name).replace("VALUE", &secret);
            all.push(Credential {
                issuer,
                text,
                secret,
                joins: false,
            });
        }
    }
    let uuid = rng.uuid_v4();
    all.push(Credential {
        issuer: "heroku classic",
        text: format!("HEROKU_API_KEY={uuid}"),
        secret: uuid,
        joins: false,
    });
    let uuid = rng.uuid_v4();
    all.push(Credential {
        issuer: "snyk",
        text: format!("snyk_token: \"{uuid}\""),
        secret: uuid,
        joins: false,
    });
    all
}

/// Passwords that people choose: short, with signs, or of letters alone.
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

/// Where a password is known by its place: `PW` stands for it.
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

/// Headers: `KEY` stands for a session's value.
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

pub(super) fn placed(rng: &mut Rng) -> Vec<Credential> {
    let mut all = Vec::new();
    for (issuer, place) in PLACES {
        let mut secret = password(rng);
        // A `#` ends the host of an address, so addresses carry it escaped, as they do `@`.
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
    for (issuer, place) in HEADERS {
        let secret = body(rng, ALNUM, 26);
        all.push(Credential {
            issuer,
            text: place.replace("KEY", &secret),
            secret,
            joins: false,
        });
    }
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
