// An agent of the OpenAI Agents SDK whose session survives the process.
//
// node openai_agent.js HOME MESSAGE...
//
// The model is scripted, so that the example needs no key; leave `model` out to use a real one.

import { Agent, type Model, type ModelRequest, type ModelResponse, Runner, Usage } from "@openai/agents-core";
import { BoswellSession } from "boswell-store/openai";

const [home = "agent-home", ...messages] = process.argv.slice(2);

const scripted: Model = {
  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const text = `I was sent ${request.input.length} items`;
    const content = [{ type: "output_text" as const, text }];
    return {
      usage: new Usage(),
      output: [{ type: "message", role: "assistant", status: "completed", content }],
    };
  },
  getStreamedResponse() {
    throw new Error("this model does not stream");
  },
};

const agent = new Agent({ name: "counter", instructions: "count", model: scripted });
const runner = new Runner({ tracingDisabled: true });
const session = new BoswellSession("customer-17", home);
for (const message of messages) {
  const result = await runner.run(agent, message, { session });
  console.log(result.finalOutput);
}
