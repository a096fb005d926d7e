//! Shapes of keys that are known: where each begins, and what follows.

/// A kind of key that can be told by its shape.
#[derive(Debug)]
pub(super) struct Shape {
    /// Its name in output.
    pub(super) kind: &'static str,
    /// Bytes that stand at its beginning, or shortly after it: the text is searched for these alone.
    pub(super) anchor: &'static str,
    /// How many bytes may stand before the anchor.
    pub(super) lead: usize,
    /// The whole of it, from its first byte. If it has a group, the group is the secret.
    pub(super) pattern: &'static str,
    /// How much chance the secret must show, in bits for each byte: tells keys from examples and names.
    pub(super) chance: f64,
    /// Whether it may begin in the middle of a word.
    pub(super) inside: bool,
}

const fn shape(kind: &'static str, anchor: &'static str, pattern: &'static str) -> Shape {
    Shape { kind, anchor, lead: 0, pattern, chance: 2.8, inside: false }
}

/// Every known shape. Of several that fit the first one counts.
pub(super) const SHAPES: &[Shape] = &[
    shape("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,200}"),
    shape("openai-key", "sk-proj-", r"sk-proj-[A-Za-z0-9_-]{20,220}"),
    shape("openai-key", "sk-svcacct-", r"sk-svcacct-[A-Za-z0-9_-]{20,220}"),
    shape("openrouter-key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    shape("openai-key", "sk-", r"sk-[A-Za-z0-9]{32,64}"),
    shape("aws-access-key", "AKIA", r"AKIA[A-Z2-7]{16}"),
    shape("aws-access-key", "ASIA", r"ASIA[A-Z2-7]{16}"),
    shape("github-token", "ghp_", r"ghp_[A-Za-z0-9]{36}"),
    shape("github-token", "gho_", r"gho_[A-Za-z0-9]{36}"),
    shape("github-token", "ghu_", r"ghu_[A-Za-z0-9]{36}"),
    shape("github-token", "ghs_", r"ghs_[A-Za-z0-9]{36}"),
    shape("github-token", "ghr_", r"ghr_[A-Za-z0-9]{36}"),
    shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    shape("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,60}"),
    shape("slack-token", "xoxb-", r"xoxb-[0-9A-Za-z-]{20,120}"),
    shape("slack-token", "xoxp-", r"xoxp-[0-9A-Za-z-]{20,120}"),
    shape("slack-token", "xoxa-", r"xoxa-[0-9A-Za-z-]{20,120}"),
    shape("slack-token", "xapp-", r"xapp-[0-9A-Za-z-]{20,160}"),
    shape(
        "slack-webhook",
        "hooks.slack.com/services/",
        r"hooks\.slack\.com/services/(T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{20,30})",
    ),
    shape("stripe-key", "sk_live_", r"sk_live_[A-Za-z0-9]{20,120}"),
    shape("stripe-key", "rk_live_", r"rk_live_[A-Za-z0-9]{20,120}"),
    shape("stripe-key", "sk_test_", r"sk_test_[A-Za-z0-9]{20,120}"),
    shape("stripe-webhook", "whsec_", r"whsec_[A-Za-z0-9]{24,64}"),
    shape("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    shape("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    shape("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{40,400}"),
    shape("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    shape("pypi-token", "pypi-AgEI", r"pypi-AgEI[A-Za-z0-9_-]{50,300}"),
    shape("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    shape("digitalocean-token", "dop_v1_", r"dop_v1_[0-9a-f]{64}"),
    shape("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{34,40}"),
    shape("databricks-token", "dapi", r"dapi[0-9a-f]{32}"),
    shape("shopify-token", "shpat_", r"shpat_[0-9a-fA-F]{32}"),
    shape("vault-token", "hvs.", r"hvs\.[A-Za-z0-9_-]{24,200}"),
    shape("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,48}"),
    shape("docker-token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{24,40}"),
    shape("supabase-key", "sbp_", r"sbp_[0-9a-f]{40}"),
    shape("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,56}"),
    shape("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,90}"),
    shape("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    shape("aws-secret-key", "ecret_access_key", r"(?i:ecret_access_key)[\x22' =:\\]{1,8}([A-Za-z0-9/+]{40})")
        .inside_a_word(),
    shape("aws-secret-key", "ecretAccessKey", r"ecretAccessKey[\x22' =:\\]{1,8}([A-Za-z0-9/+]{40})").inside_a_word(),
    shape("slack-token", "xoxs-", r"xoxs-[0-9A-Za-z-]{20,120}"),
    shape("slack-token", "xoxr-", r"xoxr-[0-9A-Za-z-]{20,120}"),
    shape("slack-token", "xoxe", r"xoxe[.-][0-9A-Za-z.-]{20,200}"),
    shape("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    shape("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    shape("mailchimp-key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}").led_by(32),
    shape("square-token", "sq0", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}"),
    shape("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    shape("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{100,300}"),
    shape("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}"),
    shape("new-relic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    shape("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    shape("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{40,60}"),
    shape("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{60,400}"),
    shape("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    shape("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    shape("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,44}"),
    shape("planetscale-token", "pscale_tkn_", r"pscale_tkn_[A-Za-z0-9_-]{32,64}"),
    shape("doppler-token", "dp.pt.", r"dp\.pt\.[A-Za-z0-9]{40,48}"),
    shape("azure-client-secret", "8Q~", r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}").led_by(3),
    shape("basic-auth", "Basic ", r"Basic ([A-Za-z0-9+/]{16,400}={0,2})").with_chance(3.6),
    shape("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    shape("telegram-token", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}").led_by(10),
    shape("json-web-token", "eyJ", r"eyJ[A-Za-z0-9_-]{12,2000}\.eyJ[A-Za-z0-9_-]{12,8000}\.[A-Za-z0-9_-]{16,1000}"),
    // Line ends may be written out, as they are inside JSON.
    shape(
        "private-key",
        "-----BEGIN ",
        r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=,: \-]|\s|\\+[nr]){64,20000}?-----END",
    ),
    shape("azure-storage-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    shape("bearer-token", "earer ", r"[Bb]earer ([A-Za-z0-9_\-\.=+/]{32,2000})").led_by(1).with_chance(3.6),
    shape(
        "password-in-url",
        "://",
        r"[a-z][a-z0-9+]{1,15}://[^\s/:@'\x22<>\\{}$%]{1,64}:([^\s/:@'\x22<>\\{}$%]{8,128})@",
    )
    .led_by(16),
];

impl Shape {
    const fn led_by(mut self, lead: usize) -> Shape {
        self.lead = lead;
        self
    }

    const fn inside_a_word(mut self) -> Shape {
        self.inside = true;
        self
    }

    const fn with_chance(mut self, chance: f64) -> Shape {
        self.chance = chance;
        self
    }
}
