"""A plugin of pytest: our repository in the place of the one that Strands' tests use."""

from __future__ import annotations

import tempfile
from typing import Any

import tests.fixtures.mock_session_repository as fixtures

from boswell_store.strands import BoswellSessionRepository


class SwappedRepository(BoswellSessionRepository):
    """One home for each repository."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.folder = tempfile.TemporaryDirectory()
        super().__init__(self.folder.name)


fixtures.MockedSessionRepository = SwappedRepository  # type: ignore[misc]
