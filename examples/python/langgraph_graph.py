"""A LangGraph graph whose state survives the process.

python langgraph_graph.py HOME MESSAGE...

Each run goes on in the same thread; `boswell show counted` prints the conversation.
"""

from __future__ import annotations

import sys

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from boswell_store.langgraph import BoswellSaver


def reply(state: MessagesState) -> dict:
    """A model would be called here."""
    count = len(state["messages"])
    return {"messages": [AIMessage(content=f"{count} messages so far")]}


def main(home: str, messages: list[str]) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("reply", reply)
    builder.add_edge(START, "reply")
    graph = builder.compile(checkpointer=BoswellSaver(home))
    config: RunnableConfig = {"configurable": {"thread_id": "counted"}}
    for message in messages:
        state = graph.invoke({"messages": [HumanMessage(message)]}, config)
        print(state["messages"][-1].content, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
