"""Each row of the plug-in table, followed to the letter: an entry, from configuration to report.

A system is in `tests/systems/test_every_system.py`, a custom check in
`tests/evaluate/test_evaluate.py`.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from harness.judge import JUDGES, OverlapJudge
from harness.llm import Calls, Embedder
from harness.metrics import METRICS, Metric, MetricValue
from harness.records import Answer, Layer, Passage, Query
from harness.sources import CAPTIONERS, CONTENTS, Caption, Captioner, Document, Figure
from harness.store import Run
from harness.systems import GENERATORS, SEARCH_EMBEDDERS, PassageReader
from tests.conftest import Command, Study
from tests.fakes import CountingEmbedder

pytestmark = pytest.mark.slow


def reported(command: Command, study: Study, variants: list[str], *words: str) -> pd.DataFrame:
    """Run the whole study with these variants, and return the contrasts of its report."""
    done = command("study", *study.words, f"study.variants={variants}", *words)
    assert done.returncode == 0, done.stderr
    return pd.read_csv(study.folder / "runs/small/report/contrasts.csv")


def runs(study: Study) -> list[Run]:
    """Return the runs of the small study."""
    folder = study.folder / "runs/small"
    return [Run(path.parent) for path in sorted(folder.glob("*/run.json"))]


def test_a_variant_is_one_file(command: Command, study: Study, conf: Path) -> None:
    """It says what differs from the study."""
    text = "# @package _global_\nvariant:\n  top_k: 1\n"
    (conf / "variant/nearest.yaml").write_text(text, encoding="utf-8")

    contrasts = reported(command, study, ["nearest", "text_k4"])

    assert set(contrasts["factor"]) == {"top_k"}


def test_a_prompt_is_one_file(command: Command, study: Study, conf: Path) -> None:
    """It holds templates and nothing else; another choice of prompt is one factor."""
    text = (conf / "prompt/default.yaml").read_text(encoding="utf-8")
    (conf / "prompt/formal.yaml").write_text(text.replace("回答：", "正式回答："), encoding="utf-8")

    reported(command, study, ["text_k4", "text_k4 prompt=formal"])

    hashes = {run.facts()["made_with"]["prompt_sha256"] for run in runs(study)}
    assert len(hashes) == 2
    assert {run.facts()["factors"]["choices"]["prompt"] for run in runs(study)} == {
        "default",
        "formal",
    }


def test_a_metric_is_a_function_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed, averaged and contrasted under its identifier."""

    def quotes_a_number(response_text: str) -> MetricValue:
        """Share of answers with a digit, 0 or 1."""
        return MetricValue(float(any(character.isdigit() for character in response_text)))

    monkeypatch.setitem(METRICS, "quotes_a_number", Metric(quotes_a_number, Layer.GENERATION))

    contrasts = reported(command, study, ["text_k4", "text_k9"], "metrics=[quotes_a_number]")

    assert "quotes_a_number" in set(contrasts["metric"])
    page = (study.folder / "runs/small/report/report.md").read_text(encoding="utf-8")
    assert "quotes\\_a\\_number" in page or "quotes_a_number" in page


@dataclass
class Titles(Captioner):
    """Says the same of every figure."""

    title: str = "Tower height by year"

    @property
    def label(self) -> str:
        return "titles"

    def identity(self) -> dict[str, object]:
        return {"captioner": "titles", "title": self.title}

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        return tuple(self.say(figure, self.title, "titles") for figure in figures)


