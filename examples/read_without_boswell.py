"""The way out: prints a session with nothing but Python. docs/FORMAT.md promises this format.

python read_without_boswell.py HOME/sessions/PROJECT/TIME_ID.jsonl
"""

import json
import re
import sys
from pathlib import Path


def whole(text: str, blobs: Path) -> str:
    """A long text ends with a notice that names the blob with all of it."""
    notice = re.search(r"\n\n\[boswell: \d+ more characters in blob:sha256:(\w{64})\]$", text)
    blob = blobs / notice[1] if notice else None
    return blob.read_text("utf-8", "surrogatepass") if blob and blob.is_file() else text


def main(log: Path) -> None:
    entries, tip = {}, None
    for line in log.read_text("utf-8", "surrogatepass").split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # A line that a crash cut off is not an entry.
        if isinstance(entry, dict) and entry.get("id") and entry.get("type") != "session":
            entries[tip := entry["id"]] = entry  # The last one is where the session stands.
    branch = []
    while tip in entries:
        branch.append(entries.pop(tip))
        tip = branch[-1].get("parentId")
    for entry in reversed(branch):
        message = entry.get("message") or {}
        parts = message.get("content") or []
        for part in [{"text": parts}] if isinstance(parts, str) else parts:
            said = part.get("text") or part.get("thinking") or json.dumps(part)
            print(f"{message.get('role')}: {whole(said, log.parents[2] / 'blobs')}")


main(Path(sys.argv[1]))
