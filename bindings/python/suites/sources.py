"""Source packages of frameworks, for tests that are not installed with them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path


def unpacked(folder: Path, name: str, version: str) -> Path:
    """The unpacked source package, downloaded once."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    archive = folder / f"{stem}.tar.gz"
    if not archive.is_file():
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        download += ["--no-binary", name, "--dest", str(folder), f"{name}=={version}"]
        subprocess.run(download, check=True)
    if not (folder / stem).is_dir():
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return folder / stem
