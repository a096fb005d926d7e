//! Side files of transcripts: checkpoints, memory, the prompt history, the registry of live
//! processes.

use serde_json::json;

use crate::files::FileList;
use crate::make::claude::{TODAY, project_key};
use crate::sha256;

/// Returns the name of a backup in `file-history/<session>/`: 16 digits of the path's hash, and the
/// version.
pub fn backup_name(path: &str, version: u32) -> String {
    format!("{}@v{version}", &sha256::hex(path.as_bytes())[..16])
}

/// Returns one line of `history.jsonl`, including the newline.
pub fn history_line(display: &str, ms: i64, project: &str, session: &str) -> String {
    let line = json!({"display": display, "pastedContents": {}, "timestamp": ms, "project": project, "sessionId": session});
    format!("{line}\n")
}

/// Returns the entry of a live process, and the secret file next to it that must never be copied.
pub fn live_registry(pid: u32, session: &str, cwd: &str, ms: i64) -> FileList {
    let entry = json!({
        "pid": pid, "sessionId": session, "cwd": cwd, "startedAt": ms, "procStart": "123456", "version": TODAY,
        "kind": "interactive", "entrypoint": "cli", "status": "idle", "updatedAt": ms,
    });
    let mut files = FileList::new();
    files
        .add(format!("sessions/{pid}.json"), entry.to_string())
        .mode = Some(0o600);
    let key = format!("sessions/{pid}.{}.key", sha256::hex(session.as_bytes()));
    files.add(key, "not-a-real-secret").mode = Some(0o600);
    files
}

/// Returns the memory of a project: an index and one fact per file.
pub fn memory(cwd: &str) -> FileList {
    let folder = format!("projects/{}/memory", project_key(cwd));
    let fact = |name: &str, kind: &str, text: &str| {
        format!(
            "---\nname: {name}\ndescription: {text}\nmetadata:\n  type: {kind}\n---\n\n{text}\n"
        )
    };
    let mut files = FileList::new();
    files.add(
        format!("{folder}/MEMORY.md"),
        "- [style](style.md)\n- [会话](huihua.md)\n",
    );
    files.add(
        format!("{folder}/style.md"),
        fact(
            "style",
            "feedback",
            "short functions, no comments about the deed",
        ),
    );
    files.add(
        format!("{folder}/huihua.md"),
        fact("会话", "project", "会话恢复必须保留所有分支"),
    );
    files
}
