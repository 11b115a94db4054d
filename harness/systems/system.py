"""What every system under test is: configuration that is opened, then asked."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.llm import Calls
from harness.records import Answer, Query
from harness.sources import Caption
from harness.text import same_model

Found = Mapping[tuple[str, int], Answer]
"""(question id, repeat) -> what another run retrieved for it, as an answer still without text."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the stage gives a system to work with."""

    calls: Calls
    """The cache of all model calls."""
    cache: Path
    """A folder for what is expensive to build; keyed by content."""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """The index that passages were retrieved from."""

    fingerprint: str
    """SHA-256 over passages, embedder and search parameters."""
    passages: int
    """How many passages it holds."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """How the nearest passages are found: space, method, and the parameters of the method."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What shaped the answers beyond the configuration: `made_with` in `run.json`.

    A system reports what it knows; a field that it leaves out is not recorded.
    """

    generator: str = ""
    """Label of the model or program that wrote the answers, as the report shows it."""
    models: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Identities of the models: group (chat, embedder, captioner) -> what its calls are cached
    by."""
    notes: tuple[str, ...] = ()
    """What a reader of the report must know, such as `ignores_prompt` or `recorded`: a key of
    `notes` in the report's words, or a text that is shown as it is."""
    prompt_sha256: str | None = None
    """SHA-256 of the prompt template in the language that was used."""
    index: IndexRecord | None = None
    """None where nothing was retrieved from an index of this project."""
    ingest: Mapping[str, int] | None = None
    """Counts of what was read, changed and left out when the index was built."""

    def record(self) -> dict[str, Any]:
        """Return the content of `made_with`, ready for JSON; what is not known is left out.

        >>> Provenance(generator="llama3.1", prompt_sha256="0f3c").record()
        {'prompt_sha256': '0f3c', 'models': {}, 'generator': 'llama3.1', 'notes': []}
        """
        index = self.index and {
            "fingerprint": self.index.fingerprint,
            "passages": self.index.passages,
            **self.index.search,
        }
        every = {
            "prompt_sha256": self.prompt_sha256,
            "models": {group: dict(identity) for group, identity in self.models.items()},
            "generator": self.generator or None,
            "notes": list(self.notes),
            "index": index,
            "ingest": None if self.ingest is None else dict(self.ingest),
        }
        return {name: value for name, value in every.items() if value is not None}

    def other_models(self, answered: Iterable[str | None]) -> tuple[str, ...]:
        """Return the names of models that answered and are not the one requested, sorted.

        Empty for a deployment on Azure, which is not named after its model.

        >>> made_with = Provenance(models={"chat": {"protocol": "openai", "model": "gpt-4o"}})
        >>> made_with.other_models(["gpt-4o-2024-08-06", None, "gpt-4o-mini"])
        ('gpt-4o-mini',)
        """
        chat = self.models.get("chat", {})
        requested = chat.get("model")
        if not requested or chat.get("protocol") == "azure":
            return ()
        return tuple(sorted({n for n in answered if n and not same_model(str(requested), n)}))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Provenance":
        """Return what `made_with` holds; keys that are missing or unknown do no harm.

        >>> Provenance.from_record({"generator": "llama3.1", "notes": ["recorded"]}).notes
        ('recorded',)
        """
        index = dict(record.get("index") or {})
        return cls(
            generator=record.get("generator") or "",
            models=record.get("models") or {},
            notes=tuple(record.get("notes") or ()),
            prompt_sha256=record.get("prompt_sha256"),
            index=IndexRecord(index.pop("fingerprint"), index.pop("passages"), index)
            if index
            else None,
            ingest=record.get("ingest"),
        )


class Answerer:
    """A system that is ready to be asked. A subclass gives `answer`, and what else it knows."""

    @property
    def provenance(self) -> Provenance:
        """What shaped the answers beyond the configuration."""
        return Provenance()

    @property
    def captions(self) -> tuple[Caption, ...]:
        """The captions in its index, for people to read."""
        return ()

    @property
    def pages(self) -> Mapping[tuple[str, int], str]:
        """(document, page) -> text of what it answers from; empty where that is not known."""
        return {}

    @property
    def figures(self) -> frozenset[str] | None:
        """Ids of the figures that were found; None where none were looked for."""
        return None

    def answer(self, query: Query) -> Answer:
        """Answer one question; called from as many threads as the system's `concurrency`."""
        raise NotImplementedError


@dataclass
class System:
    """A configured system under test. A subclass gives `answer`.

    One that builds or connects something first gives `open` instead, and answers by what that
    yields. Everything else has a default.
    """

    def answer(self, query: Query) -> Answer:
        """Answer one question. A HarnessError is recorded as the failure of this question."""
        raise NotImplementedError(f"{type(self).__name__} defines neither answer nor open")

    @contextmanager
    def open(self, bench: Bench) -> Iterator[Answerer]:
        """Make the system ready to be asked; what it holds is released at the end."""
        yield DirectAnswerer(self)

    def open_on(self, found: Found, bench: Bench) -> AbstractContextManager[Answerer]:
        """Make ready only what follows retrieval: it reads passages that another run retrieved."""
        raise ConfigError(
            "this system does its own retrieval and cannot be given passages: "
            "passages_from= needs system=rag"
        )

    def inactive(self) -> frozenset[str]:
        """Names of settings that another setting switches off."""
        return frozenset()

    def documents(self) -> dict[str, str]:
        """What it answers from: document -> SHA-256. Runs over other documents are not compared."""
        return {}

    def models(self) -> dict[str, dict[str, object]]:
        """Identities of the models at work: group -> what its calls are cached by."""
        return {}

    @property
    def concurrency(self) -> int:
        """How many questions it can be asked at a time."""
        return 1


@dataclass(frozen=True, slots=True)
class DirectAnswerer(Answerer):
    """A system that is asked as it is configured: there is nothing to open."""

    system: System

    @property
    def provenance(self) -> Provenance:
        """The models that the system names."""
        return Provenance(models=self.system.models())

    def answer(self, query: Query) -> Answer:
        """Ask the system."""
        return self.system.answer(query)
