//! Claude Code: a chain log per session in a folder per project.
