//! Writes exchanges in pi's format directly into bytes.

use super::vocabulary::Vocabulary;
use crate::clock::ManualClock;
use crate::jsonl::push_string;
use crate::rng::Rng;

/// A log that is written line by line into a buffer.
pub(super) struct PiLines<'a> {
    vocabulary: &'a Vocabulary,
    pub(super) rng: Rng,
    clock: ManualClock,
    pub(super) out: Vec<u8>,
    pub(super) parent: Option<String>,
    pub(super) id: String,
    pub(super) lines: usize,
    text: String,
    count: u64,
}

impl<'a> PiLines<'a> {
    pub(super) fn new(
        vocabulary: &'a Vocabulary,
        mut rng: Rng,
        cwd: &str,
        begun: i64,
    ) -> PiLines<'a> {
        let id = rng.uuid_v4();
        let clock = ManualClock::at(begun);
        let header = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"{}\",\"cwd\":\"{cwd}\"}}\n",
            clock.iso()
        );
        let (out, text) = (header.into_bytes(), String::new());
        PiLines {
            vocabulary,
            rng,
            clock,
            out,
            parent: None,
            id,
            lines: 1,
            text,
            count: 0,
        }
    }

    /// Begins an entry and returns its id; ids count up, so that they never collide in a long file.
    pub(super) fn begin(&mut self, kind: &str) -> String {
        self.count += 1;
        let id = format!(
            "{:08x}",
            self.count.wrapping_mul(2_654_435_761) & 0xffff_ffff
        );
        let step = 1_000 * self.rng.between(1, 20) as i64;
        let time = self.clock.tick(step);
        let parent = self
            .parent
            .as_ref()
            .map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        self.add(&format!(
            "{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{time}\""
        ));
        self.parent = Some(id.clone());
        id
    }

    pub(super) fn add(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn end(&mut self) {
        self.out.push(b'\n');
        self.lines += 1;
    }

    fn prose(&mut self, low: usize, high: usize) {
        let bytes = self.rng.between(low, high);
        self.text.clear();
        self.vocabulary.prose(&mut self.rng, bytes, &mut self.text);
        push_string(&mut self.out, &self.text);
    }

    /// Adds a prompt, some calls with results, and a message; returns the ids of prompt and
    /// message.
    pub(super) fn turn(&mut self) -> (String, String) {
        let asked = self.begin("message");
        self.add(",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":");
        self.prose(60, 900);
        self.add(&format!("}}],\"timestamp\":{}}}}}", self.clock.ms()));
        self.end();
        for _ in 0..self.rng.between(1, 6) {
            self.call();
        }
        let answered = self.begin("message");
        self.add(",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":");
        self.prose(300, 3_500);
        self.assistant_end("stop");
        (asked, answered)
    }

    fn call(&mut self) {
        let call = self.rng.base36(24);
        self.begin("message");
        self.add(&format!(
            ",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"toolu_{call}\",\"name\":\"read\",\"arguments\":{{\"path\":\"src/lib.rs\"}}"
        ));
        self.assistant_end("toolUse");
        self.begin("message");
        self.add(&format!(
            ",\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"toolu_{call}\",\"toolName\":\"read\",\"content\":[{{\"type\":\"text\",\"text\":"
        ));
        let bytes = if self.rng.id_source(0.93) {
            self.rng.between(300, 6_000)
        } else {
            self.rng.between(20_000, 90_000)
        };
        self.text.clear();
        self.vocabulary.code(&mut self.rng, bytes, &mut self.text);
        push_string(&mut self.out, &self.text);
        self.add(&format!(
            "}}],\"isError\":false,\"timestamp\":{}}}}}",
            self.clock.ms()
        ));
        self.end();
    }

    fn assistant_end(&mut self, stop: &str) {
        let (input, output) = (self.rng.between(3, 900), self.rng.between(20, 1_800));
        self.add(&format!(
            "}}],\"api\":\"anthropic-messages\",\"provider\":\"anthropic\",\"model\":\"claude-sonnet-4-5\",\"usage\":{{\"input\":{input},\"output\":{output},\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":{},\"cost\":{{\"input\":0.0125,\"output\":0.025,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0.0375}}}},\"stopReason\":\"{stop}\",\"timestamp\":{}}}}}",
            input + output,
            self.clock.ms()
        ));
        self.end();
    }

    /// Adds a compaction that preserves everything from an entry on.
    pub(super) fn compaction(&mut self, first_kept: &str) -> String {
        let id = self.begin("compaction");
        self.add(",\"summary\":");
        self.prose(2_000, 6_000);
        self.add(&format!(
            ",\"firstKeptEntryId\":\"{first_kept}\",\"tokensBefore\":175004,\"fromHook\":false}}"
        ));
        self.end();
        id
    }

    /// Adds the settings in force: once as pi's entries, once as boswell's snapshot.
    pub(super) fn settings(&mut self) {
        self.begin("model_change");
        self.add(",\"provider\":\"anthropic\",\"modelId\":\"claude-sonnet-4-5\"}");
        self.end();
        self.begin("custom");
        self.add(
            ",\"customType\":\"boswell.settings\",\"data\":{\"model\":\"anthropic/claude-sonnet-4-5\",\"models\":[],\"thinkingLevel\":null,\"mode\":null,\"modeData\":null,\"rules\":[],\"other\":[]}}",
        );
        self.end();
    }
}
