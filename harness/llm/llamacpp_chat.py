"""Chat models in this process: llama.cpp through xllamacpp, on its own loopback port."""

import atexit
import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, EndpointError
from harness.llm.call_store import Calls
from harness.llm.messages import Completion, Request, check_ended
from harness.llm.openai_chat import OpenAIChat
from harness.llm.remote import PLACE, WEIGHTS, Address, keys

PACKAGE = "xllamacpp"
LONGEST_STRING = 600
"""Characters of a string in a structured reply: a grammar alone does not stop a small model."""

ROOM = ("max_tokens", "max_completion_tokens", "n_predict")
"""Names under which `extra` may limit the length of a reply."""

_servers: dict[tuple[str, str, int, int], Any] = {}
"""(path, SHA-256 of the file, window, threads) -> the server that loaded it."""
_starting = threading.Lock()


@dataclass
class LlamaCppChat(OpenAIChat):
    """A GGUF file, run by llama.cpp within this process.

    One slot, no prompt cache and a fixed number of threads: otherwise the reply to a prompt depends
    on the requests before it, even at temperature 0.
    """

    base_url: str = field(default="", metadata=PLACE)
    """Must not be set: the server is this process."""
    model: str = field(default="", metadata=PLACE)
    """A name for tables; by default that of the file."""
    model_path: str = field(default="", metadata=WEIGHTS)
    """The weights (.gguf). They count by their content, wherever the file is."""
    context: int | None = field(default=4096, metadata=PLACE)
    """The context window in tokens. A prompt that does not fit, or a reply that reaches the end of
    the window, is an error and never truncated, so the window shapes no reply."""
    threads: int = 2
    concurrency: int = field(default=1, metadata=PLACE)
    timeout: float = field(default=900.0, metadata=PLACE)
    deadline: float = field(default=1800.0, metadata=PLACE)
    retries: int = field(default=1, metadata=PLACE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base_url:
            raise ConfigError(
                f"chat=llamacpp runs in this process and has no base_url ({self.base_url}); for a"
                " llama.cpp server elsewhere use chat=openai with that base_url"
            )
        self._first_sha256: str | None = None

    @property
    def label(self) -> str:
        """The model's name, else that of its file."""
        return self.model or Path(self.model_path).stem

    @property
    def samples_at_once(self) -> bool:
        """Never: the server has one slot."""
        return False

    def endpoint_identity(self) -> dict[str, object]:
        """Return the hash of the weights, the package that runs them and the number of threads.

        Raises ConfigError where the file or the package is missing, EndpointError where the file
        was replaced since this model was first used.
        """
        return {
            "protocol": "llamacpp",
            "weights": self._weights(),
            "package": f"{PACKAGE} {_package_version()}",
            "threads": self.threads,
            "structured": self.structured.value,
        }

    def address(self) -> Address:
        """Return where the server listens; the first call loads the model.

        Raises EndpointError where llama.cpp cannot load the file, or it has changed.
        """
        return replace(super().address(), base_url=f"{self._listening()}/v1")

    def room(self, request: Request) -> int | None:
        """Return how many tokens the reply may take, by `extra` where it limits them."""
        limits = [self.extra[name] for name in ROOM if name in self.extra]
        room = int(limits[0]) if limits else super().room(request)
        return None if room is not None and room < 0 else room

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Send the request; the first one loads the model.

        Raises ContextOverflowError where the window truncated the reply, EndpointError where the
        file was replaced meanwhile: llama.cpp reads it while it runs.
        """
        if request.schema is not None:
            request = replace(request, schema=bounded(request.schema))
        reply = await super().ask(request, calls)
        self._weights()
        check_ended(reply, self.room(request), self.label)
        return reply

    def _body(self, form: Any, request: Request) -> dict[str, object]:
        return {"cache_prompt": False, **super()._body(form, request), "model": self.label}

    def _file(self) -> Path:
        if not self.model_path:
            raise ConfigError(
                f"chat=llamacpp needs weights: set {keys('model_path', '<file>.gguf')}"
            )
        file = Path(self.model_path).expanduser().resolve()
        if not file.is_file():
            raise ConfigError(f"chat=llamacpp: file not found: {file}; model_path= names the GGUF")
        return file

    def _weights(self) -> str:
        """Return the hash of the file, which must not change once this model has read it."""
        file = self._file()
        stat = file.stat()
        found = _sha256(file, (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino))
        self._first_sha256 = self._first_sha256 or found
        if found != self._first_sha256:
            raise EndpointError(
                f"{file} was replaced while it was in use, and replies of two models must not be"
                " mixed; run the same command again and leave the file unchanged"
            )
        return found

    def _listening(self) -> str:
        path, window = str(self._file()), self.context or 0
        key = (path, self._weights(), window, self.threads)
        with _starting:
            if key not in _servers:
                server = _start(path, window, self.threads)
                self._weights()  # the file may have been replaced while it was loaded
                _servers[key] = server
            return str(_servers[key].listening_address)


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema with a maximum length for each string that has none.

    >>> bounded({"type": "string"})
    {'type': 'string', 'maxLength': 600}
    >>> bounded({"type": "string", "enum": ["a"]})
    {'type': 'string', 'enum': ['a']}
    """
    limited: dict[str, Any] = {}
    for key, value in schema.items():
        if isinstance(value, Mapping):
            limited[key] = bounded(value)
        elif isinstance(value, list):
            limited[key] = [bounded(each) if isinstance(each, Mapping) else each for each in value]
        else:
            limited[key] = value
    if limited.get("type") == "string" and not limited.keys() & {"maxLength", "enum", "const"}:
        limited["maxLength"] = LONGEST_STRING
    return limited


def _start(path: str, context: int, threads: int) -> Any:
    # Threads that spin while they wait take the cores from those that work.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.fit_params = False
    params.verbosity = -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise EndpointError(
            f"llama.cpp cannot load {path}: is it a complete GGUF file, and is there enough memory"
            f" for it with a context window of {context} tokens?"
        ) from error


def _package_version() -> str:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        raise ConfigError(
            f"chat=llamacpp needs the package {PACKAGE}: pip install -e '.[llamacpp]'"
        ) from None


@lru_cache
def _sha256(file: Path, _changed: tuple[int, ...]) -> str:
    with file.open("rb") as weights:
        return hashlib.file_digest(weights, "sha256").hexdigest()


@atexit.register
def _stop_at_exit() -> None:
    # Before the interpreter shuts down: a server thread must not outlive it.
    _servers.clear()
