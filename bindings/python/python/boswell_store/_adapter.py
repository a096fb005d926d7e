"""What the adapters share: names of sessions, one store for each folder, cancellation."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from . import BoswellError, Conflict, NotFound, Store, Writer, open_session

Place = str | os.PathLike[str] | Store
Answer = TypeVar("Answer")

# A session id is part of a file name.
LONGEST_NAME = 120

_stores: dict[tuple[int, str], Store] = {}
_stores_lock = threading.Lock()
# A lock that was held during a fork would stay locked in the child.
os.register_at_fork(after_in_child=lambda: globals().update(_stores_lock=threading.Lock()))


def opened(place: Place) -> Store:
    """The store of a folder. Adapters in one process share it, so that they share its syncs."""
    if isinstance(place, Store):
        return place
    path = os.path.realpath(os.fspath(place))
    with _stores_lock:
        # A child of `os.fork` opens its own.
        key = (os.getpid(), path)
        if key not in _stores:
            _stores[key] = Store.open(path)
        return _stores[key]


def session_name(text: str) -> str:
    """A session id for any text: the text itself where it can be one, else its quoted form.

    Different texts have different names.
    """
    name = quote(text, safe="@+=")
    # `quote` leaves these, and the adapters or the store give them a meaning.
    name = name.replace("~", "%7E")
    if name.startswith(("-", ".")):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith(".jsonl"):
        name = f"{name[:-6]}%2Ejsonl"
    if not name or len(name) > LONGEST_NAME:
        # `%%` occurs in no quoted text.
        return f"%%{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return name


class Writers:
    """Open writers of sessions, the last used ones. They hold no lease: frameworks let several
    processes write to one session."""

    def __init__(self, store: Store, most: int = 64) -> None:
        self._store = store
        self._most = most
        self._open: OrderedDict[str, Writer] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        name: str,
        *,
        first: dict[str, Any],
        project: str | None,
        subject: str | None = None,
    ) -> Writer:
        """The writer of a session, which is made with `first` as its first entry."""
        with self._lock:
            writer = self._open.get(name)
            if writer is not None:
                self._open.move_to_end(name)
                return writer
        writer = self._opened(name, first, project, subject)
        with self._lock:
            writer = self._open.setdefault(name, writer)
            while len(self._open) > self._most:
                self._open.popitem(last=False)
        return writer

    def _opened(
        self, name: str, first: dict[str, Any], project: str | None, subject: str | None
    ) -> Writer:
        try:
            return self._store.writer(name, shared=True)
        except NotFound:
            return open_session(
                self._store,
                name,
                project=project,
                shared=True,
                first=first,
                subject=subject,
            )

    def forget(self, name: str) -> None:
        with self._lock:
            self._open.pop(name, None)

    def write(
        self,
        name: str,
        call: Callable[[Writer], Answer],
        *,
        first: dict[str, Any],
        project: str | None = None,
        subject: str | None = None,
    ) -> Answer:
        """Calls with the session's writer. A writer that failed is opened again by the next call;
        one whose log was deleted or replaced meanwhile is opened again at once."""
        try:
            return call(self.get(name, first=first, project=project, subject=subject))
        except Conflict as error:
            self.forget(name)
            if error.expected is not None or "taken" in error.message:
                raise
        except BoswellError:
            self.forget(name)
            raise
        return call(self.get(name, first=first, project=project, subject=subject))


async def settled(call: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """Runs a blocking call in a thread to its end, also if the caller is cancelled: then the
    caller hears of the cancellation when the call has ended, so that nothing of it is still to
    come."""
    task = asyncio.ensure_future(asyncio.to_thread(call, *arguments, **named))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    if cancelled is not None:
        # The result is void, and so is its error: it must not be reported as never retrieved.
        if not task.cancelled():
            task.exception()
        raise cancelled
    return task.result()
