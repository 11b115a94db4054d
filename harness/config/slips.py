"""A slip in the settings, told in the words of the command line."""

import re
from dataclasses import fields, is_dataclass

from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from harness.errors import unknown


def told(error: Exception) -> str:
    """Return an error in one line; OmegaConf's own speak of classes instead of settings."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OmegaConfBaseException):
        cause = cause.__cause__ or cause.__context__
    file = re.match(r"In '[^']*': ", str(error))
    said = str(error) if cause is None else (file[0] if file else "") + slip(cause)
    line = " ".join(said.split())
    if "could not be converted to Integer" in line or "type 'list' " in line:
        line += " (for a sweep write: -m key=4,9)"
    return line


def slip(error: OmegaConfBaseException) -> str:
    """Return which setting an error is about, and what is wrong with it."""
    key = error.full_key or str(error.key or "")
    kind = error.object_type
    if isinstance(error, ConfigKeyError | ConfigAttributeError) and is_dataclass(kind):
        inside, _, name = key.rpartition(".")
        of = f"setting of {inside}" if inside else "setting"
        return unknown(name, (field.name for field in fields(kind)), of)
    what = str(error).partition("\n")[0]
    return f"{key}: {what}" if key and key not in what else what
