"""Every file in `conf/` composes, and a variant wins over its study."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import MISSING, OmegaConf

from harness.config import paths
from harness.config.composition import compose, prepare
from harness.config.conf import ConfFiles
from harness.config.error_lines import error_line
from harness.config.factors import leaves_of
from harness.errors import ConfigError
from harness.systems import SYSTEMS, System

CONF = paths.CONF
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir())
STUDIES = sorted(path.stem for path in (CONF / "study").glob("*.yaml"))
VARIANTS = sorted(path.stem for path in (CONF / "variant").glob("*.yaml"))


@pytest.fixture(autouse=True)
def hydra() -> Iterator[None]:
    prepare()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield
    GlobalHydra.instance().clear()


def said(variant: str) -> dict[str, Any]:
    """What a variant's file says, flat: choices by group and settings by dotted name."""
    content = yaml.safe_load((CONF / "variant" / f"{variant}.yaml").read_text())
    choices = {}
    for entry in content.get("defaults", []):
        ((key, choice),) = entry.items()
        choices[key.removeprefix("override /")] = choice
    leaves = OmegaConf.create(content.get("variant", {}))
    return {"choices": choices, "leaves": OmegaConf.to_container(leaves)}


@pytest.mark.parametrize(("study", "variant"), list(product(STUDIES, VARIANTS)))
def test_what_a_variant_says_holds(study: str, variant: str) -> None:
    """In every study, the choices and settings of the variant's file are what is run."""
    settings, how = compose("collect", [f"study={study}", f"variant={variant}"])
    wanted = said(variant)

    for group, choice in wanted["choices"].items():
        assert how.choices[group] == choice
    for name, value in wanted["leaves"].items():
        assert getattr(settings.variant, name) == value


@dataclass
class PlainApp(System):
    """A system without any of the groups of RAG."""

    url: str = ""


