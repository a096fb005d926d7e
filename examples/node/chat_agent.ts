// A chat agent that can be killed at any moment: the next run resumes where it was interrupted.
//
// node chat_agent.js HOME PROMPT...
//
// A model would answer in the place of `model`. A prompt is durable before it is answered, and an
// answer before it is printed; a prompt that was interrupted is answered by the next run.

import { type ReadMessage, Store, textOf, type Writer } from "boswell-store";

/** A model that counts what it was sent. */
function model(messages: ReadMessage[]): string {
  const last = messages.at(-1);
  return `answer ${messages.length} to: ${last === undefined ? "" : textOf(last)}`;
}

async function answer(writer: Writer): Promise<void> {
  const reply = model(await (await writer.session()).messages());
  await writer.append({ role: "assistant", content: reply, model: "scripted/one" });
  console.log(reply);
}

const [home = "agent-home", ...prompts] = process.argv.slice(2);
const store = await Store.open(home);
const writer = await store.openSession("chat");
const said = await (await writer.session()).messages();
if (said.at(-1)?.role === "user") {
  await answer(writer);
}
const asked = said.filter((message) => message.role === "user").length;
for (const prompt of prompts.slice(asked)) {
  await writer.append({ role: "user", content: prompt });
  await answer(writer);
}
await writer.release();
