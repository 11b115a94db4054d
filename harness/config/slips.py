"""A slip in the settings, told in the words of the command line."""

import re
from dataclasses import fields, is_dataclass

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from harness.errors import ConfigError, unknown


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
        return no_setting(key, kind)
    what = str(error).partition("\n")[0]
    return f"{key}: {what}" if key and key not in what else what


def no_setting(key: str, kind: type) -> str:
    """Say that a dotted key is no setting, and which one is near."""
    inside, _, name = key.rpartition(".")
    of = f"setting of {inside}" if inside else "setting"
    return unknown(name, (field.name for field in fields(kind)), of)


def check_known(cfg: DictConfig, kind: type, inside: str = "") -> None:
    """Raise ConfigError for a key that `+` forced into the settings and that nothing reads.

    Args:
        cfg: The settings.
        kind: The dataclass that they are of.
        inside: Where they stand, as `variant.`.
    """
    known = {field.name for field in fields(kind)}
    for name, node in cfg.items_ex(resolve=False):
        key = f"{inside}{name!s}"
        if key == "hydra":
            continue
        if name not in known:
            raise ConfigError(no_setting(key, kind))
        if isinstance(node, DictConfig) and is_dataclass(within := OmegaConf.get_type(node)):
            check_known(node, within, f"{key}.")
