"""Errors by kind. The kind says what a caller can do about it, the hint says how."""

from __future__ import annotations

__all__ = [
    "BoswellError",
    "Busy",
    "Conflict",
    "Damaged",
    "Denied",
    "Internal",
    "Invalid",
    "NoSpace",
    "NotFound",
    "TooNew",
    "Unavailable",
    "Unsupported",
]


class BoswellError(Exception):
    """What happened to which object, why, and what to do next."""

    kind = "internal"

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        hint: str | None = None,
        expected: str | None = None,
        actual: str | None = None,
        in_doubt: list[str] | None = None,
        holder_pid: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.hint = hint
        self.expected = expected
        self.actual = actual
        self.in_doubt = in_doubt or []
        self.holder_pid = holder_pid

    def __str__(self) -> str:
        text = self.message
        if self.reason:
            text += f"\n  because {self.reason}"
        if self.hint:
            text += f"\nhint: {self.hint}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self.message, self.__dict__.copy())


def _rebuilt(
    kind: type[BoswellError], message: str, members: dict[str, object]
) -> BoswellError:
    error = kind(message)
    error.__dict__.update(members)
    return error


class NotFound(BoswellError):
    """The session, entry or blob does not exist."""

    kind = "not_found"


class Busy(BoswellError):
    """Another process holds the lease; a retry may succeed."""

    kind = "busy"


class Conflict(BoswellError):
    """The session is not in the expected state, or the id is taken by other content."""

    kind = "conflict"


class Invalid(BoswellError):
    """The request is not valid, or the object belongs to the process before a fork."""

    kind = "invalid"


class Unsupported(BoswellError):
    """The format cannot hold it."""

    kind = "unsupported"


class Denied(BoswellError):
    """The operating system denies access."""

    kind = "denied"


class Damaged(BoswellError):
    """The data that is needed is damaged."""

    kind = "damaged"


class TooNew(BoswellError):
    """The data was written by a newer version."""

    kind = "too_new"


class NoSpace(BoswellError):
    """The disk is full."""

    kind = "no_space"


class Unavailable(BoswellError):
    """The storage cannot be reached; a retry may succeed."""

    kind = "unavailable"


class Internal(BoswellError):
    """A bug."""

    kind = "internal"
