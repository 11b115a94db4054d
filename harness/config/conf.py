"""The groups of `conf/` and the choices in each, and how Hydra reads the files of `conf/`.

The choices are files and the entries of the plug-in tables. What a study sets of groups that its
system lacks is left out: a study gives the defaults of chat, embedder and the other groups of the
built-in RAG, and a variant of the same study may be another system. Hydra would refuse the study's
file then ("Could not override 'chat'. No match in the defaults list").
"""

import logging
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import yaml  # type: ignore[import-untyped]
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import GrammarParseError, OmegaConfBaseException

from harness.config import paths
from harness.config.conf_rules import check_aliases, check_file
from harness.config.schema import STAGES
from harness.errors import ConfigError
from harness.judge import JUDGES
from harness.sources import CAPTIONERS, CONTENTS, Index
from harness.systems import GENERATORS, SEARCH_EMBEDDERS, SYSTEMS, PromptTemplate, check_slots

log = logging.getLogger(__name__)

COMMON = "common"
"""The one file that configures Hydra."""

PARTS = ("index", "prompt", "chat", "embedder", "captioner")
"""Groups that are composed into a variant where its system has a field of that name."""

TABLES: dict[str, Mapping[str, type]] = {
    "system": SYSTEMS,
    "chat": GENERATORS,
    "embedder": SEARCH_EMBEDDERS,
    "captioner": CAPTIONERS,
    "judge": JUDGES,
}
"""Group -> its plug-in table: name of a choice -> the dataclass that it is the settings of."""


def register() -> None:
    """Put every stage and every entry of the plug-in tables into Hydra's ConfigStore.

    An entry needs no file: its name is a choice of its group. A file of that name in
    `conf/<group>/` takes its place; it starts from `/schema/<group>/<name>`. The files are read
    through `ConfFiles`. To register once is enough, and more does no harm.
    """
    Plugins.instance()  # registers Hydra's own reader of files, which is replaced here
    SourcesRegistry.instance().types[ConfFiles.scheme()] = ConfFiles
    store = ConfigStore.instance()
    for name, stage in STAGES.items():
        store.store(name=f"{name}_schema", node=stage)
    for group, table in TABLES.items():
        package = {"system": "variant", "judge": "judge"}.get(group, f"variant.{group}")
        for name, entry in table.items():
            store.store(group=f"schema/{group}", name=name, node=entry, package=package)
            if group == "system":
                parts = [{f"/{part}": None} for part in parts_of(entry)]
                system = {"defaults": [f"/schema/system/{name}@variant", *parts]}
                store_choice(group, name, system, "_global_")
            else:
                store_choice(group, name, entry, package)
    store.store(group="schema/index", name="index", node=Index, package="variant.index")
    for name in CONTENTS:
        index = {"defaults": ["/schema/index/index@_here_"], "contents": name}
        store_choice("index", name, index, "variant.index")
    store.store(group="schema/prompt", name="prompt", node=PromptTemplate, package="variant.prompt")


def store_choice(group: str, name: str, node: object, package: str) -> None:
    """Put a choice into the ConfigStore, except where a file in `conf/` has its name."""
    if not (paths.CONF / group / f"{name}.yaml").is_file():
        ConfigStore.instance().store(group=group, name=name, node=node, package=package)


def choices_of(group: str) -> list[str]:
    """Return the choices of a group, none where there is no such group."""
    tables: dict[str, Mapping[str, object]] = {**TABLES, "index": CONTENTS}
    files = (path.stem for path in (paths.CONF / group).glob("*.yaml"))
    return sorted({*files, *tables.get(group, ())})


def parts_of(system: type) -> list[str]:
    """Return the groups that a system's dataclass has fields for."""
    names = {field.name for field in fields(system)}
    return [part for part in PARTS if part in names]


