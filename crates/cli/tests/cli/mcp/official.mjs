// Asks a server with the official client of the protocol, and prints the answers as JSON.
// Arguments: the folder with the packages, and how to reach the server as JSON: {command, args, env,
// cwd} for standard streams, {url, token} for HTTP; and the session to ask about.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, how, session] = process.argv.slice(2);
const load = (path) =>
  import(pathToFileURL(join(folder, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)).href);
const { Client } = await load("client/index.js");
const server = JSON.parse(how);

async function transport() {
  if (server.url) {
    const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
    const headers = { Authorization: `Bearer ${server.token}` };
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
  }
  const { StdioClientTransport } = await load("client/stdio.js");
  return new StdioClientTransport({ ...server, stderr: "pipe" });
}

const errors = [];
const client = new Client({ name: "test", version: "1" });
client.onerror = (error) => errors.push(String(error));
await client.connect(await transport());
const call = async (name, args) =>
  (await client.callTool({ name, arguments: args })).content.map((it) => it.text).join("");
const answers = {
  server: client.getServerVersion(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  search: await call("search_sessions", { query: "lease unlinked" }),
  outline: await call("outline_session", { session }),
  read: await call("read_session", { session, count: 2 }),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  prompt: (await client.getPrompt({ name: "recall", arguments: { topic: "the lease" } })).messages,
  templates: (await client.listResourceTemplates()).resourceTemplates.length,
  resource: (await client.readResource({ uri: `boswell://session/${session}` })).contents[0].text,
  completed: (
    await client.complete({
      ref: { type: "ref/prompt", name: "hand_over" },
      argument: { name: "session", value: session.slice(0, 10) },
    })
  ).completion.values,
};
await client.close();
console.log(JSON.stringify({ ...answers, errors }));
