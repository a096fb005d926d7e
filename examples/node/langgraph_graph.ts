// A LangGraph graph whose state survives the process.
//
// node langgraph_graph.js HOME MESSAGE...
//
// Each run goes on in the same thread; `boswell show counted` prints the conversation.

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { BoswellSaver } from "boswell-store/langgraph";

const [home = "agent-home", ...messages] = process.argv.slice(2);

const graph = new StateGraph(MessagesAnnotation)
  // A model would be called here.
  .addNode("reply", (state) => ({
    messages: [new AIMessage(`${state.messages.length} messages so far`)],
  }))
  .addEdge(START, "reply")
  .compile({ checkpointer: new BoswellSaver(home) });

const config = { configurable: { thread_id: "counted" } };
for (const message of messages) {
  const state = await graph.invoke({ messages: [new HumanMessage(message)] }, config);
  console.log(state.messages.at(-1)?.text);
}
