"""Chat models in this process: llama.cpp through xllamacpp, on a loopback port of its own."""

import atexit
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.errors import ConfigError, EndpointError
from harness.llm.calls import Calls
from harness.llm.chat import Completion, Request
from harness.llm.openai_chat import OpenAIChat
from harness.llm.remote import PLACE, WEIGHTS
from harness.llm.window import check_ended

if TYPE_CHECKING:
    from harness.llm.connection import Address

PACKAGE = "xllamacpp"
LONGEST_STRING = 600
"""Characters of a string in a structured reply: a grammar alone lets a small model go on."""

ROOM = ("max_tokens", "max_completion_tokens", "n_predict")
"""Names by which `extra` may say how long a reply may be."""

_servers: dict[tuple[str, str, int, int], Any] = {}
"""(path, SHA-256 of what lay there, window, threads) -> the server that loaded it."""
_starting = threading.Lock()


@dataclass
class LlamaCppChat(OpenAIChat):
    """A GGUF file, run by llama.cpp within this process.

    One slot, no prompt cache and a fixed number of threads: else the reply to a prompt depends
    on what was asked before it, even at temperature 0.
    """

    context_in_force: ClassVar[bool] = True

    base_url: str = field(default="", metadata=PLACE)
    """Not to be set: the server is this process."""
    model: str = field(default="", metadata=PLACE)
    """A name for tables; without it the file's."""
    model_path: str = field(default="", metadata=WEIGHTS)
    """The weights (.gguf). They count by their content, wherever they lie."""
    context: int | None = field(default=4096, metadata=PLACE)
    """The window in tokens. What does not fit is refused and never cut, so it shapes no reply: not
    a prompt, and not a reply that reaches the window's end."""
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
        self._meant: str | None = None

    @property
    def label(self) -> str:
        """The model's name, else its file's."""
        return self.model or Path(self.model_path).stem

    @property
    def samples_at_once(self) -> bool:
        """Never: there is one slot."""
        return False

    def endpoint_identity(self) -> dict[str, object]:
        """Return the weights' hash, the package that runs them and with how many threads.

        Raises ConfigError where there is no such file or no such package, EndpointError where the
        file is no longer the one that this model began with.
        """
        return {
            "protocol": "llamacpp",
            "weights": self._weights(),
            "package": f"{PACKAGE} {_package_version()}",
            "threads": self.threads,
            "structured": self.structured.value,
        }

    def address(self) -> "Address":
        """Return where the model listens; the first call loads it.

        Raises EndpointError where llama.cpp cannot load the file, or it has changed.
        """
        return replace(super().address(), base_url=f"{self._listening()}/v1")

    def room(self, request: Request) -> int | None:
        """Return how many tokens the reply may take, by `extra` if that says it."""
        told = [self.extra[name] for name in ROOM if name in self.extra]
        room = int(told[0]) if told else super().room(request)
        return None if room is not None and room < 0 else room

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Ask the model, which is loaded at the first question.

        Raises ContextOverflowError where the window cut the reply, EndpointError where the file
        was replaced meanwhile: llama.cpp reads it while it works.
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
            raise ConfigError("chat=llamacpp: which weights? set model_path=<file>.gguf beside it")
        file = Path(self.model_path).expanduser().resolve()
        if not file.is_file():
            raise ConfigError(f"chat=llamacpp: there is no file {file}; model_path= names the GGUF")
        return file

    def _weights(self) -> str:
        """Return the file's hash, which must stay what it was when this model first looked."""
        file = self._file()
        stat = file.stat()
        found = _sha256(file, (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino))
        self._meant = self._meant or found
        if found != self._meant:
            raise EndpointError(
                f"{file} was replaced while it was in use, and replies of two models may not mix;"
                " give the same command again for a model that stays"
            )
        return found

    def _listening(self) -> str:
        path, window = str(self._file()), self.context or 0
        key = (path, self._weights(), window, self.threads)
        with _starting:
            if key not in _servers:
                server = _start(path, window, self.threads)
                self._weights()  # it may have loaded what has just taken the file's place
                _servers[key] = server
            return str(_servers[key].listening_address)


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema with a length for each string that has none.

    >>> bounded({"type": "string"})
    {'type': 'string', 'maxLength': 600}
    >>> bounded({"type": "string", "enum": ["a"]})
    {'type': 'string', 'enum': ['a']}
    """
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if isinstance(value, Mapping):
            made[key] = bounded(value)
        elif isinstance(value, list):
            made[key] = [bounded(each) if isinstance(each, Mapping) else each for each in value]
        else:
            made[key] = value
    if made.get("type") == "string" and not made.keys() & {"maxLength", "enum", "const"}:
        made["maxLength"] = LONGEST_STRING
    return made


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
            f"llama.cpp cannot load {path}: is it a whole GGUF file, and is there memory for it"
            f" with a window of {context} tokens?"
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
    import hashlib

    with file.open("rb") as weights:
        return hashlib.file_digest(weights, "sha256").hexdigest()


@atexit.register
def _stop_at_exit() -> None:
    # Before the interpreter is taken apart: a server thread may not outlive it.
    _servers.clear()
