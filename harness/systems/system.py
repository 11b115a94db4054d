"""What every system under test is: configuration that can be opened, then asked."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.errors import ConfigError
from harness.llm import Calls
from harness.records import Answer, Query
from harness.sources import Caption

Found = Mapping[tuple[str, int], Answer]
"""(question id, repeat) -> what another run retrieved for it, as an answer still without text."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the stage lends to a system while it works."""

    calls: Calls
    """Remembers every model call."""
    cache: Path
    """A folder for what is expensive to make again; keyed by content."""
    project: Path = Path()
    """What relative paths of the configuration are meant from."""


class Answerer(Protocol):
    """A system that is ready to be asked."""

    @property
    def provenance(self) -> dict[str, Any]:
        """What shaped the answers beyond the configuration: goes into `run.json`."""

    @property
    def captions(self) -> tuple[Caption, ...]:
        """What the index was told about figures, for a person to read."""

    @property
    def pages(self) -> Mapping[tuple[str, int], str]:
        """(document, page) -> text of what it answers from; nothing where that is not known."""

    @property
    def figures(self) -> frozenset[str] | None:
        """Ids of the figures that were found; None where none were looked for."""

    def answer(self, query: Query) -> Answer:
        """Answer one question; safe to call from several threads."""


@dataclass
class System:
    """A configured system under test."""

    def open(self, bench: Bench) -> AbstractContextManager[Answerer]:
        """Make the system ready; whatever it holds is released at the end."""
        raise NotImplementedError

    def open_on(self, found: Found, bench: Bench) -> AbstractContextManager[Answerer]:
        """Make ready only what comes after retrieval: it reads what was found elsewhere."""
        raise ConfigError(
            "this system retrieves for itself and cannot be handed passages: "
            "passages_from= goes with system=rag"
        )

    def inactive(self) -> frozenset[str]:
        """Names of settings that another setting switches off."""
        return frozenset()

    def documents(self, project: Path) -> dict[str, str]:
        """What it answers from: document -> SHA-256. Runs over other documents are not compared.

        Args:
            project: What relative paths of the configuration are meant from.
        """
        return {}

    def models(self) -> dict[str, dict[str, object]]:
        """Identities of the models at work: group -> what its calls are remembered by."""
        return {}

    @property
    def concurrency(self) -> int:
        """How many questions it can be asked at a time."""
        return 1
