// A recipe for the AI SDK of Vercel, which has no store of its own: its messages are kept as they
// are, each beside a message that boswell reads.
//
// node ai_sdk_agent.js HOME MESSAGE...
//
// The model is scripted, so that the example needs no key; give `generateText` a real one.

import { generateText, type LanguageModel, type ModelMessage } from "ai";
import { type LogRecord, Store, type Writer } from "boswell-store";

const [home = "agent-home", ...prompts] = process.argv.slice(2);
const MEMBER = "aiSdk";

const model = {
  specificationVersion: "v3",
  provider: "scripted",
  modelId: "counter",
  supportedUrls: {},
  async doGenerate({ prompt }: { prompt: unknown[] }) {
    return {
      content: [{ type: "text", text: `I was sent ${prompt.length} messages` }],
      finishReason: { unified: "stop", raw: undefined },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
  doStream() {
    throw new Error("this model does not stream");
  },
} as unknown as LanguageModel;

async function history(writer: Writer): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [];
  for await (const entry of (await writer.session()).entries({ branch: true })) {
    const kept = entry.json()[MEMBER] as ModelMessage | undefined;
    if (kept !== undefined) messages.push(kept);
  }
  return messages;
}

function record(message: ModelMessage): LogRecord {
  const content =
    typeof message.content === "string"
      ? [{ type: "text", text: message.content }]
      : message.content.flatMap((part) => (part.type === "text" ? [{ type: "text", text: part.text }] : []));
  return { type: "message", message: { role: message.role, content }, [MEMBER]: message };
}

const writer = await (await Store.open(home)).openSession("chat");
for (const prompt of prompts) {
  const asked: ModelMessage = { role: "user", content: prompt };
  await writer.append(record(asked));
  const { text, response } = await generateText({ model, messages: await history(writer) });
  // One batch: an answer is there as a whole, or not at all.
  await writer.appendAll(response.messages.map(record));
  console.log(text);
}
await writer.release();
