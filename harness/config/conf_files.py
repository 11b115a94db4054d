"""How Hydra reads `conf/`: what a study sets of groups that its system lacks is left out.

A study gives the defaults of chat, embedder and the other groups of the built-in RAG, and a
variant of the same study may be another system. Hydra would refuse the study's file then ("Could
not override 'chat'. No match in the defaults list").
"""

import logging
from typing import Any, ClassVar

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from harness.config.registry import PARTS, group_of, parts_of_choice

log = logging.getLogger(__name__)


class ConfFiles(FileConfigSource):
    """The YAML files of `conf/`.

    Hydra loads the files of a composition from the last of the defaults list to the first: the
    stage and `common`, then the variant, then the study, and the system after that.
    """

    typed_system: ClassVar[str | None] = None
    """The system that the command line chooses, which wins over every file."""
    _warned: ClassVar[set[str]] = set()
    _default: str = "rag"
    _of_variant: str | None = None

    @staticmethod
    def scheme() -> str:
        return "conf"

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file; of a study, without what its system has no use for."""
        result = super().load_config(config_path)
        group, _, name = config_path.removesuffix(".yaml").rpartition("/")
        if not group:
            self._default, self._of_variant = system_in(result.config) or self._default, None
        elif group == "variant":
            self._of_variant = system_in(result.config)
        elif group == "study":
            chosen = self.typed_system, self._of_variant, system_in(result.config), self._default
            system = next(filter(None, chosen))
            if left_out := leave_out(result.config, frozenset(PARTS) - parts_of_choice(system)):
                self._warn(f"study={name} sets {', '.join(left_out)}: not used by system={system}")
        return result

    def _warn(self, line: str) -> None:
        """Log a line once, however many stages and variants are composed."""
        if line not in self._warned:
            self._warned.add(line)
            log.warning("%s", line)


def system_in(config: Any) -> str | None:
    """Return the system that a file's defaults list chooses, None where it chooses none."""
    for entry in config.get("defaults") or ():
        if group_of(dict(entry) if isinstance(entry, DictConfig) else entry) == "system":
            return str(next(iter(entry.values())))
    return None


def leave_out(config: Any, groups: frozenset[str]) -> list[str]:
    """Remove choices and settings of these groups from a study's file; return those it had."""
    defaults = OmegaConf.to_container(config).get("defaults") or []  # type: ignore[union-attr]
    left_out = {group for group in map(group_of, defaults) if group in groups}
    if left_out:
        config["defaults"] = [entry for entry in defaults if group_of(entry) not in left_out]
    variant = config.get("variant")
    if isinstance(variant, DictConfig):
        for group in groups & set(map(str, variant)):
            left_out.add(group)
            del variant[group]
    return sorted(filter(None, left_out))


class ConfSearchPath(SearchPathPlugin):
    """Has Hydra read its main folder through `ConfFiles`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for element in search_path.get_path():
            if element.provider == "main" and "://" not in str(element.path):
                element.path = f"{ConfFiles.scheme()}://{element.path}"


def install() -> None:
    """Tell Hydra of the two classes above; once is enough, and more does no harm."""
    plugins = Plugins.instance()
    plugins.register(ConfFiles)
    plugins.register(ConfSearchPath)
