"""What holds for every captioner in the table, whoever adds it."""

from dataclasses import fields

import pytest
from omegaconf import OmegaConf

from harness.llm.messages import canonical
from harness.sources import CAPTIONERS, Captioner

each_captioner = pytest.mark.parametrize("kind", CAPTIONERS.values(), ids=CAPTIONERS)


@each_captioner
def test_configuration_makes_the_captioner(kind: type[Captioner]) -> None:
    """Its fields are types that Hydra knows, and its configuration gives back the live object."""
    made = OmegaConf.to_object(OmegaConf.structured(kind))

    assert isinstance(made, kind)


@each_captioner
def test_label_is_short(kind: type[Captioner]) -> None:
    """A table has room for it."""
    label = kind(**({"model": "m"} if "model" in {f.name for f in fields(kind)} else {})).label

    assert 0 < len(label) <= 40
    assert "\n" not in label


@each_captioner
def test_identity_is_json_and_repeats(kind: type[Captioner]) -> None:
    """The identity can be hashed and is the same for an equal configuration."""
    if kind.__name__ == "OcrCaptioner":
        pytest.importorskip("rapidocr", reason="rapidocr is not installed: [ocr]")
    settings = {"model": "m"} if "model" in {f.name for f in fields(kind)} else {}

    assert canonical(kind(**settings).identity()) == canonical(kind(**settings).identity())


@each_captioner
def test_addresses_are_no_factors(kind: type[Captioner]) -> None:
    """What does not shape a caption is marked so that it is not taken for a change."""
    places = {"base_url", "api_key_env", "concurrency", "timeout"}

    for field in fields(kind):
        assert (field.metadata.get("factor", True) is False) == (field.name in places), field.name
