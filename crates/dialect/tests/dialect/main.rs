//! Tests of dialects on real files and against the real programs. One test program, so that it is
//! linked once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agents_context;
mod agents_corpus;
mod agents_edit;
mod agents_support;
mod claude_captures;
mod claude_corpus;
mod claude_support;
mod claude_verdicts;
mod clinvoker_store;
mod codex_corpus;
mod myagents_corpus;
mod myagents_operations;
mod myagents_store;
mod oas_store;
mod pi_corpus;
mod pi_damage;
mod pi_oracle;
