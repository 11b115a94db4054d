"""A command started from the command line: Hydra composes its settings, errors are one line.

The words of the command line are checked, and quoted where Hydra would misread what was typed.
"""

import dataclasses
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar

import hydra
import yaml  # type: ignore[import-untyped]
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import env_override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from harness.config import paths
from harness.config.conf import ConfFiles, choices_of, register
from harness.config.conf_rules import is_data, name_outside_paths
from harness.config.error_lines import error_line, unknown_setting, unreadable_word
from harness.config.schema import STAGES, Collect, Stage
from harness.errors import ConfigError, HarnessError, pick
from harness.llm import check_address, refuse_secrets

TEXTS = (
    "version",
    "baseline",
    "factor",
    "passages_from",
    "study.name",
    "study.testset",
    "study.recording",
)
LISTS_OF_TEXTS = ("questions", "runs")
LANGUAGES = ("language", "study.language")
"""Settings whose value is also understood as `zh-Hant`."""

SWEEP = {"-m", "--multirun"}


def words(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line in Hydra's grammar.

    A stray carriage return (from a script with CRLF line ends) is dropped, a value in Chinese or
    Japanese is quoted, and a choice that does not exist raises with its nearest neighbour.
    """
    found = []
    ConfFiles.typed_system = None
    for argument in arguments:
        word = argument.rstrip("\r\n")
        key, sign, value = word.partition("=")
        if not key:
            raise ConfigError(unreadable_word(word))
        if sign and not key.startswith("-"):
            check_choice(key, value)
            # A secret is refused: Hydra writes the words of a sweep to a file.
            inside = word.partition(".extra")[2]
            refuse_secrets(dict.fromkeys(re.findall(r"[\w-]+(?=\s*[:.=])", inside)))
            if key.endswith("base_url") and "@" in value:
                check_address(value.strip("'\""))
            if not is_for_hydra(word) and not is_data(value):
                raise ConfigError(
                    f"{word}: the value would be evaluated, and written into the run's record; "
                    'write the value, or "$NAME" for the shell to insert it'
                )
            value = as_text(key, value)
            word = f"{key}={value}"
            if re.fullmatch(r"[^'\"\[\]{}(),=\s]*[^\x00-\x7f][^'\"\[\]{}(),=\s]*", value):
                word = f"{key}='{value}'"
            if key == "system":
                if not re.fullmatch(r"[\w.-]+", value):
                    raise ConfigError(
                        f"system={value}: a sweep over systems needs a variant of each; sweep over "
                        "variant="
                    )
                ConfFiles.typed_system = value
        found.append(word)
    return found


def as_text(key: str, value: str) -> str:
    """Return a value quoted where it must stay text: Hydra would read `1.10` as the number 1.1.

    >>> as_text("version", "1.10"), as_text("language", "zh-Hant")
    ("'1.10'", 'zh_hant')
    """
    if key in LANGUAGES:
        return value.strip("'\"").lower().replace("-", "_")
    if key in TEXTS and re.fullmatch(r"[^'\"\[\]{}(),\\\s]+", value) and value != "null":
        return f"'{value}'"
    if key in LISTS_OF_TEXTS and re.fullmatch(r"\[[^'\"\[\]{}()\\]*\]", value):
        items = [item.strip() for item in value[1:-1].split(",")]
        return "[" + ",".join(f"'{item}'" for item in items if item) + "]"
    return value


def typed_word(word: str) -> str:
    """Return an override as a person would type it: without the quotes that `words` adds."""
    key, _, value = word.partition("=")
    plain = re.fullmatch(r"'[^'\s,=\[\]{}()]+'", value)
    return shlex.quote(f"{key}={value[1:-1]}" if plain else word)


def check_choice(key: str, value: str) -> None:
    """Raise where a group is given a choice that does not exist."""
    group = key.lstrip("+").partition("@")[0]
    known = choices_of(group)
    if known and not re.search(r"[\[\](){}]", value):
        for choice in value.split(","):
            pick(dict.fromkeys(known), choice.strip().strip("'\""), group)


def check_known(cfg: DictConfig, kind: type, inside: str = "") -> None:
    """Raise ConfigError for a key that was added with `+` and that nothing reads.

    Args:
        cfg: The settings.
        kind: Their dataclass.
        inside: The dotted key of what holds them, with a point at its end, such as `variant.`.
    """
    known = {field.name for field in dataclasses.fields(kind)}
    for name, node in cfg.items_ex(resolve=False):
        key = f"{inside}{name!s}"
        if key == "hydra":
            continue
        if name not in known:
            raise ConfigError(unknown_setting(key, kind))
        if isinstance(node, DictConfig) and is_dataclass(within := OmegaConf.get_type(node)):
            check_known(node, within, f"{key}.")


S = TypeVar("S", bound=Stage)


@dataclasses.dataclass(frozen=True, slots=True)
class Composition:
    """What the settings were composed of."""

    choices: dict[str, str]
    """Group -> the choice in it."""
    overrides: tuple[str, ...]
    """The words of the command line that set something."""

    @property
    def study_words(self) -> str:
        """The words that name this study in the next command."""
        kept = ("study.", "root=", "judge")
        named = [w for w in self.overrides if w.startswith(kept) or "@judge" in w.partition("=")[0]]
        return " ".join([f"study={self.choices['study']}", *map(typed_word, named)])

    def command(self, stage: str, *words: str) -> str:
        """Return the line that runs a stage on this study, ready to paste."""
        return " ".join([f"python -m harness.{stage}", self.study_words, *words])


def run_stage(name: str, task: Callable[[Any, Composition], None]) -> None:
    """Run a stage as the command line configures it.

    What the user can fix is printed in one line and ends with exit code 1; in a sweep the other
    jobs still run. A bug keeps its traceback.
    """
    prepare()
    try:
        if any(map(is_for_hydra, sys.argv[1:])):
            run_through_hydra(name, task)
        else:
            with hydra.initialize_config_dir(str(paths.CONF), version_base="1.3"):
                task(*compose(name, sys.argv[1:]))
    except (HarnessError, HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"error: {error_line(error)}", file=sys.stderr)
        raise SystemExit(1) from None


def is_for_hydra(word: str) -> bool:
    """Return whether a word of the command line is for Hydra itself, not a setting.

    >>> [is_for_hydra(word) for word in ("-m", "--cfg", "hydra.verbose=true", "variant.top_k=6")]
    [True, True, True, False]
    """
    return word.lstrip("+~").startswith(("-", "hydra"))


def run_through_hydra(name: str, task: Callable[[Any, Composition], None]) -> None:
    """Have Hydra run a sweep, or show the settings.

    Other commands do not start this way: to find out from the settings whether they are a sweep,
    Hydra composes them once more, which takes half a second.
    """
    failures: list[HarnessError | OSError] = []
    jobs: list[str] = []

    def job(cfg: DictConfig) -> None:
        jobs.append(name)
        try:
            task(typed(cfg, STAGES[name]), composition(HydraConfig.get()))
        except (HarnessError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            print(f"error: {error_line(error)}", file=sys.stderr)
            if HydraConfig.get().mode == RunMode.RUN:
                raise SystemExit(1) from None
            failures.append(error)

    with env_override({"HYDRA_FULL_ERROR": "1"}):  # Hydra then leaves its exceptions to us
        # Hydra's parser refuses settings on both sides of `-m`.
        sys.argv[1:] = sorted(words(sys.argv[1:]), key=lambda word: word not in SWEEP)
        hydra.main(version_base="1.3", config_path=str(paths.CONF), config_name=name)(job)()
    if (
        not jobs
        and SWEEP & set(sys.argv[1:])
        and not any(word.startswith(("-c", "--cfg", "-i", "--info")) for word in sys.argv[1:])
    ):
        raise ConfigError(f"this sweep has no job; nothing matches {' '.join(sys.argv[1:])}")
    if failures:
        raise SystemExit(f"{len(failures)} of the jobs failed; the others are finished")


def prepare() -> None:
    """Register with Hydra the types of all settings, and the resolvers that `conf/` uses."""
    resolvers: dict[str, Callable[..., str]] = {
        "user_path": lambda path="": str(paths.user_path(str(path))),
        "recording": lambda path, testset: str(paths.recording_path(path, str(testset))),
    }
    for name, resolver in resolvers.items():
        OmegaConf.register_new_resolver(name, resolver, replace=True)
    register()


def compose(name: str, overrides: Sequence[str]) -> tuple[Any, Composition]:
    """Compose a stage's settings as its command line would, inside another stage.

    Raises ConfigError for a word to Hydra: those are typed, and never part of `study.variants`.
    """
    if for_hydra := list(filter(is_for_hydra, overrides)):
        raise ConfigError(f"{for_hydra[0]}: a study must not configure Hydra; remove it")
    if not GlobalHydra.instance().is_initialized():
        hydra.initialize_config_dir(str(paths.CONF), version_base="1.3")
    cfg = hydra.compose(name, overrides=words(overrides), return_hydra_config=True)
    return typed(cfg, STAGES[name]), composition(cfg.hydra)


def composition(hydra_cfg: Any) -> Composition:
    """Return what was chosen and what was overridden, from Hydra's own record."""
    chosen = hydra_cfg.runtime.choices.items()
    choices = {key: str(value) for key, value in chosen if value and not key.startswith("hydra/")}
    return Composition(choices, tuple(str(word) for word in hydra_cfg.overrides.task))


def typed(cfg: DictConfig, kind: type[S]) -> S:
    """Return the settings as objects of their dataclasses. Raises ConfigError where one is missing.

    Only collect needs the variant: the other stages read the configuration that a run records.
    """
    check_known(cfg, kind)
    names = [field.name for field in dataclasses.fields(kind)]
    settings = {name: cfg[name] for name in names if name != "variant" or kind is Collect}
    for name, node in settings.items():
        is_group = OmegaConf.is_config(node)
        if is_group:
            for key in sorted(OmegaConf.missing_keys(node)):
                raise ConfigError(f"{key} is not set: give {key}=...")
            settings[name] = OmegaConf.to_object(node)
        elif name == "budget":
            raise ConfigError(f"budget={node}: name the limit: write budget.calls={node or 5}")
        name_outside_paths(OmegaConf.to_container(node, resolve=True) if is_group else node, name)
    return kind(**settings)
