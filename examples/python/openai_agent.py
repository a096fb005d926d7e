"""An agent of the OpenAI Agents SDK whose session survives the process.

python openai_agent.py HOME MESSAGE...

The model is scripted, so that the example runs without a key; leave `model` out of `Agent` to call
a real one.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from boswell_store.openai import BoswellSession


class Scripted(Model):
    """Answers with the number of items that it was sent."""

    async def get_response(
        self, system_instructions: Any, input: Any, *_: Any, **__: Any
    ) -> ModelResponse:
        count = 1 if isinstance(input, str) else len(input)
        text = ResponseOutputText(
            type="output_text", text=f"{count} items so far", annotations=[]
        )
        message = ResponseOutputMessage(
            id=f"m{count}",
            type="message",
            role="assistant",
            status="completed",
            content=[text],
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("this example does not stream")


async def main(home: str, messages: list[str]) -> None:
    set_tracing_disabled(True)
    agent = Agent(name="counter", model=Scripted())
    session = BoswellSession("counted", home)
    for message in messages:
        result = await Runner.run(agent, message, session=session)
        print(result.final_output, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
