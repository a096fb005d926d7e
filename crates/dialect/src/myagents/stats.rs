//! The sums over a transcript (prompts and usage) that its index row contains.
//!
//! Only the messages of the user are counted; the sums grow by the new rows alone.

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{Result, Stated};

use super::index_file::RowEdit;
use super::message;

const PROMPTS: &str = "messageCount";
const INPUT: &str = "totalInputTokens";
const OUTPUT: &str = "totalOutputTokens";
const CACHE_READ: &str = "totalCacheReadTokens";
const CACHE_WRITE: &str = "totalCacheCreationTokens";

/// The sums over rows of a transcript: prompts, and usage of the assistant messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    prompts: u64,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl std::fmt::Display for Stats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stats {
            prompts,
            input,
            output,
            cache_read,
            cache_write,
        } = self;
        write!(f, "{prompts} prompts and {input} + {output} tokens")?;
        if *cache_read > 0 || *cache_write > 0 {
            write!(f, " ({cache_read} + {cache_write} of the cache)")?;
        }
        Ok(())
    }
}

impl Stats {
    /// Adds a row of the transcript.
    pub(crate) fn count(&mut self, row: &Object<'_>) {
        if row.get("role").is_some_and(|role| role.is("user")) {
            self.prompts += 1;
        }
        if let Some(stated) = row
            .get("usage")
            .filter(|_| row.get("role").is_some_and(|role| role.is("assistant")))
        {
            let usage = message::usage(stated);
            self.input += usage.input.unwrap_or(0);
            self.output += usage.output.unwrap_or(0);
            self.cache_read += usage.cache_read.unwrap_or(0);
            self.cache_write += usage.cache_write.unwrap_or(0);
        }
    }

    /// Returns the sums that an index row states.
    pub(crate) fn stated(row: Raw<'_>) -> Self {
        let count = |key: &str| row.at(&["stats", key]).and_then(|n| n.u64()).unwrap_or(0);
        Stats {
            prompts: count(PROMPTS),
            input: count(INPUT),
            output: count(OUTPUT),
            cache_read: count(CACHE_READ),
            cache_write: count(CACHE_WRITE),
        }
    }

    /// Returns the sums that the index stated, if any.
    pub(crate) fn of_facts(stated: &Stated) -> Option<Self> {
        let usage = &stated.usage;
        Some(Stats {
            prompts: stated.turns?,
            input: usage.input.unwrap_or(0),
            output: usage.output.unwrap_or(0),
            cache_read: usage.cache_read.unwrap_or(0),
            cache_write: usage.cache_write.unwrap_or(0),
        })
    }

    /// Returns the sum of both.
    pub(crate) fn plus(self, more: Stats) -> Stats {
        Stats {
            prompts: self.prompts.saturating_add(more.prompts),
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_write: self.cache_write.saturating_add(more.cache_write),
        }
    }

    /// Writes the sums into a row and keeps its other members. Cache tokens are omitted while they
    /// are zero.
    pub(crate) fn write(self, row: &mut RowEdit) -> Result<()> {
        let known = [
            (PROMPTS, self.prompts, true),
            (INPUT, self.input, true),
            (OUTPUT, self.output, true),
            (CACHE_READ, self.cache_read, self.cache_read > 0),
            (CACHE_WRITE, self.cache_write, self.cache_write > 0),
        ];
        let mut json = Json::object();
        for (key, count, said) in known {
            json = json.with_some(key, said.then_some(count));
        }
        if let Some(before) = row
            .raw()
            .get("stats")
            .filter(|stats| stats.kind() == RawKind::Object)
        {
            for (key, value) in before
                .members()
                .filter(|(key, _)| !known.iter().any(|(name, ..)| key.is(name)))
            {
                json = json.with(&key.to_text(), value);
            }
        }
        row.set("stats", json)
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn of(rows: &[&str]) -> Stats {
        let mut stats = Stats::default();
        for row in rows {
            let mut members = Vec::new();
            scan_object(row.as_bytes(), &mut members).unwrap();
            stats.count(&Object::new(row.as_bytes(), &members));
        }
        stats
    }

    #[test]
    fn prompts_and_the_cost_of_answers_are_counted_and_unknown_sums_stay() {
        let stats = of(&[
            r#"{"role":"user","usage":{"inputTokens":9}}"#,
            r#"{"role":"assistant","usage":{"inputTokens":3,"outputTokens":4,"cacheReadTokens":1}}"#,
            r#"{"role":"assistant"}"#,
        ]);
        let mut row = RowEdit::of(
            &Json::object()
                .with("id", "a")
                .with("stats", Json::object().with("messageCount", 2).with("x", 7)),
        );
        Stats::stated(row.raw())
            .plus(stats)
            .write(&mut row)
            .unwrap();
        let want = r#"{"messageCount":3,"totalInputTokens":3,"totalOutputTokens":4,"totalCacheReadTokens":1,"x":7}"#;
        assert_eq!(row.raw().get("stats").unwrap().bytes(), want.as_bytes());
        Stats::default().write(&mut row).unwrap();
        let none = r#"{"messageCount":0,"totalInputTokens":0,"totalOutputTokens":0,"x":7}"#;
        assert_eq!(row.raw().get("stats").unwrap().bytes(), none.as_bytes());
    }
}
