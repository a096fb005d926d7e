//! Where editors of the VS Code family keep the data of their users.

use std::path::PathBuf;

use crate::Environment;

/// Editors, by the names of their folders.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// Returns the `User` folder of every editor, the servers of remote sessions included.
pub(crate) fn user_folders(env: &Environment) -> Vec<PathBuf> {
    let base = match () {
        () if cfg!(windows) => env.path_var("APPDATA"),
        () if cfg!(target_os = "macos") => env.in_home("Library/Application Support"),
        () => env
            .path_var("XDG_CONFIG_HOME")
            .or_else(|| env.in_home(".config")),
    };
    let editors = EDITORS.iter();
    let own = base.map(|base| editors.map(move |editor| base.join(editor).join("User")));
    let server = env.in_home(".vscode-server/data/User");
    own.into_iter().flatten().chain(server).collect()
}

/// Returns the path of a `file:` URI, or the text itself if it is none.
pub(crate) fn path_of_uri(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else {
        return uri.to_owned();
    };
    let path = decoded(path);
    // A drive: `/c:/x` is `c:/x`.
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    match path.strip_prefix('/').filter(|_| is_drive) {
        Some(drive) => drive.to_owned(),
        None => path,
    }
}

/// Returns a text without percent escapes; what is no escape stays.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| *byte == b'%');
        let digits = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_become_paths() {
        for (uri, path) in [
            ("file:///home/me/a%20b", "/home/me/a b"),
            ("file:///c%3A/x", "c:/x"),
            ("/plain/%zz", "/plain/%zz"),
            ("file:///%E9%A1%B9", "/项"),
        ] {
            assert_eq!(path_of_uri(uri), path, "{uri}");
        }
        assert_eq!(decoded("%2Fa%2"), "/a%2");
    }
}
