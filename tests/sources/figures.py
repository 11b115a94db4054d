"""Figures and captioners for tests that need no PDF and no model."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from PIL import Image, ImageDraw, ImageFont

from harness.llm import Calls
from harness.sources import Caption, Captioner, Document, Figure
from harness.sources.documents import Box, Page, encode


def figure(id: str = "d#1.f1", image: Image.Image | None = None) -> Figure:
    """A figure; by default the picture depends on the id alone."""
    shown = image or Image.frombytes("L", (8, 4), hashlib.sha256(id.encode()).digest())
    picture = encode(shown)
    assert picture is not None
    document, _, place = id.partition("#")
    page = int(place.split(".")[0])
    return Figure(id, document, page, Box(1, 2, 3, 4), picture.png, picture.sha256, "image")


def document(*texts: str, name: str = "d", figures: Sequence[Figure] = ()) -> Document:
    """A document with a page for each text, and the figures on the pages that their ids name."""
    pages = tuple(
        Page(number, text, tuple(f for f in figures if f.page == number))
        for number, text in enumerate(texts, start=1)
    )
    return Document(name, "0" * 64, pages, {"blanks_removed": 2})


@dataclass
class ScriptedCaptioner(Captioner):
    """Returns a fixed caption for each figure's id; by default, that it is a chart."""

    said: dict[str, str] = field(default_factory=dict)
    fails: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asked: list[str] = []

    @property
    def label(self) -> str:
        return "scripted"

    def identity(self) -> dict[str, object]:
        return {"captioner": "scripted", "said": dict(self.said)}

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        self.asked += [figure.id for figure in figures]
        return tuple(
            self.say(f, "", "test", error="the endpoint does not answer")
            if f.id in self.fails
            else self.say(f, self.said.get(f.id, f"A chart, {f.id}."), "test", confidence=0.9)
            for f in figures
        )


def bar_chart(labels: Sequence[str], values: Sequence[str]) -> Image.Image:
    """A bar chart with its values printed over the bars, in a font that every system has."""
    image = Image.new("RGB", (640, 420), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(22)
    draw.text((180, 20), "Cases per region", fill="black", font=font)
    draw.line((60, 350, 620, 350), fill="black", width=2)
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        left = 90 + 180 * i
        top = 350 - int(8 * float(value))
        draw.rectangle((left, top, left + 70, 350), fill="steelblue")
        draw.text((left + 12, top - 32), value, fill="black", font=font)
        draw.text((left + 2, 362), label, fill="black", font=font)
    return image