def test_a_captioner_is_a_dataclass_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its captions are passages of the index, and a setting of it is a factor."""
    monkeypatch.setitem(CAPTIONERS, "titles", Titles)
    chart = Image.new("RGB", (200, 120), "white")
    chart.paste("navy", (40, 20, 90, 110))
    chart.save(study.folder / "chart.png")
    text = study.corpus.read_text(encoding="utf-8")
    study.corpus.write_text(f"{text}\n![chart](chart.png)\n", encoding="utf-8")
    one = "caption_k4 captioner=titles variant.top_k=9"

    contrasts = reported(command, study, [one, f"{one} variant.captioner.title=x"])

    assert set(contrasts["factor"]) == {"captioner.title"}
    found = {p.text for run in runs(study) for row in run.responses() for p in row.passages}
    assert {"Tower height by year", "x"} <= found


def whole_pages(documents: Sequence[Document]) -> Iterator[Passage]:
    """Yield each page as one passage."""
    for document in documents:
        for page in document.pages:
            name = f"{document.name}#{page.number}"
            yield Passage(name, document.name, page.number, "text", page.text)


def test_an_index_content_is_a_function_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes no captions needs no captioner, and is a choice of its group."""
    monkeypatch.setitem(CONTENTS, "pages", whole_pages)

    contrasts = reported(command, study, ["text_k4", "text_k4 index=pages"], "captioner=none")

    assert set(contrasts["factor"]) == {"index.contents"}
    sizes = [row.corpus_size for run in runs(study) for row in run.responses()]
    assert 1 in sizes


@dataclass
class FirstPassage(PassageReader):
    """Answers with the passage that was retrieved first."""

    prefix: str = ""

    @property
    def label(self) -> str:
        return "first passage"

    def identity(self) -> dict[str, object]:
        return {"reader": "first", "prefix": self.prefix}

    def generate(self, query: Query, found: Answer, embedder: Embedder, calls: Calls) -> Answer:
        return Answer(self.prefix + found.passages[0].text, found.passages)


def test_a_reader_is_a_dataclass_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the place of a chat model, as a whole factor."""
    monkeypatch.setitem(GENERATORS, "first", FirstPassage)

    contrasts = reported(command, study, ["text_k4", "text_k4 chat=first"])

    assert set(contrasts["factor"]) == {"chat"}
    assert runs(study)[0].facts()["made_with"]["generator"] == "first passage"


def test_an_embedder_is_a_dataclass_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It searches, as a whole factor."""
    monkeypatch.setitem(SEARCH_EMBEDDERS, "counting", CountingEmbedder)

    contrasts = reported(command, study, ["text_k4", "text_k4 embedder=counting"])

    assert set(contrasts["factor"]) == {"embedder"}


@dataclass
class Strict(OverlapJudge):
    """The overlap judge under another name."""

    @property
    def label(self) -> str:
        return "strict"


def test_a_judge_is_a_dataclass_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its labels are kept beside those of others."""
    monkeypatch.setitem(JUDGES, "strict", Strict)

    reported(command, study, ["text_k4", "text_k9"], "judge=strict")

    assert all(set(run.judges()) == {"strict"} for run in runs(study))


def test_an_export_format_is_a_function_and_a_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given the analysis and says which file it wrote."""
    from harness.report.writing import FORMATS

    def names(folder: Path, analysis: object, facts: object, found: Sequence[Run], _: str) -> Path:
        file = folder / "names.json"
        file.write_text(json.dumps([run.name for run in found]), encoding="utf-8")
        return file

    monkeypatch.setitem(FORMATS, "names", names)
    reported(command, study, ["text_k4", "text_k9"])
    done = command("report", *study.words[:5], "format=names")

    assert done.returncode == 0, done.stderr
    assert "format=names: runs/small/report/names.json" in done.stdout
    written = json.loads((study.folder / "runs/small/report/names.json").read_text("utf-8"))
    assert len(written) == 2


def test_every_table_can_be_chosen_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry without a file is named among the choices of its group."""
    from harness.config.conf import choices_of

    monkeypatch.setitem(CAPTIONERS, "titles", Titles)
    monkeypatch.setitem(CONTENTS, "pages", whole_pages)

    assert "titles" in choices_of("captioner")
    assert "pages" in choices_of("index")
    assert all(choices_of(group) for group in ("system", "chat", "embedder", "judge"))
