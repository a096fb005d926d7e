// A PostgreSQL of the tests' own: a temporary folder, a free port of loopback.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

import { Store } from "boswell-store";

const run = promisify(execFile);
const INSTALLED = "/usr/lib/postgresql";

/** The folder with `initdb`; undefined if PostgreSQL is not installed. */
export function folderOfPrograms() {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort().reverse() : [];
  const given = process.env.PG_BIN;
  const others = [
    ...versions.map((version) => join(INSTALLED, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return (given ? [given] : others).find((folder) => existsSync(join(folder, "initdb")));
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a server with the tables of boswell; the address for the user that owns nothing. */
export async function server(t, programs) {
  const folder = mkdtempSync(join(tmpdir(), "boswell-pg-"));
  const isRoot = process.getuid() === 0;
  // PostgreSQL refuses to run as root.
  if (isRoot) await run("chown", ["postgres", folder]);
  const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"];
  const call = (program, ...words) => {
    const path = join(programs, program);
    const command = isRoot ? ["setpriv", [...user, path, ...words]] : [path, words];
    return run(...command, { cwd: folder, timeout: 60_000 });
  };
  const data = join(folder, "data");
  const made = ["-U", "boswell", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"];
  let isStarted = false;
  t.after(async () => {
    if (isStarted) await call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop");
    rmSync(folder, { recursive: true, force: true });
  });
  await call("initdb", "-D", data, ...made);
  const port = await freePort();
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder}`;
  const log = join(folder, "log");
  await call("pg_ctl", "-D", data, "-w", "-o", options, "-l", log, "start");
  isStarted = true;
  const database = `host=127.0.0.1 port=${port} dbname=postgres sslmode=disable`;
  await call("psql", "-q", `${database} user=boswell`, "-c", "CREATE ROLE app LOGIN");
  await Store.makeTables(`${database} user=boswell`, { role: "app" });
  return `${database} user=app`;
}