@dataclass
class Agent(System):
    """A system that has a chat model, and no other group of RAG."""

    chat: Any = MISSING


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("system", ["rag", "app", "agent"])
def test_every_study_composes_with_every_system(
    study: str, system: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What the study sets of groups that the system lacks is left out, and one line says so."""
    entries = {"app": PlainApp, "agent": Agent}
    for name, kind in entries.items():
        monkeypatch.setitem(SYSTEMS, name, kind)
    monkeypatch.setattr(ConfFiles, "_warned", set())
    prepare()

    for _ in range(2):
        settings, how = compose("collect", [f"study={study}", f"system={system}"])

    assert isinstance(settings.variant, SYSTEMS[system])
    groups = {"rag": {"index", "prompt", "chat", "embedder", "captioner"}, "agent": {"chat"}}
    assert set(how.choices) & groups["rag"] == groups.get(system, set())
    lines = [record.message for record in caplog.records]
    assert len(lines) == (system != "rag"), lines
    assert all(line.endswith(f"not used by system={system}") for line in lines)
    assert not [line for line in lines if system == "agent" and "chat" in line]


def test_a_variant_chooses_its_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its file wins over the study's, and the next composition starts afresh."""
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    text = "# @package _global_\ndefaults:\n  - override /system: app\nvariant:\n  url: u\n"
    (conf / "variant" / "mine.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "CONF", conf)
    monkeypatch.setitem(SYSTEMS, "app", PlainApp)
    monkeypatch.setattr(ConfFiles, "_warned", set())
    GlobalHydra.instance().clear()
    prepare()

    mine, _ = compose("collect", ["variant=mine"])
    theirs, _ = compose("collect", ["variant=text_k4"])

    assert mine.variant == PlainApp("u")
    assert theirs.variant.index.chunk_size == 200
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["chat=openai"], "this system has no chat, so chat= cannot be chosen"),
        (
            ["variant=text_k4"],
            "conf/variant/text_k4.yaml: this system has no index, so index= cannot",
        ),
        (["system=app,rag"], "system=app,rag: a sweep over systems needs a variant of each"),
    ],
)
def test_what_a_system_lacks_cannot_be_chosen(
    words: list[str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the command line or a variant's file sets is never left out in silence."""
    monkeypatch.setitem(SYSTEMS, "app", PlainApp)
    prepare()

    with pytest.raises((HydraException, ConfigError)) as caught:
        compose("collect", ["system=app", *words])

    assert error_line(caught.value).startswith(line)


@pytest.mark.parametrize("study", STUDIES)
def test_what_a_study_says_holds_for_its_variants(study: str) -> None:
    """The study gives the defaults that its variants leave alone, and lists variants that exist."""
    content = yaml.safe_load((CONF / "study" / f"{study}.yaml").read_text())
    settings, how = compose("evaluate", [f"study={study}"])

    for entry in content["defaults"]:
        ((key, choice),) = entry.items()
        assert how.choices[key.removeprefix("override /")] == choice
    assert {name.split()[0] for name in settings.study.variants} <= set(VARIANTS)


def test_the_command_line_beats_both() -> None:
    """What is typed wins over variant and study."""
    settings, how = compose(
        "collect", ["variant=ctx_k9_strict", "prompt=default", "variant.top_k=6", "index=text"]
    )

    assert how.choices["prompt"] == "default"
    assert settings.variant.top_k == 6
    assert settings.variant.index.contents == "text"


@pytest.mark.parametrize(
    ("group", "choice"),
    [
        (group, path.stem)
        for group in GROUPS
        if group not in ("study", "variant", "check")
        for path in sorted((CONF / group).glob("*.yaml"))
    ],
)
def test_every_choice_composes(group: str, choice: str) -> None:
    """Each file of each group gives live objects once what it needs is set."""
    given = {
        "chat": ["variant.chat.model=m"],
        "embedder": ["variant.embedder.model=m"],
        "captioner": ["variant.captioner.model=m"],
        "judge": ["judge.chat.model=m"],
    }.get(group, [])
    needs = {"extractive", "recorded", "e5", "none", "ocr", "overlap"}
    words = ["variant=ctx_k9", f"{group}={choice}", *([] if choice in needs else given)]

    settings, how = compose("collect", words)

    assert how.choices[group] == choice
    assert dict(leaves_of(settings.variant))


SHORT = "{passages}\\n{question}"


@pytest.mark.parametrize(
    "head",
    [
        "",
        "# @package variant.prompt\ndefaults: [/schema/prompt/prompt@_here_]\n"
        "language: ${study.language}\n",
    ],
)
def test_a_prompt_is_its_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str
) -> None:
    """What a file of templates leaves out is filled in; one that writes it composes as before."""
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    text = f'{head}en: "{SHORT}"\nja: "{SHORT}!"\n'
    (conf / "prompt" / "short.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "CONF", conf)
    GlobalHydra.instance().clear()

    words = ["variant=text_k4", "prompt=short", "study.language=ja"]
    settings, how = compose("collect", words)

    assert settings.variant.prompt.template == SHORT.replace("\\n", "\n") + "!"
    assert how.choices["prompt"] == "short"


def test_a_misspelt_slot_is_named_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every language of the file, before anything is run."""
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    text = 'en: "{passages} {question}"\nja: "{passages} {qestion}"\n'
    (conf / "prompt" / "short.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "CONF", conf)
    GlobalHydra.instance().clear()

    with pytest.raises(ConfigError) as caught:
        compose("collect", ["variant=text_k4", "prompt=short"])

    assert str(caught.value).endswith(
        "conf/prompt/short.yaml: ja: no {question}, so the model would not see it; write it for "
        "{qestion}"
    )


def test_six_variants_of_the_article() -> None:
    """The demo's variants are those of the article: three contents, two depths, two prompts."""
    found = {}
    for variant in VARIANTS:
        settings, how = compose("collect", [f"variant={variant}"])
        system = settings.variant
        found[variant] = (system.index.contents, system.top_k, how.choices["prompt"])

    assert found == {
        "text_k4": ("text", 4, "default"),
        "text_k9": ("text", 9, "default"),
        "caption_k4": ("caption", 4, "default"),
        "ctx_k4": ("ctx", 4, "default"),
        "ctx_k9": ("ctx", 9, "default"),
        "ctx_k9_strict": ("ctx", 9, "strict"),
    }


def test_no_python_keyword_is_a_setting() -> None:
    """A key named like a Python keyword could not be a field of a dataclass."""
    import keyword

    for path in CONF.rglob("*.yaml"):
        keys = yaml.safe_load(path.read_text()) or {}
        assert not {key for key in keys if keyword.iskeyword(key)}, path
