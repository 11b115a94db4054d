"""The groups of `conf/` and the choices in each: files, and the entries of the plug-in tables."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import yaml  # type: ignore[import-untyped]
from hydra.core.config_store import ConfigStore

from harness.config import paths
from harness.config.schema import STAGES
from harness.judge import JUDGES
from harness.sources import CAPTIONERS, CONTENTS, Index
from harness.systems import GENERATORS, SEARCH_EMBEDDERS, SYSTEMS, PromptTemplate

PARTS = ("index", "prompt", "chat", "embedder", "captioner")
"""Groups that are composed into a variant where its system has a field of that name."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group whose choices are dataclasses."""

    package: str
    """Where in the settings a choice is put."""
    entries: Mapping[str, type]
    """Name of a choice -> the dataclass that it is the settings of."""


def groups() -> dict[str, Group]:
    """Return the groups that a plug-in table belongs to, as the tables are now."""
    return {
        "system": Group("variant", dict(SYSTEMS)),
        "chat": Group("variant.chat", dict(GENERATORS)),
        "embedder": Group("variant.embedder", dict(SEARCH_EMBEDDERS)),
        "captioner": Group("variant.captioner", dict(CAPTIONERS)),
        "judge": Group("judge", dict(JUDGES)),
    }


def register() -> None:
    """Put every stage and every entry of the plug-in tables into Hydra's ConfigStore.

    An entry needs no file: its name is a choice of its group. A file of that name in
    `conf/<group>/` takes its place; it starts from `/schema/<group>/<name>`.
    """
    store = ConfigStore.instance()
    for name, stage in STAGES.items():
        store.store(name=f"{name}_schema", node=stage)
    for group, kind in groups().items():
        for name, entry in kind.entries.items():
            store.store(group=f"schema/{group}", name=name, node=entry, package=kind.package)
            if group == "system":
                parts = [{f"/{part}": None} for part in parts_of(entry)]
                system = {"defaults": [f"/schema/system/{name}@variant", *parts]}
                store_choice(group, name, system, "_global_")
            else:
                store_choice(group, name, entry, kind.package)
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
    tables = {**{name: kind.entries for name, kind in groups().items()}, "index": CONTENTS}
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
