//! Keys that are recognised only by the name of a variable.

use super::super::Credential;
use super::{ALNUM, BASE64, HEX, LOWER, body};
use crate::Rng;

/// Issuers without a prefix: name of the variable, letters, length.
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

/// Forms of assignments.
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

pub(crate) fn assigned(rng: &mut Rng) -> Vec<Credential> {
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
