//! The inputs that mutation starts from: `fuzz/seeds/<target>/`, real files of
//! `BOSWELL_CORPUS`, and a few lines.

use std::path::{Path, PathBuf};

use crate::{Outcome, workspace};

/// How much of a real file is used: enough for every kind of record in it.
const HEAD: usize = 32 * 1024;
const MOST_FILES: usize = 400;

const ALWAYS: [&[u8]; 3] = [
    b"",
    b"{\"type\":\"session\",\"version\":3,\"id\":\"a\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/p\"}\n\
      {\"type\":\"message\",\"id\":\"1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
    b"{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
];

pub(crate) fn pool(target: &str) -> Outcome<Vec<Vec<u8>>> {
    let mut pool: Vec<Vec<u8>> = ALWAYS.iter().map(|line| line.to_vec()).collect();
    let mut folders = vec![workspace::root().join("fuzz").join("seeds").join(target)];
    folders.extend(std::env::var_os("BOSWELL_CORPUS").map(PathBuf::from));
    for folder in folders {
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        for file in files.iter().take(MOST_FILES) {
            let mut bytes =
                std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            bytes.truncate(HEAD);
            pool.push(bytes);
        }
    }
    Ok(pool)
}

/// Collects files below a folder in name order, so that a seed means the same on every machine with
/// the same files.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    if !folder.is_dir() {
        return Ok(());
    }
    let mut below: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    below.sort();
    for path in below {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
