//! Codex: rollout files in a folder per day.
