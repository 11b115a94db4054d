"""What all models behind a server have in common: where they are, how patiently asked."""

import re
from dataclasses import dataclass, field
from typing import ClassVar

from harness.errors import ConfigError
from harness.llm.connection import Address, is_address

PLACE: dict[str, bool] = {"factor": False}
"""Marks a field that says where or how fast, not what."""

WEIGHTS: dict[str, bool] = {"factor": False, "named": True}
"""Marks the path of what counts by its content: that is a factor, as the model's build."""


@dataclass
class Remote:
    """A model behind a server."""

    climbs: ClassVar[bool] = False
    """Whether concurrency starts at one and rises only while throughput does."""

    base_url: str = field(default="https://api.openai.com/v1", metadata=PLACE)
    model: str = ""
    api_key_env: str | None = field(default=None, metadata=PLACE)
    """Name of the environment variable that holds the key; never the key itself."""
    concurrency: int = field(default=8, metadata=PLACE)
    timeout: float = field(default=120.0, metadata=PLACE)
    """Seconds for one try at most, from when the endpoint starts on it. Once some answers show what
    is usual, a try that hangs is ended earlier; the last try of a call has all of it."""
    deadline: float = field(default=300.0, metadata=PLACE)
    """Seconds for all tries of a call together, likewise."""
    retries: int = field(default=5, metadata=PLACE)
    backoff: float = field(default=0.5, metadata=PLACE)
    """Seconds before the first retry, doubled each time."""

    @property
    def label(self) -> str:
        """The model's name."""
        return self.model

    def named(self, protocol: str) -> dict[str, object]:
        """Return what stands for a model whose weights are unknown: protocol, address, name.

        Raises ConfigError where no model is named, or address or variable are none.
        """
        if self.api_key_env and not re.fullmatch(r"[A-Za-z_]\w*", self.api_key_env):
            raise ConfigError(
                "api_key_env is the name of an environment variable, and never the key itself:"
                " export MY_KEY=... and set api_key_env=MY_KEY"
            )
        if not is_address(self.base_url):
            raise ConfigError(
                f"base_url={self.base_url} is no address; write it as http://host:port/v1"
            )
        if not self.model:
            raise ConfigError(f"{self.base_url}: which model? set model=<name> beside base_url")
        return {"protocol": protocol, "base_url": self.base_url.rstrip("/"), "model": self.model}

    def address(self) -> Address:
        """Return where the model is and how patiently it is asked."""
        return Address(
            base_url=self.base_url.rstrip("/"),
            model=self.model,
            api_key_env=self.api_key_env,
            concurrency=self.concurrency,
            climbs=self.climbs,
            timeout=self.timeout,
            deadline=self.deadline,
            retries=self.retries,
            backoff=self.backoff,
        )
