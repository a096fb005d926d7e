// Mirrors a session of the Claude Agent SDK into PostgreSQL, so that another host can resume it.
//
// node claude_mirror.js ADDRESS SESSION MESSAGE...
//
// `ADDRESS` is that of a database whose tables `Store.makeTables` made. The SDK calls the store
// itself, by `query({ options: { sessionStore } })`; this example makes the same calls, so that it
// runs without a key.

import { randomUUID } from "node:crypto";

import { Store } from "boswell-store";
import { BoswellSessionStore } from "boswell-store/claude";

const [address = "", sessionId = "session", ...messages] = process.argv.slice(2);

const sessionStore = new BoswellSessionStore(await Store.remote(address, { tenant: "example" }));
const key = { projectKey: "-proj", sessionId };
for (const content of messages) {
  const message = { role: "user", content };
  await sessionStore.append(key, [{ type: "user", uuid: randomUUID(), message }]);
}
const mirrored = (await sessionStore.load(key)) ?? [];
console.log(`${mirrored.length} entries are in the database`);
