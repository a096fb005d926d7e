"""`HistoryProvider` of the Microsoft Agent Framework.

    from boswell_store.agent_framework import BoswellHistoryProvider

    agent = client.as_agent(context_providers=[BoswellHistoryProvider("agent-home")])
    await agent.run("hello", session=agent.create_session(session_id="customer-17"))

Messages are kept as `Message.to_dict` describes them, each beside a message that boswell reads.
A call whose answer is missing, because a turn was interrupted, is answered in what a model is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import (
    AgentSession,
    Content,
    HistoryProvider,
    Message,
    SessionContext,
)

from . import NotFound
from . import _records as records
from ._adapter import Place, Writers, opened, session_name, settled

__all__ = ["BoswellHistoryProvider"]

AGENT = "agent-framework"
MEMBER = "agentFramework"
# The session of a caller that states none.
UNNAMED = "default"
INTERRUPTED = "No result: the call was interrupted."


class BoswellHistoryProvider(HistoryProvider):
    """The history of sessions in a home folder."""

    DEFAULT_SOURCE_ID = "boswell"

    def __init__(
        self,
        store: Place,
        source_id: str | None = None,
        *,
        project: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID, **options)
        self._store = opened(store)
        self._writers = Writers(self._store)
        self._project = project

    async def before_run(
        self,
        *,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Gives the history to a run. The framework sends a call without its answer as it is, and
        a provider refuses that: such a call gets one that says so. `get_messages` stays what was
        written."""
        await super().before_run(agent=agent, session=session, context=context, state=state)
        history = context.context_messages.get(self.source_id)
        if history:
            context.context_messages[self.source_id] = _paired(history, context.input_messages)

    async def get_messages(
        self,
        session_id: str | None,
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Message]:
        """The messages of a session in order."""
        return await settled(self._read, session_id or UNNAMED)

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Appends messages as one batch; returns when they are durable."""
        made = [record for message in messages for record in _made(message)]
        if made:
            await settled(self._append, session_id or UNNAMED, made)

    def _read(self, session_id: str) -> list[Message]:
        try:
            session = self._store.session(session_name(session_id))
        except NotFound:
            return []
        kept = (entry.json().get(MEMBER) for entry in session.entries(branch=True))
        return [Message.from_dict(data) for data in kept if isinstance(data, dict)]

    def _append(self, session_id: str, made: list[dict[str, Any]]) -> None:
        self._writers.write(
            session_name(session_id),
            lambda writer: writer.append_all(made),
            first=records.meta(AGENT, session_id),
            project=self._project,
        )


def _paired(history: list[Message], later: Sequence[Message]) -> list[Message]:
    """The history with an answer behind each call that has none, neither in it nor in what is sent
    behind it. A call that waits for the approval of the user stays open."""
    settled_calls = set()
    for message in [*history, *later]:
        for content in message.contents:
            if content.type == "function_result":
                settled_calls.add(content.call_id)
            elif content.type.startswith("function_approval") and content.function_call:
                settled_calls.add(content.function_call.call_id)
    paired = []
    for message in history:
        paired.append(message)
        answers = [
            Content.from_function_result(it.call_id, result=INTERRUPTED, exception=INTERRUPTED)
            for it in message.contents
            if it.type == "function_call" and it.call_id and it.call_id not in settled_calls
        ]
        if answers:
            paired.append(Message("tool", answers))
    return paired


def _made(message: Message) -> list[dict[str, Any]]:
    made = _readable(message)
    made[0][MEMBER] = message.to_dict()
    return made


def _readable(message: Message) -> list[dict[str, Any]]:
    """The messages that a message of the framework is: results are messages of their own."""
    parts, results = [], []
    for content in message.contents:
        kind = content.type
        if kind == "text":
            parts.append(records.text(content.text or ""))
        elif kind == "text_reasoning" and content.text:
            parts.append(records.thinking(content.text))
        elif kind == "function_call":
            call = records.call(content.call_id or "", content.name or "", content.arguments)
            parts.append(call)
        elif kind == "function_result":
            text = [records.text(_text(content.result))]
            is_error = content.exception is not None
            results.append(records.tool_result(content.call_id or "", "", text, is_error=is_error))
    if message.role == "assistant":
        return [records.assistant(parts, provider="agent-framework"), *results]
    if message.role == "system":
        return [_system(parts), *results]
    if parts or not results:
        return [records.user(parts), *results]
    return results


def _system(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "custom_message",
        "customType": "system",
        "content": parts,
        "display": False,
    }


def _text(result: Any) -> str:
    return result if isinstance(result, str) else str(result)