def parts_of_choice(system: str) -> frozenset[str]:
    """Return the groups that are composed with `system=<name>`.

    Those that its file in `conf/system/` lists; without a file, those that its dataclass has.
    """
    file = paths.CONF / "system" / f"{system}.yaml"
    if not file.is_file():
        return frozenset(parts_of(SYSTEMS[system]) if system in SYSTEMS else PARTS)
    defaults = (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).get("defaults") or ()
    return frozenset(filter(None, map(group_of, defaults))) & frozenset(PARTS)


def group_of(entry: object) -> str | None:
    """Return the group that an entry of a defaults list chooses in; None where it names a file.

    >>> group_of({"override /chat": "recorded"}), group_of({"/chat@chat": "openai"})
    ('chat', 'chat@chat')
    >>> group_of("/schema/system/rag@variant") is None
    True
    """
    return next(iter(entry)).split()[-1].strip("/") if isinstance(entry, dict) else None


class ConfFiles(FileConfigSource):
    """The YAML files of `conf/`, and of folders given with --config-dir.

    Hydra loads the files of a composition from the last of the defaults list to the first: the
    stage and `common`, then the variant, then the study, and the system after that.
    """

    typed_system: ClassVar[str | None] = None
    """The system that the command line chooses, which wins over every file."""
    choosing: ClassVar[dict[str, str]] = {}
    """`group/choice` -> the file that makes it, for the error where there is no such choice."""
    _warned: ClassVar[set[str]] = set()
    _default: str = "rag"
    _of_variant: str | None = None

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file; of a study, without what its system has no use for.

        A prompt's file needs nothing but templates: it starts from its schema in any case.

        Raises ConfigError where the file holds more than data, before Hydra acts on it.
        """
        path = config_path.removesuffix(".yaml")
        file = paths.shown_path(Path(self.path) / f"{path}.yaml")
        try:
            check_aliases(file, (Path(self.path) / f"{path}.yaml").read_text(encoding="utf-8"))
            result = super().load_config(config_path)
        except GrammarParseError as error:
            example = "'${' begins the name of another setting, such as ${study.name}"
            raise ConfigError(f"{file}: {error.full_key}: {example}") from error
        except (ValueError, OmegaConfBaseException) as error:
            raise ConfigError(f"{file}: {error}") from error
        content: Any = OmegaConf.to_container(result.config)
        if path != COMMON:
            check_file(file, path, result.header["package"], content)
            for entry in filter(group_of, content.get("defaults") or ()):
                group, choice = str(group_of(entry)).partition("@")[0], next(iter(entry.values()))
                self.choosing[f"{group}/{choice}"] = file
        group, _, name = path.rpartition("/")
        if group == "prompt":
            complete_prompt(file, result, content)
        if group in ("study", "variant") and not result.header["package"] and group in content:
            raise ConfigError(f"{file}: its first line must be: # @package _global_")
        if not group:
            self._default, self._of_variant = system_in(result.config) or self._default, None
        elif group == "variant":
            self._of_variant = system_in(result.config)
        elif group == "study":
            chosen = self.typed_system, self._of_variant, system_in(result.config), self._default
            system = next(filter(None, chosen))
            if left_out := leave_out(result.config, frozenset(PARTS) - parts_of_choice(system)):
                line = f"study={name} sets {', '.join(left_out)}: not used by system={system}"
                if line not in self._warned:  # however many stages and variants are composed
                    self._warned.add(line)
                    log.warning("%s", line)
        return result


def complete_prompt(file: str, result: ConfigResult, content: Mapping[str, Any]) -> None:
    """Add what every prompt's file needs besides its texts, and check these.

    Texts in languages that `PromptTemplate` has no field for go into `others`.
    """
    prompt: Any = result.config
    result.header["package"] = result.header["package"] or "variant.prompt"
    if "defaults" not in content:
        prompt["defaults"] = ["/schema/prompt/prompt@_here_"]
        prompt["language"] = content.get("language", "${study.language}")
    for language in content.keys() - {"defaults", "language"}:
        check_slots(str(content[language]), f"{file}: {language}")
    known = {"defaults", *(field.name for field in fields(PromptTemplate))}
    if others := {name: prompt.pop(name) for name in list(prompt) if name not in known}:
        prompt["others"] = others


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
