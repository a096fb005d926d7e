//! Claude Code: a chain log per session in a folder per project.

/// The folder name for a project (stand-in until the dialect is merged).
pub fn project_key(path: &str) -> String {
    path.encode_utf16()
        .map(|u| char::from_u32(u32::from(u)).filter(char::is_ascii_alphanumeric).unwrap_or('-'))
        .collect()
}
