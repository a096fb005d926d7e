//! What a list says about a session.

use boswell_model::Instant;
use boswell_model::json::Json;
use boswell_store::store::Summary;

/// A session in a list.
#[derive(Debug, Clone)]
pub struct ListedFacts {
    /// Its id.
    pub id: String,
    /// The length of its log in bytes.
    pub size: u64,
    /// When its log was last changed, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// What was read of it, if details were wanted.
    pub summary: Option<Summary>,
}

impl ListedFacts {
    /// The time of its last entry, in milliseconds since 1970.
    pub fn last_active(&self) -> Option<i64> {
        let summary = self.summary.as_ref()?;
        summary.last_active().map(Instant::millis)
    }

    /// Describes it, with members in camel case.
    pub fn to_json(&self) -> Json {
        let made = Json::object()
            .with("id", self.id.as_str())
            .with("size", self.size)
            .with_some("modified", self.modified);
        let Some(summary) = &self.summary else {
            return made;
        };
        let meta = &summary.meta;
        made.with_some("title", meta.title.as_deref())
            .with_some("project", meta.project.as_deref())
            .with_some("created", meta.created.map(Instant::millis))
            .with_some("lastActive", self.last_active())
            .with("messages", meta.messages)
            .with_some("subject", self.subject())
            .with_some("expires", self.expires())
    }

    /// The person whom it is about.
    pub fn subject(&self) -> Option<&str> {
        let meta = &self.summary.as_ref()?.meta;
        meta.metadata
            .get(boswell_dialect::SUBJECT)
            .map(String::as_str)
    }

    /// When it expires, in milliseconds since 1970.
    pub fn expires(&self) -> Option<i64> {
        let meta = &self.summary.as_ref()?.meta;
        let text = meta.metadata.get(boswell_dialect::EXPIRES)?;
        Instant::parse(text).map(Instant::millis)
    }
}
