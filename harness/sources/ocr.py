"""Captions by optical character recognition (OCR): what is printed in a figure, nothing else."""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, in_language
from harness.llm import Calls
from harness.sources.captions import Caption, Captioner
from harness.sources.charts.caption_text import WORDINGS, caption_of
from harness.sources.charts.chart import Word, read_chart
from harness.sources.documents import Box, Figure

LAYOUT = 1
"""Incremented when the same words would give another caption: older captions are then unused."""
_ENGINE = threading.Lock()


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
        import importlib.metadata

        models = _models(_folder())
        return {
            "captioner": "ocr",
            "engine": f"rapidocr {importlib.metadata.version('rapidocr')}",
            "models": models,
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
    import importlib.util

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
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@cache
def _engine() -> Any:
    """Load the models, once a process."""
    _folder()
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical"})
