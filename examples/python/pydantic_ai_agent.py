"""A recipe for pydantic-ai, which has no store of its own: its messages are kept as it prints them.

python pydantic_ai_agent.py HOME MESSAGE...

The model is a function, so that the example runs without a key.
"""

from __future__ import annotations

import sys

from pydantic_ai import Agent, ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from boswell_store import Store, Writer, open_session

MEMBER = "pydanticAi"


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(f"{len(messages)} messages so far")])


def history(writer: Writer) -> list[ModelMessage]:
    records = (entry.json() for entry in writer.session().entries(branch=True))
    kept = [record[MEMBER] for record in records if MEMBER in record]
    return ModelMessagesTypeAdapter.validate_python(kept)


def remember(writer: Writer, made: list[ModelMessage]) -> None:
    """One batch: a turn is there as a whole, or not at all."""
    batch = []
    for message in made:
        texts = [part.content for part in message.parts if isinstance(part.content, str)]  # type: ignore[union-attr]
        role = "user" if message.kind == "request" else "assistant"
        said = {"role": role, "content": [{"type": "text", "text": text} for text in texts]}
        whole = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
        batch.append({"type": "message", "message": said, MEMBER: whole})
    writer.append_all(batch)


def main(home: str, prompts: list[str]) -> None:
    agent = Agent(FunctionModel(answer))
    with open_session(Store.open(home), "counted") as writer:
        for prompt in prompts:
            result = agent.run_sync(prompt, message_history=history(writer))
            remember(writer, result.new_messages())
            print(result.output, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
