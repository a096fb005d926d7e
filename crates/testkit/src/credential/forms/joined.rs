//! Keys of several parts, and webhook URLs.

use super::super::Credential;
use super::{ALNUM, DIGIT, HEX, LOWER, UPPER, URL, body, plain};
use crate::Rng;

/// Returns this many of these letters.
type Draw<'d> = &'d mut dyn FnMut(&str, usize) -> String;

/// Returns keys of several parts.
pub(super) fn joined(rng: &mut Rng) -> Vec<Credential> {
    let mut d = |letters: &str, count| body(rng, letters, count);
    let mut made = keys_of_hosts(&mut d);
    made.extend(keys_of_services(&mut d));
    let mut made: Vec<Credential> = made
        .into_iter()
        .map(|(issuer, text)| plain(issuer, text))
        .collect();
    made.extend(webhooks(&mut d));
    made
}

fn uuid(d: Draw<'_>) -> String {
    format!(
        "{}-{}-{}-{}-{}",
        d(HEX, 8),
        d(HEX, 4),
        d(HEX, 4),
        d(HEX, 4),
        d(HEX, 12)
    )
}

/// Keys of hosts of code, builds and machines.
fn keys_of_hosts(d: Draw<'_>) -> Vec<(&'static str, String)> {
    vec![
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
    ]
}

/// Keys of messaging, document, payment and monitoring services.
fn keys_of_services(d: Draw<'_>) -> Vec<(&'static str, String)> {
    let mut keys = keys_of_mail_and_documents(d);
    keys.extend(keys_of_payment_and_metrics(d));
    keys
}

fn keys_of_mail_and_documents(d: Draw<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("launchdarkly", format!("sdk-{}", uuid(d))),
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
    ]
}

fn keys_of_payment_and_metrics(d: Draw<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("plaid", format!("access-sandbox-{}", uuid(d))),
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
        ("discord bot", discord(d)),
        ("discord bot old", discord_of(17, d)),
    ]
}

fn webhooks(d: Draw<'_>) -> [Credential; 2] {
    let hook = d(ALNUM, 24);
    let slack = Credential {
        issuer: "slack webhook",
        text: format!(
            "https://hooks.slack.com/services/T0{}/B0{}/{hook}",
            d(UPPER, 8),
            d(UPPER, 8)
        ),
        secret: hook,
        joins: true,
    };
    let hook = d(URL, 68);
    let discord = Credential {
        issuer: "discord webhook",
        text: format!("https://discord.com/api/webhooks/{}/{hook}", d(DIGIT, 18)),
        secret: hook,
        joins: true,
    };
    [slack, discord]
}

fn discord(d: Draw<'_>) -> String {
    discord_of(18, d)
}

/// The id is a number in base64; a time and a code follow.
fn discord_of(digits: usize, d: Draw<'_>) -> String {
    let id = crate::base64::encode(format!("9{}", d(DIGIT, digits - 1)).as_bytes());
    format!(
        "{}.{}.{}",
        id.trim_end_matches('='),
        d(ALNUM, 6),
        d(URL, 38)
    )
}
