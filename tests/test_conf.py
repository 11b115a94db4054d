"""Every file in `conf/` composes, and a variant's word stands against its study's."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from harness.config.composition import compose, prepare
from harness.config.factors import leaves_of
from harness.config.paths import CONF

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
