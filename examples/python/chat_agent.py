"""A chat agent that can be killed at any moment: the next run resumes where it was interrupted.

python chat_agent.py HOME PROMPT...

A model would answer in the place of `model`. A prompt is durable before it is answered, and an
answer before it is printed; a prompt that was interrupted is answered by the next run.
"""

from __future__ import annotations

import sys

from boswell_store import Store, Writer, open_session, text_of

SESSION = "chat"


def model(messages: list) -> str:
    """A model that counts what it was sent."""
    return f"answer {len(messages)} to: {text_of(messages[-1])}"


def answer(writer: Writer) -> None:
    reply = model(writer.session().messages())
    writer.append({"role": "assistant", "content": reply, "model": "scripted/one"})
    print(reply, flush=True)


def main(home: str, prompts: list[str]) -> None:
    with open_session(Store.open(home), SESSION) as writer:
        said = writer.session().messages()
        if said and said[-1]["role"] == "user":
            answer(writer)
        asked = sum(message["role"] == "user" for message in said)
        for prompt in prompts[asked:]:
            writer.append({"role": "user", "content": prompt})
            answer(writer)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
