"""A PostgreSQL of the tests' own: a temporary folder, a free port of loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boswell_store import Store


def folder_of_programs() -> Path | None:
    """The folder with `initdb`; none if PostgreSQL is not installed."""
    given = os.environ.get("PG_BIN")
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    folders = [Path(given)] if given else [*newest, *([Path(on_path).parent] if on_path else [])]
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """A server with the tables of boswell; the address for the user that owns nothing."""
    with tempfile.TemporaryDirectory(prefix="boswell-pg-") as folder:
        as_user: list[str] = []
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            shutil.chown(folder, "postgres")
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data = f"{folder}/data"

        def run(*words: str) -> None:
            done = subprocess.run([*as_user, *words], capture_output=True, text=True, cwd=folder)
            assert done.returncode == 0, done.stdout + done.stderr

        initdb = [str(programs / "initdb"), "-D", data, "-U", "boswell", "-A", "trust", "-N"]
        run(*initdb, "-E", "UTF8", "--locale=C")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        pg_ctl = [str(programs / "pg_ctl"), "-D", data, "-w"]
        run(*pg_ctl, "-o", options, "-l", f"{folder}/log", "start")
        try:
            database = f"host=127.0.0.1 port={port} dbname=postgres sslmode=disable"
            psql = [str(programs / "psql"), "-q", f"{database} user=boswell"]
            run(*psql, "-c", "CREATE ROLE app LOGIN")
            Store.make_tables(f"{database} user=boswell", role="app")
            yield f"{database} user=app"
        finally:
            run(*pg_ctl, "-m", "immediate", "stop")
