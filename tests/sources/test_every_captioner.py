"""What holds for every captioner of the table, and how a user adds one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields

import pytest
from omegaconf import OmegaConf
from PIL import Image

from harness.llm import Calls
from harness.llm.messages import canonical
from harness.sources import CAPTIONERS, Caption, Captioner, Figure
from tests.conftest import Command, Study

each_captioner = pytest.mark.parametrize("kind", CAPTIONERS.values(), ids=CAPTIONERS)


@each_captioner
def test_configuration_makes_the_captioner(kind: type[Captioner]) -> None:
    """Its fields are types that Hydra knows, and its configuration gives back the live object."""
    live = OmegaConf.to_object(OmegaConf.structured(kind))

    assert isinstance(live, kind)


@each_captioner
def test_label_is_short(kind: type[Captioner]) -> None:
    """It fits into a table."""
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
    """A setting that does not shape a caption is marked, so that it does not count as a change."""
    places = {"base_url", "api_key_env", "concurrency", "timeout"}

    for field in fields(kind):
        assert (field.metadata.get("factor", True) is False) == (field.name in places), field.name


@dataclass
class AltText(Captioner):
    """Captions every figure with one sentence: all that a user writes."""

    sentence: str = "A figure."

    @property
    def label(self) -> str:
        return "alt"

    def identity(self) -> dict[str, object]:
        return {"captioner": "alt", "sentence": self.sentence}

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        return tuple(self.say(figure, self.sentence, "alt") for figure in figures)


@pytest.fixture
def alt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the table."""
    monkeypatch.setitem(CAPTIONERS, "alt", AltText)


@pytest.mark.usefixtures("alt")
def test_a_captioner_from_configuration_to_run(command: Command, study: Study) -> None:
    """It is chosen by its name, without a file in `conf/`, and its captions are in the run."""
    Image.linear_gradient("L").save(study.folder / "fog.png")
    with study.corpus.open("a", encoding="utf-8") as file:
        file.write("\n![fog](fog.png)\n")
    words = ["variant=caption_k4", "captioner=alt", "variant.captioner.sentence='Fog, by month.'"]

    done = command("collect", *study.words, *words)

    assert done.returncode == 0, done.stderr
    (folder,) = (study.folder / "runs" / "small").glob("caption_k4*")
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["factors"]["choices"]["captioner"] == "alt"
    assert record["configuration"]["captioner"] == {"sentence": "Fog, by month."}
    assert record["made_with"]["models"]["captioner"] == {
        "captioner": "alt",
        "sentence": "Fog, by month.",
    }
    assert record["made_with"]["ingest"]["captions"] == 1
