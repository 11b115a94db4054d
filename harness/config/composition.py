"""How a stage is started from the command line: Hydra, with errors in one line."""

import dataclasses
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import hydra
import yaml  # type: ignore[import-untyped]
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import env_override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from harness.config.paths import PROJECT, project_path, recording_path
from harness.config.schema import STAGES, Collect, Stage, register
from harness.errors import ConfigError, HarnessError, pick, unknown
from harness.llm.remote_chat import refuse_secrets


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


CONF = PROJECT / "conf"
S = TypeVar("S", bound=Stage)
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


@dataclasses.dataclass(frozen=True, slots=True)
class Composition:
    """How the configuration at hand came about."""

    choices: dict[str, str]
    """Group -> the choice made in it."""
    overrides: tuple[str, ...]
    """The words of the command line that set something."""

    @property
    def study_words(self) -> str:
        """The words that name this study in the next command."""
        kept = ("study.", "root=", "judge")
        named = [w for w in self.overrides if w.startswith(kept) or "@judge" in w.partition("=")[0]]
        return " ".join([f"study={self.choices['study']}", *map(typed_word, named)])


def typed_word(word: str) -> str:
    """Return an override as a person would type it: quotes that `words` puts back are left out."""
    key, _, value = word.partition("=")
    plain = re.fullmatch(r"'[^'\s,=\[\]{}()]+'", value)
    return shlex.quote(f"{key}={value[1:-1]}" if plain else word)


def run_stage(name: str, task: Callable[[Any, Composition], None]) -> None:
    """Run a stage as the command line configures it.

    What the user can mend is printed in one line and ends with exit code 1; in a sweep the
    other jobs still run. A bug keeps its traceback.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    prepare()
    try:
        if any(map(is_for_hydra, sys.argv[1:])):
            run_through_hydra(name, task)
        else:
            with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
                task(*compose(name, sys.argv[1:]))
    except (HarnessError, HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        say(error)
        raise SystemExit(1) from None


def is_for_hydra(word: str) -> bool:
    """Whether a word of the command line is about how Hydra runs, and not about the settings.

    >>> [is_for_hydra(word) for word in ("-m", "--cfg", "hydra.verbose=true", "variant.top_k=6")]
    [True, True, True, False]
    """
    return word.lstrip("+~").startswith(("-", "hydra"))


def run_through_hydra(name: str, task: Callable[[Any, Composition], None]) -> None:
    """Have Hydra run a sweep, or show the settings.

    A run that asks for neither does without: to learn from the settings whether they mean a
    sweep, Hydra composes them once more than it needs, which takes half a second.
    """
    failures: list[HarnessError] = []

    def job(cfg: DictConfig) -> None:
        try:
            task(typed(cfg, STAGES[name]), composition(HydraConfig.get()))
        except HarnessError as error:
            say(error)
            if HydraConfig.get().mode == RunMode.RUN:
                raise SystemExit(1) from None
            failures.append(error)

    with env_override({"HYDRA_FULL_ERROR": "1"}):  # Hydra then leaves its exceptions to us
        sys.argv[1:] = words(sys.argv[1:])
        hydra.main(version_base="1.3", config_path=str(CONF), config_name=name)(job)()
    if failures:
        raise SystemExit(f"{len(failures)} of the jobs failed; the others are done")


def prepare() -> None:
    """Tell Hydra the types of all settings, and where the project and its recordings lie."""

    def project(path: str = "") -> str:
        return str(project_path(str(path)))

    def recording(path: str | None, testset: str) -> str:
        return str(recording_path(path, str(testset)))

    OmegaConf.register_new_resolver("project", project, replace=True)
    OmegaConf.register_new_resolver("recording", recording, replace=True)
    register()


def say(error: Exception) -> None:
    """Print an error in one line."""
    print(f"error: {told(error)}", file=sys.stderr)


def compose(name: str, overrides: Sequence[str]) -> tuple[Any, Composition]:
    """Compose a stage's settings as its command line would, inside another stage."""
    if not GlobalHydra.instance().is_initialized():
        hydra.initialize_config_dir(str(CONF), version_base="1.3")
    cfg = hydra.compose(name, overrides=words(overrides), return_hydra_config=True)
    return typed(cfg, STAGES[name]), composition(cfg.hydra)


def composition(hydra_cfg: Any) -> Composition:
    """Read off Hydra's own record what was chosen and what was overridden."""
    made = hydra_cfg.runtime.choices.items()
    choices = {key: str(value) for key, value in made if value and not key.startswith("hydra/")}
    return Composition(choices, tuple(str(word) for word in hydra_cfg.overrides.task))


def typed(cfg: DictConfig, kind: type[S]) -> S:
    """Return the settings as live objects; a setting that is still to be given is an error.

    Only collect makes the variant: the other stages read what the runs themselves carry.
    """
    names = [field.name for field in dataclasses.fields(kind)]
    if kind is not Collect:
        names.remove("variant")
    check_known(cfg, kind)
    for name in names:
        missing = OmegaConf.missing_keys(cfg[name]) if OmegaConf.is_config(cfg[name]) else set()
        for key in sorted(missing):
            raise ConfigError(f"{key} is not set: give {key}=...")
    return kind(**{name: live(cfg[name]) for name in names})


def live(node: Any) -> Any:
    """Return a configuration node as the object it describes."""
    return OmegaConf.to_object(node) if OmegaConf.is_config(node) else node


def words(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line fit for Hydra's grammar.

    A stray carriage return (a script with CRLF line ends) is dropped, a value in Chinese or
    Japanese is quoted, and a choice that does not exist is named with its nearest neighbour.
    """
    mended = []
    for argument in arguments:
        word = argument.rstrip("\r\n")
        key, sign, value = word.partition("=")
        if sign and not key.startswith("-"):
            check_choice(key, value)
            check_no_secret(word)
            value = as_text(key, value)
            word = f"{key}={value}"
            if re.fullmatch(r"[^'\"\[\]{}(),=\s]*[^\x00-\x7f][^'\"\[\]{}(),=\s]*", value):
                word = f"{key}='{value}'"
        mended.append(word)
    return mended


def as_text(key: str, value: str) -> str:
    """Return a value that must stay text quoted: Hydra would read `1.10` as the number 1.1."""
    if key in TEXTS and re.fullmatch(r"[^'\"\[\]{}(),\\\s]+", value) and value != "null":
        return f"'{value}'"
    if key in LISTS_OF_TEXTS and re.fullmatch(r"\[[^'\"\[\]{}()\\]*\]", value):
        items = [item.strip() for item in value[1:-1].split(",")]
        return "[" + ",".join(f"'{item}'" for item in items if item) + "]"
    return value


def check_no_secret(word: str) -> None:
    """Raise where a secret is given as a setting: Hydra writes the words of a sweep to a file."""
    refuse_secrets(dict.fromkeys(re.findall(r"[\w-]+(?=\s*[:.=])", word.partition(".extra")[2])))


def check_choice(key: str, value: str) -> None:
    """Raise where a group is given a choice that does not exist."""
    group = key.lstrip("+").partition("@")[0]
    known = choices_of(group)
    if known and not re.search(r"[\[\](){}]", value):
        for choice in value.split(","):
            pick(dict.fromkeys(known), choice.strip().strip("'\""), group)


def choices_of(group: str) -> list[str]:
    """Return the choices of a group in `conf/`, none where it is no group."""
    folder = CONF / group
    return sorted(path.stem for path in folder.glob("*.yaml")) if folder.is_dir() else []
