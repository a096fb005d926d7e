//! Writes exchanges in Claude's format directly into bytes.

use std::fmt::Write as _;

use super::RARE_TOOL;
use super::vocabulary::Vocabulary;
use crate::clock::ManualClock;
use crate::jsonl::push_string;
use crate::rng::Rng;

const TOOLS: [&str; 9] = [
    "Bash",
    "Read",
    "Edit",
    "Grep",
    "Glob",
    "Write",
    "TodoWrite",
    "Task",
    "WebFetch",
];
const WEIGHTS: [u32; 9] = [30, 25, 18, 9, 4, 5, 5, 2, 2];

/// A transcript that is written line by line into a buffer.
pub(super) struct ClaudeLines<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) rng: Rng,
    pub(super) clock: ManualClock,
    pub(super) out: Vec<u8>,
    pub(super) parent: Option<String>,
    pub(super) id: String,
    pub(super) lines: usize,
    cwd: String,
    envelope: String,
    text: String,
}

impl<'a> ClaudeLines<'a> {
    pub(super) fn new(
        vocabulary: &'a Vocabulary,
        mut rng: Rng,
        cwd: &str,
        begun: i64,
    ) -> ClaudeLines<'a> {
        let id = rng.uuid_v4();
        let envelope = format!(
            "\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"{cwd}\",\"sessionId\":\"{id}\",\"version\":\"2.1.50\",\"gitBranch\":\"main\""
        );
        let (out, text) = (Vec::new(), String::new());
        let (clock, cwd) = (ManualClock::at(begun), cwd.to_owned());
        ClaudeLines {
            vocabulary,
            rng,
            clock,
            out,
            parent: None,
            id,
            lines: 0,
            cwd,
            envelope,
            text,
        }
    }

    /// Ends a line.
    fn end(&mut self) {
        self.out.push(b'\n');
        self.lines += 1;
    }

    fn add(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Adds a line of any content.
    pub(super) fn line(&mut self, line: &str) {
        self.add(line);
        self.end();
    }

    /// Begins a chain line, up to its message, and returns its uuid.
    pub(super) fn begin(&mut self, kind: &str) -> String {
        let uuid = self.rng.uuid_v4();
        let step = 1_000 * self.rng.between(1, 40) as i64;
        let time = self.clock.tick(step);
        let parent = self
            .parent
            .as_ref()
            .map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        let head = format!(
            "{{\"parentUuid\":{parent},{},\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"timestamp\":\"{time}\"",
            self.envelope
        );
        self.add(&head);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Adds the snapshot line that files begin with.
    pub(super) fn first_line(&mut self) {
        let (message, inner) = (self.rng.uuid_v4(), self.rng.uuid_v4());
        let time = self.clock.iso();
        self.line(&format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{message}\",\"snapshot\":{{\"messageId\":\"{inner}\",\"trackedFileBackups\":{{}},\"timestamp\":\"{time}\"}},\"isSnapshotUpdate\":false}}"
        ));
    }

    /// Adds a prompt; `extra` is inserted after the first words.
    pub(super) fn prompt(&mut self, extra: &str) {
        let bytes = self.rng.lognormal(5.6, 0.9).min(2_000.0) as usize + 40;
        self.text.clear();
        self.vocabulary.prose(&mut self.rng, bytes, &mut self.text);
        if !extra.is_empty() {
            self.text.insert_str(30, &format!(" {extra} "));
        }
        self.begin("user");
        self.add(",\"message\":{\"role\":\"user\",\"content\":");
        push_string(&mut self.out, &self.text);
        self.add("}}");
        self.end();
    }

    fn assistant(&mut self, stop: &str, block: impl FnOnce(&mut Self)) {
        let (message, request) = (self.rng.base36(24), self.rng.base36(24));
        let [input, written, read, output] = [(3, 900), (0, 9_000), (1_000, 120_000), (20, 1_800)]
            .map(|(low, high)| self.rng.between(low, high));
        self.begin("assistant");
        self.add(&format!(
            ",\"message\":{{\"model\":\"claude-sonnet-4-5-20250929\",\"id\":\"msg_{message}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":["
        ));
        block(self);
        self.add(&format!(
            "],\"stop_reason\":{stop},\"stop_sequence\":null,\"usage\":{{\"input_tokens\":{input},\"cache_creation_input_tokens\":{written},\"cache_read_input_tokens\":{read},\"output_tokens\":{output},\"service_tier\":\"standard\"}}}},\"requestId\":\"req_{request}\"}}"
        ));
        self.end();
    }

    fn prose(&mut self, low: usize, high: usize) {
        let bytes = self.rng.between(low, high);
        self.text.clear();
        self.vocabulary.prose(&mut self.rng, bytes, &mut self.text);
        push_string(&mut self.out, &self.text);
    }

    fn code(&mut self, low: usize, high: usize) {
        let bytes = self.rng.between(low, high);
        self.text.clear();
        self.vocabulary.code(&mut self.rng, bytes, &mut self.text);
        push_string(&mut self.out, &self.text);
    }

    /// Adds a step of the agent: a message, thinking, or a call with its result; returns whether it
    /// was a call.
    pub(super) fn step(&mut self, small: bool, mark_result: bool) -> bool {
        let kind = self.rng.unit();
        if mark_result || kind >= 0.33 {
            self.call(small, mark_result);
            return true;
        }
        if kind < 0.25 {
            self.assistant("null", |log| {
                log.add("{\"type\":\"text\",\"text\":");
                log.prose(300, 3_500);
                log.add("}");
            });
        } else {
            self.assistant("null", |log| {
                log.add("{\"type\":\"thinking\",\"thinking\":");
                log.prose(200, 1_500);
                let signature = log.rng.nanoid(360);
                log.add(&format!(",\"signature\":\"{signature}\"}}"));
            });
        }
        false
    }

    fn call(&mut self, small: bool, mark_result: bool) {
        let tool = TOOLS[self.rng.weighted(&WEIGHTS)];
        let id = self.rng.base36(24);
        let file = format!(
            "{}/src/{}.rs",
            self.cwd,
            self.vocabulary.name(&mut self.rng)
        );
        self.assistant("\"tool_use\"", |log| {
            log.add(&format!(
                "{{\"type\":\"tool_use\",\"id\":\"toolu_{id}\",\"name\":\"{tool}\",\"input\":"
            ));
            log.input(tool, &file);
            log.add("}");
        });
        let size = self.rng.unit();
        let mut bytes = match size {
            _ if size < 0.90 => self.rng.between(300, 4_000),
            _ if size < 0.97 => self.rng.between(5_000, 20_000),
            _ => self.rng.between(25_000, 100_000),
        };
        if small && bytes > 20_000 {
            bytes = self.rng.between(2_000, 8_000);
        }
        self.text.clear();
        if matches!(tool, "Read" | "Edit" | "Bash" | "Write") {
            self.vocabulary.code(&mut self.rng, bytes, &mut self.text);
        } else {
            self.vocabulary.prose(&mut self.rng, bytes, &mut self.text);
        }
        if mark_result {
            self.text
                .insert_str(50.min(self.text.len()), &format!(" {RARE_TOOL} "));
        }
        self.result(tool, &id, &file);
    }

    fn result(&mut self, tool: &str, id: &str, file: &str) {
        self.begin("user");
        let error = self.rng.id_source(0.05);
        self.add(&format!(
            ",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{id}\",\"type\":\"tool_result\",\"content\":"
        ));
        push_string(&mut self.out, &self.text);
        self.add(&format!(",\"is_error\":{error}}}]}},\"toolUseResult\":"));
        match tool {
            "Bash" => {
                self.add("{\"stdout\":");
                push_string(&mut self.out, &self.text);
                self.add(",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}");
            }
            "Read" => {
                let lines = self.text.bytes().filter(|&byte| byte == b'\n').count();
                self.add(&format!(
                    "{{\"type\":\"text\",\"file\":{{\"filePath\":\"{file}\",\"content\":"
                ));
                push_string(&mut self.out, &self.text);
                self.add(&format!(
                    ",\"numLines\":{lines},\"startLine\":1,\"totalLines\":{lines}}}}}}}"
                ));
            }
            _ => self.add("{\"ok\":true}}"),
        }
        self.end();
    }

    fn input(&mut self, tool: &str, file: &str) {
        match tool {
            "Bash" => {
                self.add("{\"command\":");
                self.code(40, 120);
                self.add(",\"description\":");
                self.prose(50, 50);
            }
            "Read" => self.add(&format!("{{\"file_path\":\"{file}\"")),
            "Edit" => {
                self.add(&format!("{{\"file_path\":\"{file}\",\"old_string\":"));
                self.code(80, 700);
                self.add(",\"new_string\":");
                self.code(80, 900);
            }
            "Write" => {
                self.add(&format!("{{\"file_path\":\"{file}\",\"content\":"));
                self.code(500, 4_000);
            }
            "Grep" => {
                let mut input = String::new();
                let _ = write!(
                    input,
                    "{{\"pattern\":\"{}\",\"path\":\"{}\"",
                    self.vocabulary.name(&mut self.rng),
                    self.cwd
                );
                self.add(&input);
            }
            "Glob" => self.add("{\"pattern\":\"**/*.rs\""),
            "WebFetch" => {
                self.add("{\"url\":\"https://example.com/a\",\"prompt\":");
                self.prose(90, 90);
            }
            _ => {
                self.add("{\"description\":");
                self.prose(40, 40);
                self.add(",\"prompt\":");
                self.prose(300, 900);
            }
        }
        self.add("}");
    }
}
