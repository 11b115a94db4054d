"""Captions by optical character recognition (OCR): what is printed in a figure, nothing else.

The words read are sorted as those of a chart, and put in a sentence in the language of the study.
"""

import importlib.metadata
import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, in_language
from harness.llm import Calls
from harness.sources.captions import Caption, Captioner
from harness.sources.chart import Axis, Chart, Word, read_chart
from harness.sources.documents import Box, Figure
from harness.text import sha256

LAYOUT = 1
"""Incremented when the same words would give another caption: older captions are then unused."""
MOST_LABELS = 14
"""Labels of one axis; of more, only the first and the last are given."""
_ENGINE = threading.Lock()


@dataclass(frozen=True, slots=True)
class Wording:
    """The words and punctuation that a caption adds, in one language."""

    figure: str
    vertical: str
    horizontal: str
    others: str
    values: str
    no_values: str
    colon: str = "："
    comma: str = "、"
    semicolon: str = "；"
    stop: str = "。"


WORDINGS = {
    "en": Wording(
        figure="Text in the figure (OCR)",
        vertical="Vertical axis",
        horizontal="Horizontal axis",
        others="Other text",
        values="Values",
        no_values="No values are printed at the marks; values not readable.",
        colon=": ",
        comma=", ",
        semicolon="; ",
        stop=". ",
    ),
    "ja": Wording(
        figure="図中の文字（OCR）",
        vertical="縦軸",
        horizontal="横軸",
        others="その他の文字",
        values="数値",
        no_values="図に数値の表示がないため、数値は読み取れません。",
    ),
    "zh_hant": Wording(
        figure="圖中文字（OCR）",
        vertical="縱軸",
        horizontal="橫軸",
        others="其他文字",
        values="數值",
        no_values="圖上未標示數值，數值無法讀出。",
    ),
    "zh_hans": Wording(
        figure="图中文字（OCR）",
        vertical="纵轴",
        horizontal="横轴",
        others="其他文字",
        values="数值",
        no_values="图上未标注数值，数值无法读出。",
    ),
}


@dataclass
class OcrCaptioner(Captioner):
    """Reads the text of a figure with rapidocr and pairs values with labels by their positions.

    It does not see what is drawn: if no values are printed, the caption says so.
    """

    language: str = "en"
    """en | ja | zh_hant | zh_hans: of the words that a caption adds. English for any other, with a
    warning."""
    min_confidence: float = 0.8
    """Words read with a lower confidence are dropped, in [0, 1]."""

    @property
    def label(self) -> str:
        return "ocr"

    def identity(self) -> dict[str, object]:
        return {
            "captioner": "ocr",
            "engine": f"rapidocr {importlib.metadata.version('rapidocr')}",
            "models": _models(_folder()),
            "layout": LAYOUT,
            "language": self.language,
            "min_confidence": self.min_confidence,
        }

    def caption(self, figures: Sequence[Figure], calls: Calls) -> tuple[Caption, ...]:
        wording = in_language(WORDINGS, self.language, "words of captions")
        captions = []
        for figure in figures:
            words, scores = self._read(figure.png)
            chart = read_chart(words)
            confidence = round(sum(scores) / len(scores), 4) if scores else None
            text = caption_of(chart, wording)
            captions.append(self.say(figure, text, "ocr", bool(chart.values), confidence))
        return tuple(captions)

    def _read(self, png: bytes) -> tuple[list[Word], list[float]]:
        """Return the words read with enough confidence, y upwards, and the confidence of each."""
        with _ENGINE:
            read = _engine()(png)
        if read.boxes is None:
            return [], []
        words, scores = [], []
        for corners, text, score in zip(read.boxes, read.txts, read.scores, strict=True):
            if score >= self.min_confidence:
                xs, ys = corners[:, 0], -corners[:, 1]
                box = Box(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
                words.append(Word(text, box))
                scores.append(float(score))
        return words, scores


def _folder() -> Path:
    """Return the folder of rapidocr, without importing it, which takes a second.

    Raises:
        ConfigError: rapidocr, or the runtime that it needs, is not installed.
    """
    spec = importlib.util.find_spec("rapidocr")
    if spec is None or spec.origin is None or importlib.util.find_spec("onnxruntime") is None:
        raise ConfigError(
            "captioner=ocr needs rapidocr and onnxruntime: pip install -e '.[ocr]', "
            "or choose captioner=none or vision"
        )
    return Path(spec.origin).parent


@cache
def _models(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each model file in the package rapidocr."""
    files = sorted((folder / "models").glob("*.onnx"))
    return {file.name: sha256(file.read_bytes()) for file in files}


@cache
def _engine() -> Any:
    """Load the models, once a process."""
    _folder()
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical"})


def caption_of(chart: Chart, say: Wording) -> str:
    """Return a chart as a sentence or two; empty if the chart has no words.

    >>> chart = Chart(("Cases",), (Axis("Percent", ("0", "5")),), None, (), ("North",))
    >>> print(caption_of(chart, WORDINGS["en"]))
    Text in the figure (OCR): Cases. Vertical axis: Percent (0, 5). Other text: North. \
No values are printed at the marks; values not readable.
    """
    parts = [say.semicolon.join(chart.titles)] if chart.titles else []
    parts += [say.vertical + say.colon + _axis(axis, say) for axis in chart.vertical]
    if chart.horizontal is not None:
        labels = () if chart.values else chart.horizontal.labels
        axis = _axis(Axis(chart.horizontal.title, labels), say)
        parts += [say.horizontal + say.colon + axis] if axis else []
    if chart.others:
        name = say.others + say.colon if parts else ""
        parts.append(name + say.comma.join(chart.others))
    if chart.values:
        pairs = [label + say.colon + say.comma.join(texts) for label, texts in chart.values]
        parts.append(say.values + say.colon + say.semicolon.join(pairs))
    if not parts:
        return ""
    body = "".join(part.rstrip(".。") + say.stop for part in parts)
    ending = "" if chart.values else say.no_values
    return (say.figure + say.colon + body + ending).rstrip()


def _axis(axis: Axis, say: Wording) -> str:
    labels = axis.labels
    if not labels:
        return axis.title
    scale = say.comma.join(labels) if len(labels) <= MOST_LABELS else f"{labels[0]} – {labels[-1]}"
    return f"{axis.title} ({scale})" if axis.title else scale
